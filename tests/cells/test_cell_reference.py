"""Which cell a user means, and what becomes of code that is wrong."""

import json
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest
import torch

from elman import cells
from elman.cells import LSTM, Elman, FormulaCell, OwnCell, Stacked, get_cell, register, resolve_cell
from elman.cells.elman import elman
from elman.cells.own_cell import hold_cell, own_cell_to_data, read_own_cell
from elman.errors import ConfigError, ElmanError, ModelError
from elman.formula import State, formula, tanh
from tests.zoo import FORMULAS

FILE = """
from elman.cells import Cell, RecurrentCell
from elman.formula import State, formula, tanh


@formula(gates="h")
def twice(x, U, s):
    return State(h=tanh(x.h + 2 * U.h(s.h)))


class Twice(RecurrentCell):
    formula = twice


number = 7
"""


@formula(gates="h")
def twice(x, U, s):
    return State(h=tanh(x.h + 2 * U.h(s.h)))


class General(Elman):
    """An Elman network with code of its own: no formula says what its output is."""

    def output(self, state):
        return 2 * state.h


@pytest.fixture
def own_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_cells_of_a_test.py").write_text(FILE)
    yield "own_cells_of_a_test"
    sys.modules.pop("own_cells_of_a_test", None)


def test_a_file_a_module_and_an_object_name_the_same_cell(own_file):
    found = [resolve_cell(given) for given in (f"{own_file}.py:twice", f"{own_file}:twice", twice)]
    assert found == [found[0]] * 3
    assert all(isinstance(cell, OwnCell) and str(cell) == "twice" for cell in found)
    one, other = (get_cell(cell)(3, 4) for cell in found[:2])
    other.load_state_dict(one.state_dict())
    x = torch.randn(2, 3)
    torch.testing.assert_close(one(one.initial(x), x)[1], other(other.initial(x), x)[1])


def test_a_file_is_read_once_in_a_process(own_file):
    first = resolve_cell(f"{own_file}.py:Twice")
    assert resolve_cell(f"{own_file}.py:Twice").make is first.make
    assert own_file not in sys.modules


def test_names_of_elmans_cells_stay_names():
    assert type(resolve_cell("lstm")) is str


def test_a_registered_cell_is_known_by_its_name(monkeypatch):
    monkeypatch.setattr(cells.registry, "_registered", {})
    register("my-twice", twice)
    assert isinstance(resolve_cell("my-twice"), OwnCell)
    assert isinstance(get_cell("my-twice")(3, 4), FormulaCell)
    with pytest.raises(ConfigError, match="'lstm' is a cell of Elman's"):
        register("lstm", twice)
    with pytest.raises(ConfigError, match="cannot be the name of a cell"):
        register("../x", twice)


def test_an_installed_package_offers_cells_by_entry_points(own_file, monkeypatch):
    offered = EntryPoints([EntryPoint("offered", f"{own_file}:Twice", "elman.cells")])
    monkeypatch.setattr(cells.registry, "entry_points", lambda **which: offered.select(**which))
    monkeypatch.syspath_prepend(".")
    with pytest.raises(ConfigError, match="unknown cell"):
        get_cell("offered")  # a model folder alone imports nothing
    assert own_file not in sys.modules
    found = resolve_cell("offered")
    assert (str(found), found.data is not None) == ("offered", True)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_cell_that_was_stored_builds_the_same_weights_in_every_size(name):
    held = hold_cell(FORMULAS[name], name, "held")
    if held.data is None:
        assert "zoneout" in name  # drawn masks are code
        return
    read = read_own_cell(json.loads(json.dumps(own_cell_to_data(held))))
    assert read == held
    one, other = FORMULAS[name](3, 8).state_dict(), read.make(3, 8).state_dict()
    assert {n: w.shape for n, w in one.items()} == {n: w.shape for n, w in other.items()}


