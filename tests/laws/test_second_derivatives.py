"""Second derivatives are those of the plain computation, or an error: never constants without a word."""

import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from elman.cells import CELLS, LSTM
from elman.layers.crf import CRF
from elman.layers.cross_entropy import linear_nll
from elman.scan import EXECUTORS, scan
from elman.state import leaves, map_state
from tests.zoo import ALL, cell_of

RAGGED = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]).bool()


def differentiate_twice(value, inputs):
    """∂ (L + Σ ‖∂L/∂x‖²) / ∂x. The seed of the first gradient is a constant: no gradient is asked of it."""
    first = torch.autograd.grad(value, inputs, create_graph=True, allow_unused=True)
    penalty = sum(g.square().sum() for g in first if g is not None)
    found = torch.autograd.grad(value + penalty, inputs, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


@pytest.mark.parametrize("mask", [None, RAGGED], ids=["full", "ragged"])
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("name", ALL)
def test_generated_programs_have_those_of_the_loop(name, reverse, mask):
    cell = cell_of(name, torch.double)
    xs = torch.randn(3, 4, 3, dtype=torch.double, requires_grad=True)
    start = map_state(lambda t: torch.randn_like(t).requires_grad_(), cell.initial(xs))
    everything = [xs, *(t for _, t in leaves(start)), *cell.parameters()]

    def differentiate(executor):
        torch.manual_seed(1)  # cells that draw masks draw the same
        ys, final = scan(cell, xs, mask, start, executor=executor, reverse=reverse)
        value = ys.square().sum() + sum(t.sin().sum() for _, t in leaves(final))
        return differentiate_twice(value, everything)

    for ours, reference in zip(differentiate("codegen"), differentiate("loop"), strict=True):
        torch.testing.assert_close(ours, reference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mask", [None, RAGGED], ids=["full", "ragged"])
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("executor", ["cpu", "parallel"])
@pytest.mark.parametrize("name", ["lstm", "gru", "layer-norm-lstm", "slstm", "mingru", "hgrn", "qrnn"])
def test_native_code_has_those_of_the_loop(name, executor, reverse, mask):
    cell = CELLS[name](3, 36)
    if EXECUTORS[executor].unsupported_reason(cell):
        pytest.skip("the executor refuses the cell")
    xs = torch.randn(3, 4, 3, requires_grad=True)
    start = map_state(lambda t: torch.rand_like(t).requires_grad_(), cell.initial(xs))
    everything = [xs, *(t for _, t in leaves(start)), *cell.parameters()]

    def differentiate(executor):
        ys, final = scan(cell, xs, mask, start, executor=executor, reverse=reverse)
        value = ys.square().mean() + sum(t.sin().mean() for _, t in leaves(final))
        return differentiate_twice(value, everything)

    for ours, reference in zip(differentiate(executor), differentiate("loop"), strict=True):
        torch.testing.assert_close(ours, reference, rtol=1e-4, atol=1e-6)


def test_kernels_of_torch_have_those_of_the_loop_or_an_error():
    cell = LSTM(3, 4)
    xs = torch.randn(3, 4, 3)
    reference = differentiate_twice(scan(cell, xs, executor="loop")[0].square().sum(), list(cell.parameters()))
    try:
        ours = differentiate_twice(scan(cell, xs, executor="torch")[0].square().sum(), list(cell.parameters()))
    except RuntimeError as error:
        assert "derivative" in str(error)  # noqa: PT017 - which of the two depends on the build of torch
    else:
        torch.testing.assert_close(ours, reference, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("spread", [1.0, 40.0], ids=["scaled", "exact"])
def test_log_z_has_those_of_the_sum_over_all_paths(spread):
    torch.manual_seed(0)
    crf = CRF(3).double()
    for weight in crf.parameters():
        weight.data.normal_(std=spread)
    scores = torch.randn(2, 3, 3, dtype=torch.double, requires_grad=True)
    inputs = [scores, *crf.parameters()]
    mask = torch.tensor([[1, 1, 1], [1, 1, 0]]).bool()

    def enumerate_paths(row, length):
        tags = torch.cartesian_prod(*[torch.arange(3)] * length)
        steps = sum(scores[row, i, tags[:, i]] for i in range(length))
        moves = sum(crf.transitions[tags[:, i - 1], tags[:, i]] for i in range(1, length))
        return (crf.begin[tags[:, 0]] + steps + moves + crf.end[tags[:, -1]]).logsumexp(0)

    gold = torch.zeros(2, 3, dtype=torch.long)
    exhaustive = sum(
        crf.begin[0]
        + scores[row, :n, 0].sum()
        + (n - 1) * crf.transitions[0, 0]
        + crf.end[0]
        - enumerate_paths(row, n)
        for row, n in ((0, 3), (1, 2))
    )
    ours = differentiate_twice(crf.log_likelihood(scores, gold, mask).sum(), inputs)
    for found, expected in zip(ours, differentiate_twice(exhaustive, inputs), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_softmax_in_chunks_has_those_of_cross_entropy(smoothing, bias):
    torch.manual_seed(0)
    h, W, b = (
        torch.randn(*shape, dtype=torch.double, requires_grad=True) for shape in ((4, 3), (20, 3), (20,))
    )
    inputs = [h, W, b] if bias else [h, W]
    given, targets = b if bias else None, torch.tensor([0, 7, 7, 19])
    ours = linear_nll(h, W, given, targets, smoothing=smoothing, chunk=6).sum()
    plain = cross_entropy(linear(h, W, given), targets, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(differentiate_twice(ours, inputs), differentiate_twice(plain, inputs))


def test_where_one_input_is_made_from_another_nothing_is_counted_twice():
    """Tied embeddings: h comes from W, and W is multiplied by h."""
    torch.manual_seed(0)
    W = torch.randn(20, 3, dtype=torch.double, requires_grad=True)
    targets = torch.tensor([0, 7, 7, 19])
    ours = linear_nll(W[targets].tanh(), W, None, targets, chunk=6).sum()
    plain = cross_entropy(linear(W[targets].tanh(), W), targets, reduction="sum")
    torch.testing.assert_close(differentiate_twice(ours, [W]), differentiate_twice(plain, [W]))
