"""Examples to learn from, examples to judge by, and batches of them; for a language model, running text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from elman.errors import ConfigError, DataError
from elman.tasks.kinds import Task
from elman.tasks.language_model import Batch, LanguageModel, Text
from elman.tasks.language_model import Data as TextData
from elman.tasks.language_model import Encoded as EncodedText
from elman.tasks.seq2seq import Data as PairData
from elman.tasks.seq2seq import Encoded as EncodedPairs
from elman.tasks.settings import Files
from elman.tasks.translation.data import unseen
from elman.text.batching import batches
from elman.text.streams import Streams
from elman.training.batches import Batches, block

E = TypeVar("E")
X = TypeVar("X", bound="Encoded")


@runtime_checkable
class Encoded(Protocol):
    """Examples as numbers."""

    rows: list[Any]

    @property
    def lengths(self) -> Sequence[int | tuple[int, ...]]:
        """Tokens of each, of a pair on each side."""

    def pick(self: X, index: Any) -> X:
        """Some of them, by number."""

    def __len__(self) -> int: ...


def split(data: Files, read: Callable[..., Any]) -> tuple[Any, Any]:
    """What to train on and what to validate on, which is held out of that where no file is given.

    Examples are held out at random, of a text the end; of grouped pairs, those with sources of their own.
    """
    examples = read(data, data.train, train=True)
    if isinstance(examples, Text):
        if data.valid:
            return examples, read(data, data.valid)
        return examples.split(data.holdout) if data.holdout else (examples, None)
    training, held = _held_out(data, list(examples), read)
    if isinstance(data, PairData) and data.grouped:
        held = unseen(held, training)
    return training, held


def _held_out(
    data: Files, examples: list[E], read: Callable[..., Iterable[E]]
) -> tuple[list[E], list[E]]:
    if data.valid:
        return examples, list(read(data, data.valid))
    if not data.holdout:
        return examples, []
    count = max(1, int(len(examples) * data.holdout))
    if count >= len(examples):
        raise DataError(f"{data.train}: too few examples ({len(examples)}) to hold any out")
    held = set(np.random.default_rng(0).permutation(len(examples))[:count].tolist())
    return (
        [e for i, e in enumerate(examples) if i not in held],
        [e for i, e in enumerate(examples) if i in held],
    )


def planned(data: Any, files: Files, seed: int, model: Task) -> Batches[Any]:
    """The batches of what is trained on."""
    if isinstance(model, LanguageModel):
        assert isinstance(files, TextData)
        return Windows(data, files, seed, model)
    if isinstance(files, PairData):
        data = _bounded(data, files)
    fitting = int(np.sum(data.lengths)) // model.batches_an_epoch
    return Buckets(data, files.batch or min(2048, max(128, fitting)), seed, model.weight)


def counted(data: Any) -> dict[str, int]:
    """How much there is to learn from."""
    if isinstance(data, EncodedText):
        return {"tokens": len(data)}
    return {"examples": len(data), "tokens": int(np.sum(data.lengths))}


def _bounded(data: EncodedPairs, files: PairData) -> EncodedPairs:
    kept = data.within(files.longest)
    if not kept:
        raise DataError(
            f"{files.train}: every pair has more than {files.longest} tokens on a side; "
            "raise data.longest"
        )
    return kept


class Windows(Batches[Batch]):
    """Windows of parallel streams of a text, one after the other."""

    def __init__(self, text: EncodedText, data: TextData, seed: int, model: LanguageModel) -> None:
        fitting = min(32, max(1, len(text) // (data.steps * model.batches_an_epoch)))
        self.model = model
        self.streams = Streams(
            text.ids,
            data.batch or fitting,
            data.steps,
            data.spread,
            data.rotated,
            seed,
            first=model.end,
        )

    def __call__(self, epoch: int, start: int) -> Iterator[Batch]:
        return map(self.model.batch, self.streams(epoch, start))

    def count(self, epoch: int) -> int:
        return self.streams.count(epoch)

    def weight(self, batch: Batch) -> float:
        return batch.weight

    def share(self, batch: Batch, rank: int, size: int) -> Batch:
        if len(batch.ids) < size:
            raise ConfigError(
                f"data.batch is {len(batch.ids)} streams, too few for {size} processes: each needs one"
            )
        return batch.pick(block(len(batch.ids), rank, size))


class Buckets(Batches[X]):
    """Batches of like length and of at most ``tokens`` tokens, planned anew each epoch from the seed."""

    def __init__(self, data: X, tokens: int, seed: int, weigh: Callable[[X], float]) -> None:
        self.data, self.seed, self.weigh = data, seed, weigh
        self.lengths = data.lengths
        self.tokens = tokens
        self._planned: tuple[int, Sequence[Sequence[int]]] = (-1, ())

    def __call__(self, epoch: int, start: int) -> Iterator[X]:
        return (self.data.pick(index) for index in self._plan(epoch)[start:])

    def count(self, epoch: int) -> int:
        return len(self._plan(epoch))

    def weight(self, batch: X) -> float:
        return self.weigh(batch)

    def share(self, batch: X, rank: int, size: int) -> X:
        return batch.pick(range(rank, len(batch), size))

    def _plan(self, epoch: int) -> Sequence[Sequence[int]]:
        if self._planned[0] != epoch:
            plan = batches(self.lengths, tokens=self.tokens, seed=self.seed, epoch=epoch)
            self._planned = epoch, plan
        return self._planned[1]
