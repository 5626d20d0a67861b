"""A file compressed by zstandard, read to its end: one that was cut short is an error, not a shorter file."""

from __future__ import annotations

import io
from typing import Any

from elman.text.optional_packages import import_optional

_CHUNK = 4096  # bytes at once: at most 128 MB when they are unpacked


class ZstandardFile(io.RawIOBase):
    """The unpacked bytes of one frame after the other.

    The package's own reader takes the end of the file for the end of the data.
    """

    def __init__(self, path: str) -> None:
        zstandard = import_optional("zstandard", "tables", f"{path}: to unpack it")
        self.begin_frame = zstandard.ZstdDecompressor().decompressobj
        self.file = open(path, "rb")  # noqa: SIM115
        self.frame: Any = None  # that is being unpacked
        self.packed = self.unpacked = b""  # what was read and not used yet

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.unpacked:
            chunk = self.packed or self.file.read(_CHUNK)
            if not chunk and self.frame is None:
                return 0
            if not chunk:
                raise EOFError("the file ended before the end of its data")
            self.frame = self.frame or self.begin_frame()
            self.unpacked, self.packed = self.frame.decompress(chunk), b""
            if self.frame.eof:
                self.packed, self.frame = self.frame.unused_data, None
        count = min(len(buffer), len(self.unpacked))
        buffer[:count], self.unpacked = self.unpacked[:count], self.unpacked[count:]
        return count

    def close(self) -> None:
        self.file.close()
        super().close()
