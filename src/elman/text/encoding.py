"""Many lines to ids at once: characters and bytes by a table, other tokens line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import maxunicode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elman.text.codec import Codec, TokenCodec
from elman.text.tokenizers import BYTES
from elman.text.vocab import EOS, UNK

Ids = NDArray[np.unsignedinteger[Any]]
Encoder = Callable[[Sequence[str]], Ids]


def id_type(vocabulary: int) -> np.dtype[Any]:
    """The smaller of two little-endian types that holds all ids."""
    return np.dtype("<u2" if vocabulary <= 2**16 else "<u4")


def encoder(codec: Codec, *, newlines: bool) -> Encoder:
    r"""A function of lines: the ids of each and of its end, one after the other.

    A line ends in `</s>`, or with `newlines` in what the codec makes of ``\n``: for characters, bytes and
    subwords a token, for words nothing.
    """
    if isinstance(codec, TokenCodec) and codec.tokenizer.kind in ("chars", "bytes"):
        return _by_table(codec, newlines)
    dtype = id_type(len(codec.items))

    def encode(lines: Sequence[str]) -> Ids:
        ids: list[int] = []
        for line in lines:
            ids += codec.encode(line + "\n" if newlines else line)
            if not newlines:
                ids.append(EOS)
        return np.array(ids, dtype)

    return encode


def _by_table(codec: TokenCodec, newlines: bool) -> Encoder:
    """Lines are joined by their ends, and every unit of the text is looked up at once."""
    by_bytes = codec.tokenizer.kind == "bytes"
    known = BYTES if by_bytes else tuple(item for item in codec.items if len(item) == 1)
    units = range(len(BYTES)) if by_bytes else map(ord, known)
    table = np.full(len(BYTES) if by_bytes else maxunicode + 1, UNK, id_type(len(codec.items)))
    table[list(units)] = codec.vocab.encode(known)
    if not newlines:
        table[ord("\n")] = EOS

    def encode(lines: Sequence[str]) -> Ids:
        text = codec.tokenizer.fold("".join([f"{line}\n" for line in lines]))
        if by_bytes:
            found = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
        else:
            found = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        return np.take(table, found)

    return encode
