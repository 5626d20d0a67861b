"""Every device writes and finds the same."""

import pytest
import torch

from elman.decoding import (
    AtStrings,
    AtTokens,
    BannedTokens,
    Beam,
    ForcedPrefix,
    Greedy,
    MinLength,
    NoRepeatNgram,
    Sample,
    ScheduledSampling,
    rollout,
)
from elman.state import map_state
from tests.decoding.tables import END, Table, table

pytestmark = pytest.mark.gpu
STOP = AtTokens((END,))
CONSTRAINTS = [
    MinLength(2, (END,)),
    NoRepeatNgram(2),
    BannedTokens(((3,), (4, 0))),
    ForcedPrefix(torch.tensor([[2, -1]]).expand(20, 2)),
]


def model(*, ties: bool = False) -> Table:
    made = table(11, size=7, sentences=20, spread=2)
    return Table(made.logits.round() if ties else made.logits)


def arguments(made: Table, device: str) -> dict:
    moved = Table(made.logits.to(device))
    state = map_state(lambda t: t.to(device), made.state)
    return {"step": moved.step, "state": state, "start": made.start.to(device), "limit": 19}


@pytest.mark.parametrize("constraints", [[], CONSTRAINTS])
@pytest.mark.parametrize("ties", [False, True])
def test_beams_agree(constraints, ties):
    for beam in (Beam(width=5, n_best=5), Beam(width=5, factor=6.0, narrow=False, length_penalty=0)):
        for stop in (STOP, AtStrings(("1", "65"), lambda _, ids: "".join(map(str, ids)))):
            here, there = (
                beam(**arguments(model(ties=ties), device), stop=stop, constraints=constraints)
                for device in ("cpu", "cuda")
            )
            assert [[h.tokens for h in row] for row in here] == [[h.tokens for h in row] for row in there]


@pytest.mark.parametrize("constraints", [[], CONSTRAINTS])
def test_rollouts_agree(constraints):
    def policies(device: str) -> list:
        generator = torch.Generator().manual_seed(3)
        targets = torch.full((20, 19), 5, device=device)
        sample = Sample(generator=generator, top_k=5, top_p=0.9, min_p=0.05)
        return [Greedy(), sample, ScheduledSampling(targets, 0.5, sample, generator)]

    for here, there in zip(policies("cpu"), policies("cuda"), strict=True):
        results = []
        for device, policy in (("cpu", here), ("cuda", there)):
            given = arguments(model(), device)
            results.append(rollout(policy=policy, **given, stop=STOP, constraints=()))
        assert results[0].tokens.equal(results[1].tokens.cpu())
        assert results[0].mask.equal(results[1].mask.cpu())
        torch.testing.assert_close(results[0].log_probs, results[1].log_probs.cpu())
    greedy = [
        rollout(policy=Greedy(), **arguments(model(), d), stop=STOP, constraints=constraints)
        for d in ("cpu", "cuda")
    ]
    assert greedy[0].tokens.equal(greedy[1].tokens.cpu())
