"""Recorded rollouts on a GPU: what the loop of Python writes there, and what a CPU writes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from elman.decoding import (
    AnyOf,
    AtLengths,
    AtTokens,
    BannedTokens,
    Beam,
    ForcedPrefix,
    Greedy,
    MinLength,
    Sample,
    rollout,
)
from elman.decoding.interfaces import FixedStep
from elman.decoding.recorded_rollout import find_recording
from elman.objectives.sample_sequences import FirstGreedy
from elman.state import map_state
from tests.decoding.tables import END, Table, table

pytestmark = pytest.mark.gpu
RULES = [BannedTokens(((2,),)), MinLength(5, (END,)), ForcedPrefix(torch.tensor([[3, -1, 4]]).expand(20, 3))]


def policies(device: str) -> list[Any]:
    def generator(where: str = "cpu") -> torch.Generator:
        return torch.Generator(where).manual_seed(3)

    return [
        Greedy(),
        Sample(generator=generator()),
        Sample(generator=[torch.Generator().manual_seed(i) for i in range(20)], temperature=0.5),
        Sample(generator=generator(), temperature=0.7, top_k=5, top_p=0.9, min_p=0.01),
        FirstGreedy(4, Sample(generator=generator())),
        Sample(generator=generator(device)),
    ]


def write(number: int, device: str, fixed: bool, limit: int, rules: Any) -> Any:
    made = Table(table(11, size=700, sentences=20, spread=2).logits.float().to(device))
    state = map_state(lambda t: t.to(device), made.state)
    lengths = torch.arange(20, device=device) * 2 + 3
    given: Any = {"start": made.start.to(device), "stop": AnyOf((AtTokens((END,)), AtLengths(lengths)))}
    given |= {"limit": limit, "constraints": rules}
    step: Any = FixedStep(made.step) if fixed else made.step
    policy = policies(device)[number]
    with torch.no_grad():
        if fixed:
            assert not isinstance(find_recording(step, policy, **given), str)
        return rollout(step, state, policy, **given)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(("limit", "rules"), [(30, []), (30, RULES), (4003, [])])
def test_a_recorded_rollout_writes_what_the_loop_writes(number: int, limit: int, rules: Any) -> None:
    for there in ["cuda"] if number == 5 else ["cuda", "cpu"]:
        expected, found = write(number, there, False, limit, rules), write(number, "cuda", True, limit, rules)
        assert found.tokens.cpu().equal(expected.tokens.cpu())
        assert found.mask.cpu().equal(expected.mask.cpu())
        torch.testing.assert_close(found.log_probs.cpu(), expected.log_probs.cpu())
        for a, b in zip(found.state, expected.state, strict=True):
            assert a.cpu().equal(b.cpu())


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("size", [7, 700, 2500])
def test_a_recorded_beam_finds_what_the_search_with_books_finds(ties: bool, size: int) -> None:
    logits = table(11, size=size, sentences=20, spread=2).logits.float()
    made = Table(logits.round() if ties else logits)
    there = Table(made.logits.cuda())
    lengths = torch.arange(20) * 2 + 3
    for beam in (
        Beam(width=5, n_best=5),
        Beam(width=5, factor=6.0, narrow=False, length_penalty=0),
        Beam(width=1),
        Beam(width=16, n_best=3, length_penalty=0.5),
    ):
        found, expected = (
            beam(
                step,
                map_state(lambda t, device=device: t.to(device), made.state),
                start=made.start.to(device),
                stop=AnyOf((AtTokens((END,)), AtLengths(lengths.to(device)))),
                limit=30,
            )
            for step, device in ((FixedStep(there.step), "cuda"), (made.step, "cpu"))
        )
        assert [[h.tokens for h in row] for row in found] == [[h.tokens for h in row] for row in expected]
        scores = [[[h.score for row in result for h in row] for result in (found, expected)]]
        torch.testing.assert_close(*map(torch.tensor, scores[0]), rtol=1e-5, atol=1e-5)
