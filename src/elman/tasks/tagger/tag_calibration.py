"""How sure a tagger is of its tags: one temperature a column, fitted to validation data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from elman.errors import ModelError
from elman.files.model_files import DECISION
from elman.metrics import calibration_error
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import eval_mode
from elman.tasks.results import Confidences
from elman.tasks.tagger.autoregressive import AutoregressiveHead
from elman.tasks.tagger.data import TaggerDataset
from elman.tasks.tagger.heads import Head
from elman.tasks.tagger.tagset import UNKNOWN, Tagset
from elman.tasks.temperature import Calibration, fit_temperature
from elman.text.batching import length_sorted_chunks
from elman.text.json_io import read_json, write_json

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger

SENTENCES = 1000  # as many tell one temperature well enough; a CRF sums over all sequences at each try


class SureTags(NamedTuple):
    """The likeliest tags of a sentence, their ids, and log p of every tag at each word."""

    tags: list[str]
    ids: Int[Tensor, " T"]
    log_probs: Float[Tensor, "T Y"]


def judge_sentences(tagset: Tagset, head: Head, ys: Tensor, mask: Tensor) -> Iterator[SureTags]:
    """The likeliest tags of sentences whose encoder gave ``ys`` (B, T, H), and how likely all are."""
    best, sure = head.best(ys, mask).cpu(), _log_marginals(head, ys, mask).cpu()
    for ids, log_probs, length in zip(best, sure, mask.sum(1).tolist(), strict=True):
        own = ids[:length]
        yield SureTags(tagset.decode(own.tolist()), own, log_probs[:length])


def _log_marginals(head: Head, ys: Tensor, mask: Tensor) -> Tensor:
    return head.marginals(ys, mask).double().clamp(1e-30, 1).log()


@dataclass(frozen=True)
class TagJudgement:
    """The words of one column: what is right (UNKNOWN: no tag of the model), what is said, and how likely."""

    gold: Int[Tensor, " N"]
    answers: Int[Tensor, " N"]
    log_probs: Float[Tensor, "N Y"]

    @property
    def confidences(self) -> Confidences:
        """The probability of each tag that is said, and whether it is right."""
        sure = self.log_probs.gather(1, self.answers[:, None])[:, 0].exp()
        return Confidences(sure.tolist(), (self.answers == self.gold).tolist())

    @property
    def scores(self) -> dict[str, float]:
        """NLL in nats a word, without tags that training never saw, and ECE in percent."""
        known = self.gold != UNKNOWN
        likely = self.log_probs[known].gather(1, self.gold[known][:, None])
        nll = {"nll": -likely.mean().item()} if known.any() else {}
        return nll | {"ece": calibration_error(*self.confidences)}


def judge_columns(data: TaggerDataset, found: Sequence[Sequence[SureTags]]) -> list[TagJudgement]:
    """What was found for each sentence and column beside what is right."""
    judged = []
    for i, column in enumerate(zip(*found, strict=True)):
        gold = torch.cat([torch.from_numpy(tags[i]) for tags in data.tags])
        ids, log_probs = (torch.cat([getattr(one, name) for one in column]) for name in ("ids", "log_probs"))
        judged.append(TagJudgement(gold, ids, log_probs))
    return judged


@torch.no_grad()
def calibrate_heads(task: Tagger, data: TaggerDataset) -> None:
    """Give each head the temperature that fits the data best; tags that are fed back keep theirs, 1."""
    some = data.pick(range(0, len(data), max(1, ceil(len(data) / SENTENCES))))
    with eval_mode(task.net):
        chunks = []
        for rows in length_sorted_chunks([*map(len, some.rows)], max_rows=128, max_tokens=2**15):
            words, ys = task.read_words([some.rows[i] for i in rows], some.forms)
            chunks.append(Chunk([some.tags[i] for i in rows], ys, words.mask))
        for i, head in enumerate(task.heads):
            if not isinstance(head, AutoregressiveHead):
                head.calibration = _fit(head, i, chunks)


class Chunk(NamedTuple):
    """Sentences of like length as the encoder read them."""

    tags: list[Any]
    ys: Float[Tensor, "B T H"]
    mask: Bool[Tensor, "B T"]


def _fit(head: Head, column: int, chunks: Sequence[Chunk]) -> Calibration:
    gold = torch.cat([torch.from_numpy(tags[column]) for chunk in chunks for tags in chunk.tags])
    answers = torch.cat([head.best(c.ys, c.mask)[c.mask].cpu() for c in chunks])
    known = gold != UNKNOWN

    def log_probs(temperature: float) -> Tensor:
        head.calibration = Calibration(temperature)
        return torch.cat([_log_marginals(head, c.ys, c.mask)[c.mask].cpu() for c in chunks])[known]

    return fit_temperature(log_probs, gold[known], answers[known])


def save_calibrations(heads: Sequence[Head], folder: Path) -> None:
    """Write the temperature of each column, where one was fitted."""
    found = [head.calibration for head in heads]
    if any(calibration != Calibration() for calibration in found):
        write_json(folder / DECISION, [calibration.to_json() for calibration in found])


def load_calibrations(heads: Sequence[Head], folder: Path) -> None:
    """Take the temperature of each column; without a file it is 1."""
    path = folder / DECISION
    if not path.exists():
        return
    stored = read_json(path)
    try:
        for head, one in zip(heads, stored, strict=True):
            head.calibration = Calibration.from_json(one)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{path}: the file is damaged ({error!r})") from None
