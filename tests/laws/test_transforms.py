"""What `torch.func` makes of a layer is what autograd makes of it, entry by entry."""

import pytest
import torch
from torch.func import functional_call, grad, hessian, jacrev, vmap
from torch.nn.functional import cross_entropy, linear

from elman.cells import GRU, LSTM, MinGRU
from elman.layers.crf import CRF
from elman.layers.cross_entropy import linear_nll
from elman.layers.rnn import RNN
from elman.scan import EXECUTORS, explain, scan
from tests.zoo import cell_of

KINDS = ["lstm", "gru", "layer-norm-lstm", "rg-lru", "qrnn", "odd", "wordy", "gru of two heads", "zoneout"]
COMPOUNDS = ["residual", "weight drop", "mogrifier gru of low rank"]
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]).bool()


def weights_of(layer):
    return {name: p.detach() for name, p in layer.named_parameters()}


def cost_of(layer, weights, xs, mask):
    """Of one sequence: a number that depends on all outputs and on the final state."""
    torch.manual_seed(1)  # cells that draw masks draw the same
    ys, end = functional_call(layer, weights, (xs[None], mask[None]))
    parts = torch.utils._pytree.tree_leaves(end)
    return ys.square().sum() + sum(part.sin().sum() for part in parts)


@pytest.mark.parametrize("name", KINDS + COMPOUNDS)
def test_gradients_of_each_sequence_add_up_to_that_of_all(name):
    layer = RNN(cell_of(name)).eval()
    xs = torch.randn(3, 4, 3, dtype=torch.double)
    weights = weights_of(layer)
    each = vmap(grad(lambda *given: cost_of(layer, *given)), (None, 0, 0))(weights, xs, MASK)
    total = sum(cost_of(layer, dict(layer.named_parameters()), x, m) for x, m in zip(xs, MASK, strict=True))
    total.backward()
    for key, weight in layer.named_parameters():
        torch.testing.assert_close(each[key].sum(0), weight.grad)


def loss_of_first(layer, xs, start):
    ys, _ = layer(xs, None, layer.cell.initial(xs).replace(h=start))
    return ys.square().sum()


@pytest.mark.parametrize("executor", [name for name in EXECUTORS if name != "cuda"])
@pytest.mark.parametrize("cell", [LSTM, GRU, MinGRU])
def test_every_executor_has_the_derivatives_of_the_loop(cell, executor):
    made = [cell(3, 4).to(dtype) for dtype in (torch.double, torch.float)]
    accepted = [one for one in made if not EXECUTORS[executor].unsupported_reason(one)]
    if not accepted:
        pytest.skip("the executor refuses the cell, with or without torch.func")
    layer, plain = (RNN(accepted[0], executor=name) for name in (executor, "loop"))
    dtype = next(layer.parameters()).dtype
    xs, start = torch.randn(2, 5, 3, dtype=dtype), torch.randn(2, 4, dtype=dtype)
    for derive in (grad, jacrev, hessian):
        ours = derive(lambda xs, layer=layer: loss_of_first(layer, xs, start))(xs)
        form = torch.autograd.functional.hessian if derive is hessian else torch.autograd.functional.jacobian
        torch.testing.assert_close(ours, form(lambda xs: loss_of_first(plain, xs, start), xs))


def test_several_sets_of_weights_at_once_are_one_after_the_other():
    """An ensemble: torch.func.stack_module_state and vmap."""
    layers = [RNN(LSTM(3, 4)) for _ in range(3)]
    xs = torch.randn(2, 5, 3)
    weights, buffers = torch.func.stack_module_state(layers)
    ys, end = vmap(lambda w, b: functional_call(layers[0], (w, b), (xs,)))(weights, buffers)
    for i, layer in enumerate(layers):
        torch.testing.assert_close(ys[i], layer(xs)[0])
        torch.testing.assert_close(end.h[i], layer(xs)[1].h)


def test_explain_says_that_steps_are_plain_under_torch_func():
    cell, seen = LSTM(3, 4), []

    def look(xs):
        seen.append(str(explain(cell, xs)))
        return xs

    vmap(look)(torch.randn(2, 1, 5, 3))
    why = "torch.func transforms plain steps only"
    (said,) = seen
    assert said.startswith("lstm 3 -> 4: loop (dense: a step multiplies by U.i, U.f, U.z, U.o; ")
    assert all(f"not {name}: {why}" in said for name in ("cpu", "torch", "codegen"))


@pytest.mark.parametrize("spread", [1.0, 40.0], ids=["scaled", "exact"])
def test_the_gradient_of_log_likelihood_comes_sequence_by_sequence(spread):
    crf = CRF(3).double()
    for weight in crf.parameters():
        weight.data.normal_(std=spread)
    scores, tags = torch.randn(3, 4, 3, dtype=torch.double), torch.randint(3, (3, 4))

    def cost(weights, scores, tags, mask):
        return functional_call(_Likelihood(crf), weights, (scores[None], tags[None], mask[None])).sum()

    weights = weights_of(_Likelihood(crf))
    each = vmap(grad(cost), (None, 0, 0, 0))(weights, scores, tags, MASK)
    crf.log_likelihood(scores, tags, MASK).sum().backward()
    for key, weight in _Likelihood(crf).named_parameters():
        torch.testing.assert_close(each[key].sum(0), weight.grad)


class _Likelihood(torch.nn.Module):
    def __init__(self, crf):
        super().__init__()
        self.crf = crf

    def forward(self, *given):
        return self.crf.log_likelihood(*given)


def test_a_tag_that_is_none_is_no_number_under_vmap_either():
    crf, scores, mask = CRF(3), torch.randn(2, 1, 4, 3), torch.ones(2, 1, 4).bool()
    tags = torch.full((2, 1, 4), 3)  # the number of the boundary
    with pytest.raises((RuntimeError, IndexError), match="out of"):
        vmap(crf.log_likelihood)(scores, tags, mask)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_softmax_in_chunks_has_the_derivatives_of_cross_entropy(smoothing):
    h, W = torch.randn(4, 3, dtype=torch.double), torch.randn(20, 3, dtype=torch.double)
    targets = torch.tensor([0, 7, 7, 19])

    def ours(h, W):
        return linear_nll(h, W, None, targets, smoothing=smoothing, chunk=6)

    def plain(h, W):
        return cross_entropy(linear(h, W), targets, reduction="none", label_smoothing=smoothing)

    torch.testing.assert_close(jacrev(ours, (0, 1))(h, W), jacrev(plain, (0, 1))(h, W))
    doubled = torch.stack((h, -h))
    torch.testing.assert_close(vmap(ours, (0, None))(doubled, W), vmap(plain, (0, None))(doubled, W))


@pytest.mark.parametrize("name", [*KINDS, *COMPOUNDS])
@pytest.mark.parametrize("rows", [1, 6])
def test_masks_are_mapped_over_in_prediction_too(name, rows):
    cell, xs = cell_of(name, torch.float32).eval(), torch.randn(3, rows, 4, 3)
    masks = MASK[:, None].expand(3, rows, 4)
    with torch.no_grad():
        each = vmap(lambda x, mask: scan(cell, x, mask)[0])(xs, masks)
        for found, x, mask in zip(each, xs, masks, strict=True):
            torch.testing.assert_close(found, scan(cell, x, mask)[0])
