"""On a GPU, weights lie as cuDNN wants them: it copies none, warns of nothing and gives what torch.nn gives."""

import warnings

import pytest
import torch
from torch import nn

from elman.cells import LSTM, Elman, ProjectedLSTM, ResetAfterGRU
from elman.layers import RNN
from elman.layers.conversion import to_torch
from elman.scan import scan

pytestmark = pytest.mark.gpu
CELLS = {
    "lstm": (lambda: LSTM(40, 72), lambda: nn.LSTM(40, 72, batch_first=True)),
    "elman": (lambda: Elman(40, 72), lambda: nn.RNN(40, 72, batch_first=True)),
    "gru": (lambda: ResetAfterGRU(40, 72), lambda: nn.GRU(40, 72, batch_first=True)),
    "no bias": (lambda: LSTM(40, 72, bias=False), lambda: nn.LSTM(40, 72, bias=False, batch_first=True)),
    "projected": (
        lambda: ProjectedLSTM(40, 24, cell_size=72),
        lambda: nn.LSTM(40, 72, proj_size=24, batch_first=True),
    ),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", CELLS)
def test_it_gives_what_torch_nn_gives_without_a_warning(name, dtype):
    make, make_peer = CELLS[name]
    torch.manual_seed(0)
    cell, peer = make().cuda(), make_peer().cuda().to(dtype)
    peer.load_state_dict(to_torch(RNN(cell)))
    peer.flatten_parameters()
    xs = torch.randn(5, 9, 40, device="cuda", dtype=dtype)
    with warnings.catch_warnings(), torch.autocast("cuda", dtype, enabled=dtype != torch.float32):
        warnings.simplefilter("error")
        ys, _ = scan(cell, xs, executor="torch")
    expected = peer(xs)[0]
    assert torch.equal(ys, expected)
    ys.float().square().sum().backward()
    expected.float().square().sum().backward()
    assert cell.W.grad.dtype == torch.float32
    for ours, theirs in ((cell.W, peer.weight_ih_l0), (cell.U[0], peer.weight_hh_l0)):
        if name != "gru":  # whose gates stand in another order there
            torch.testing.assert_close(ours.grad, theirs.grad.float())


def test_weights_that_were_changed_are_read_anew():
    cell, xs = LSTM(8, 16).cuda(), torch.randn(2, 3, 8, device="cuda")
    with torch.no_grad():
        before, _ = scan(cell, xs, executor="torch")
        cell.W.data.mul_(2)  # nothing counts this change
        after, _ = scan(cell, xs, executor="torch")
        expected, _ = scan(cell, xs, executor="loop")
    assert not torch.equal(before, after)
    torch.testing.assert_close(after, expected, rtol=1e-2, atol=5e-3)  # tf32
