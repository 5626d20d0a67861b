"""Who imports whom: the table of docs/architecture.md is the law, read from it and held against the source."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
FILES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
}
EVERYWHERE = {"errors", "number_format", "ranges", "argument_checks", "free_memory", "state", "shapes"}
OPTIONAL = ("click", "rich", "matplotlib", "jaxtyping", "beartype", "tensorboard", "wandb", "mlflow", "optuna")


class Rule(NamedTuple):
    """A row of the table: the rooms that may be imported, and the modules that may use torch."""

    rooms: set[str]
    torch: str  # "yes", "no", or the only modules that may

    def lets_use_torch(self, module: str) -> bool:
        only = [f"elman.{name}" for name in re.findall(r"`([\w.]+)`", self.torch)]
        inside = any(f"{module}.".startswith(f"{name}.") for name in only)
        return inside if only else self.torch == "yes"


def table() -> dict[str, Rule]:
    rules = {}
    for line in (ROOT / "docs" / "architecture.md").read_text().splitlines():
        row = [cell.strip() for cell in line.strip("| ").split("|")]
        if re.fullmatch(r"`\w+`", row[0]) and len(row) == 4:
            name, _, rooms, torch = row
            allowed = {"*"} if rooms == "anything" else set(re.findall(r"`(\w+)`", rooms))
            rules[name.strip("`")] = Rule(allowed, torch)
    return rules


RULES = table()


class Import(NamedTuple):
    module: str
    imported: str
    line: int
    at_once: bool  # when the module is loaded, not when a function is called


def imports(module: str) -> Iterator[Import]:
    """Every import of a file except those for type checkers only."""

    def walk(node: ast.AST, at_once: bool) -> Iterator[Import]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from walk(other, at_once)
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, node.lineno, at_once)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} imports relatively"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield Import(module, inner if inner in FILES else node.module, node.lineno, at_once)
        inside = at_once and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    yield from walk(ast.parse(FILES[module].read_text()), True)


IMPORTS = [one for module in FILES for one in imports(module)]


def room(module: str) -> str:
    """``elman.scan.packing`` lies in the room ``scan``; the package itself is the front door, like ``cli``."""
    parts = module.split(".")
    return "cli" if parts[1:] in ([], ["__main__"]) else parts[1]


def test_every_room_is_in_the_table_and_the_table_has_no_others():
    assert {room(module) for module in FILES} == set(RULES)


def test_no_room_imports_what_the_table_does_not_allow():
    for one in IMPORTS:
        if one.imported.split(".")[0] != "elman" or one.imported == "elman":
            continue
        here, there = room(one.module), room(one.imported)
        allowed = RULES[here].rooms | EVERYWHERE | {here}
        assert there in allowed or "*" in allowed, (
            f"{FILES[one.module]}:{one.line}: {here} may not import {there}"
        )


def test_rooms_stand_on_each_other_in_one_order():
    TopologicalSorter({name: rule.rooms for name, rule in RULES.items()}).prepare()


def test_no_module_imports_itself_by_way_of_others():
    graph: dict[str, set[str]] = {module: set() for module in FILES}
    for one in IMPORTS:
        if one.imported in FILES and one.imported != "elman":  # the version may be asked for anywhere
            graph[one.module].add(one.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(error.args[1][::-1]))


def test_torch_is_imported_only_where_the_table_says():
    for one in IMPORTS:
        if one.imported.split(".")[0] == "torch" or one.imported == "safetensors.torch":
            rule = RULES[room(one.module)]
            late = not one.at_once and rule.torch == "inside functions"
            assert late or rule.lets_use_torch(one.module), f"{FILES[one.module]}:{one.line} imports torch"


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


LOADED = "import sys; print('torch' in sys.modules, 'numpy' in sys.modules)"


def test_the_front_door_is_light():
    assert run(f"import elman; {LOADED}") == "False False\n"


def test_help_does_not_wait_for_torch():
    script = "import sys; sys.argv = ['elman', '--help']\ntry: elman.cli.main()\nexcept SystemExit: pass\n"
    assert run(f"import elman.cli\n{script}{LOADED}").endswith("\nFalse False\n")


def test_rooms_without_torch_do_not_load_it():
    light = [m for m in FILES if m != "elman.__main__" and not may_load_torch(m)]
    assert {room(module) for module in light} >= {"text", "metrics", "config", "errors", "cli"}
    lines = "\n".join(f"import {module}" for module in light)
    assert run(f"{lines}\nimport sys; print('torch' in sys.modules)") == "False\n"


def may_load_torch(module: str) -> bool:
    return RULES[room(module)].lets_use_torch(module)


def test_the_core_needs_torch_numpy_and_safetensors_alone():
    block = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {OPTIONAL}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import torch
import elman.cells, elman.scan, elman.layers, elman.formula, elman.inspect, elman.state
ys, _ = elman.scan.scan(elman.cells.LSTM(3, 4), torch.zeros(1, 2, 3))
ours = [name for name in sys.modules if name.split(".")[0] in {OPTIONAL}]
print(tuple(ys.shape), ours)
"""
    assert run(block) == "(1, 2, 4) []\n"


PACKAGES = {module.rpartition(".")[0] for module in FILES if re.fullmatch(r"elman\.tasks\.\w+\.task", module)}


def test_a_task_is_known_to_itself_and_to_the_table_of_tasks_alone():
    assert len(PACKAGES) >= 4
    for one in IMPORTS:
        for package in PACKAGES:
            if (one.imported + ".").startswith(package + "."):
                inside = (one.module + ".").startswith(package + ".")
                plate = one.module == "elman.tasks.registry" and one.imported == package
                assert inside or plate, f"{FILES[one.module]}:{one.line}: ask a task by elman.tasks.base.Task"


def test_nothing_depends_on_the_name_of_a_task():
    from elman.tasks.registry import TASKS

    for module, path in FILES.items():
        if room(module) in ("tasks", "demo") or module == "elman":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            asked: list[ast.expr | None] = []
            if isinstance(node, ast.Compare):
                asked = [node.left, *node.comparators]
            elif isinstance(node, ast.Dict):
                asked = list(node.keys)
            names = [a.value for a in asked if isinstance(a, ast.Constant)]
            assert not set(names) & set(TASKS), f"{path}:{node.lineno}: {names}"
