"""Words to what a network sees of them; how they are cut, known and spelled is kept in the model folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from elman.errors import ConfigError, DataError, ModelError
from elman.files.model_files import TASK_FILES, remove_files
from elman.generation.token_bytes import display_tokens
from elman.layers.embedding import Embedding, OneHot, Pretrained, PretrainedEmbedding, WordDropout
from elman.layers.word_layer import CHARACTERS, WordLayer
from elman.shapes import Tensor
from elman.tasks.character_readers import CharacterReader, load_readers, save_readers, take_reader
from elman.tasks.word_batch import WordFeaturesConfig, WordForms, WordRow
from elman.text.byte_source import display_name
from elman.text.json_io import distinct_strings, read_json, write_json
from elman.text.spelling import Spelling
from elman.text.tokenizer import Tokenizer, load_tokenizer
from elman.text.vectors import Coverage, read_vectors
from elman.text.vocab import PAD, UNK, Vocab

FURTHER = "further.json"  # in a model folder: words that only the file of vectors had
INPUTS = "inputs.json"  # and the values of further columns


class InputColumn(NamedTuple):
    """A further column that is read with each word, and the values it had in training."""

    column: str
    values: Vocab


@dataclass
class WordFeaturizer:
    """The words a model knows, and how it spells them."""

    tokenizer: Tokenizer
    spelling: Spelling | None = None
    vectors: Pretrained | None = None  # what the embedding begins with
    coverage: Coverage | None = None
    further: int = 0  # the last so many ids are of words that only the file of vectors has
    inputs: tuple[InputColumn, ...] = ()  # what else is read of each word
    readers: tuple[CharacterReader, ...] = ()  # language models of characters that read beside

    @classmethod
    def learn(cls, config: WordFeaturesConfig, tokenizer: Tokenizer, words: Iterable[str]) -> WordFeaturizer:
        """What the words of the training data need, given as they are written."""
        made = cls(tokenizer)
        counts = Counter(words if config.spells or config.vectors else ())
        if config.spells:
            if tokenizer.level != "word":
                raise ConfigError("only words are spelled: leave out characters, casing and affixes")
            made.spelling = Spelling.learn(counts, affixes=config.affixes)
        if config.vectors:
            made._read(config, counts)
        return made

    def _read(self, config: WordFeaturesConfig, counts: Mapping[str, int]) -> None:
        normalize = self.tokenizer.normalize
        found = read_vectors(
            config.vectors,
            self.tokenizer.items,
            further=config.vector_words if self.tokenizer.level == "word" else 0,
            also=lambda word: normalize(word) == word,
        )
        if not found.found[: len(self.tokenizer.items)].any():
            name = display_name(config.vectors)
            raise DataError(
                f"{name}: it has a vector for no word of the training data; are they of one language?"
            )
        self.tokenizer = self.tokenizer.extend(found.further)
        self.further = len(found.further)
        occurring = np.zeros(len(self.tokenizer.items), np.int64)
        ids = np.array(self.tokenizer.encode_tokens(counts), np.int64)
        np.add.at(occurring, ids, [*counts.values()])
        self.coverage = found.coverage(occurring)
        trained = torch.arange(len(found.found)) < (0 if config.freeze_vectors else self.known)
        matrix, present = torch.from_numpy(found.matrix), torch.from_numpy(found.found)
        self.vectors = Pretrained(matrix, present, trained)

    @classmethod
    def load(cls, config: WordFeaturesConfig, folder: Path, weights: Mapping[str, Tensor]) -> WordFeaturizer:
        """The lexicon that ``save`` wrote; the shape of its vectors is told by the weights."""
        made = cls(load_tokenizer(folder), inputs=_load_inputs(folder), readers=load_readers(folder))
        if config.spells:
            made.spelling = Spelling.load(folder / "spelling.json")
        if config.vectors:
            further = distinct_strings(read_json(folder / FURTHER), folder / FURTHER)
            made.tokenizer, made.further = made.tokenizer.extend(further), len(further)
            own, given, trained = (weights[f"words.embed.0.{name}"] for name in ("own", "given", "trained"))
            if trained.shape != (len(made.tokenizer.items), 1) or trained.dtype is not torch.bool:
                raise ModelError(
                    f"{folder}: {FURTHER} and model.safetensors disagree on how many words there are"
                )
            made.vectors = Pretrained.like(own, given, trained)
        return made

    def add_readers(self, sources: Mapping[bool, Any]) -> WordFeaturizer:
        """The same with language models of characters beside the words, by whether they read backward."""
        if self.tokenizer.level != "word":
            raise ConfigError(
                "language models are read beside words only: leave out lm_forward and lm_backward"
            )
        return replace(self, readers=tuple(take_reader(lm, backward) for backward, lm in sources.items()))

    def reuse_vocab(self, folder: Path) -> None:
        """Take the tokenizer that was stored, if it is of the same data."""
        stored, further = load_tokenizer(folder), self.tokenizer.items[self.known :]
        if len(stored.items) + len(further) != len(self.tokenizer.items):
            raise ModelError(f"{folder} was trained on other data: its vocabulary differs")
        self.tokenizer = stored.extend(further)

    @property
    def known(self) -> int:
        """How many tokens training knows; the ids of ``further`` ones follow."""
        return len(self.tokenizer.items) - self.further

    def save(self, folder: Path) -> None:
        remove_files(folder, TASK_FILES)  # of an earlier model
        if self.inputs:
            stored = [{"column": i.column, "values": i.values.items} for i in self.inputs]
            write_json(folder / INPUTS, stored)
        if self.readers:
            save_readers(self.readers, folder)
        if self.vectors is not None:
            write_json(folder / FURTHER, self.tokenizer.items[self.known :])
        self.tokenizer.truncate(self.known).save(folder)
        if self.spelling:
            self.spelling.save(folder / "spelling.json")

    def layer(self, config: WordFeaturesConfig, *, one_hot: bool = False) -> WordLayer:
        """The layer that reads these words."""
        embeddings: list[Embedding | OneHot | PretrainedEmbedding] = []
        if self.vectors is not None:
            embeddings.append(PretrainedEmbedding(self.vectors))
        if self.vectors is None or config.keep_embedding:
            embeddings.append(OneHot(self.known) if one_hot else Embedding(self.known, config.embedding))
        characters = None
        features = [len(given.values) for given in self.inputs]
        if self.spelling:
            features += self.spelling.sizes if config.casing else self.spelling.sizes[:-1]
            if config.characters:
                make = CHARACTERS[config.characters]
                alphabet = len(self.spelling.alphabet)
                characters = make(alphabet, config.character_size, config.character_hidden)
        readers = [reader.states for reader in self.readers]
        return WordLayer(embeddings, characters, features, WordDropout(config.word_dropout, UNK), readers)

    def in_training(self, forms: WordForms) -> npt.NDArray[np.bool_]:
        """Which of the forms are in the vocabulary of the training data (N,)."""
        return np.asarray((forms.ids != UNK) & (forms.ids < self.known))

    def display(self, text: str) -> list[str]:
        """The tokens of a text as they are read, for people."""
        if self.spelling or self.readers:
            return self.tokenizer.split(text)
        return display_tokens(self.tokenizer, text, 0)[:-1]

    def texts(self, texts: Iterable[str]) -> tuple[list[WordRow], WordForms]:
        """Texts, cut into tokens, as rows of numbers of forms."""
        if self.spelling or self.readers:
            return self.sentences(map(self.tokenizer.split, texts))
        rows = [np.asarray(self.tokenizer.encode(text), np.int32) for text in texts]
        none = np.zeros((len(self.tokenizer.items), 0), np.int64)
        return rows, WordForms(np.arange(len(self.tokenizer.items)), none, none)

    def sentences(
        self, sentences: Iterable[Sequence[str]], inputs: Iterable[Sequence[Sequence[str]]] | None = None
    ) -> tuple[list[WordRow], WordForms]:
        """Sentences of words as rows of numbers of forms; ``inputs`` has for each its further columns."""
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

    def _forms(self, words: list[str], further: Sequence[list[str]]) -> WordForms:
        ids = np.array(self.tokenizer.encode_tokens(words), np.int64)
        given = [v.values.encode(column) for v, column in zip(self.inputs, further, strict=True)]
        features = np.array(given, np.int64).reshape(len(given), len(words)).T
        characters = np.zeros((len(words), 0), np.int64)
        if self.spelling:
            features = np.concatenate([features, self.spelling.features(words)], 1)
            characters = self.spelling.characters(words)
        ids[0] = PAD
        features[0] = PAD
        if not self.readers:
            return WordForms(ids, features, characters)
        codes = np.stack([reader.encode(words) for reader in self.readers])
        return WordForms(ids, features, characters, codes)


def _load_inputs(folder: Path) -> tuple[InputColumn, ...]:
    path = folder / INPUTS
    if not path.exists():
        return ()
    stored = read_json(path)
    if not isinstance(stored, list):
        raise ModelError(f"{path}: the file is damaged, expected a list of columns")
    if not all(isinstance(one, dict) and one.keys() == {"column", "values"} for one in stored):
        raise ModelError(f"{path}: the file is damaged, expected column and values")
    return tuple(InputColumn(str(c["column"]), Vocab(distinct_strings(c["values"], path))) for c in stored)
