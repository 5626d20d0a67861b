"""What objectives draw from a model."""

from collections import Counter

import pytest
import torch

from elman.decoding.sequence_model import SequenceModel, Sequences
from elman.objectives import MinimumRisk, Reinforce, SelfCriticalBaseline, draw_samples, pairwise_cost
from elman.objectives.sample_sequences import concat_sequences, first_occurrences, unpad
from tests.objectives.toy import END, A, B, Toy, all_sequences, pairs, probability, sequences

BATCH = pairs([B, A, END], [A, A, A])
COPIES = 20_000


def test_the_toy_is_what_objectives_want():
    assert isinstance(Toy(), SequenceModel)


@pytest.mark.parametrize("greedy", [False, True])
def test_samples_are_drawn_as_the_model_says_be_a_greedy_row_among_them_or_not(greedy):
    """Samples conditioned on a greedy beginning would all share it."""
    toy = Toy()
    torch.manual_seed(0)
    found = unpad(draw_samples(toy, BATCH, COPIES, greedy).samples)
    for i, x in enumerate(BATCH.x):
        counts = Counter(map(tuple, found[i * COPIES : (i + 1) * COPIES]))
        right = {row: float(probability(toy, x, row)) for row in all_sequences()}
        assert set(counts) <= set(right)
        away = sum(abs(counts[row] / COPIES - p) for row, p in right.items()) / 2
        assert away < 0.02, "total variation"


def test_the_greedy_row_takes_the_likeliest_token_of_each_step():
    toy = Toy()
    greedy = draw_samples(toy, BATCH, 3, True).greedy
    assert greedy is not None
    for x, row in zip(BATCH.x, unpad(greedy), strict=True):
        for place in range(len(row)):
            others = [[*row[:place], token] for token in (A, B, END)]
            best = max(others, key=lambda one: float(probability(toy, x, one, len(one) - 1)))
            assert best == row[: place + 1]


def test_the_colder_the_more_samples_are_the_greedy_one():
    toy = Toy()
    torch.manual_seed(0)
    found = draw_samples(toy, BATCH, 50, True, temperature=1e-4)
    assert found.greedy is not None
    greedy = unpad(found.greedy)
    assert unpad(found.samples) == [row for row in greedy for _ in range(50)]


@pytest.mark.parametrize(
    "objective",
    [
        MinimumRisk(pairwise_cost(lambda a, b: float(len(a) != len(b))), samples=4, sharpness=1.0),
        Reinforce(pairwise_cost(lambda a, b: float(len(a) != len(b))), SelfCriticalBaseline(), samples=4),
    ],
)
def test_samples_are_written_and_scored_by_one_and_the_same_net(objective):
    """With dropout it would be another net, to which they are unlikely."""
    seen = []

    class Watched(Toy):
        def score(self, *given):
            seen.append(self.net.training)
            return super().score(*given)

    toy = Watched()
    toy.net.train()
    objective(toy, BATCH, 0.0).backward()
    assert seen == [False]
    assert toy.net.training


@pytest.mark.parametrize("greedy", [False, True])
def test_samples_of_an_example_count_alike_and_one_in_all(greedy):
    weights = draw_samples(Toy(), BATCH, 5, greedy).weights
    assert weights.tolist() == [pytest.approx([0.2] * 5)] * 2


def test_every_sample_begins_with_its_prefix():
    prefix = torch.tensor([[B, -1, -1], [A, B, -1]])
    found = unpad(draw_samples(Toy(), BATCH, 50, True, prefix).samples)
    assert all(row[:1] == [B] for row in found[:50])
    assert all(row[:2] == [A, B] for row in found[50:])
    assert {row[1] for row in found[:50]} == {A, B, END}


def test_drawing_leaves_no_gradient_and_the_net_as_it_was():
    toy = Toy()
    toy.net.train()
    seen = []
    begin = toy.begin
    toy.begin = lambda *a: (seen.append(toy.net.training), begin(*a))[1]
    drawn = draw_samples(toy, BATCH, 2)
    assert seen == [False]
    assert toy.net.training
    assert not drawn.samples.tokens.requires_grad


def test_only_later_copies_are_the_same_as_earlier_ones():
    given = sequences([[A, END], [A, A, END], [A, END], [B, END], [B, END], [B, END]])
    assert first_occurrences(given, 2).tolist() == [[True, True, False], [True, False, False]]


def test_a_token_at_the_padding_does_not_make_a_sequence_another():
    tokens, mask = torch.tensor([[A, END, B], [A, END, A]]), torch.tensor([[True, True, False]] * 2)
    assert first_occurrences(Sequences(tokens, mask), 1).tolist() == [[True, False]]


def test_references_stand_before_the_samples_of_their_example():
    both = concat_sequences(sequences([[A, B, END], [B, END]]), sequences([[END], [A, END]] * 2), 2)
    assert unpad(both) == [[A, B, END], [END], [A, END], [B, END], [END], [A, END]]


def test_candidates_are_different_ones():
    """A cost that is called for every candidate; the same sequence weighs once however often it was drawn."""
    toy = Toy()
    with torch.no_grad():
        toy.net.O.mul_(0)
        toy.net.O[END] = 9 * torch.sign(toy.net.E[3]).double()
    batch = pairs([A, END])
    risk = MinimumRisk(pairwise_cost(lambda out, gold: float(len(out))), samples=50, sharpness=1e-9)
    risk(toy, batch._replace(x=0 * batch.x), 0.0)
    assert risk.metrics()["candidates"] < 50
