"""Wrong input is answered in one sentence, also where shapes are not checked at every call."""

import json
import subprocess
import sys

import pytest
import torch

from elman.cells import LSTM
from elman.layers import RNN, BiRNN
from elman.scan import EXECUTORS, scan

# Runs without the shape checks of the test run: as for a user, scan itself must notice.
SCRIPT = """
import json, torch
from elman.cells import GRU, LSTM
from elman.errors import ElmanError
from elman.layers import RNN
from elman.layers.cross_entropy import linear_nll
from elman.layers.crf import CRF
from elman.state import State

rnn, xs = RNN(LSTM(3, 4)), torch.zeros(2, 5, 3)
h = torch.zeros(2, 4)
calls = {
    "two axes": lambda: rnn(torch.zeros(2, 3)),
    "one axis": lambda: rnn(h[0]),
    "no axes": lambda: rnn(h[0, 0]),
    "features": lambda: rnn(torch.zeros(2, 5, 7)),
    "mask of numbers": lambda: rnn(xs, torch.ones(2, 5)),
    "mask of another shape": lambda: rnn(xs, torch.ones(5, 2) > 0),
    "state of another cell": lambda: rnn(xs, None, State(h=h)),
    "state of another batch": lambda: rnn(xs, None, State(h=h[:1], c=h[:1])),
    "state without names": lambda: rnn(xs, None, (h, h)),
    "executor": lambda: RNN(LSTM(3, 4), executor="gpu")(xs),
    "kernel": lambda: RNN(GRU(3, 4), executor="torch")(xs),
    "boundary as a tag": lambda: CRF(3).log_likelihood(xs, torch.full((2, 5), 3), torch.ones(2, 5) > 0),
    "tags of another shape": lambda: CRF(3).log_probability(xs, torch.zeros(2, 4).long(), torch.ones(2, 5) > 0),
    "smoothing": lambda: linear_nll(h, torch.zeros(2000, 4), None, torch.zeros(2).long(), smoothing=-0.1),
}
said = {}
for name, call in calls.items():
    try:
        call()
    except ElmanError as error:
        said[name] = str(error)
print(json.dumps(said))
"""

SENTENCES = {
    "boundary as a tag": "tag 3 in row 0 at position 0: tags are numbers from 0 to 2",
    "tags of another shape": "tags must be (2, 5) like the mask, got (2, 4)",
    "smoothing": "smoothing is -0.1; it must be from 0 to 1",
    "one axis": "xs must be (batch, time, features), got (4,)",
    "no axes": "xs must be (batch, time, features), got ()",
    "two axes": "xs must be (batch, time, features), got (2, 3)",
    "features": "the cell reads 3 features, xs has 7",
    "mask of numbers": "mask must be bool, true on real tokens, got torch.float32",
    "mask of another shape": "mask must be (2, 5) like xs, got (5, 2)",
    "state of another cell": "the initial state must be h (2, 4), c (2, 4), got h (2, 4)",
    "state of another batch": "the initial state must be h (2, 4), c (2, 4), got h (1, 4), c (1, 4)",
    "state without names": "the initial state must be h (2, 4), c (2, 4), got 0 (2, 4), 1 (2, 4)",
    "executor": "unknown executor 'gpu'; it may be 'auto', "
    "'parallel', 'cpu', 'cuda', 'torch', 'codegen', 'loop'",
    "kernel": "the torch executor cannot run this cell: PyTorch has no kernel for the formula 'gru'",
}


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", SENTENCES)
def test_a_wrong_call_is_answered_in_one_sentence(said, name):
    assert said[name] == SENTENCES[name]


@pytest.mark.parametrize("executor", [name for name in EXECUTORS if name not in ("parallel", "cuda")])
def test_a_nan_stays_in_its_row(executor):
    cell, xs = LSTM(3, 4), torch.randn(3, 5, 3)
    clean, _ = scan(cell, xs, executor=executor)
    xs[1, 2, 0] = float("nan")
    ys, final = scan(cell, xs, executor=executor)
    torch.testing.assert_close(ys[[0, 2]], clean[[0, 2]])
    torch.testing.assert_close(ys[1, :2], clean[1, :2])
    assert ys[1, 2:].isnan().all()
    assert final.c.isnan().all(1).tolist() == [False, True, False]


def test_a_batch_of_nothing_but_padding_is_accepted_as_zeros():
    nothing = torch.zeros(2, 5, dtype=torch.bool)
    layer = BiRNN(LSTM(3, 4), LSTM(3, 4))
    xs = torch.full((2, 5, 3), float("nan"), requires_grad=True)
    ys, _ = layer(xs, nothing)
    assert not ys.any()
    accepted = layer.last_output(xs, nothing)
    assert not accepted.any()
    assert isinstance(RNN(LSTM(3, 4)).last_output(xs, nothing), torch.Tensor)
