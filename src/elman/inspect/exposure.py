"""Exposure bias, measured: how far a model falls when it reads what it wrote itself, not what is right.

By position, under teacher forcing and when it runs free; and after k tokens of its own, what the right token
costs more than it costs after the right ones (Ranzato et al. 2016, Schmidt 2019).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import torch
from torch.nn.functional import pad

from elman.decoding import AtLengths, ForcedPrefix, Greedy, Policy, TeacherForcing, Turn, unroll
from elman.decoding.sequence_model import SequenceModel, Sequences
from elman.inspect.exposure_curves import Exposure, PositionSums
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import eval_mode
from elman.tasks.base import Task

STRIDE = 4  # between the places from which a model goes on by itself


def measure_task_exposure(task: Task, data: Any, *, most: int = 1000, own: int = 8) -> Exposure:
    """The exposure bias of a model on encoded data, of which ``most`` sequences are looked at."""
    model = task.sequence_model()
    return measure_exposure(model, model.sample_batches(data, most), own)


@torch.no_grad()
def measure_exposure(model: SequenceModel[Any], batches: Iterable[Any], own: int = 8) -> Exposure:
    """Run a model forced, free, and from gold beginnings for up to ``own`` tokens, greedily."""
    forced, free, after = PositionSums(), PositionSums(), PositionSums()
    sequences = 0
    with eval_mode(model.net):
        for batch in batches:
            gold = trim_padding(model.targets(batch))
            sequences += len(gold.tokens)
            costs, guesses = _run_forced(model, batch, gold)
            right = _is_right(model.aligned, before(gold.tokens), guesses, gold)
            forced.add(costs, right, gold.mask)
            written, nats = _run_free(model, batch)
            own_words = before(written.tokens), written.tokens
            free.add(nats, _is_right(model.aligned, *own_words, gold), written.mask)
            for cut in range(0, gold.mask.shape[1], STRIDE):
                after.add(*_excess(model, batch, gold, costs, (cut, own)))
    excess = after.curves()
    return Exposure(forced.curves(), free.curves(), excess.nats[1:], excess.counts[1:], sequences)


def trim_padding(gold: Sequences) -> Sequences:
    """Without the columns behind the end of the longest: the last window of a text may have such."""
    longest = int(gold.mask.sum(1).max())
    return Sequences(*(part[:, :longest] for part in gold))


def _run_forced(
    model: SequenceModel[Any], batch: Any, gold: Sequences
) -> tuple[Float[Tensor, "B T"], Int[Tensor, "B T"]]:
    """What each token of gold costs after those before it, and what the model would have written instead."""
    lengths, limit = AtLengths(gold.mask.sum(1)), gold.tokens.shape[1]
    turns = _unroll(model, batch, TeacherForcing(gold.tokens), stop=lengths, limit=limit)
    costs, guesses = [], []
    for turn, right in zip(turns, gold.tokens.unbind(1), strict=True):
        costs.append(_nats(turn.logits, right))
        guesses.append(turn.logits.argmax(-1))
    return torch.stack(costs, 1), torch.stack(guesses, 1)


def _run_free(model: SequenceModel[Any], batch: Any) -> tuple[Sequences, Float[Tensor, "B T"]]:
    turns = list(_unroll(model, batch, Greedy()))
    nats = torch.stack([_nats(turn.logits, turn.tokens) for turn in turns], 1)
    tokens = torch.stack([turn.tokens for turn in turns], 1)
    return Sequences(tokens, torch.stack([turn.mask for turn in turns], 1)), nats


def _excess(
    model: SequenceModel[Any], batch: Any, gold: Sequences, costs: Float[Tensor, "B T"], span: tuple[int, int]
) -> tuple[Float[Tensor, "B K"], Float[Tensor, "B K"], Bool[Tensor, "B K"]]:
    """How much more gold costs after 0, 1, … own tokens that follow ``cut`` of gold, and where to look."""
    cut, own = span
    limit = min(gold.tokens.shape[1], cut + own + 1)
    # Rows too short to be cut there are left free, and not looked at.
    prefix = gold.tokens[:, :cut].masked_fill(~gold.mask[:, :cut], -1)
    constraints = (ForcedPrefix(prefix),) if cut else ()
    turns = _unroll(model, batch, Greedy(), limit=limit, constraints=constraints)
    more, looked = [costs[:, :0]], [gold.mask[:, :0]]  # all may be over before the cut
    for place, turn in enumerate(islice(turns, cut, None), cut):
        more.append((_nats(turn.logits, gold.tokens[:, place]) - costs[:, place])[:, None])
        looked.append((turn.mask & gold.mask[:, place])[:, None])
    values = torch.cat(more, 1)
    return values, torch.zeros_like(values), torch.cat(looked, 1)


def _unroll(model: SequenceModel[Any], batch: Any, policy: Policy, **changes: Any) -> Iterator[Turn[Any]]:
    begun = model.begin(batch)
    ends: dict[str, Any] = {"stop": begun.stop, "limit": begun.limit}
    return unroll(begun.step, begun.state, policy, start=begun.start, **ends | changes)


def _nats(logits: Float[Tensor, "B V"], tokens: Int[Tensor, " B"]) -> Float[Tensor, " B"]:
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return -wide.log_softmax(-1).gather(1, tokens[:, None])[:, 0]


def _is_right(
    aligned: bool, read: Int[Tensor, "B T"], written: Int[Tensor, "B T"], gold: Sequences
) -> Float[Tensor, "B T"]:
    """1 where what was written after what was read is right."""
    if aligned:
        known = gold.tokens.masked_fill(~gold.mask, -1)
        wide = pad(known, (0, max(0, written.shape[1] - gold.tokens.shape[1])), value=-1)
        return (written == wide[:, : written.shape[1]]).float()
    pairs = (
        (read[:, :, None] == before(gold.tokens)[:, None])
        & (written[:, :, None] == gold.tokens[:, None])
        & gold.mask[:, None]
    )
    return pairs.any(-1).float()


def before(tokens: Int[Tensor, "B T"]) -> Int[Tensor, "B T"]:
    """What is read when each token is written; -1 at the beginning."""
    return pad(tokens, (1, 0), value=-1)[:, :-1]
