"""Objectives against sums over all sequences: nothing is left to chance."""

import pytest
import torch
from torch import Tensor

from elman.metrics import edit_distance
from elman.objectives import (
    LearnedBaseline,
    MinimumRisk,
    Mixer,
    Reinforce,
    ScheduledSamplingLoss,
    SelfCriticalBaseline,
    pairwise_cost,
)
from elman.objectives.baseline import Trial
from elman.objectives.scheduled_sampling import feed_argmax, feed_samples
from tests.objectives.toy import END, A, B, Pairs, Toy, all_sequences, every, gradient, pairs, probability

BATCH = pairs([B, A, END], [A, A, A])
COST = pairwise_cost(lambda output, gold: edit_distance(output, gold) / 3)


def cost(toy: Toy, row: tuple[int, ...], gold: list[int]) -> float:
    output, right = toy.words([row, gold])
    return edit_distance(output, right) / 3


def gold_rows(batch: Pairs) -> list[list[int]]:
    return [row[mask].tolist() for row, mask in zip(*batch.y, strict=True)]


def expected_cost(toy: Toy, batch: Pairs, entropy: float = 0.0) -> Tensor:
    """Σ_y p(y | x) (cost(y) + β log p(y | x)), the mean over x."""
    total = torch.zeros((), dtype=torch.double)
    for x, gold in zip(batch.x, gold_rows(batch), strict=True):
        for row in all_sequences():
            p = probability(toy, x, row)
            total = total + p * (cost(toy, row, gold) + entropy * p.log())
    return total / len(batch.x)


def agree(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)  # costs are float32


def test_all_sequences_are_all():
    toy = Toy()
    total = sum(probability(toy, BATCH.x[0], row) for row in all_sequences())
    assert total.item() == pytest.approx(1)


def test_risk_over_all_sequences_is_the_expected_cost_and_so_is_its_gradient():
    toy = Toy()
    risk = MinimumRisk(COST, samples=1, sharpness=1.0, reference=False, sampler=every)
    found, right = risk(toy, BATCH, 0.0), expected_cost(toy, BATCH)
    agree(found, right)
    agree(gradient(found, toy), gradient(right, toy))


@pytest.mark.parametrize("sharpness", [0.005, 0.5, 3.0])
def test_sharpness_is_a_power_of_the_probabilities(sharpness):
    toy = Toy()
    risk = MinimumRisk(COST, samples=1, sharpness=sharpness, reference=False, sampler=every)
    right = torch.zeros((), dtype=torch.double)
    for x, gold in zip(BATCH.x, gold_rows(BATCH), strict=True):
        powers = [probability(toy, x, row) ** sharpness for row in all_sequences()]
        costs = [cost(toy, row, gold) for row in all_sequences()]
        right = right + sum(p * c for p, c in zip(powers, costs, strict=True)) / sum(powers)
    found = risk(toy, BATCH, 0.0)
    agree(found, right / 2)
    agree(gradient(found, toy), gradient(right / 2, toy))


def test_risk_without_sharpness_is_the_mean_cost_of_the_candidates():
    toy = Toy()
    risk = MinimumRisk(COST, samples=1, sharpness=1e-12, reference=False, sampler=every)
    costs = [cost(toy, row, gold) for gold in gold_rows(BATCH) for row in all_sequences()]
    assert risk(toy, BATCH, 0.0).item() == pytest.approx(sum(costs) / len(costs), rel=1e-5)


def test_the_reference_among_all_sequences_is_not_counted_twice():
    toy = Toy()
    out, in_ = (
        MinimumRisk(COST, samples=1, sharpness=1.0, reference=reference, sampler=every)
        for reference in (False, True)
    )
    agree(in_(toy, BATCH, 0.0), out(toy, BATCH, 0.0))


def test_risk_and_likelihood_are_mixed_by_their_share():
    toy = Toy()
    plain = MinimumRisk(COST, samples=1, sharpness=1.0, sampler=every)
    mixed = MinimumRisk(COST, samples=1, sharpness=1.0, likelihood=0.3, sampler=every)
    right = 0.7 * plain(toy, BATCH, 0.0) + 0.3 * toy.likelihood(BATCH)
    agree(gradient(mixed(toy, BATCH, 0.0), toy), gradient(right, toy))


def test_reward_and_likelihood_are_mixed_by_their_share():
    toy = Toy()
    plain = Reinforce(COST, SelfCriticalBaseline(), samples=1, sampler=every)
    mixed = Reinforce(COST, SelfCriticalBaseline(), samples=1, likelihood=0.3, sampler=every)
    right = 0.7 * plain(toy, BATCH, 0.0) + 0.3 * toy.likelihood(BATCH)
    agree(gradient(mixed(toy, BATCH, 0.0), toy), gradient(right, toy))


class Arbitrary(torch.nn.Module):
    """A baseline that depends on what is known before each token, and on nothing else."""

    greedy = False

    def forward(self, trial: Trial) -> Tensor:
        return (3 * trial.hs.detach().sin()).sum(-1)


@pytest.mark.parametrize("baseline", [SelfCriticalBaseline, Arbitrary, lambda: learnt(0), lambda: learnt(5)])
@pytest.mark.parametrize("entropy", [0.0, 0.4])
def test_the_gradient_of_reinforce_is_that_of_the_expected_cost_less_the_entropy(baseline, entropy):
    """In expectation: all sequences, each as often as it is probable, whatever the baseline says."""
    toy = Toy()
    reinforce = Reinforce(COST, baseline(), samples=1, entropy=entropy, sampler=every)
    found = gradient(reinforce(toy, BATCH, 0.0), toy)
    agree(found, gradient(expected_cost(toy, BATCH, entropy), toy))


