"""Which tilings fit a GPU, and about how long a step takes with each: what is worth measuring.

The figures are of one H200: exchange through the second level cache and within clusters, the rate of the tensor
cores and of shared memory, measured apart from each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from elman.scan.executors.cpu.value_plan import split_products
from elman.scan.executors.cuda.kernel_plan import KernelPlan
from elman.scan.executors.cuda.program import Shape
from elman.scan.executors.cuda.tiling import WORDS, MatrixTiles, Tiling, share_words

_ROWS = (8, 16, 24, 32, 48, 64)
_CLUSTERS = (1, 2, 4, 8, 16)
_UNITS = (8, 16, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256)
_RESIDENT = {1: 1.0, 2: 0.5, 4: 0.227, 8: 0.113, 16: 0.053}  # clusters at once, of the number of processors
_RESERVED = 1024  # bytes of shared memory that the system takes of each block
_CROWD = 1.3  # how much longer a step takes where two blocks share a processor
_TRIED = {1: 3, 2: 1}  # of those that have a processor to themselves, and of those that share one
_MOST_CHUNKS = 4  # each is unrolled: more would take long to compile


@dataclass(frozen=True)
class Chip:
    """What a GPU has."""

    processors: int
    shared_bytes: int  # that one block may use
    clusters: bool


def rank_tilings(shape: Shape, rows: int, chip: Chip, *, backward: bool) -> list[Tiling]:
    """The tilings that fit, those that promise to be fast first."""
    found = []
    for tiling in _propose(shape, rows, chip):
        microseconds = estimate_step(shape, tiling, rows, chip, backward=backward)
        if microseconds is not None:
            found.append((microseconds, tiling.blocks, tiling.rows, tiling))
    return [tiling for *_, tiling in sorted(found, key=lambda one: one[:3])]


def list_candidates(shape: Shape, rows: int, chip: Chip, *, backward: bool) -> list[Tiling]:
    """The tilings that are worth measuring: the best ranked ones, and variants of the first of them."""
    ranked = rank_tilings(shape, rows, chip, backward=backward)
    found = [tiling for n, most in _TRIED.items() for tiling in [t for t in ranked if t.resident == n][:most]]
    found += [replace(tiling, across=4) for tiling in found[:1]]
    if len(split_products(shape.formula.trace.products)) > len(shape.formula.trace.products):
        found += [replace(tiling, split=True) for tiling in found[:2]]
    steps = [estimate_step(shape, tiling, rows, chip, backward=backward) for tiling in found]
    return [tiling for tiling, step in zip(found, steps, strict=True) if step is not None]


def _propose(shape: Shape, rows: int, chip: Chip) -> Iterator[Tiling]:
    widest = max(width for _, width in shape.widths) // shape.heads
    for count in _ROWS:
        if count > max(8, ceil(rows / 8) * 8):
            break
        for resident in WORDS:
            for each in sorted({ceil(widest / units) for units in _UNITS}):
                if each * shape.heads <= chip.processors * resident:
                    yield Tiling(each, count, False, resident=resident)
            for each in _CLUSTERS if chip.clusters else ():
                if ceil(widest / 8) >= each:
                    yield Tiling(each, count, True, resident=resident)


def estimate_step(shape: Shape, tiling: Tiling, rows: int, chip: Chip, *, backward: bool) -> float | None:
    """Microseconds; None where the weights do not fit into registers and shared memory."""
    plan = shape.plan(tiling)
    shapes = [_matrix_shape(plan, k, backward) for k in range(len(plan.values.trace.products))]
    matrices = share_words(shapes, tiling)
    room = chip.shared_bytes // tiling.resident - _RESERVED * (tiling.resident - 1)
    if tiling.chunks > _MOST_CHUNKS or _shared_bytes(plan, matrices, backward) > room:
        return None
    groups = ceil(rows / tiling.rows)
    if tiling.cluster:
        there = max(1, int(_RESIDENT[tiling.blocks] * chip.processors)) * tiling.resident
        turns = ceil(groups * shape.heads / there)
    else:
        turns = ceil(groups / (chip.processors * tiling.resident // (tiling.blocks * shape.heads)))
    if tiling.resident > 1 and groups * tiling.blocks * shape.heads <= chip.processors:
        return None  # each has a processor to itself
    crowd = 1.0 if tiling.resident == 1 else _CROWD
    return turns * crowd * sum(_estimate_product(tiling, m) for m in matrices)


def _matrix_shape(plan: KernelPlan, k: int, backward: bool) -> tuple[int, int]:
    depth = plan.operand_size(k)
    if backward:
        return plan.tiling.units(depth), plan.padded_width(k)
    return sum(plan.tiling.units(plan.size[name]) for name in plan.names(k)), plan.tiling.padded(depth)


def _shared_bytes(plan: KernelPlan, matrices: list[MatrixTiles], backward: bool) -> int:
    tiling = plan.tiling
    received = 4 * tiling.rows * sum(m.row_pitch for m in matrices) if tiling.cluster else 0
    staged = sum(tiling.units(size) for size in plan.size.values()) * tiling.rows * 2
    parts = max(m.parts_bytes(tiling) for m in matrices)
    return sum(m.shared_bytes for m in matrices) + received + staged + parts + 128 * (2 * len(matrices) + 4)


def _estimate_product(tiling: Tiling, m: MatrixTiles) -> float:
    kilobytes = m.depth * tiling.rows * 2 / 1024
    exchange = 0.25 + kilobytes * 0.028 if tiling.cluster else 0.6 + kilobytes * 0.0075 + 0.003 * tiling.blocks
    products = m.tiles * m.across * 16 * m.steps * m.along * 32 * tiling.rows * 2 / 5.1e6
    weights = m.shared_bytes / 1024 / 240 * tiling.chunks
    return exchange + products + weights + 0.35 * tiling.chunks
