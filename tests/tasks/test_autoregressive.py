"""Tags fed back: what is trained, with which tags before, and what the beam finds."""

from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import cross_entropy

from elman.cells import GRU, LSTM, Elman
from elman.decoding import AtLengths, Greedy, Policy, ScheduledSampling, TeacherForcing, unroll
from elman.tasks.tagger.autoregressive import AutoregressiveHead

TAGS, SIZE = 4, 3
seeds = st.integers(0, 10_000)
CELLS = [Elman, GRU, LSTM]


def head(cell=GRU, beam: int = 5) -> AutoregressiveHead:
    made = AutoregressiveHead(cell(SIZE + 2, 5), TAGS, None, features=2, beam=beam).double()
    for weight in made.parameters():
        torch.nn.init.normal_(weight)
    return made


def case(sizes: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    mask = torch.arange(max(sizes))[None] < torch.tensor(sizes)[:, None]
    ys = torch.randn(*mask.shape, SIZE, dtype=torch.float64)
    return ys, torch.randint(0, TAGS, mask.shape), mask


def by_hand(made: AutoregressiveHead, y: Tensor, gold: list[int], forced: list[bool]) -> Tensor:
    """-log p of one sentence; where ``forced`` is false, the model's own tag is fed to the next word."""
    cell = made.read.cell
    state, before, total = cell.initial(y[None, 0]), TAGS, y.new_zeros(())
    for x, tag, right in zip(y, gold, forced, strict=True):
        state, out = cell(state, torch.cat([x, made.T.weight[before]])[None])
        logits = made.emit(out)[0]
        total = total - logits.log_softmax(0)[tag]
        before = tag if right else int(logits.argmax())
    return total


def by_steps(made: AutoregressiveHead, ys: Tensor, tags: Tensor, mask: Tensor, policy: Policy) -> Tensor:
    """The same of several, one step after the other, a policy saying what is fed back."""
    step, _, state = made.open(ys)
    turns = unroll(
        step,
        state,
        policy,
        start=torch.full((len(tags),), TAGS),
        stop=AtLengths(mask.sum(1)),
        limit=tags.shape[1],
    )
    logits = torch.stack([turn.logits for turn in turns], 1)
    return (cross_entropy(logits.transpose(1, 2), tags, reduction="none") * mask).sum(1)


@pytest.mark.parametrize("cell", CELLS)
@given(seed=seeds, sizes=st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_all_steps_at_once_are_one_step_after_the_other(cell, seed, sizes):
    """The fast path of teacher forcing, the rollout of the policy that forces, and a loop by hand."""
    torch.manual_seed(seed)
    made, (ys, tags, mask) = head(cell), case(sizes)
    fast = made.loss(ys, tags, mask)
    slow = by_steps(made, ys, tags, mask, TeacherForcing(tags))
    torch.testing.assert_close(fast.double(), slow, rtol=1e-5, atol=1e-5)
    for i, n in enumerate(sizes):
        expected = by_hand(made, ys[i, :n], tags[i, :n].tolist(), [True] * n)
        torch.testing.assert_close(fast[i].double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.6])
def test_forcing_with_probability_p_is_a_loop_by_hand_with_the_same_dice(p):
    made, (ys, tags, mask) = head(), case([5, 3, 4])
    policy = ScheduledSampling(tags, p, Greedy(), torch.Generator().manual_seed(3))
    found = by_steps(made, ys, tags, mask, policy)
    torch.manual_seed(3)
    heads = torch.stack([torch.rand(3, dtype=torch.float64) < p for _ in range(5)], 1)
    for i, n in enumerate([5, 3, 4]):
        expected = by_hand(made, ys[i, :n], tags[i, :n].tolist(), heads[i, :n].tolist())
        torch.testing.assert_close(found[i].double(), expected, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(made.loss(ys, tags, mask).double(), found)


def test_gradients_of_forcing_with_probability_one_are_those_of_the_fast_path():
    made, (ys, tags, mask) = head(), case([4, 2])
    made.train()
    quick = torch.autograd.grad(made.loss(ys, tags, mask).sum(), list(made.parameters()))
    stepped = by_steps(made, ys, tags, mask, ScheduledSampling(tags, 1.0, Greedy(), torch.default_generator))
    slow = torch.autograd.grad(stepped.sum(), list(made.parameters()))
    for one, two in zip(quick, slow, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("cell", CELLS)
@given(seed=seeds, length=st.integers(1, 3))
def test_a_beam_of_full_width_finds_the_likeliest_of_all_sequences(cell, seed, length):
    torch.manual_seed(seed)
    made, (ys, _, mask) = head(cell, beam=TAGS**length).eval(), case([length])
    paths = torch.tensor(list(product(range(TAGS), repeat=length)))
    everything = torch.ones_like(paths, dtype=torch.bool)
    losses = made.loss(ys.expand(len(paths), -1, -1), paths, everything)
    assert torch.equal(made.best(ys, mask)[0], paths[losses.argmin()])


def test_a_beam_of_one_is_greedy():
    made, (ys, _, mask) = head(beam=1).eval(), case([6])
    cell, before, state = made.read.cell, TAGS, made.read.cell.initial(ys[:, 0])
    expected = []
    for x in ys[0]:
        state, out = cell(state, torch.cat([x, made.T.weight[before]])[None])
        before = int(made.emit(out).argmax())
        expected.append(before)
    assert made.best(ys, mask)[0].tolist() == expected


def test_a_wide_beam_finds_likelier_answers_than_a_greedy_one():
    better = 0
    for seed in range(20):
        torch.manual_seed(seed)
        made, (ys, _, mask) = head().eval(), case([6])
        wide, narrow = (made.n_best(ys, mask, 1).scores.item() for made.beam in (64, 1))
        assert wide >= narrow - 1e-9
        better += wide > narrow + 1e-9
    assert better > 0


def test_the_tag_before_matters():
    """Another tag of the first word changes what the second costs, and nothing of the first."""
    made, (ys, tags, mask) = head().eval(), case([2])
    other = tags.clone()
    other[0, 0] = (tags[0, 0] + 1) % TAGS
    one, two = (made.emit(made.states(ys, t, mask)) for t in (tags, other))
    torch.testing.assert_close(one[:, 0], two[:, 0])
    assert not torch.allclose(one[:, 1], two[:, 1])
