"""Programs of instructions that C++ runs, against numpy, and what comes of one that cannot be run."""

import ctypes
import gc
import re

import numpy as np
import pytest

from elman.native.library import FOLDER, why_not_loaded
from elman.native.step_program import (
    POSITIONS,
    Matrix,
    Outdated,
    ProgramBuilder,
    Sources,
    WeightSample,
    pack_bfloat16,
    sum_numbers,
)

needs_library = pytest.mark.skipif(why_not_loaded("step_program.cpp") is not None, reason="needs the library")

ERRORS = {"NO_MEMORY": MemoryError, "UNKNOWN_TOKEN": IndexError, "CHANGED": Outdated}


@needs_library
@pytest.mark.parametrize("name", ERRORS)
def test_an_outcome_that_the_library_names_is_the_error_of_that_kind(name, monkeypatch):
    (names,) = re.findall(r"enum Outcome \{ (.*) \}", (FOLDER / "step_program.cpp").read_text())
    builder = ProgramBuilder([1, 1])
    builder.sum(0, 1)
    program = builder.finish()
    monkeypatch.setattr(program, "_run", lambda *_: names.split(", ").index(name))
    with pytest.raises(ERRORS[name]):
        program(1, [0, 0], None, 1, 0)


def draw(*shape: int) -> np.ndarray:
    """Numbers that float32 and bfloat16 hold, both."""
    return (np.random.default_rng(len(shape)).integers(-8, 8, shape) / 16).astype(np.float32)


def at(array: np.ndarray) -> int:
    return array.ctypes.data


def lying(W: np.ndarray) -> Matrix:
    return Matrix(at(W), *W.shape, stride=W.strides[0] // 4)


@needs_library
@pytest.mark.parametrize("rows", [1, 3, 40])
def test_products_sums_and_rows_of_tables_are_those_of_numpy(rows):
    table, E, x, out = draw(5, 2), draw(5, 4), draw(rows, 3), np.zeros((rows, 2), np.float32)
    wide, W, b, c = draw(2, 6), draw(2, 4), draw(2) + 1, draw(2) - 1
    folded, known = np.zeros((5, 2 + 4), np.float32), np.zeros(5, np.uint8)
    tokens = np.arange(rows, dtype=np.int64) % 5
    builder = ProgramBuilder([3, 2])
    looked = builder.look_up(at(table), 5, 2)
    made = builder.fold(at(E), 5, lying(W), at(c), at(folded), at(known))
    product = builder.multiply(0, lying(wide[:, 1:4]), at(b))
    builder.multiply(0, lying(wide[:, :3]), to=product, add=True)
    builder.sum(builder.sum(looked, made), product, to=1, tanh=True)
    program = builder.finish()
    gc.collect()
    for _ in range(2):  # what was computed once is kept
        program(rows, [at(x), at(out)], at(tokens), 1, 0)
        expected = table[tokens] + (E @ W.T + c)[tokens] + x @ wide[:, 1:4].T + b + x @ wide[:, :3].T
        np.testing.assert_allclose(out, np.tanh(expected), atol=1e-5)
    tokens[-1] = 5
    with pytest.raises(IndexError, match="no such token"):
        program(rows, [at(x), at(out)], at(tokens), 1, 0)


@needs_library
@pytest.mark.parametrize("additive", [False, True])
def test_where_a_query_looks_is_a_softmax_over_what_is_no_padding(additive):
    queries, keys, v = draw(3, 4), draw(2, 5, 4), draw(4)
    values = draw(2, 5, 3), draw(2, 5, 2) + 1
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.uint8)
    row = np.array([0, 1, 1], np.int64)
    sources = Sources(at(keys), tuple(map(at, values)), at(mask), 5, 4, (3, 2))
    builder = ProgramBuilder([4, POSITIONS, 3, 2])
    builder.weigh(0, 1, scale=0.5, v=at(v) if additive else None)
    for reader, (to, width) in enumerate([(2, 3), (3, 2)]):
        found = builder.find(1, reader, width)
        builder.sum(found, builder.look_up(at(np.zeros((1, width), np.float32)), 1, width), to=to)
    weights = np.zeros((3, 5), np.float32)
    out = np.zeros((3, 3), np.float32), np.zeros((3, 2), np.float32)
    given = [at(queries), at(weights), *map(at, out)]
    builder.finish()(3, given, at(np.zeros(3, np.int64)), 1, 0, sources, at(row))
    q = queries[:, None]
    scores = 0.5 * (np.tanh(q + keys[row]) @ v if additive else (q * keys[row]).sum(2))
    chances = np.exp(scores) * mask[row]
    chances /= chances.sum(1, keepdims=True)
    np.testing.assert_allclose(weights, chances, atol=1e-5)
    for reader in (0, 1):
        expected = np.einsum("np,npd->nd", chances, values[reader][row])
        np.testing.assert_allclose(out[reader], expected, atol=1e-5)


@needs_library
def test_a_matrix_of_bfloat16_is_packed_and_gives_the_same_product():
    kept: list[np.ndarray] = []

    def allocate(count: int) -> int:
        kept.append(np.full(count + 64, 7, np.uint8))
        return at(kept[-1])

    x, W, b, out = draw(2, 5), draw(3, 9), draw(3), np.zeros((2, 3), np.float32)
    packed = pack_bfloat16(lying(W[:, 2:7]), allocate)
    assert packed
    assert (packed.width, packed.depth, packed.bfloat16) == (3, 5, True)
    assert (kept[0][-64:] == 7).all(), "no more is written than was asked for"
    builder = ProgramBuilder([5, 3])
    builder.multiply(0, packed, at(b), to=1)
    builder.finish()(2, [at(x), at(out)], None, 1, 0)
    np.testing.assert_allclose(out, x @ W[:, 2:7].T + b, atol=1e-5)
    W[2, 6] = 1 / 3
    assert pack_bfloat16(lying(W[:, 2:7]), allocate) is None


@needs_library
def test_weights_that_changed_are_seen_by_their_samples_or_by_their_checksum():
    W = draw(6, 7)
    samples = W.ravel()[::3].copy()
    sample = WeightSample(at(W), at(samples), len(samples), 3, W.size, sum_numbers(at(W), W.size))
    builder, out = ProgramBuilder([1, 1]), np.zeros((1, 1), np.float32)
    builder.sum(0, 0, to=1)
    program = builder.finish([sample])
    program(1, [at(np.ones((1, 1), np.float32)), at(out)], None, 1, 0)
    assert (out[0, 0], program.is_current()) == (2, True)
    W[0, 1] += 1  # between two samples
    program(1, [at(out), at(out)], None, 1, 0)
    assert not program.is_current()
    W[0, 3] += 1
    with pytest.raises(Outdated, match="weights have changed"):
        program(1, [at(out), at(out)], None, 1, 0)


@needs_library
def test_operands_of_a_step_are_buffers_or_addresses():
    """A step is a C function of rows, threads, widths, operands and room to work in."""
    seen = []
    Step = ctypes.CFUNCTYPE(
        None, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p
    )

    def run(rows: int, threads: int, widths: int, operands: object, scratch: int) -> None:
        seen.append((rows, operands[0], operands[1], scratch is not None))

    step, fixed, x = Step(run), draw(3), draw(2, 3)
    builder = ProgramBuilder([3])
    widths = (ctypes.c_int32 * 1)(3)
    builder.step(ctypes.cast(step, ctypes.c_void_p).value, widths, 12, [(0, None), (None, at(fixed))])
    program = builder.finish()
    gc.collect()
    program(2, [at(x)], None, 1, 0)
    assert seen == [(2, at(x), at(fixed), True)]
