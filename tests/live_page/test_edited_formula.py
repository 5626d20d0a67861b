"""A formula that is changed on the page runs with the weights of the model, or is refused in a sentence."""

import json

import pytest
import torch

from elman.cells import FormulaCell
from elman.cells.gru import gru_relu, reset_after_plain
from elman.cells.lstm import lstm
from elman.formula import Gates, Matrices, State, formula, sigmoid, tanh
from elman.live_page.formula_json import formula_to_json
from elman.scan import scan
from tests.live_page.models import language_model
from tests.live_page.runtime import needs_node, run_model

pytestmark = needs_node
TEXT = "The cat"


@formula(gates="r z n", parameters="k")
def slowed(x: Gates, U: Matrices, s: State, p: Gates) -> State:
    return State(h=tanh(x.n + x.r + x.z + p.k * s.h))


@formula(gates="r z n", states="h c")
def doubled(x: Gates, U: Matrices, s: State) -> State:
    return State(h=sigmoid(x.r) * tanh(x.n), c=x.z + s.c)


def edited(folder, task, changed, code):
    return run_model(folder, task, f"const changed = {json.dumps(formula_to_json(changed))};\n{code}")


@pytest.mark.parametrize("changed", [gru_relu, reset_after_plain], ids=lambda changed: changed.name)
def test_an_edited_formula_gives_what_python_gives_with_the_same_weights(changed, tmp_path):
    task = language_model(cell="gru", layers=1)
    code = (
        f"const read = engine.withFormula(null, changed).read({TEXT!r});\nanswer(read.layers[0].values.h.data);"
    )
    found = edited(tmp_path, task, changed, code)
    old, new = task.net.layers.cell.layers[0].cell, FormulaCell(changed, 6, 8)
    ids = torch.tensor([[task.end, *task.tokenizer.encode(TEXT)]])
    with torch.no_grad():
        new.W.copy_(old.W)
        new.b.copy_(old.b)
        rows = torch.cat([*old.U]) if len(new.U) == 1 else None
        for matrix, given in zip(new.U, [rows] if rows is not None else old.U, strict=True):
            matrix.copy_(given)
        ys, _ = scan(new, task.net.embed(ids))
    assert torch.tensor(found).view_as(ys).allclose(ys, atol=1e-5)


REFUSED = {
    "the trained layer has no gate i: it has r, z, n": lstm,
    "the trained layer has no per-unit parameter p.k: it has none": slowed,
    "the trained layer has no state s.c: it has s.h": doubled,
}


def test_a_formula_that_does_not_fit_is_refused_and_says_why(tmp_path):
    code = """
    const reasons = changed.map((one) => {
      try { return engine.withFormula(0, one) && "none"; } catch (error) { return error.message; }
    });
    answer(reasons);
    """
    given = json.dumps([formula_to_json(changed) for changed in REFUSED.values()])
    found = run_model(tmp_path, language_model(cell="gru", layers=1), f"const changed = {given};\n{code}")
    assert found == [*REFUSED]