def learnt(updates: int) -> LearnedBaseline:
    toy, learned = Toy(3), LearnedBaseline(4, lr=0.1)
    reinforce = Reinforce(COST, learned, samples=1, sampler=every)
    for _ in range(updates):
        reinforce(toy, BATCH, 0.0)
    return learned


def test_a_learned_baseline_comes_to_expect_the_reward():
    toy, learned = Toy(3), learnt(200)
    drawn = every(toy, BATCH, 1, False, None)
    hs = toy.states(BATCH, drawn.samples, drawn.weights.shape[1])
    rewards = torch.full((len(hs),), -0.25, dtype=torch.double)
    trial = Trial(hs, drawn.samples.mask, rewards, None)
    for _ in range(400):
        said = learned(trial)
    torch.testing.assert_close(said[trial.free], torch.full_like(said[trial.free], -0.25), atol=0.05, rtol=0)


def test_mixer_forces_every_step_at_first_which_is_maximum_likelihood():
    toy = Toy()
    mixer = Mixer(COST, SelfCriticalBaseline(), delta=1, start=0.5, every=0.1, sampler=every)
    found = mixer(toy, BATCH, 0.49)
    agree(found, toy.likelihood(BATCH))
    agree(gradient(found, toy), gradient(toy.likelihood(BATCH), toy))


@pytest.mark.parametrize(("progress", "own"), [(0.5, 1), (0.6, 2), (0.7, 3), (0.95, 5)])
def test_mixer_trains_gold_by_likelihood_and_its_own_last_steps_by_reward(progress, own):
    """Σ_{t ≤ n-k} -log p(y_t) + E[cost of what follows], by a sum over all continuations."""
    toy = Toy()
    mixer = Mixer(COST, Arbitrary(), delta=1, start=0.5, every=0.1, sampler=every)
    assert mixer.own_steps(progress + 1e-9) == own
    total, tokens = torch.zeros((), dtype=torch.double), 0.0
    for x, gold in zip(BATCH.x, gold_rows(BATCH), strict=True):
        forced = max(0, len(gold) - own)
        total = total - (probability(toy, x, gold[:forced]).log() if forced else 0)
        for row in all_sequences(gold[:forced]):
            p = probability(toy, x, row, forced)
            total = total + p * cost(toy, row, gold)
            tokens += float(p) * len(row)
    found = gradient(mixer(toy, BATCH, progress + 1e-9), toy)
    agree(found, gradient(total / tokens, toy))


def test_mixer_rewards_no_padding_and_no_gold():
    """Its baseline hears of the tokens that the model chose: of each sequence all but the first."""
    chosen = []

    class Listening(torch.nn.Module):
        greedy = False

        def forward(self, trial: Trial) -> Tensor:
            chosen.extend(trial.free.tolist())
            return torch.zeros_like(trial.hs[..., 0])

    mixer = Mixer(COST, Listening(), delta=2, start=0.0, every=1.0, sampler=every)
    mixer(Toy(), BATCH, 0.0)
    written = [row for gold in gold_rows(BATCH) for row in all_sequences(gold[:1])]
    assert chosen == [[False, *(place < len(row) for place in (1, 2))] for row in written]


def test_certain_forcing_is_maximum_likelihood():
    toy = Toy()
    found = ScheduledSamplingLoss(lambda x: 1.0, feed_argmax)(toy, BATCH, 0.0)
    agree(gradient(found, toy), gradient(toy.likelihood(BATCH), toy))


@pytest.mark.parametrize("other", [feed_argmax, feed_samples, None])
def test_almost_certain_forcing_goes_step_by_step_to_the_same(other):
    toy = Toy()
    found = ScheduledSamplingLoss(lambda x: 1 - 1e-12, other)(toy, BATCH, 0.0)
    agree(gradient(found, toy), gradient(toy.likelihood(BATCH), toy))


def test_without_forcing_the_argmax_is_fed_back():
    toy, right = Toy(), torch.zeros((), dtype=torch.double)
    for x, gold in zip(BATCH.x, gold_rows(BATCH), strict=True):
        h, before = x, 3
        for token in gold:
            h = torch.tanh(toy.net.E[before] + toy.net.U @ h)
            said = toy.net.O @ h
            right, before = right - said.log_softmax(0)[token], int(said.argmax())
    agree(ScheduledSamplingLoss(lambda x: 0.0, feed_argmax)(toy, BATCH, 0.0), right / 6)


def test_without_forcing_the_mixture_is_fed_back_and_gradients_flow_through_it():
    toy, right = Toy(), torch.zeros((), dtype=torch.double)
    for x, gold in zip(BATCH.x, gold_rows(BATCH), strict=True):
        h, fed = x, toy.net.E[3]
        for token in gold:
            h = torch.tanh(fed + toy.net.U @ h)
            said = toy.net.O @ h
            right, fed = right - said.log_softmax(0)[token], said.softmax(0) @ toy.net.E[:3]
    found = ScheduledSamplingLoss(lambda x: 0.0, None)(toy, BATCH, 0.0)
    agree(found, right / 6)
    agree(gradient(found, toy), gradient(right / 6, toy))
