"""The CRF and pytorch-crf: likelihood, gradients and the best path."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.agreement import TOLERANCE

from elman.layers.crf import CRF

torchcrf = pytest.importorskip("torchcrf")

lengths = st.lists(st.integers(1, 12), min_size=1, max_size=5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("spread", [0.5, 30.0])
@given(sizes=lengths, tags=st.integers(1, 7), seed=st.integers(0, 10_000))
def test_likelihood_gradients_and_best_paths_are_those_of_pytorch_crf(dtype, spread, sizes, tags, seed):
    torch.manual_seed(seed)
    ours, theirs = CRF(tags).to(dtype), torchcrf.CRF(tags, batch_first=True).to(dtype)
    pairs = {
        "transitions": (ours.transitions, theirs.transitions),
        "begin": (ours.begin, theirs.start_transitions),
        "end": (ours.end, theirs.end_transitions),
    }
    for mine, other in pairs.values():
        mine.data.normal_(std=spread)
        other.data.copy_(mine)
    mask = torch.arange(max(sizes))[None] < torch.tensor(sizes)[:, None]
    scores = torch.randn(*mask.shape, tags, dtype=dtype)
    gold = torch.randint(tags, mask.shape)
    leaves = [scores.clone().requires_grad_() for _ in range(2)]
    found = ours.log_likelihood(leaves[0], gold, mask)
    expected = theirs(leaves[1], gold, mask, reduction="none")
    found.sum().backward()
    expected.sum().backward()
    near = {"rtol": 4 * TOLERANCE[dtype], "atol": 4 * TOLERANCE[dtype] * max(1, spread)}
    torch.testing.assert_close(found, expected, **near)
    torch.testing.assert_close(leaves[0].grad, leaves[1].grad, **near)
    for mine, other in pairs.values():
        unused = torch.zeros_like(other)  # of a single token pytorch-crf's transitions have no gradient
        torch.testing.assert_close(mine.grad, unused if other.grad is None else other.grad, **near)
    best = [path[:n].tolist() for path, n in zip(ours.viterbi(scores, mask).tags, sizes, strict=True)]
    assert best == theirs.decode(scores, mask)
