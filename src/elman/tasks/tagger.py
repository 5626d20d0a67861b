"""Labelling: a tag for each word of a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

import numpy as np
import torch

from elman.errors import ConfigError, DataError, ModelError
from elman.layers.words import Words
from elman.metrics import accuracy, span_scores
from elman.shapes import Tensor
from elman.tasks.lexicon import Input, Lexicon
from elman.tasks.settings import Tokens
from elman.tasks.tagging.answers import Tagging, taggings
from elman.tasks.tagging.data import Data, Encoded, Example, read
from elman.tasks.tagging.heads import Head
from elman.tasks.tagging.network import Model, Network, output_of
from elman.tasks.tagging.tags import UNKNOWN, Tagset
from elman.tasks.words import Forms, Row, side_by_side
from elman.text.batching import pad
from elman.text.codec import TokenCodec
from elman.text.messages import brief
from elman.text.spans import spans
from elman.text.stored import read_json, write_json
from elman.text.tokenizers import Tokenizer
from elman.text.vocab import Vocab

__all__ = [
    "Data",
    "Encoded",
    "Example",
    "Model",
    "Tagger",
    "Tagging",
    "read",
]


class Tagger:
    """Sentences to tags. Make one with ``fresh``, or load one from a model folder."""

    best: Literal["max", "min"] = "max"
    unit = "sentences"
    batches_an_epoch = 400

    def __init__(self, model: Model, lexicon: Lexicon, tagsets: Sequence[Tagset]) -> None:
        self.model, self.lexicon, self.tagsets = model, lexicon, tuple(tagsets)
        self.net = Network(model, lexicon, tagsets)

    @property
    def metric(self) -> str:
        """F1 where tags mark spans, else accuracy; of several columns the mean of theirs."""
        return self.tagsets[0].metric if len(self.tagsets) == 1 else "mean"

    @classmethod
    def fresh(cls, model: Model, tokens: Tokens, examples: Sequence[Example]) -> Tagger:
        """An untrained tagger that knows the words and tags of the examples."""
        if tokens.kind not in ("words", "whitespace"):
            raise ConfigError(
                f"tokens.kind is {tokens.kind!r}; words are tagged: words or whitespace"
            )
        counts = Counter(word for e in examples for word in e.words)
        tokenizer = Tokenizer(tokens.kind, tokens.lower, tokens.digits)
        folded = (tokenizer.fold(word) for word in counts.elements())
        size = tokens.size or None
        vocab = Vocab.build(folded, min_count=tokens.min_count, size=size)
        lexicon = Lexicon.learn(model, TokenCodec(tokenizer, vocab), counts)
        lexicon.inputs = tuple(
            Input(name, Vocab.build(value for e in examples for value in e.inputs[name]))
            for name in examples[0].inputs
        )
        tagsets = [
            Tagset.learn(column, [e.tags[i] for e in examples], model.scheme)
            for i, column in enumerate(examples[0].columns)
        ]
        return cls(model, lexicon, tagsets)

    @classmethod
    def restore(cls, model: Model, folder: Path, weights: Mapping[str, Tensor]) -> Tagger:
        """The tagger whose vocabulary and tags are in the folder, with these weights."""
        return cls(model, Lexicon.load(model, folder, weights), _tagsets(folder))

    def adopt(self, folder: Path) -> None:
        """Take the vocabulary that was stored, if it and the tags are of the same data."""
        if _tagsets(folder) != self.tagsets:
            raise ModelError(f"{folder} was trained on other data: its tags differ")
        self.lexicon.adopt(folder)

    def store(self, folder: Path) -> None:
        """Write what is not weights: vocabulary and tags."""
        self.lexicon.save(folder)
        write_json(folder / "labels.json", [tagset.stored() for tagset in self.tagsets])

    def encode(self, examples: Iterable[Example]) -> Encoded:
        sentences = list(examples)
        inputs = [[*e.inputs.values()] for e in sentences] if self.lexicon.inputs else None
        rows, forms = self.lexicon.sentences((e.words for e in sentences), inputs)
        tags = []
        for e in sentences:
            if len(e.tags) != len(self.tagsets):
                raise DataError(
                    f"{e.where}: {len(e.tags)} columns of tags, the tagger has {len(self.tagsets)}"
                )
            each = zip(self.tagsets, e.tags, strict=True)
            tags.append(np.stack([tagset.encode(column, e.where) for tagset, column in each]))
        return Encoded(rows, forms, tags, sentences)

    def knows(self, example: Example) -> bool:
        return True

    def learn_from(self, data: Encoded) -> None:
        """Refuse what cannot be learnt: a tag that is not among those of the model."""
        for tags, example in zip(data.tags, data.examples, strict=True):
            if (tags == UNKNOWN).any():
                column, place = np.argwhere(tags == UNKNOWN)[0]
                tag, word = example.tags[column][place], example.words[place]
                raise DataError(
                    f"{example.where}: the tag {brief(tag)} of word {place + 1}, {brief(word)}, is "
                    "none of those that the model was trained with"
                )

    def loss(self, batch: Encoded, progress: float) -> Tensor:
        """Mean over sentences of -log p(tags | words), or of that a word."""
        words, ys = self._outputs(batch.rows, batch.forms)
        total = ys.new_zeros(len(ys))
        for i, head in enumerate(self._heads):
            tags = pad([tags[i].tolist() for tags in batch.tags]).ids.to(ys.device)
            total = total + head.loss(ys, tags, words.mask)
        lengths = words.mask.sum(1).clamp(min=1)
        return (total / lengths if self.model.loss == "mean" else total).mean()

    def weight(self, batch: Encoded) -> float:
        return len(batch)

    def judge(self, data: Encoded) -> dict[str, float]:
        return self.evaluate(data)

    def evaluate(self, data: Encoded) -> dict[str, float]:
        """Accuracy in percent, of unseen words too; precision, recall and F1 where tags mark spans."""
        return self.scores(data, self.guessed(data))

    def guessed(self, data: Encoded) -> list[list[list[str]]]:
        """For each column and each sentence, the likeliest tags."""
        guesses = self._best(data.rows, data.forms)
        return [[tags[i] for tags in guesses] for i in range(len(self.tagsets))]

    def scores(self, data: Encoded, guessed: list[list[list[str]]]) -> dict[str, float]:
        """How good guesses are; the names of the scores of further columns begin with the column's."""
        scores: dict[str, float] = {}
        chosen = []
        seen = self.lexicon.seen(data.forms)
        unseen = [not known for row in data.rows for known in seen[row]]
        for i, (tagset, guess) in enumerate(zip(self.tagsets, guessed, strict=True)):
            gold = [e.tags[i] for e in data.examples]
            prefix = "" if i == 0 else f"{tagset.column}_"
            if tagset.written:
                overall = span_scores([*map(spans, gold)], [*map(spans, guess)]).overall
                for name in ("f1", "precision", "recall"):
                    scores[prefix + name] = getattr(overall, name)
            pairs = [
                pair for one in zip(gold, guess, strict=True) for pair in zip(*one, strict=True)
            ]
            scores[prefix + "accuracy"] = _accuracy(pairs)
            new = [pair for pair, is_new in zip(pairs, unseen, strict=True) if is_new]
            if new:
                scores[prefix + "unseen_accuracy"] = _accuracy(new)
            chosen.append(scores[prefix + tagset.metric])
        if len(chosen) > 1:
            scores["mean"] = sum(chosen) / len(chosen)
        scores["tokens"] = sum(map(len, data.rows))
        scores["sentences"] = len(data)
        return scores

    def tag(self, sentences: Iterable[Sequence[str] | str]) -> list[list[str]]:
        """A tag for each word, of the first column; a text is cut into words."""
        rows, forms = self.lexicon.sentences(map(self.cut, sentences))
        return [tags[0] for tags in self._best(rows, forms)]

    def cut(self, sentence: Sequence[str] | str) -> Sequence[str]:
        """The words of a sentence."""
        codec = self.lexicon.codec
        assert isinstance(codec, TokenCodec)
        return codec.tokenizer.cut(sentence) if isinstance(sentence, str) else sentence

    def tag_columns(
        self,
        sentences: Iterable[Sequence[str]],
        inputs: Iterable[Sequence[Sequence[str]]] | None = None,
    ) -> list[list[list[str]]]:
        """For each sentence and each column, a tag for each word; ``inputs`` is what else is read."""
        return self._best(*self.lexicon.sentences(sentences, inputs))

    @torch.no_grad()
    def analyse(
        self, sentences: Sequence[Sequence[str] | str], *, n_best: int = 1
    ) -> list[list[Tagging]]:
        """For each sentence and each column: tags and spans, how sure they are, and the next best."""
        self._ready()
        rows, forms = self.lexicon.sentences(map(self.cut, sentences))
        result: list[list[Tagging]] = [[] for _ in rows]
        for some in _chunks(rows):
            words, ys = self._outputs([rows[i] for i in some], forms)
            for tagset, head in zip(self.tagsets, self._heads, strict=True):
                answers = taggings(tagset, head, ys, words.mask, n_best)
                for i, tagging in zip(some, answers, strict=True):
                    result[i].append(tagging)
        return result

    @torch.no_grad()
    def _best(self, rows: Sequence[Row], forms: Forms) -> list[list[list[str]]]:
        """For each sentence and each column, the likeliest tags; sentences of like length run together."""
        self._ready()
        result: list[list[list[str]]] = [[] for _ in rows]
        for some in _chunks(rows):
            words, ys = self._outputs([rows[i] for i in some], forms)
            for tagset, head in zip(self.tagsets, self._heads, strict=True):
                for i, tags in zip(some, head.best(ys, words.mask).tolist(), strict=True):
                    result[i].append(tagset.decode(tags[: len(rows[i])]))
        return result

    def _ready(self) -> None:
        if self.net.training:  # to walk through all modules takes as long as to read a word
            self.net.eval()

    @property
    def _heads(self) -> list[Head]:
        return [cast(Head, head) for head in self.net.heads]

    def _outputs(self, rows: Sequence[Row], forms: Forms) -> tuple[Words, Tensor]:
        words = side_by_side(rows, forms).to(next(self.net.parameters()).device)
        return words, self.net(words)

    def described(self) -> tuple[str, str, list[str]]:
        """For the model card."""
        m = self.model
        about = [
            f"column {t.column}: {len(t.labels)} tags, "
            + (f"spans in {t.written}, trained as {t.trained}, " if t.written else "")
            + f"output {output_of(m, t)}"
            for t in self.tagsets
        ]
        about.append(f"network: {m.layers} × {m.cell}, {m.hidden} units")
        if self.lexicon.coverage:
            about.append(f"pretrained vectors cover {self.lexicon.coverage}")
        return "A tagger", 'tag([["some", "words"]])', about


def _tagsets(folder: Path) -> tuple[Tagset, ...]:
    path = folder / "labels.json"
    stored = read_json(path)
    if not isinstance(stored, list) or not stored:
        raise ModelError(f"{path}: the file is damaged, expected a list of columns")
    return tuple(Tagset.restored(one, path) for one in stored)


def _accuracy(pairs: Sequence[tuple[str, str]]) -> float:
    return accuracy([gold for gold, _ in pairs], [guess for _, guess in pairs])


def _chunks(rows: Sequence[Row], size: int = 128, words: int = 2**15) -> Iterator[list[int]]:
    """Numbers of rows of like length, so few together that long ones need no more memory."""
    some: list[int] = []
    for i in sorted(range(len(rows)), key=lambda i: len(rows[i])):
        if some and (len(some) == size or (len(some) + 1) * len(rows[i]) > words):
            yield some
            some = []
        some.append(i)
    if some:
        yield some
