"""Running text for a language model: files as they are, or as ids that are kept in a cache folder."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from elman.errors import ConfigError, DataError, ModelError
from elman.tasks.base import Progress
from elman.tasks.config import TokenizerConfig
from elman.tasks.data_facts import SAMPLE, DataFacts, count_words
from elman.tasks.language_model.data import (
    LanguageModelDataConfig,
    LanguageModelDataset,
    count_tokens,
    encode_lines,
    ends_lines_with_newline,
    learn_tokenizer,
)
from elman.tasks.language_model.tables import is_table, read_texts
from elman.text.byte_source import COMPRESSED, PipeContent, display_name
from elman.text.corpus_cache import BLOCK, CorpusCache
from elman.text.files import read_lines
from elman.text.fingerprint import corpus_digest, digest, digest_folder
from elman.text.json_io import write_json
from elman.text.tables import InMemory, hold_rows
from elman.text.tokenizer import Tokenizer, load_tokenizer


@dataclass(frozen=True)
class TextCorpus:
    """The lines of some files, or a part of them: from one share of the tokens to another.

    With a ``folder`` its ids, and the vocabulary learnt from it, are kept there and found the next time.
    """

    sources: tuple[str, ...]
    encoding: str = "utf-8"
    folder: Path | None = None
    begin: float = 0.0
    end: float = 1.0
    share: float = 1.0  # of this part, what is encoded; the vocabulary is that of all of it
    report: Progress = lambda what, done, total: None

    def split(self, holdout: float) -> tuple[TextCorpus, TextCorpus]:
        """All but the last so large share, and that."""
        if isinstance(self.sources[0], InMemory):
            first, last = self.sources[0].hold_out(holdout)
            return replace(self, sources=(first,)), replace(self, sources=(last,))
        return replace(self, end=1 - holdout), replace(self, begin=1 - holdout)

    def join(self, last: TextCorpus) -> TextCorpus:
        """This part and the last one, which ``split`` took off."""
        if isinstance(self.sources[0], InMemory):
            return replace(self, sources=(hold_rows([*self.lines(), *last.lines()]),))
        return replace(self, end=last.end)

    def take_fold(self, folds: int, number: int) -> tuple[TextCorpus, TextCorpus]:
        """All lines but the ``number``-th of so many stretches of as many lines, and these; held in memory."""
        lines = list(self.lines())
        if len(lines) < folds:
            where = ", ".join(map(display_name, self.sources))
            raise DataError(f"{where}: {folds} folds cannot be made of {len(lines):,} lines; take fewer folds")
        first, last = (len(lines) * k // folds for k in (number - 1, number))
        rest, fold = lines[:first] + lines[last:], lines[first:last]
        return TextCorpus((hold_rows(rest),)), TextCorpus((hold_rows(fold),))

    def same_files(self, other: TextCorpus) -> list[str]:
        """The sources that are in the other text, too."""
        known = {os.path.realpath(s) for s in self.sources if not isinstance(s, InMemory)}
        return [s for s in other.sources if not isinstance(s, InMemory) and os.path.realpath(s) in known]

    def learn(self, tokens: TokenizerConfig) -> Tokenizer:
        """The tokenizer that knows the tokens of this text, up to its end."""
        if self.folder is None:
            return learn_tokenizer(self._lines_with_progress(), tokens)
        names = [*map(os.path.abspath, self.sources), self.encoding, self.end, asdict(tokens)]
        place = self.folder / f"{digest(json.dumps(names).encode())}.tokens"
        made_of = [*map(corpus_digest, self.sources)]
        try:
            stored = json.loads((place / "made_of").read_text(encoding="utf-8"))
            if stored == [*made_of, digest_folder(place / "tokenizer")]:
                return load_tokenizer(place / "tokenizer")
        except (OSError, ValueError, RecursionError, ModelError):
            pass  # never made, or not whole: it is made anew
        learnt = learn_tokenizer(self._lines_with_progress(), tokens)
        _store(learnt, place, made_of)
        return learnt

    def count(self, tokenizer: Tokenizer) -> Counter[str]:
        """How often each token occurs up to the end of this text."""
        return count_tokens(self._lines_with_progress(), tokenizer)

    def measure(self) -> DataFacts:
        """How much text this part has, by what its sources begin with; the end of a line counts as a word."""
        sample, read = [], 0
        every = replace(self, begin=0.0, end=1.0).lines()
        for line in every:
            sample.append(line)
            read += len(line) + 1
            if read >= SAMPLE:
                break
        lengths, types = count_words(sample)
        scale = self._times(sample, read, every) * (self.end - self.begin) * self.share
        counts = {"examples": len(sample), "words": sum(lengths) + len(sample), "characters": read}
        scaled: dict[str, Any] = {name: round(scale * count) for name, count in counts.items()}
        return DataFacts(**scaled, types=len(types), longest=max(lengths, default=0))

    def _times(self, sample: list[str], read: int, rest: Iterator[str]) -> float:
        """How many times a sample of so many characters all sources are; plain files are not read for it."""
        if read < SAMPLE or any(isinstance(s, InMemory) or s.endswith(COMPRESSED) for s in self.sources):
            return 1 + sum(len(line) + 1 for line in rest) / max(1, read)
        size = sum(len(line.encode(self.encoding, "replace")) + 1 for line in sample)
        return sum(map(os.path.getsize, self.sources)) / size

    def encode(self, tokenizer: Tokenizer) -> LanguageModelDataset:
        """All ids, or the first ``share`` of them."""
        whole = self._encode(tokenizer)
        if self.share == 1.0:
            return whole
        ids = whole.ids[: max(1, int(self.share * len(whole)))]
        return LanguageModelDataset(ids, len(ids) if tokenizer.level == "char" else None)

    def _encode(self, tokenizer: Tokenizer) -> LanguageModelDataset:
        """All ids; those that are kept in a folder are mapped, not read."""
        if self.folder is None:
            return encode_lines(self._lines_with_progress(), tokenizer)
        newlines = ends_lines_with_newline(tokenizer)
        kept = CorpusCache(self.sources, tokenizer, self.folder, encoding=self.encoding, newlines=newlines)
        for progress in kept.build():
            self.report("encoding", progress.counts.bytes, progress.total)
        corpus = kept.open()
        first, last = (int(len(corpus.ids) * share) for share in (self.begin, self.end))
        part, whole = corpus.ids[first:last], (self.begin, self.end) == (0.0, 1.0)
        if not len(part):
            raise DataError(f"{', '.join(map(display_name, self.sources))}: too little text to divide")
        of_part = len(part) if tokenizer.level == "char" else None
        return LanguageModelDataset(part, corpus.counts.characters if whole else of_part)

    def lines(self) -> Iterator[str]:
        """The lines from the beginning up to this part's end, by share of the characters."""
        every = (line for source in self.sources for line in self._read(source))
        if self.end == 1.0:
            yield from every
            return
        left = self.end * sum(len(line) + 1 for line in replace(self, begin=0.0, end=1.0).lines())
        for line in every:
            if left <= 0:
                return
            yield line
            left -= len(line) + 1

    def _read(self, source: str) -> Iterator[str]:
        if isinstance(source, InMemory):
            return iter(source.rows)
        return (line for _, line in read_lines(source, encoding=self.encoding))

    def _lines_with_progress(self) -> Iterator[str]:
        done = said = 0
        for line in self.lines():
            yield line
            done += len(line) + 1
            if done - said >= BLOCK:
                said = done
                self.report("reading", done, None)


