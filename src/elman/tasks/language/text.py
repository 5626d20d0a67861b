"""Running text for a language model: files as they are, or as ids that are kept in a cache folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from numpy.typing import NDArray

from elman.errors import DataError, ModelError
from elman.tasks.language.data import BLOCK, Data, Encoded, encoded, in_newlines, learned
from elman.tasks.settings import Tokens
from elman.text import codec as codecs
from elman.text.codec import Codec, TokenCodec
from elman.text.corpus import Cache
from elman.text.files import shown
from elman.text.fingerprint import digest, state
from elman.text.lines import lines

Report = Callable[[str, int, int | None], None]  # what is done, characters done, of how many


def _unseen(what: str, done: int, total: int | None) -> None:
    """Nobody looks."""


@dataclass(frozen=True)
class Text:
    """The lines of some files, or a part of them: from one share of the tokens to another.

    With a ``folder`` its ids, and the vocabulary learnt from it, are kept there and found the next time.
    """

    sources: tuple[str, ...]
    encoding: str = "utf-8"
    folder: Path | None = None
    begin: float = 0.0
    end: float = 1.0
    report: Report = _unseen

    def split(self, holdout: float) -> tuple[Text, Text]:
        """All but the last so large share, and that."""
        return replace(self, end=1 - holdout), replace(self, begin=1 - holdout)

    def learn(self, tokens: Tokens) -> Codec:
        """The codec that knows the tokens of this text, up to its end."""
        if self.folder is None:
            return learned(self._watched(), tokens)
        names = [*map(os.path.abspath, self.sources), self.encoding, self.end, asdict(tokens)]
        place = self.folder / f"{digest(json.dumps(names).encode())}.tokens"
        made_of = json.dumps([state(source) for source in self.sources])
        try:
            if (place / "made_of").read_text(encoding="utf-8") == made_of:
                return codecs.load(place)
        except (OSError, UnicodeDecodeError, ModelError):
            pass  # never made, or not whole: it is made anew
        learnt = learned(self._watched(), tokens)
        _store(learnt, place, made_of)
        return learnt

    def encode(self, codec: Codec) -> Encoded:
        """All ids; those that are kept in a folder are mapped, not read."""
        if self.folder is None:
            return encoded(self._watched(), codec)
        newlines = in_newlines(codec)
        kept = Cache(self.sources, codec, self.folder, encoding=self.encoding, newlines=newlines)
        for progress in kept.build():
            self.report("encoding", progress.counts.bytes, progress.total)
        corpus = kept.open()
        first, last = (int(len(corpus.ids) * share) for share in (self.begin, self.end))
        part, whole = corpus.ids[first:last], (self.begin, self.end) == (0.0, 1.0)
        if not len(part):
            raise DataError(f"{', '.join(map(shown, self.sources))}: too little text to divide")
        return Encoded(part, corpus.counts.characters if whole else _characters(part, codec))

    def lines(self) -> Iterator[str]:
        """The lines from the beginning up to this part's end, by share of the characters."""
        every = (line for s in self.sources for _, line in lines(s, encoding=self.encoding))
        if self.end == 1.0:
            yield from every
            return
        left = self.end * sum(len(line) + 1 for line in self._whole())
        for line in every:
            if left <= 0:
                return
            yield line
            left -= len(line) + 1

    def _whole(self) -> Iterator[str]:
        return replace(self, begin=0.0, end=1.0).lines()

    def _watched(self) -> Iterator[str]:
        done = said = 0
        for line in self.lines():
            yield line
            done += len(line) + 1
            if done - said >= BLOCK:
                said = done
                self.report("reading", done, None)


def read(data: Data, source: str | tuple[str, ...], *, train: bool = False) -> Text:
    """The text of some files; what is trained on is kept encoded."""
    sources = (source,) if isinstance(source, str) else source
    return Text(sources, data.encoding, data.folder if train else None)


def _characters(ids: NDArray[Any], codec: Codec) -> int | None:
    one = isinstance(codec, TokenCodec) and codec.tokenizer.kind == "chars"
    return len(ids) if one else None


def _store(codec: Codec, place: Path, made_of: str) -> None:
    """Whole or not at all: two runs may begin at once."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(dir=place.parent))
    codec.save(beside)
    (beside / "made_of").write_text(made_of, encoding="utf-8")
    shutil.rmtree(place, ignore_errors=True)
    try:
        beside.rename(place)
    except OSError:  # the other was quicker, with the same
        shutil.rmtree(beside)
