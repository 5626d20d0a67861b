"""Sequence to sequence: a text is read, another is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch

from elman.decoding import Hypothesis
from elman.errors import ConfigError
from elman.layers.embedding import Pretrained
from elman.metrics import corpus_bleu, corpus_chrf, edit_rate, exact, tokenize_13a
from elman.shapes import Float, Tensor
from elman.tasks.abreast import abreast
from elman.tasks.translation.data import Data as Data
from elman.tasks.translation.data import Encoded as Encoded
from elman.tasks.translation.data import Example as Example
from elman.tasks.translation.data import PairTokens as PairTokens
from elman.tasks.translation.data import Row
from elman.tasks.translation.data import read as read
from elman.tasks.translation.likelihood import forced, loss, nats
from elman.tasks.translation.model import ATTENDING
from elman.tasks.translation.model import Model as Model
from elman.tasks.translation.network import Network
from elman.tasks.translation.sides import Sides, Written, spelled
from elman.tasks.translation.steps import Steps
from elman.tasks.translation.writing import Batch, Manner, chunks, write
from elman.text.batching import pad
from elman.text.codec import Codec, TokenCodec
from elman.text.vectors import read_vectors
from elman.text.vocab import UNK


class Translation(NamedTuple):
    """An answer to a text."""

    text: str
    score: float  # what answers are ranked by: log p / length^α
    tokens: list[str]
    log_probs: list[float]  # one for each token, and for the end where it ended by itself


class Alignment(NamedTuple):
    """Where a decoder looked for each token that it wrote, and for the end."""

    source: list[str]
    target: list[str]
    weights: Float[Tensor, "T S"]


class Seq2Seq:
    """Texts to texts. Make one with ``fresh``, or load one from a model folder."""

    unit = "tokens"
    batches_an_epoch = 200

    def __init__(self, model: Model, sides: Sides, vectors: Pretrained | None = None) -> None:
        if model.shared and not sides.joint:
            raise ConfigError("shared is one embedding for both sides: set tokens.joint to true")
        cut = isinstance(sides.source, TokenCodec) and isinstance(sides.target, TokenCodec)
        if (model.copying or model.replace) and not cut:
            raise ConfigError(
                "copying and replace are for words: set the kind of both sides' tokens to words"
            )
        self.model, self.sides = model, sides
        sizes = len(sides.source.items), len(sides.target.items)
        self.net = Network(model, sizes, vectors)

    @property
    def metric(self) -> str:
        return self.model.metric

    @property
    def best(self) -> Literal["max", "min"]:
        return "min" if self.metric in ("edit_rate", "nats_per_token") else "max"

    @classmethod
    def fresh(cls, model: Model, tokens: PairTokens, examples: Sequence[Example]) -> Seq2Seq:
        """An untrained model that knows the tokens of the pairs."""
        sides = Sides.learn(tokens, examples)
        return cls(model, sides, _vectors(model, sides.source) if model.vectors else None)

    @classmethod
    def restore(cls, model: Model, folder: Path, weights: Mapping[str, Tensor]) -> Seq2Seq:
        """The model whose vocabularies are in the folder, sized by these weights."""
        if not model.vectors:
            return cls(model, Sides.load(folder))
        own, given, trained = (weights[f"source.{n}"] for n in ("own", "given", "trained"))
        return cls(model, Sides.load(folder), Pretrained.like(own, given, trained))

    def adopt(self, folder: Path) -> None:
        """Take the vocabularies that were stored, if they are of the same data."""
        self.sides = self.sides.adopted(folder)

    def store(self, folder: Path) -> None:
        """Write what is not weights: the vocabularies."""
        self.sides.save(folder)

    def encode(self, examples: Iterable[Example]) -> Encoded:
        pairs = list(examples)
        return Encoded([self._row(e.source, e.targets[0]) for e in pairs], pairs)

    def _row(self, source: str, target: str = "") -> Row:
        make = self.sides.copied_row if self.model.copying else self.sides.row
        return make(source, target)

    def knows(self, example: Example) -> bool:
        """Any answer can be judged."""
        return True

    def learn_from(self, data: Encoded) -> None:
        """The loss needs to know nothing of all data."""

    def batch(self, rows: Sequence[Row]) -> Batch:
        """Rows side by side where the network is."""
        device = next(self.net.parameters()).device

        def here(ids: list[list[int]]) -> tuple[Tensor, Tensor]:
            tokens, mask = pad(ids)
            return tokens.to(device, non_blocking=True), mask.to(device, non_blocking=True)

        copies, _ = here([row.copies for row in rows])
        return Batch(
            *here([row.source for row in rows]),
            *here([row.target for row in rows]),
            copies,
            max(len(row.unknown) for row in rows),
        )

    def loss(self, batch: Encoded, progress: float) -> Tensor:
        """Mean over tokens of -log p(y_i | y_{<i}, x)."""
        return loss(self.net, self.model, self.batch(batch.rows))

    def weight(self, batch: Encoded) -> float:
        """Tokens that are written."""
        return float(sum(len(row.target) for row in batch.rows))

    def manner(self, **changes: Any) -> Manner:
        """How the model writes unless told otherwise, with these changes."""
        m = self.model
        return replace(Manner(beam=m.beam, alpha=m.alpha, longest=m.longest), **changes)

    def judge(self, data: Encoded) -> dict[str, float]:
        """The scores of greedy answers: quick, to choose weights by."""
        return self.evaluate(data, self.manner(beam=1))

    def evaluate(
        self, data: Encoded, manner: Manner | None = None, others: Sequence[Seq2Seq] = ()
    ) -> dict[str, float]:
        """BLEU, chrF, exact answers and edits in percent, and what a token of a right answer costs."""
        answers = self._answers(data.rows, manner or self.manner(), others)
        return self.scores(data, [best[0].text for best in answers])

    def scores(self, data: Encoded, answers: Sequence[str]) -> dict[str, float]:
        """How good answers are."""
        texts = [" ".join(answer.split()) for answer in answers]
        right = [[" ".join(target.split()) for target in e.targets] for e in data.examples]
        pieces: Callable[[str], list[str]] = list if spelled(self.sides.target) else str.split
        rate = edit_rate([*map(pieces, texts)], [[*map(pieces, some)] for some in right])
        cut = tokenize_13a if self.model.bleu == "13a" else str.split
        return {
            "bleu": corpus_bleu(texts, right, tokenize=cut),
            "chrf": corpus_chrf(texts, right),
            "exact": exact(texts, right),
            "edit_rate": rate,
            "nats_per_token": self._cost(data),
            "examples": len(texts),
        }

    @torch.no_grad()
    def _cost(self, data: Encoded) -> float:
        self.net.eval()
        total = count = 0.0
        for some in chunks([max(pair) for pair in data.lengths]):
            batch = self.batch([data.rows[i] for i in some])
            total += float(nats(self.net, batch).double()[batch.target_mask].sum())
            count += float(batch.target_mask.sum())
        return total / count

    def translate(self, texts: Iterable[str], **manner: Any) -> list[str]:
        """An answer to each text; options are those of `Manner`: beam, alpha, longest, …"""
        return [best[0].text for best in self.translations(texts, **manner)]

    def translations(
        self, texts: Iterable[str], *, others: Sequence[Seq2Seq] = (), **manner: Any
    ) -> list[list[Translation]]:
        """The ``n_best`` answers to each text, best first; with ``others``, models of the same tokens,
        the mean of all their probabilities decides. An empty text has an empty answer."""
        rows = [self._row(text) for text in texts]
        return self._answers(rows, self.manner(**manner), others)

    @torch.no_grad()
    def _answers(
        self, rows: Sequence[Row], manner: Manner, others: Sequence[Seq2Seq]
    ) -> list[list[Translation]]:
        models = (self, *others)
        for other in others:
            if not self.sides.same(other.sides) or other.model.copying != self.model.copying:
                raise ConfigError("models that write together must have the same tokens")
        for model in models:
            if model.net.training:
                model.net.eval()
        writers = [Steps(model.net, manner.precision) for model in models]

        @torch.no_grad()  # again, for threads of its own
        def answer(some: list[int]) -> list[list[Translation]]:
            chosen = [rows[i] for i in some]
            batch = self.batch(chosen)
            steps = [begin(batch) for begin in writers]
            written = write(steps, batch, manner, self._reader(chosen))
            return [
                [self._translation(row, one, manner.stop) for one in best]
                for row, best in zip(chosen, written, strict=True)
            ]

        numbers = [i for i, row in enumerate(rows) if row.source]
        parts = [
            [numbers[i] for i in some] for some in chunks([len(rows[i].source) for i in numbers])
        ]
        parts.reverse()  # the longest first, lest all wait for it at the end
        answers = [[Translation("", 0.0, [], [])] for _ in rows]
        on_cpu = next(self.net.parameters()).device.type == "cpu"
        found = abreast(answer, parts) if on_cpu else map(answer, parts)
        for some, best in zip(parts, found, strict=True):
            for i, one in zip(some, best, strict=True):
                answers[i] = one
        return answers

    def _reader(self, rows: Sequence[Row]) -> Callable[[int, list[int]], str]:
        """The text of what is being written about one of some sources."""
        return lambda number, ids: self.sides.written(ids, rows[number]).text

    def _translation(self, row: Row, best: Hypothesis, stop: Sequence[str]) -> Translation:
        written = self.sides.written(best.tokens, row)
        if self.model.replace and UNK in best.tokens:
            written = self._replaced(row, best.tokens, written)
        ends = [place for string in stop if (place := written.text.find(string)) >= 0]
        text = written.text[: min(ends)] if ends else written.text
        return Translation(text, best.score, written.tokens, best.log_probs)

    def _replaced(self, row: Row, ids: list[int], written: Written) -> Written:
        """Where <unk> was written, the word of the source that was looked at most."""
        words = self.sides.source.tokens(row.text)
        looked = self._weights(row, ids).argmax(-1).tolist()
        tokens = [
            words[looked[i]] if ids[i] == UNK else token for i, token in enumerate(written.tokens)
        ]
        return self.sides.joined(tokens, ids)

    def align(self, source: str, target: str) -> Alignment:
        """Where the decoder looks when it writes this answer to this text."""
        if self.model.context not in ATTENDING:
            raise ConfigError(
                f"this model has no attention to show: its context is {self.model.context!r}"
            )
        row = self._row(source, target)
        tokens = [*self.sides.target.tokens(target), "</s>"]
        return Alignment(self.sides.source.tokens(source), tokens, self._weights(row, row.target))

    @torch.no_grad()
    def _weights(self, row: Row, ids: Sequence[int]) -> Float[Tensor, "T S"]:
        self.net.eval()
        reading = forced(self.net, self.batch([row._replace(target=list(ids))]))
        assert reading.weights is not None
        return reading.weights[0].float().cpu()

    def described(self) -> tuple[str, str, list[str]]:
        """For the model card."""
        m = self.model
        sizes = [f"{len(side.items):,}" for side in (self.sides.source, self.sides.target)]
        seen = f"attention ({m.context}, {m.score})" if m.context in ATTENDING else m.context
        about = [
            f"tokens: {sizes[0]} to read, {sizes[1]} to write{', joint' * self.sides.joint}",
            f"network: {m.encoder} encoder of {m.reading} layers, {m.cell} decoder of {m.layers}, "
            f"{m.hidden} units; context: {seen}",
        ]
        return "A sequence-to-sequence model", 'translate(["some text"])', about


def _vectors(model: Model, codec: Codec) -> Pretrained:
    found = read_vectors(model.vectors, codec.items)
    known = torch.from_numpy(found.found)
    return Pretrained(torch.from_numpy(found.matrix), known, torch.ones_like(known))