def read_corpus(
    data: LanguageModelDataConfig, source: str | tuple[str, ...], *, train: bool = False
) -> TextCorpus:
    """The text of some files, which is kept encoded where it is trained on, or the text column of tables."""
    sources = (source,) if isinstance(source, str) else source
    if any(is_table(data, source) for source in sources):
        return TextCorpus((hold_rows([line for source in sources for line in read_texts(data, source)]),))
    if data.skip_bad:
        raise ConfigError("skip_bad is for tables; of plain text every line is read")
    if any(isinstance(source, PipeContent) for source in sources):  # another one each time: not worth a cache
        read = (read_lines(source, encoding=data.encoding) for source in sources)
        return TextCorpus((hold_rows([line for lines in read for _, line in lines]),))
    kept = train and not isinstance(source, InMemory)
    return TextCorpus(sources, data.encoding, data.folder if kept else None)


def _store(tokenizer: Tokenizer, place: Path, made_of: list[str]) -> None:
    """Whole or not at all: two runs may begin at once."""
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(dir=place.parent))
    (beside / "tokenizer").mkdir()
    tokenizer.save(beside / "tokenizer")
    write_json(beside / "made_of", [*made_of, digest_folder(beside / "tokenizer")])
    shutil.rmtree(place, ignore_errors=True)
    try:
        beside.rename(place)
    except OSError:  # the other was quicker, with the same
        shutil.rmtree(beside)
