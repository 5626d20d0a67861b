"""Objects of a user's own code, by ``FILE.py:NAME`` or ``module:NAME``: imported because the user says so."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from elman.errors import ConfigError, printable, quote, shorten


def import_object(reference: str) -> Any:
    """The object that a reference names; what goes wrong is said in one sentence, with the line of the file."""
    source, _, name = reference.rpartition(":")
    module = _import_file(Path(source)) if source.endswith(".py") else _import_module(source)
    if not name or not hasattr(module, name):
        has = [n for n, value in vars(module).items() if n[0] != "_" and _is_own(value, module)]
        raise ConfigError(f"{source} has no {quote(name)}; it has {', '.join(has) or 'nothing'}")
    return getattr(module, name)


def _is_own(value: Any, module: ModuleType) -> bool:
    return getattr(value, "__module__", "") == module.__name__


def _import_file(path: Path) -> ModuleType:
    """The module in a file; each file once in a process, as Python does it."""
    if not path.is_file():
        hint = "a trained model has its cell in its folder, as cell.json, which can be given instead"
        raise ConfigError(f"{path}: there is no such file; {hint}")
    name = f"elman_file_{printable(path.stem)}_{sha256(os.fsencode(path.resolve())).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    assert spec is not None  # for .py there always is one
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        with _on_path(path.resolve().parent):
            spec.loader.exec_module(module)
    except Exception as error:  # of code that is not ours
        del sys.modules[name]
        raise _explain(str(path), error) from None
    return module


def _import_module(name: str) -> ModuleType:
    try:
        with _on_path(Path.cwd()):
            return import_module(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            raise ConfigError(f"there is no module {quote(name)}; a file is FILE.py:NAME") from None
        raise _explain(name, error) from None
    except Exception as error:  # of code that is not ours, or a name that is none
        raise _explain(name, error) from None


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    """Modules of the folder can be imported meanwhile, as when Python runs a file of it."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _explain(source: str, error: Exception) -> ConfigError:
    frames = extract_tb(error.__traceback__)
    lines = [None, *(frame.lineno for frame in frames if Path(frame.filename).name == Path(source).name)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1]
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    where = f"{source}:{line}" if line else source
    return ConfigError(f"{where}: {type(error).__name__}: {shorten(said)}")
