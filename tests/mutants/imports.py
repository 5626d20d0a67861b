"""Which files of the package a test file names: what is known of tests that were not recorded."""

import ast
from collections.abc import Iterator
from pathlib import Path


def imported_files(root: Path, file: Path) -> set[str]:
    """Those that it imports from, also through the package that offers a name."""
    found = set()
    for module, names in _imports(file):
        if _path(root, module).exists():
            found.add(_path(root, module))
            continue
        package = _path(root, module).with_suffix("") / "__init__.py"
        offered = dict(_offered(package)) if package.exists() else {}
        for name in names:
            direct = _path(root, f"{module}.{name}")
            found.add(direct if direct.exists() else _path(root, offered.get(name, module)))
    return {path.relative_to(root).as_posix() for path in found if path.exists()}


def _imports(file: Path) -> Iterator[tuple[str, list[str]]]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "elman":
            yield str(node.module), [alias.name for alias in node.names]


def _offered(package: Path) -> Iterator[tuple[str, str]]:
    """The names that a package offers, each with the module that has it."""
    for module, names in _imports(package):
        yield from ((name, module) for name in names)


def _path(root: Path, module: str) -> Path:
    return (root / "src" / module.replace(".", "/")).with_suffix(".py")
