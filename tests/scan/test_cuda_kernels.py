"""Kernels of whole sequences as text, without a GPU: they compile, they fit, and their phases are in order."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from elman.cells import GRU, LSTM, Elman, Formulaic, Mogrifier, ProjectedLSTM, ResetAfterGRU, Zoneout
from elman.errors import ModelError
from elman.formula.symbols import is_input
from elman.formula.traversal import topological
from elman.scan import scan
from elman.scan.executors.cpu.value_plan import split_products
from elman.scan.executors.cuda.estimate import Chip, estimate_step, list_candidates, rank_tilings
from elman.scan.executors.cuda.nvrtc import CudaError, compile_kernel
from elman.scan.executors.cuda.program import Shape, print_kernel
from elman.scan.executors.cuda.tiling import WARPS, MatrixTiles, Tiling
from tests.zoo import ALL, cell_of

H200 = Chip(132, 232_448, True)
CELLS = {
    "two products": GRU(24, 40),
    "two widths": ProjectedLSTM(24, 32, cell_size=40),
    "masks": Zoneout(LSTM(24, 40), 0.1),
    "parameters": ResetAfterGRU(24, 40),
    "heads": LSTM(24, 48, heads=3),
    "mixed widths": Mogrifier(LSTM(24, 40), rounds=1),
    "three rounds": Mogrifier(GRU(24, 40), rounds=3, rank=8),
}


def shape_of(cell, dtype=torch.float16):
    plain = not cell.formula.masks and not cell.mixes_input
    return Shape(cell.formula, tuple(cell.widths.items()), cell.heads, dtype, plain)


def is_dense(name):
    cell = cell_of(name)
    if not isinstance(cell, Formulaic) or not cell.formula.trace.products:
        return False
    return not any(a.op in ("mean", "softmax") for a in cell.formula.trace.nodes)


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90a", "sm_100a"])
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_an_lstm_compiles_for_every_generation(architecture, backward):
    tiling = Tiling(4, 16, cluster=architecture != "sm_80")
    for ragged in (False, True):
        printer = print_kernel(shape_of(LSTM(24, 60)), tiling, backward=backward, ragged=ragged)
        assert compile_kernel(printer.text, architecture)


@pytest.mark.parametrize("name", CELLS)
def test_every_kind_of_cell_compiles(name):
    shape = shape_of(CELLS[name], torch.bfloat16)
    for backward in (False, True):
        for tiling in (Tiling(2, 8, cluster=backward), Tiling(2, 8, not backward, resident=2, split=True)):
            assert compile_kernel(print_kernel(shape, tiling, backward=backward, ragged=True).text, "sm_90a")


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("split", [False, True], ids=["whole", "split"])
@pytest.mark.parametrize("name", [name for name in ALL if is_dense(name)])
def test_a_phase_reads_no_product_that_is_still_to_come(name, split, backward):
    tiling = Tiling(1, 8, False, split=split)
    printer = print_kernel(shape_of(cell_of(name)), tiling, backward=backward, ragged=False)
    products = printer.plan.values.trace.products
    number = {n: k for k, product in enumerate(products) for n in product.names}
    same = range(len(products)) if backward else printer.plan.first_products
    done, sent = set(), set() if backward else {*printer.plan.operand_states}
    for phase in printer.phases:
        if phase.product is not None:
            assert same[phase.product] in sent
            done.add(phase.product)
        for a in topological(phase.values.values()):
            if is_input(a, "q" if backward else "r"):
                assert (int(a.args[1]) if backward else number[a.args[1]]) in done
        sent.update(phase.sends)
    assert done == set(range(len(products)))


@pytest.mark.parametrize("rows", [1, 20, 64, 130])
@pytest.mark.parametrize("cell", [LSTM(64, 512), GRU(64, 1024), Elman(64, 200), CELLS["three rounds"]])
def test_what_is_said_to_fit_does(cell, rows):
    shape = shape_of(cell)
    for backward in (False, True):
        for tiling in list_candidates(shape, rows, H200, backward=backward):
            printer = print_kernel(shape, tiling, backward=backward, ragged=False)
            assert printer.shared_bytes * tiling.resident <= H200.shared_bytes
            assert tiling.blocks * cell.heads <= H200.processors * tiling.resident


@pytest.mark.parametrize("cell", [Elman(64, 200), LSTM(64, 512), CELLS["heads"], CELLS["two widths"]])
def test_the_memory_of_a_block_is_estimated_large_enough_and_not_much_larger(cell):
    shape = shape_of(cell)
    for backward in (False, True):
        for tiling in list_candidates(shape, 64, H200, backward=backward):
            used = print_kernel(shape, tiling, backward=backward, ragged=True).shared_bytes
            for spare, fits in ((-1, False), (16 * 1024, True)):
                bytes = (used + spare + 1024 * (tiling.resident - 1)) * tiling.resident
                chip = replace(H200, shared_bytes=bytes)
                assert (estimate_step(shape, tiling, 64, chip, backward=backward) is not None) == fits


@pytest.mark.parametrize("width", [8, 20, 40, 512])
def test_a_layer_is_divided_among_no_more_blocks_than_it_has_vectors_of_eight_units(width):
    tilings = rank_tilings(shape_of(LSTM(8, width)), 64, H200, backward=False)
    assert all(tiling.blocks <= -(-width // 8) for tiling in tilings)
    assert any(tiling.cluster for tiling in tilings)


def test_weights_that_fit_no_chip_have_no_tiling():
    cell = LSTM(8, 16)
    wide = Shape(cell.formula, tuple((name, 4096) for name in cell.widths), 1, torch.float16)
    assert not rank_tilings(wide, 64, H200, backward=False)


def test_a_source_that_is_no_cuda_is_refused_in_one_line():
    with pytest.raises(CudaError, match=r"^NVRTC refused a kernel for sm_90: .*error.*$"):
        compile_kernel("int x = ;", "sm_90")


def test_a_cell_on_the_cpu_is_refused():
    with pytest.raises(ModelError, match="the cuda executor cannot run this cell: it runs on other devices"):
        scan(LSTM(3, 4), torch.zeros(2, 5, 3), executor="cuda")


def test_the_kernel_in_the_guide_is_the_one_that_is_printed():
    page = (Path(__file__).parents[2] / "docs" / "gpu.md").read_text()
    excerpt = page.split("```c\n")[1].split("```")[0].splitlines()
    tiling = Tiling(16, 8, False, across=1)
    printed = print_kernel(shape_of(LSTM(8, 512)), tiling, backward=False, ragged=False).text
    assert len(excerpt) > 10
    assert {*excerpt} <= {line.strip() for line in printed.splitlines()}


def test_equal_cells_have_equal_kernels():
    texts = {
        print_kernel(shape_of(LSTM(24, 40)), Tiling(2, 8, False), backward=True, ragged=False).text
        for _ in range(2)
    }
    assert len(texts) == 1


def test_what_others_wait_for_is_multiplied_first():
    """Of r and z, a GRU that resets before the product needs r at once, and z at the end of the step."""
    for backward, expected in ((False, ["r", "z", "n"]), (True, ["n", "z", "r"])):
        tiling = Tiling(1, 8, False, split=True)
        printer = print_kernel(shape_of(GRU(24, 40)), tiling, backward=backward, ragged=False)
        numbers = [phase.product for phase in printer.phases if phase.product is not None]
        assert [printer.plan.names(k)[0] for k in numbers] == expected


@pytest.mark.parametrize("height", [8, 40, 80])
def test_neighbouring_rows_begin_in_other_banks_of_shared_memory(height):
    for depth in range(8, 1200, 8):
        tiles = MatrixTiles(height, depth, 128, 4)
        assert tiles.row_pitch % 64 == 32  # numbers of two bytes; all banks hold 64
        assert depth <= tiles.row_pitch < depth + 32 * tiles.along + 32


@pytest.mark.parametrize("words", [0, 96])
@pytest.mark.parametrize("height", [8, 40, 80])
def test_registers_and_shared_memory_hold_a_block_s_part_of_a_matrix(height, words):
    for depth in range(8, 1200, 8):
        tiles = MatrixTiles(height, depth, words, 4)
        held = tiles.shared_bytes + WARPS * 32 * 4 * 8 * tiles.tiles * tiles.kept  # 8 words
        assert 2 * height * depth <= held <= 2 * 16 * WARPS * tiles.tiles * (depth + 32 * WARPS)


def test_what_later_products_wait_for_becomes_a_product_of_its_own():
    names = [product.names for product in split_products(GRU.formula.trace.products)]
    assert names == [("r",), ("z",), ("n",)]  # n waits for r alone
    whole = LSTM.formula.trace.products
    assert split_products(whole) == whole


@pytest.mark.parametrize("name", CELLS)
def test_the_padded_results_of_a_product_lie_side_by_side(name):
    tiling = Tiling(1, 8, False)
    plan = shape_of(CELLS[name]).plan(tiling)
    for k, begins in enumerate(plan.padded_columns):
        ends = [*begins.values(), plan.padded_width(k)][1:]
        taken = [place for begin, end in zip(begins.values(), ends, strict=True) for place in range(begin, end)]
        assert taken == [*range(plan.padded_width(k))]
        wide = [end - begin for begin, end in zip(begins.values(), ends, strict=True)]
        assert wide == [tiling.padded(plan.size[n]) for n in plan.names(k)]


def test_states_that_a_derivative_reads_are_kept_whole():
    tiling = Tiling(1, 8, False)
    assert shape_of(LSTM(3, 8)).plan(tiling).float_states == ["c"]  # h is in no derivative
    assert shape_of(Elman(3, 8)).plan(tiling).float_states == ["h"]  # 1 - h²