def test_code_is_told_from_data():
    for make, why in (
        (General, "has a method 'output' of its own"),
        (lambda d, h: LSTM(d, h, heads=h // 48), "weights beside"),
        (lambda d, h: FormulaCell(twice if h < 96 else elman, d, h), "weights beside"),
        (lambda d, h: FormulaCell(twice, d, h, widths={"h": h // 2 + h % 5}), "no multiple"),
    ):
        held = hold_cell(make, "given", "given")
        assert held.data is None
        assert why in held.reason


WRONG = {
    "missing.py:x": "missing.py: there is no such file; a trained model has its cell in its folder",
    "no_such_module:x": "there is no module 'no_such_module'; a file is FILE.py:NAME",
    "..:x": "..: TypeError: ",
    "own_cells_of_a_test.py:three": "own_cells_of_a_test.py has no 'three'; it has twice, Twice",
    "own_cells_of_a_test.py:": "own_cells_of_a_test.py has no ''; it has twice, Twice",
    "own_cells_of_a_test.py:number": "own_cells_of_a_test.py:number is 7; expected a formula",
    "broken.py:x": "broken.py:2: SyntaxError: ",
    "fails.py:x": "fails.py:3: ZeroDivisionError: division by zero",
    "wrong.json": "wrong.json is no stored cell: a stored cell is a table with a name",
    "missing.json": "missing.json: cannot be read",
    "lstmm": "unknown cell 'lstmm'; did you mean 'lstm'?",
}


@pytest.mark.parametrize("given", WRONG)
def test_what_is_no_cell_is_said_with_file_and_line(given, own_file, tmp_path):
    (tmp_path / "broken.py").write_text("\ndef x(:\n")
    (tmp_path / "fails.py").write_text("x = 0\n\ny = 1 / x\n")
    (tmp_path / "wrong.json").write_text("[]")
    with pytest.raises(ConfigError) as refused:
        resolve_cell(given)
    assert str(refused.value).startswith(WRONG[given])


@formula(gates="h", masks="m")
def masked(x, U, s, m):
    return State(h=m.m * x.h + U.h(s.h))


def untraced(x, U, s):
    return State(h=tanh(x.h))


def stacked(size, hidden):
    return Stacked([Elman(size, hidden), Elman(hidden, hidden)])


class Numbered:
    """What builds cells, and has a number for a name."""

    name = 7

    def __call__(self, size, hidden):
        return Elman(size, hidden)


OBJECTS = {
    "masks": (masked, "has masks, which a formula does not draw"),
    "no decorator": (untraced, "a formula has @formula"),
    "a cell": (LSTM(3, 4), "is one cell, LSTM"),
    "another size": (lambda d, h: LSTM(3, h), "cannot be the name of a cell"),
    "a number": (Numbered(), "7 cannot be the name of a cell"),
    "a stack": (stacked, "initial gives a tuple"),
    "no cell": (dict, "builds no cell"),
}


@pytest.mark.parametrize("what", OBJECTS)
def test_an_object_that_builds_no_cells_is_refused_before_training(what):
    given, why = OBJECTS[what]
    with pytest.raises(ElmanError, match=why):
        resolve_cell(given)


def test_a_cell_of_ones_own_cannot_have_the_name_of_another():
    given = formula(gates="h")(untraced)
    given.function.__name__ = "lstm"
    with pytest.raises(ConfigError, match="'lstm' is the name of a cell of Elman's"):
        resolve_cell(given)


def test_a_cell_with_other_sizes_than_asked_for_is_refused():
    with pytest.raises(ModelError, match="input_size of the cell must be 7"):
        hold_cell(lambda d, h: LSTM(3, h), "given", "given")


class Counting(General):
    """A state of any tensors that ``first`` makes of as many zeros as there are sequences."""

    def __init__(self, first, size: int, hidden: int) -> None:
        super().__init__(size, hidden)
        self.first = first

    def initial(self, like):
        return self.first(like.new_zeros(len(like), 2))


@pytest.mark.parametrize(
    ("first", "which"),
    [
        (lambda zeros: zeros.long(), "the state"),
        (lambda zeros: zeros[:1], "the state"),
        (lambda zeros: State(h=zeros, n=zeros.bool()), "n"),
        (lambda zeros: State(h=zeros.new_zeros(3, 2), n=zeros), "h"),
    ],
)
def test_a_state_that_is_not_of_decimal_numbers_for_each_sequence_is_refused(first, which):
    with pytest.raises(ModelError) as refused:
        hold_cell(lambda d, h: Counting(first, d, h), "given", "given")
    assert str(refused.value) == f"given: {which} must hold decimal numbers, with a row for each sequence"


@formula(gates="h", masks="d")
def masked(x, U, s, m):
    return State(h=m.d * tanh(x.h + U.h(s.h)))


def seven(input_size, hidden_size):
    return 7


@pytest.mark.parametrize(("given", "name"), [(masked, "masked"), (seven, "seven")])
def test_what_is_wrong_with_an_object_is_said_with_its_module_and_name(given, name):
    with pytest.raises(ElmanError, match=rf"^{__name__}:{name}\b"):
        resolve_cell(given)
