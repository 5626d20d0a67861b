"""What users may import: every name is exported, documented and typed."""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import elman
from elman.formula.operation import Op

SOURCE = Path(elman.__file__).parent
ROOMS = (
    "elman",
    "elman.cells",
    "elman.course",
    "elman.decoding",
    "elman.formula",
    "elman.generation",
    "elman.inspect",
    "elman.layers",
    "elman.live_page",
    "elman.metrics",
    "elman.objectives",
    "elman.ray",
    "elman.scan",
    "elman.sklearn",
    "elman.text",
    "elman.training",
)
PUBLIC = [(room, name) for room in ROOMS for name in import_module(room).__all__]


def constants(path: Path) -> Iterator[str]:
    """Names that a file assigns and documents by a string below them."""
    body = ast.parse(path.read_text()).body
    for node, after in pairwise(body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        documented = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        yield from (t.id for t in targets if documented and isinstance(t, ast.Name))


DOCUMENTED = {name for path in SOURCE.rglob("*.py") for name in constants(path)}


def has_docstring(value: Any, name: str) -> bool:
    """Whether it says what it is; what dataclass and NamedTuple write by themselves says nothing."""
    if inspect.isclass(value) or inspect.isfunction(value):
        return bool(value.__doc__) and not value.__doc__.startswith(f"{value.__name__}(")
    # An operation is documented by its line in the table: how each printer writes it.
    return name in DOCUMENTED or isinstance(value, Op) or name == "__version__"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_lists_what_it_exports_once_and_all_of_it_is_there(room):
    module = import_module(room)
    assert len(set(module.__all__)) == len(module.__all__)
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize(("room", "name"), PUBLIC)
def test_every_public_name_says_what_it_is(room, name):
    assert has_docstring(getattr(import_module(room), name), name)


@pytest.mark.parametrize(("room", "name"), PUBLIC)
def test_every_public_function_has_types(room, name):
    value = getattr(import_module(room), name)
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        assert signature.return_annotation is not signature.empty
        assert all(p.annotation is not p.empty for p in signature.parameters.values())
