"""Operations that are held back and computed together: the same values and gradients, in fewer kernels."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.scan.executors import recurrence
from elman.scan.executors.codegen.fusion_check import agrees
from elman.scan.executors.codegen.kernel_fusion import FusionMode, KernelProgram
from tests.laws.test_executors import assert_same, inputs, outcome
from tests.zoo import FORMULAS, cell_of

TRITON = SimpleNamespace(
    abs=torch.abs,
    erf=torch.erf,
    exp=torch.exp,
    log=torch.log,
    sigmoid=torch.sigmoid,
    sqrt=torch.sqrt,
    where=torch.where,
)


class Emulated:
    """A kernel on the CPU: loads everything, computes, stores everything."""

    def __init__(self) -> None:
        self.programs: list[KernelProgram] = []

    def __call__(self, program: KernelProgram) -> None:
        self.programs.append(program)
        scope = {name: program.blocks[i].clone() for name, i in program.loads.items()}
        scope["tl"] = TRITON
        for line in program.lines:
            exec(line, scope)
        for i, name in program.stores.items():
            program.blocks[i].copy_(scope[name])


@pytest.fixture
def kernel(monkeypatch):
    """Programs of the codegen executor run by it from now on."""
    emulated = Emulated()
    monkeypatch.setattr(recurrence, "fuse_kernels", lambda _: FusionMode(emulated))
    return emulated


@pytest.mark.parametrize("name", FORMULAS)
def test_programs_compute_what_the_operations_compute(name, kernel):
    cell = cell_of(name)
    xs, state = inputs(cell, torch.float64)
    ours = outcome(cell, xs, None, state, executor="codegen")
    assert kernel.programs
    assert_same(ours, outcome(cell, xs, None, state, executor="loop"), 1e-10)


def test_what_lies_between_two_products_is_one_kernel(kernel):
    """An LSTM has one product in a step: one kernel in a step each way; besides, one for the first states,
    one before the way back, one after it."""
    cell, steps = cell_of("lstm"), 6
    xs, state = inputs(cell, torch.float64, steps=steps)
    outcome(cell, xs, None, state, executor="codegen")
    assert len(kernel.programs) == 2 * steps + 3
    assert max(len(program.lines) for program in kernel.programs) >= 8


def test_a_block_is_read_as_it_was_written_last():
    kernel = Emulated()
    a, b = torch.randn(3, 4), torch.randn(3, 4)
    expected = torch.sigmoid(a * b) * 2 + b
    with FusionMode(kernel):
        c = a * b
        c.sigmoid_()
        c.mul_(2)
        d = torch.add(c, b)
    torch.testing.assert_close(d, expected)
    torch.testing.assert_close(c, expected - b)


def test_blocks_that_cut_across_each_other_are_not_computed_together():
    kernel = Emulated()
    a = torch.randn(4, 6)
    expected = a.clone()
    expected[:, 1:5] = torch.tanh(expected[:, 1:5])
    expected[:, 0:4] = expected[:, 0:4] + expected[:, 2:6]
    with FusionMode(kernel):
        a[:, 1:5].tanh_()
        torch.add(a[:, 0:4], a[:, 2:6].clone(), out=a[:, 0:4])
    torch.testing.assert_close(a, expected)
    with FusionMode(kernel):  # rows that are shifted, too
        a[0:2].mul_(2)
        b = torch.mul(a[1:3], 3.0)
    torch.testing.assert_close(b, torch.stack((6 * expected[1], 3 * expected[2])))


@given(st.integers(1, 4), st.integers(1, 4), st.sampled_from([1, 2, 3]))
def test_halves_and_thirds_of_a_wide_block_are_known_from_it(rows, width, parts):
    kernel = Emulated()
    wide, factor = torch.randn(rows, parts * width), torch.randn(rows, width)
    expected = [torch.sigmoid(part) * factor for part in wide.split(width, 1)]
    with FusionMode(kernel):
        wide.sigmoid_()
        ours = [torch.mul(part, factor) for part in wide.split(width, 1)]
    for a, b in zip(ours, expected, strict=True):
        torch.testing.assert_close(a, b)
    assert len(kernel.programs) == 1
    assert len(kernel.programs[0].loads) == parts + 1


def test_other_operations_see_what_was_held_back():
    kernel = Emulated()
    a = torch.randn(3, 3)
    with FusionMode(kernel):
        b = torch.tanh(a)
        c = b @ b
    torch.testing.assert_close(c, torch.tanh(a) @ torch.tanh(a))


def test_a_kernel_that_computes_something_else_is_found_out():
    """So that operations are run one by one where what torch keeps to itself has changed."""
    cpu = torch.device("cpu")

    def wrong(program: KernelProgram) -> None:
        Emulated()(program)
        program.blocks[max(program.stores)].add_(0.1)

    def failing(program: KernelProgram) -> None:
        raise TypeError("no such argument")

    assert agrees(Emulated(), cpu)
    assert not agrees(wrong, cpu)
    assert not agrees(failing, cpu)
