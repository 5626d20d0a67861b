"""Laws of the recurrence itself."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.cells import LSTM, Dropout, Elman, Stacked, WeightDrop, Zoneout
from elman.scan import scan
from elman.state import State, detach, from_bytes, leaves, map_state, pick, repeat, to_bytes
from tests.zoo import ALL, FORMULAS, cell_of

DETERMINISTIC = [n for n in ALL if "drop" not in n]


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_scan_is_repeated_steps(name):
    cell = cell_of(name)
    xs = torch.randn(2, 5, 3, dtype=torch.float64)
    ys, final = scan(cell, xs)
    state = cell.initial(xs)
    for t in range(5):
        state, y = cell(state, xs[:, t])
        torch.testing.assert_close(y, ys[:, t])
    torch.testing.assert_close(state, final)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.sampled_from([*DETERMINISTIC]))
def test_padding_is_inert(lengths, name):
    cell = cell_of(name)
    xs = torch.randn(len(lengths), 6, 3, dtype=torch.float64)
    ys, final = scan(cell, xs, torch.arange(6) < torch.tensor(lengths)[:, None])
    for row, length in enumerate(lengths):
        alone, end = scan(cell, xs[row : row + 1, :length])
        torch.testing.assert_close(ys[row : row + 1, :length], alone)
        torch.testing.assert_close(map_state(lambda t, row=row: t[row : row + 1], final), end)
        assert not ys[row, length:].any()


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_reverse_is_the_scan_of_the_reversed(name):
    cell = cell_of(name)
    xs = torch.randn(2, 5, 3, dtype=torch.float64)
    ys, final = scan(cell, xs, reverse=True)
    flipped, end = scan(cell, xs.flip(1))
    torch.testing.assert_close(ys, flipped.flip(1))
    torch.testing.assert_close(final, end)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_a_sequence_in_two_pieces_is_the_sequence(name):
    cell = cell_of(name)
    xs = torch.randn(2, 6, 3, dtype=torch.float64)
    whole, end = scan(cell, xs)
    first, state = scan(cell, xs[:, :4])
    second, final = scan(cell, xs[:, 4:], state=state)
    torch.testing.assert_close(torch.cat([first, second], 1), whole)
    torch.testing.assert_close(final, end)


def test_a_scan_of_a_stack_is_a_stack_of_scans():
    below, above = cell_of("lstm"), Elman(4, 2).double()
    xs, mask = (torch.randn(2, 5, 3, dtype=torch.float64), torch.tensor([[1] * 5, [1] * 2 + [0] * 3]) > 0)
    middle, s = scan(below, xs, mask)
    top, r = scan(above, middle, mask)
    ys, state = scan(Stacked([below, above]), xs, mask, executor="loop")
    torch.testing.assert_close(ys, top)
    torch.testing.assert_close(state, (s, r))


@pytest.mark.parametrize("name", ALL)
def test_a_state_survives_its_bytes(name):
    cell = cell_of(name)
    cell.eval()
    _, state = scan(cell, torch.randn(2, 3, 3, dtype=torch.float64))
    again = from_bytes(to_bytes(state))
    assert list(map(str, leaves(again))) == list(map(str, leaves(detach(state))))
    xs = torch.randn(2, 2, 3, dtype=torch.float64)
    assert torch.equal(scan(cell, xs, state=again)[0], scan(cell, xs, state=state)[0])


def test_rows_are_picked_and_repeated():
    state = (State(h=torch.arange(3.0)[:, None], c=torch.zeros(3, 2)), torch.arange(3))
    assert repeat(state, 2)[1].tolist() == [0, 0, 1, 1, 2, 2]
    assert pick(state, torch.tensor([2, 0]))[0].h.flatten().tolist() == [2, 0]


def test_dropout_keeps_one_mask_for_a_sequence_and_none_in_evaluation():
    cell = Dropout(LSTM(3, 50), 0.5)
    xs = torch.randn(4, 6, 3)
    ys, _ = scan(cell, xs)
    dropped = ys == 0
    assert dropped.any()
    assert not dropped.all()
    assert (dropped == dropped[:, :1]).all(), "the same features at every step"
    assert not torch.equal(dropped[0], dropped[1]), "each sequence its own"
    assert torch.equal(scan(cell.eval(), xs)[0], scan(cell.cell, xs)[0])


def test_weight_drop_differs_between_batches_and_not_in_evaluation():
    cell = WeightDrop(LSTM(3, 8), 0.5)
    xs = torch.randn(2, 4, 3)
    first, second = cell.sample_masks(xs).matrices()[0], cell.sample_masks(xs).matrices()[0]
    assert (first == 0).any()
    assert not torch.equal(first, second)
    kept = first != 0
    torch.testing.assert_close(first[kept], 2 * cell.cell.U[0][kept])
    assert cell.eval().sample_masks(xs).matrices()[0] is cell.cell.U[0]


def test_zoneout_mixes_by_its_mask_and_by_its_expectation_in_evaluation():
    inner = LSTM(3, 4)
    x, state = torch.randn(2, 3), State(h=torch.randn(2, 4), c=torch.randn(2, 4))
    new = inner.step(state, inner.project(x))
    cell = Zoneout(inner, {"h": 0.25, "c": 0.5}).eval()
    mixed = cell.step(state, cell.project(x))
    torch.testing.assert_close(mixed.h, 0.25 * state.h + 0.75 * new.h)
    torch.testing.assert_close(mixed.c, 0.5 * state.c + 0.5 * new.c)
    drawn = cell.train().step(state, cell.project(x))
    assert ((drawn.c == state.c) | (drawn.c == new.c)).all()


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_passes_gradcheck(name):
    cell = cell_of(name)
    for executor in ("loop", "codegen"):
        xs = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
        mask = torch.tensor([[True, True, True], [True, True, False]])
        state = [t.requires_grad_() for _, t in leaves(map_state(torch.randn_like, cell.initial(xs)))]

        def run(xs, *parts, mask=mask, executor=executor):
            begin = State(**dict(zip(cell.formula.states, parts, strict=True)))
            ys, end = scan(cell, xs, mask, begin, executor=executor)
            return ys, *end

        assert torch.autograd.gradcheck(run, (xs, *state))
