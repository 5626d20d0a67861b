"""Many lines to ids at once: characters and bytes by a table, other tokens line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import maxunicode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elman.text.pre_tokenizer import BYTES
from elman.text.tokenizer import Tokenizer
from elman.text.vocab import EOS, UNK

Ids = NDArray[np.unsignedinteger[Any]]
Encoder = Callable[[Sequence[str]], Ids]


def id_dtype(vocabulary: int) -> np.dtype[Any]:
    """The smaller of two little-endian types that holds all ids."""
    return np.dtype("<u2" if vocabulary <= 2**16 else "<u4")


def make_encoder(tokenizer: Tokenizer, *, newlines: bool) -> Encoder:
    r"""A function of lines: the ids of each and of its end, one after the other.

    A line ends in `</s>`, or with `newlines` in what the tokenizer makes of ``\n``: for characters, bytes and
    subwords a token, for words nothing.
    """
    if tokenizer.level in ("char", "byte"):
        return _by_table(tokenizer, newlines)
    dtype = id_dtype(len(tokenizer.items))

    def encode(lines: Sequence[str]) -> Ids:
        ids: list[int] = []
        for line in lines:
            ids += tokenizer.encode(line + "\n" if newlines else line)
            if not newlines:
                ids.append(EOS)
        return np.array(ids, dtype)

    return encode


def _by_table(tokenizer: Tokenizer, newlines: bool) -> Encoder:
    """Lines are joined by their ends, and every unit of the text is looked up at once."""
    by_bytes = tokenizer.level == "byte"
    known = BYTES if by_bytes else tuple(item for item in tokenizer.items if len(item) == 1)
    units = range(len(BYTES)) if by_bytes else map(ord, known)
    table = np.full(len(BYTES) if by_bytes else maxunicode + 1, UNK, id_dtype(len(tokenizer.items)))
    ids = {item: i for i, item in enumerate(tokenizer.items)}
    table[list(units)] = [ids.get(item, UNK) for item in known]
    if not newlines:
        table[ord("\n")] = EOS

    def encode(lines: Sequence[str]) -> Ids:
        text = tokenizer.normalize("".join([f"{line}\n" for line in lines]))
        if by_bytes:
            found = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
        else:
            found = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        return np.take(table, found)

    return encode
