"""What `test_compilation` compiles, in a process of its own: dynamo cannot look through checked signatures.

``python -m tests.laws.compilation`` runs every case and prints what went wrong in each, as JSON.
"""

import json
import sys
import traceback

import torch

from elman.cells import GRU, LSTM, Dropout
from elman.errors import ModelError
from elman.layers.crf import CRF
from elman.layers.rnn import RNN, BiRNN
from elman.layers.softmax import Softmax
from elman.scan import scan
from tests.zoo import cell_of

MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]).bool()
CASES = {}


def case(*names):
    def add(function):
        for name in names:
            CASES[" ".join([function.__name__.replace("_", " "), name]).strip()] = function, name
        return function

    return add


def compile_whole(function):
    return torch.compile(function, backend="aot_eager", fullgraph=True)


def same(function, given, inputs):
    """Are values and gradients those without a compiler?"""

    def compute(f):
        results = torch.utils._pytree.tree_leaves(f(*given))
        return results, torch.autograd.grad(sum(t.square().sum() for t in results), inputs)

    torch.testing.assert_close(compute(compile_whole(function)), compute(function))


@case("stack", "mingru", "gru of two heads", "mogrifier of zoneout")
def a_layer(name):
    layer = RNN(cell_of(name)).eval()
    xs = torch.randn(3, 4, 3, dtype=torch.double, requires_grad=True)
    same(layer, (xs, MASK), [xs, *layer.parameters()])


@case("torch", "codegen", "loop")
def an_executor(name):
    cell = LSTM(3, 4).double()
    xs = torch.randn(3, 4, 3, dtype=torch.double, requires_grad=True)
    same(lambda xs: scan(cell, xs, reverse=True, executor=name), (xs,), [xs, *cell.parameters()])


@case("")
def both_directions(_):
    layer = BiRNN(LSTM(3, 4), GRU(3, 4)).double()
    xs = torch.randn(3, 4, 3, dtype=torch.double, requires_grad=True)
    same(layer.last_output, (xs, MASK), [xs, *layer.parameters()])


@case("")
def a_state_that_is_carried_over(_):
    layer = RNN(LSTM(3, 4)).double()
    xs = torch.randn(2, 6, 3, dtype=torch.double)

    def run(xs):
        ys, state = layer(xs[:, :2])
        return ys, layer(xs[:, 2:], None, state)[0]

    same(run, (xs,), list(layer.parameters()))


@case("")
def masks_that_are_drawn(_):
    layer = RNN(Dropout(LSTM(3, 200), 0.5))
    ys, _ = compile_whole(layer)(torch.randn(2, 5, 3))
    dropped = ys == 0
    assert 0.3 < dropped.float().mean() < 0.7
    assert (dropped == dropped[:, :1]).all(), "the same features at every step"


@case("")
def lengths_without_compiling_again(_):
    layer, count = RNN(LSTM(3, 4)), torch._dynamo.testing.CompileCounter()
    whole = torch.compile(layer, backend=count, fullgraph=True, dynamic=True)
    for steps in (5, 9, 30):
        xs = torch.randn(2, steps, 3)
        torch.testing.assert_close(whole(xs)[0], layer(xs)[0])
    assert count.frame_count == 1, f"{count.frame_count} graphs"


@case("")
def an_error_in_our_words(_):
    layer = RNN(GRU(3, 4), executor="torch")
    try:
        compile_whole(layer)(torch.randn(2, 5, 3))
    except ModelError as error:
        assert "PyTorch has no kernel for the formula 'gru'" in str(error)  # noqa: PT017
    else:
        raise AssertionError("no error")


@case("log_likelihood", "marginals")
def a_crf(name):
    crf = CRF(3).double()
    scores = torch.randn(3, 4, 3, dtype=torch.double, requires_grad=True)
    tags = [torch.randint(3, (3, 4))] if name == "log_likelihood" else []
    same(getattr(crf, name), (scores, *tags, MASK), [scores, *crf.parameters()])


@case("")
def the_best_path_of_a_crf(_):
    crf, scores = CRF(3), torch.randn(3, 4, 3)
    ours, plain = compile_whole(crf.viterbi)(scores, MASK), crf.viterbi(scores, MASK)
    assert torch.equal(ours.tags, plain.tags)
    torch.testing.assert_close(ours.scores, plain.scores)


@case("")
def a_tag_that_is_none(_):
    crf, tags = CRF(3), torch.full((3, 4), 3)  # the number of the boundary
    try:
        compile_whole(crf.log_likelihood)(torch.randn(3, 4, 3), tags, MASK)
    except ModelError as error:
        assert "tag 3 in row 0 at position 0" in str(error)  # noqa: PT017
    else:
        raise AssertionError("no error")


@case("")
def a_large_softmax(_):
    softmax = Softmax(3, 1030, smoothing=0.1).double()
    h = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
    same(softmax.loss, (h, torch.randint(1030, (4,))), [h, *softmax.parameters()])


def run_case(name):
    """What went wrong, or nothing."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    function, argument = CASES[name]
    try:
        function(argument)
    except Exception:
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    torch.set_num_threads(1)
    json.dump({name: run_case(name) for name in sys.argv[1:] or CASES}, sys.stdout)
