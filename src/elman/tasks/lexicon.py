"""Words to what a network sees of them; how they are cut, known and spelled is kept in the model folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from elman.errors import ConfigError, ModelError
from elman.layers.characters import CHARACTERS
from elman.layers.dropout import WordDropout
from elman.layers.embedding import Embedding, OneHot, Pretrained, PretrainedEmbedding
from elman.layers.words import WordLayer
from elman.shapes import Tensor
from elman.tasks.words import Forms, Row, WordModel
from elman.text import codec
from elman.text.codec import Codec, TokenCodec
from elman.text.spelling import Spelling
from elman.text.stored import distinct_strings, read_json, write_json
from elman.text.tokenizers import WORDS
from elman.text.vectors import Coverage, read_vectors
from elman.text.vocab import PAD, UNK, Vocab

FURTHER = "further.json"  # in a model folder: words that only the file of vectors had
INPUTS = "inputs.json"  # and the values of further columns
OWN = ("vocab.json", "tokenizer.json", "spelling.json", FURTHER, INPUTS)


class Input(NamedTuple):
    """A further column that is read with each word, and the values it had in training."""

    column: str
    values: Vocab


@dataclass
class Lexicon:
    """The words a model knows, and how it spells them."""

    codec: Codec
    spelling: Spelling | None = None
    vectors: Pretrained | None = None  # what the embedding begins with
    coverage: Coverage | None = None
    further: int = 0  # the last so many ids are of words that only the file of vectors has
    inputs: tuple[Input, ...] = ()  # what else is read of each word

    @classmethod
    def learn(cls, model: WordModel, words: Codec, counts: Mapping[str, int]) -> Lexicon:
        """What the words of the training data need, given how often each occurs as it is written."""
        made = cls(words)
        if model.spelled:
            if not _of_words(words):
                raise ConfigError(
                    "only words are spelled: leave out characters, casing and affixes"
                )
            made.spelling = Spelling.learn(counts, affixes=model.affixes)
        if model.vectors:
            made._read(model, counts)
        return made

    def _read(self, model: WordModel, counts: Mapping[str, int]) -> None:
        known = len(self.codec.items)
        fold = self.codec.tokenizer.fold if isinstance(self.codec, TokenCodec) else str
        found = read_vectors(
            model.vectors,
            self.codec.items,
            further=model.vector_words if _of_words(self.codec) else 0,
            also=lambda word: fold(word) == word,
        )
        if isinstance(self.codec, TokenCodec):
            self.codec = self.codec.extended(found.further)
            self.further = len(found.further)
        index = {token: i for i, token in enumerate(self.codec.items)}
        occurring = np.zeros(len(index), np.int64)
        for word, count in counts.items():
            occurring[index.get(fold(word), UNK)] += count
        self.coverage = found.coverage(occurring)
        trained = torch.arange(len(found.found)) < (0 if model.frozen else known)
        matrix, present = torch.from_numpy(found.matrix), torch.from_numpy(found.found)
        self.vectors = Pretrained(matrix, present, trained)

    @classmethod
    def load(cls, model: WordModel, folder: Path, weights: Mapping[str, Tensor]) -> Lexicon:
        """The lexicon that ``save`` wrote; the shape of its vectors is told by the weights."""
        made = cls(codec.load(folder), inputs=_load_inputs(folder))
        if model.spelled:
            made.spelling = Spelling.load(folder / "spelling.json")
        if model.vectors:
            further = distinct_strings(read_json(folder / FURTHER), folder / FURTHER)
            if isinstance(made.codec, TokenCodec):
                made.codec, made.further = made.codec.extended(further), len(further)
            own, given, trained = (
                weights[f"words.embed.0.{name}"] for name in ("own", "given", "trained")
            )
            if trained.shape != (len(made.codec.items), 1) or trained.dtype is not torch.bool:
                raise ModelError(
                    f"{folder}: {FURTHER} and model.safetensors disagree on how many words there are"
                )
            made.vectors = Pretrained.like(own, given, trained)
        return made

    def adopt(self, folder: Path) -> None:
        """Take the codec that was stored, if it is of the same data."""
        stored, further = codec.load(folder), self._further()
        if len(stored.items) + len(further) != len(self.codec.items):
            raise ModelError(f"{folder} was trained on other data: its vocabulary differs")
        self.codec = stored.extended(further) if isinstance(stored, TokenCodec) else stored

    def _further(self) -> tuple[str, ...]:
        return self.codec.items[len(self.codec.items) - self.further :]

    def save(self, folder: Path) -> None:
        for name in OWN:  # of an earlier model
            (folder / name).unlink(missing_ok=True)
        if self.inputs:
            stored = [{"column": i.column, "values": i.values.items} for i in self.inputs]
            write_json(folder / INPUTS, stored)
        if self.vectors is not None:
            write_json(folder / FURTHER, self._further())
        known = self.codec
        if isinstance(known, TokenCodec):
            items = known.items[: len(known.items) - self.further]
            known = TokenCodec(known.tokenizer, Vocab(items))
        known.save(folder)
        if self.spelling:
            self.spelling.save(folder / "spelling.json")

    def layer(self, model: WordModel, *, one_hot: bool = False) -> WordLayer:
        """The layer that reads these words."""
        known = len(self.codec.items) - self.further
        embeddings: list[Embedding | OneHot | PretrainedEmbedding] = []
        if self.vectors is not None:
            embeddings.append(PretrainedEmbedding(self.vectors))
        if self.vectors is None or model.beside:
            embeddings.append(OneHot(known) if one_hot else Embedding(known, model.embedding))
        characters = None
        features = [len(given.values) for given in self.inputs]
        if self.spelling:
            features += self.spelling.sizes if model.casing else self.spelling.sizes[:-1]
            if model.characters:
                make = CHARACTERS[model.characters]
                alphabet = len(self.spelling.alphabet)
                characters = make(alphabet, model.character_size, model.character_hidden)
        return WordLayer(embeddings, characters, features, WordDropout(model.word_dropout, UNK))

    def seen(self, forms: Forms) -> npt.NDArray[np.bool_]:
        """Which of the forms are in the vocabulary of the training data (N,)."""
        known = len(self.codec.items) - self.further
        return np.asarray((forms.ids != UNK) & (forms.ids < known))

    def texts(self, texts: Iterable[str]) -> tuple[list[Row], Forms]:
        """Texts, cut into tokens, as rows of numbers of forms."""
        if isinstance(self.codec, TokenCodec) and self.spelling:
            return self.sentences(map(self.codec.tokenizer.cut, texts))
        rows = [np.asarray(self.codec.encode(text), np.int32) for text in texts]
        none = np.zeros((len(self.codec.items), 0), np.int64)
        return rows, Forms(np.arange(len(self.codec.items)), none, none)

    def sentences(
        self,
        sentences: Iterable[Sequence[str]],
        inputs: Iterable[Sequence[Sequence[str]]] | None = None,
    ) -> tuple[list[Row], Forms]:
        """Sentences of words as rows of numbers of forms; ``inputs`` has for each its further columns."""
        assert isinstance(self.codec, TokenCodec)
        if self.inputs and inputs is None:
            names = ", ".join(given.column for given in self.inputs)
            raise ModelError(f"the model reads column {names}, too: give it a file that has it")
        numbers = {("",) * (1 + len(self.inputs)): 0}
        rows = []
        given = repeat(()) if inputs is None else inputs
        for sentence, columns in zip(sentences, given, strict=inputs is not None):
            forms = zip(sentence, *columns, strict=True)
            numbered = [numbers.setdefault(form, len(numbers)) for form in forms]
            rows.append(np.array(numbered, np.int32))
        words, *further = (list(column) for column in zip(*numbers, strict=True))
        return rows, self._forms(words, further)

    def _forms(self, words: list[str], further: Sequence[list[str]]) -> Forms:
        assert isinstance(self.codec, TokenCodec)
        ids = np.array(self.codec.ids(words), np.int64)
        given = [v.values.encode(column) for v, column in zip(self.inputs, further, strict=True)]
        features = np.array(given, np.int64).reshape(len(given), len(words)).T
        characters = np.zeros((len(words), 0), np.int64)
        if self.spelling:
            features = np.concatenate([features, self.spelling.features(words)], 1)
            characters = self.spelling.characters(words)
        ids[0] = PAD
        features[0] = PAD
        return Forms(ids, features, characters)


def _load_inputs(folder: Path) -> tuple[Input, ...]:
    path = folder / INPUTS
    if not path.exists():
        return ()
    stored = read_json(path)
    if not isinstance(stored, list):
        raise ModelError(f"{path}: the file is damaged, expected a list of columns")
    found = []
    for one in stored:
        if not isinstance(one, dict) or one.keys() != {"column", "values"}:
            raise ModelError(f"{path}: the file is damaged, expected column and values")
        found.append(Input(str(one["column"]), Vocab(distinct_strings(one["values"], path))))
    return tuple(found)


def _of_words(known: Codec) -> bool:
    """Whether its tokens are words as they are written."""
    return isinstance(known, TokenCodec) and known.tokenizer.kind in WORDS
