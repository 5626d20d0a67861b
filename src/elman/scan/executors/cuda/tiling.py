"""How a layer is divided among the blocks of a GPU, and what of it lies where on the chip. Numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

WARPS, THREADS, VECTOR = 8, 256, 8  # as in persistent.cuh
WORDS = {1: 144, 2: 56}  # registers of a thread for weights, by the blocks that share a processor


@dataclass(frozen=True)
class Tiling:
    """Groups of ``blocks`` blocks; a group has ``rows`` rows of the batch, a block a part of the units."""

    blocks: int
    rows: int
    cluster: bool  # is what the blocks of a group send each other kept in shared memory?
    across: int = 2  # of the eight warps, those that share the rows of a large matrix; the others its columns
    resident: int = 1  # blocks that share a processor: one computes while the other waits
    split: bool = False  # are results that others wait for multiplied first, and the rest of a product after?

    @property
    def chunk(self) -> int:
        """Tiles of eight rows that are multiplied together."""
        return 2 if self.rows % 16 == 0 else 1

    @property
    def chunks(self) -> int:
        return self.rows // (8 * self.chunk)

    def units(self, width: int) -> int:
        """Of so many units, those of one block: whole vectors."""
        return ceil(width / self.blocks / VECTOR) * VECTOR

    def owners(self, width: int) -> int:
        """The blocks that have any of so many units: the first ones, where there are few."""
        return min(self.blocks, ceil(width / self.units(width)))

    def padded(self, width: int) -> int:
        return self.owners(width) * self.units(width)

    def pairs(self, width: int) -> int:
        """Of the units and rows of a chunk, those of one thread."""
        return ceil(self.units(width) * self.chunk * 8 / THREADS)


@dataclass(frozen=True)
class MatrixTiles:
    """A block's part of a matrix: ``height`` rows of it, times vectors of ``depth`` numbers."""

    height: int
    depth: int
    words: int  # registers of a thread that it may take
    most_across: int

    @property
    def across(self) -> int:
        """How many warps share the rows; the others share the columns."""
        return self.most_across if ceil(self.height / 16) >= 4 else 1

    @property
    def tiles(self) -> int:
        return ceil(ceil(self.height / 16) / self.across)

    @property
    def along(self) -> int:
        return WARPS // self.across

    @property
    def steps(self) -> int:
        return ceil(ceil(self.depth / 32) / self.along)

    @property
    def kept(self) -> int:
        """Steps whose weights stay in registers."""
        return min(self.steps, self.words // (self.tiles * 8))

    @property
    def shared_bytes(self) -> int:
        return WARPS * self.tiles * (self.steps - self.kept) * 2 * 512

    @property
    def pitch(self) -> int:
        return self.tiles * self.across * 16 + 4

    @property
    def row_pitch(self) -> int:
        """Numbers between two rows of what is multiplied, in shared memory: no two begin in the same bank."""
        whole = self.steps * self.along * 32
        return whole + 32 if whole % 64 == 0 else whole

    def parts_bytes(self, tiling: Tiling) -> int:
        return self.along * tiling.chunk * 8 * self.pitch * 4

    @property
    def type(self) -> str:
        return f"Matrix<{self.tiles}, {self.across}, {self.steps}, {self.kept}>"


class SharedMemory:
    """Where each piece of a block's shared memory begins."""

    def __init__(self) -> None:
        self.size = 0

    def take(self, count: int, alignment: int = 128) -> int:
        start = ceil(self.size / alignment) * alignment
        self.size = start + count
        return start


def share_words(shapes: Sequence[tuple[int, int]], tiling: Tiling) -> list[MatrixTiles]:
    """Matrices of one kernel, with the registers divided by their size."""
    whole = [MatrixTiles(height, depth, 0, tiling.across) for height, depth in shapes]
    wanted = [m.tiles * m.steps * 8 for m in whole]
    most = WORDS[tiling.resident]
    left, found = most, []
    for m, words in zip(whole, wanted, strict=True):
        mine = min(words, most * words // sum(wanted)) if sum(wanted) > most else words
        found.append(replace(m, words=min(mine, left)))
        left -= min(mine, left)
    return found
