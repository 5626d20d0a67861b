"""Every cell in JavaScript: as it is printed, as it is interpreted, and its derivative."""

import pytest
import torch

from elman.live_page.describe_cell import describe_cell
from elman.live_page.operation_script import print_operations, print_steps
from elman.live_page.page_parts import PageParts
from elman.live_page.weight_table import WeightTable
from elman.scan import scan
from tests.live_page.runtime import needs_node, run_script
from tests.zoo import FORMULAS, MOGRIFIED, cell_of

pytestmark = needs_node
NAMES = [*FORMULAS, *MOGRIFIED]
STEPS, UNIT = 5, 1

CODE = """
const tensors = await unpackWeights(data.weights);
const found = {};
for (const [name, { cell, xs }] of Object.entries(data.cells)) {
  const spec = placeTensors(cell, tensors, data.formulas);
  const read = (formula) => {
    const stack = new LayerStack([{ cells: [spec], residual: false }], () => formula);
    stack.read(Matrix.from(xs, xs[0].length));
    return stack;
  };
  const printed = read(spec.formula);
  const interpreted = read(structuredClone(spec.formula));
  const weights = printed.connect(0, xs.length - 1, 1);
  found[name] = { printed: printed.outputs.data, interpreted: interpreted.outputs.data, weights };
}
answer(found);
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """All cells in one run of node."""
    parts = PageParts({}, WeightTable())
    cells = {}
    for name in NAMES:
        cell = cell_of(name, torch.float32).eval()
        cells[name] = {"cell": describe_cell(cell, parts), "xs": inputs()[0].tolist()}
    data = {"cells": cells, "weights": parts.weights.pack(), "formulas": parts.formulas_to_json()}
    printed = {"operations.js": print_operations(), "steps.js": print_steps(parts.steps)}
    return run_script(tmp_path_factory.mktemp("cells"), "engine.js", printed, data, CODE)


def inputs():
    return torch.randn(1, STEPS, 3, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_in_javascript_gives_what_scan_gives(name, answers):
    ys, _ = scan(cell_of(name, torch.float32).eval(), inputs())
    for how in ("printed", "interpreted"):
        assert torch.tensor(answers[name][how], dtype=ys.dtype).view_as(ys).allclose(ys, atol=1e-5), how


@pytest.mark.parametrize("name", NAMES)
def test_the_derivative_in_javascript_is_that_of_autograd(name, answers):
    xs = inputs().double().requires_grad_()
    ys, _ = scan(cell_of(name, torch.float32).eval().double(), xs, executor="loop")
    (gradient,) = torch.autograd.grad(ys[0, -1, UNIT], xs)
    assert torch.tensor(answers[name]["weights"]).double().allclose(gradient[0].norm(dim=1), atol=1e-5)
