"""English sentences: what people wrote about their code in docstrings and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from elman.demo.source_files import SourceFile
from elman.errors import DataError

FEWEST = 2000
"""With fewer sentences than these nothing can be shown."""

_DOCSTRING = re.compile(r'^[ \t]*[rRuU]?"""(.*?)"""', re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"(?:^[ \t]*#[^\n!]*\n)+", re.MULTILINE)
_HASH = re.compile(r"^[ \t]*#+[ \t]?", re.MULTILINE)
_BLANK_LINE = re.compile(r"\n\s*\n")
# Lines of doctests, lists, tables, headings and directives.
_NO_PROSE = re.compile(r">>>|\.\.|\$|\||[-*+] |#|:|[=\-~^]{3}")
_MARKUP = re.compile(r":\w+:(?=`)|[`*]")
_BETWEEN = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_SENTENCE = re.compile(r"""[A-Z][\w'",;:()\- ]*(?:\.[\w'",;:()\- ]+)*[.!?]""", re.ASCII)
_CODE = re.compile(r"_|  |--|:\w|(?:Args|Returns|Raises|Parameters|Note):|\w\(|TODO|XXX|FIXME")


def collect_sentences(files: Iterable[SourceFile]) -> dict[str, list[str]]:
    """The sentences of each file that has any, each sentence only where it stands first."""
    seen: set[str] = set()
    found: dict[str, list[str]] = {}
    for name, text in files:
        comments = (_HASH.sub("", comment) for comment in _COMMENT.findall(text))
        for sentence in chain.from_iterable(map(sentences, (*_DOCSTRING.findall(text), *comments))):
            if sentence not in seen:
                seen.add(sentence)
                found.setdefault(name, []).append(sentence)
    return found


def require_enough(found: Mapping[str, list[str]]) -> Mapping[str, list[str]]:
    """The same, or a DataError where this Python was installed without its sources."""
    count = sum(map(len, found.values()))
    if count < FEWEST:
        raise DataError(
            f"this Python has only {count} sentences of documentation in its .py files; the demo needs "
            f"{FEWEST:,}: run it where Python, NumPy and PyTorch are installed with their sources"
        )
    return found


def sentences(text: str) -> Iterator[str]:
    """The plain sentences of a docstring: from a capital to a full stop, without code."""
    for paragraph in _BLANK_LINE.split(text.strip("\n")):
        lines = paragraph.splitlines()
        indents = {len(line) - len(line.lstrip()) for line in lines[1:]}
        if len(indents) > 1 or any(_NO_PROSE.match(line.strip()) for line in lines):
            continue
        plain = _MARKUP.sub("", " ".join(line.strip() for line in lines)).replace("’", "'")
        for sentence in _BETWEEN.split(plain):
            if _plain(sentence) and 5 <= len(sentence.split()) <= 40:
                yield sentence


def _plain(sentence: str) -> bool:
    balanced = sentence.count("(") == sentence.count(")") and sentence.count('"') % 2 == 0
    return balanced and bool(_SENTENCE.fullmatch(sentence)) and not _CODE.search(sentence)
