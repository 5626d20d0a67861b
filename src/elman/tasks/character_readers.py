"""Language models of characters that a task reads beside its words: taken from a model, stored, loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.cells import OwnCell, get_cell
from elman.errors import ConfigError, ModelError
from elman.files.model_files import READERS
from elman.layers.character_states import CharacterStates, ReaderShape
from elman.layers.embedding import Embedding
from elman.layers.encoder_start import copy_layers
from elman.ranges import LayerCount, Size, check_ranges
from elman.tasks.building_limit import limit_to_memory
from elman.text.json_io import read_json, write_json
from elman.text.spelling import shorten_word
from elman.text.vocab_tokenizer import VocabTokenizer

_PLAIN = ("mogrifier_rounds", "last_hidden", "residual", "zoneout")  # what a reader has not
_SIZES = ("embedding", "hidden", "layers")


@dataclass(frozen=True)
class ReaderConfig:
    """The network of a reader, as a model folder has it."""

    cell: str
    embedding: Size
    hidden: Size
    layers: LayerCount
    backward: bool

    def __post_init__(self) -> None:
        check_ranges(self)


class CharacterReader:
    """How a language model codes characters, and its layers."""

    def __init__(self, config: ReaderConfig, tokenizer: VocabTokenizer) -> None:
        self.config, self.tokenizer = config, tokenizer
        line_end, blank = tokenizer.encode_tokens(["\n", " "])
        sizes = (config.embedding, config.hidden, config.layers, line_end, blank, config.backward)
        with limit_to_memory():
            self.states = CharacterStates(get_cell(config.cell), ReaderShape(len(tokenizer.items), *sizes))

    def encode(self, words: Sequence[str]) -> npt.NDArray[np.int64]:
        """The codes of the characters of each word (N, C); 0 is padding."""
        cut = [*map(shorten_word, words)]
        codes = np.zeros((len(words), max(map(len, cut), default=0)), np.int64)
        for row, word in zip(codes, cut, strict=True):
            row[: len(word)] = self.tokenizer.encode_tokens(word)
        return codes


def take_reader(source: Any, backward: bool) -> CharacterReader:
    """The reader that a language model is, with its weights."""
    if source.spec.name != "lm" or source.tokenizer.kind != "chars":
        raise ConfigError(
            "beside the words a language model of characters is read (`--tokens chars`), no other"
        )
    others = [name for name in _PLAIN if getattr(source.config, name)]
    if others or isinstance(source.config.cell, OwnCell) or not isinstance(source.net.embed, Embedding):
        why = f"model.{others[0]}" if others else "a cell or vectors of your own"
        raise ConfigError(f"the language model has {why}, which nothing reads beside words: train one without")
    sizes = {name: getattr(source.config, name) for name in _SIZES}
    reader = CharacterReader(ReaderConfig(source.config.cell, **sizes, backward=backward), source.tokenizer)
    reader.states.embed.load_state_dict(source.net.embed.state_dict())
    if copy_layers(source.net.layers, reader.states.layers) != source.config.layers:
        raise ConfigError("the layers of the language model cannot be read beside words: take plain cells")
    return reader


def save_readers(readers: Sequence[CharacterReader], folder: Path) -> None:
    """Write what is not weights; these are in the network of the task."""
    write_json(folder / READERS, [vars(r.config) | {"characters": r.tokenizer.to_json()} for r in readers])


def load_readers(folder: Path) -> tuple[CharacterReader, ...]:
    """The readers that `save_readers` wrote, without their weights; none where it wrote nothing."""
    path = folder / READERS
    return tuple(_parse(one, path) for one in _list_stored(path)) if path.exists() else ()


def _list_stored(path: Path) -> list[Any]:
    stored = read_json(path)
    if not isinstance(stored, list):
        raise ModelError(f"{path}: the file is damaged, expected a list of language models")
    return stored


def _parse(stored: Any, path: Path) -> CharacterReader:
    wanted = {"cell": str, **dict.fromkeys(_SIZES, int), "backward": bool, "characters": dict}
    if not isinstance(stored, dict) or {name: type(value) for name, value in stored.items()} != wanted:
        raise ModelError(f"{path}: the file is damaged, expected {', '.join(wanted)}")
    tokenizer = VocabTokenizer.parse(stored["characters"], path)
    try:
        config = ReaderConfig(**{name: value for name, value in stored.items() if name != "characters"})
        return CharacterReader(config, tokenizer)
    except ConfigError as error:
        raise ModelError(f"{path}: the file is damaged: {error}") from None
