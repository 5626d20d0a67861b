"""What people say of parameters in NumPy's and PyTorch's docstrings, and of which type those are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from elman.demo.source_files import SourceFile
from elman.errors import DataError

FEWEST = 1000
"""With fewer descriptions than these nothing can be shown."""

# `dim (int, optional): the dimension to reduce`, which may go on below, further to the right
_GOOGLE = re.compile(
    r"^([ \t]+)[*`]*\w+`*[ ]*\(([^()\n]+(?:\([^()\n]*\)[^()\n]*)*)\)[ ]*:[ \t]*"
    r"(\S.*(?:\n\1[ \t]+\S.*)*)",
    re.MULTILINE,
)
# `axis : int, optional`, and below it, further to the right, what it is
_NUMPY = re.compile(r"^([ \t]*)\*?\w+(?:, \w+)* : (\S.*)\n((?:\1[ \t]+\S.*(?:\n|$))+)", re.MULTILINE)
_MARKUP = re.compile(r":\w+:(?=`)|[`~*]")
_FIRST = re.compile(r"^(?:Optional\[|optional,? |an? )")

TYPES = {
    "bool": r"bool",
    "int": r"(?:int|integer)s?\b",
    "float": r"float|double|scalar|Number",
    "str": r"(?:str|string)\b",
    "callable": r"callable|function|Callable",
    "array": r"(?:torch\.)?Tensor|array|ndarray|LongTensor|FloatTensor",
    "dict": r"dict|Dict|[Mm]apping",
    "list": r"[Ll]ist|[Tt]uple|[Ss]equence|[Ii]terable",
    "dtype": r"(?:torch\.)?dtype|data-type|data type",
    "device": r"(?:torch\.)?device",
}
"""The labels, and how a type that is one of them begins."""


def descriptions(files: Iterable[SourceFile]) -> dict[str, str]:
    """Each description with its type: of several the commonest."""
    seen: dict[str, Counter[str]] = {}
    for file in files:
        for type_, text in _find_parameters(file.text):
            seen.setdefault(text, Counter())[type_] += 1
    if len(seen) < FEWEST:
        raise DataError(
            f"only {len(seen)} descriptions of parameters were found in NumPy's and PyTorch's docstrings; "
            f"the demo needs {FEWEST:,}: run it where both are installed with their sources"
        )
    return {text: types.most_common(1)[0][0] for text, types in seen.items()}


def _find_parameters(text: str) -> Iterator[tuple[str, str]]:
    for style in (_GOOGLE, _NUMPY):
        for _, said, description in style.findall(text):
            type_, plain = label(said), sentence(description)
            if type_ and plain:
                yield type_, plain


def label(said: str) -> str | None:
    """The label for a type as it is written in a docstring; None where it is another."""
    plain = _FIRST.sub("", _MARKUP.sub("", said).strip())
    return next((name for name, form in TYPES.items() if re.match(form, plain)), None)


def sentence(description: str) -> str:
    """The first sentence of a description, or nothing if that is too short, too long or no text."""
    plain = " ".join(_MARKUP.sub("", description).split())
    first = re.split(r"(?<=[a-z)])\. ", plain)[0].removesuffix(".")
    fits = len(first.split()) >= 3 and len(first) <= 200 and first[0].isalpha()
    return first if fits else ""
