"""Teacher forcing and its remedies, row by row, on a model of which every output can be listed."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus
from torch.nn.utils import parameters_to_vector

from elman.decoding.sequence_model import Sequences
from elman.inspect.exposure import measure_exposure
from elman.metrics import edit_distance, sentence_bleus
from elman.metrics.bleu import AddK
from elman.objectives import (
    COSTS,
    LearnedBaseline,
    MinimumRisk,
    Mixer,
    ProfessorForcing,
    Reinforce,
    SampleBatch,
    ScheduledSamplingConfig,
    ScheduledSamplingLoss,
    SelfCriticalBaseline,
    draw_samples,
    pairwise_cost,
)
from elman.objectives.professor import Discriminator
from elman.objectives.sample_sequences import unpad
from elman.objectives.scheduled_sampling import feed_argmax
from tests.inspect.test_exposure import run
from tests.objectives.toy import (
    END,
    START,
    A,
    B,
    Toy,
    all_sequences,
    every,
    gradient,
    pairs,
    probability,
    sequences,
)

GOLD = ([B, A, END], [A, A, A])
BATCH = pairs(*GOLD)


def bleu_loss(toy: Toy, row, gold) -> float:
    """The loss of the lectures, negative BLEU, from 0 to 1."""
    output, right = toy.words([row, gold])
    return 1 - sentence_bleus([[output]], [[right]], smoothing=AddK(1))[0][0] / 100


def expected(toy: Toy) -> Tensor:
    """Σ_y p(y | x) loss(y, gold), the mean over x."""
    total = torch.zeros((), dtype=torch.double)
    for x, gold in zip(BATCH.x, GOLD, strict=True):
        for row in all_sequences():
            total = total + probability(toy, x, row) * bleu_loss(toy, row, gold)
    return total / len(GOLD)


def agree(found: Tensor, right: Tensor) -> None:
    torch.testing.assert_close(found, right, rtol=1e-4, atol=1e-6)  # losses are float32


def test_row_62_at_each_step_the_right_token_is_fed_back_with_probability_p():
    toy, p = Toy(), 0.7
    batch = pairs(*[[A, B, A]] * 400)
    fed: list[list[int]] = []
    begin = toy.begin

    def watched(*arguments):
        begun = begin(*arguments)

        def step(h: Tensor, tokens: Tensor):
            fed.append(tokens.tolist())
            h, logits = begun.step(h, tokens)
            wrong = torch.zeros_like(logits)
            wrong[:, END] = 100.0  # what the model itself would say is never right
            return h, logits + wrong

        return type(begun)(step, *(getattr(begun, n) for n in ("blend", "state", "start", "stop", "limit")))

    toy.begin = watched
    torch.manual_seed(0)
    ScheduledSamplingLoss(lambda progress: p, feed_argmax)(toy, batch, 0.0)
    first, second, third = fed
    assert set(first) == {START}
    right = np.array([[token == A for token in second], [token == B for token in third]])
    assert right.mean() == pytest.approx(p, abs=0.05)
    both = right.all(0).mean()
    assert both == pytest.approx(p * p, abs=0.06), "each step is drawn by itself"


def test_row_62_the_loss_is_that_of_the_right_tokens_after_what_was_fed():
    toy, total = Toy(), 0.0
    for x, gold in zip(BATCH.x, GOLD, strict=True):
        fed: list[int] = []
        for token in gold:
            said = run(toy, x, fed)
            total -= said[token].item() / 6
            fed.append(int(said.argmax()))
    assert ScheduledSamplingLoss(lambda progress: 0.0, feed_argmax)(toy, BATCH, 0.0).item() == pytest.approx(
        total
    )


def logistic(x: float) -> float:
    """Slow, quick, slow, from 1 to 0."""
    high, here, low = (1 - np.tanh(5 * (at - 0.5)) for at in (0, x, 1))
    return (here - low) / (high - low)


@pytest.mark.parametrize(
    ("schedule", "p"),
    [
        ("constant", lambda x: 0.25),
        ("linear", lambda x: 1 - 0.75 * x),
        ("exponential", lambda x: 0.25**x),
        ("inverse_sigmoid", lambda x: 0.25 + 0.75 * logistic(x)),
    ],
)
def test_row_62_the_probability_falls_with_the_progress_of_training(schedule, p):
    for x in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0):
        objective = ScheduledSamplingConfig(schedule=schedule, p_end=0.25).build(Toy())
        objective(Toy(), BATCH, x)
        assert objective.metrics()["forced"] == pytest.approx(p(x))


def test_row_63_a_model_that_does_not_read_what_it_wrote_has_no_exposure_bias():
    toy = Toy(3)
    assert abs(measure_exposure(toy, [BATCH]).bias) > 0.01
    with torch.no_grad():
        toy.net.E.zero_()
    assert measure_exposure(toy, [BATCH]).excess == pytest.approx(0, abs=1e-12)


def test_row_63_it_is_what_the_right_token_costs_more_after_own_tokens():
    toy, more = Toy(3), []
    for x, gold in zip(BATCH.x, GOLD, strict=True):
        own = int(run(toy, x, []).argmax())
        if own != END:
            more.append((run(toy, x, gold[:1]) - run(toy, x, [own]))[gold[1]].item())
    assert measure_exposure(toy, [BATCH], own=1).excess == pytest.approx([np.mean(more)])


def test_row_64_a_step_down_the_risk_lowers_the_expected_loss_of_what_is_written():
    """The expectation is counted out, and so is its gradient."""
    toy = Toy()
    risk = MinimumRisk(COSTS["bleu"], samples=1, sharpness=1.0, reference=False, sampler=every)
    before = expected(toy)
    agree(risk(toy, BATCH, 0.0), before)
    agree(gradient(risk(toy, BATCH, 0.0), toy), gradient(before, toy))
    step = torch.optim.SGD(toy.net.parameters(), lr=0.05)
    risk(toy, BATCH, 0.0).backward()
    step.step()
    assert expected(toy) < before


@pytest.mark.parametrize("reference", [False, True])
def test_row_64_candidates_and_the_reference_are_weighed_by_a_power_of_their_probability(reference):
    """Two candidates, one of them twice; gold among them or not."""
    toy, batch, gold = Toy(), pairs(GOLD[0]), tuple(GOLD[0])
    drawn = [(A, END), (B, B, A), (A, END)]

    def sampler(model, batch, copies, greedy, prefix):
        return SampleBatch(sequences(drawn), torch.full((1, 3), 1 / 3), None)

    risk = MinimumRisk(COSTS["bleu"], samples=3, sharpness=0.3, reference=reference, sampler=sampler)
    rows = [*drawn[:2], *[gold] * reference]
    powers = [probability(toy, batch.x[0], row) ** 0.3 for row in rows]
    right = sum(q * bleu_loss(toy, row, gold) for q, row in zip(powers, rows, strict=True)) / sum(powers)
    agree(risk(toy, batch, 0.0), right)
    agree(gradient(risk(toy, batch, 0.0), toy), gradient(right, toy))


def test_row_64_candidates_with_a_smaller_loss_become_likelier():
    toy = Toy()
    worst = {tuple(row): edit_distance(toy.words([row])[0], [B, A]) for row in all_sequences()}
    batch = pairs(GOLD[0])
    before = [probability(toy, batch.x[0], row).item() for row in worst]
    risk = MinimumRisk(COSTS["edits"], samples=1, sharpness=1.0, sampler=every)
    step = torch.optim.SGD(toy.net.parameters(), lr=0.3)
    for _ in range(30):
        step.zero_grad()
        risk(toy, batch, 0.0).backward()
        step.step()
    after = [probability(toy, batch.x[0], row).item() for row in worst]
    gain = dict(zip(worst, np.array(after) - before, strict=True))
    assert gain[B, A, END] == max(gain.values()) > 0


def test_row_65_bleu_as_reward_lifts_a_model_that_was_trained_by_likelihood():
    """Samples are drawn as in earnest; what they are worth on the whole is counted out."""
    toy = Toy()
    adam = torch.optim.Adam(toy.net.parameters(), lr=0.05)

    def updates(loss, count: int) -> None:
        for _ in range(count):
            adam.zero_grad()
            loss().backward()
            adam.step()

    updates(lambda: toy.likelihood(BATCH), 5)
    pretrained = expected(toy)
    torch.manual_seed(0)
    reinforce = Reinforce(COSTS["bleu"], SelfCriticalBaseline(), samples=8)
    updates(lambda: reinforce(toy, BATCH, 0.0), 40)
    assert expected(toy) < 0.7 * pretrained


@pytest.mark.parametrize("baseline", ["greedy", "learned"])
def test_row_65_the_gradient_is_that_of_the_expected_reward_whatever_the_baseline(baseline):
    toy = Toy()
    against = {"greedy": SelfCriticalBaseline(), "learned": LearnedBaseline(4, lr=0.1)}[baseline]
    for _ in range(3):  # a learned baseline says something after the first
        found = gradient(Reinforce(COSTS["bleu"], against, samples=1, sampler=every)(toy, BATCH, 0.0), toy)
        agree(found, gradient(expected(toy), toy))


def test_row_65_what_earns_no_more_than_the_baseline_says_changes_nothing():
    """A sample that is the greedy sequence itself: its reward is the baseline's."""
    toy = Toy()

    def greedy_twice(model, batch, copies, greedy, prefix):
        best = draw_samples(model, batch, 1, True, prefix).greedy
        return SampleBatch(best, torch.ones(len(GOLD), 1), best)

    objective = Reinforce(COSTS["bleu"], SelfCriticalBaseline(), samples=1, sampler=greedy_twice)
    assert not gradient(objective(toy, BATCH, 0.0), toy).any()


def test_row_65_mixer_adds_likelihood_before_and_reward_after():
    """The last two steps are the model's: Σ_{t≤n-2} -log p(y_t) + E[loss], over all that may follow."""
    toy, total, tokens = Toy(), torch.zeros((), dtype=torch.double), 0.0
    for x, gold in zip(BATCH.x, GOLD, strict=True):
        total = total - probability(toy, x, gold[:1]).log()
        for row in all_sequences(gold[:1]):
            p = probability(toy, x, row, 1)
            total = total + p * bleu_loss(toy, row, gold)
            tokens += p.item() * len(row)
    mixer = Mixer(COSTS["bleu"], SelfCriticalBaseline(), delta=2, start=0.4, every=0.2, sampler=every)
    agree(gradient(mixer(toy, BATCH, 0.4), toy), gradient(total / tokens, toy))


def test_row_65_mixer_leaves_the_last_steps_to_the_model_first_and_then_more_of_them():
    mixer = Mixer(COSTS["bleu"], SelfCriticalBaseline(), delta=2, start=0.4, every=0.2)
    assert [mixer.own_steps(x / 10) for x in range(0, 11, 2)] == [0, 0, 2, 4, 6, 8]
    seen = []

    def watched(model, batch, copies, greedy, prefix):
        seen.append(prefix.tolist())
        return draw_samples(model, batch, copies, greedy, prefix)

    one = Mixer(
        pairwise_cost(lambda *_: 0.0), SelfCriticalBaseline(), delta=1, start=0.0, every=0.5, sampler=watched
    )
    for progress in (0.0, 0.5):
        one(Toy(), BATCH, progress)
    assert seen == [[[B, A, -1], [A, A, -1]], [[B, -1, -1], [A, -1, -1]]]


def test_row_66_professor_forcing_adds_the_gradient_of_fooling_a_bidirectional_discriminator():
    """PyTorch's own modules with the same weights, and autograd through them."""
    toy = Toy()
    torch.manual_seed(3)
    objective = ProfessorForcing(4, weight=0.5, hidden=6, lr=0.01, gates=(-1.0, 0.0))
    torch.manual_seed(3)
    judge = Discriminator(4, 6)
    assert isinstance(judge.read, nn.GRU)
    assert judge.read.bidirectional
    torch.manual_seed(5)
    free = draw_samples(toy, BATCH, 1).samples
    torch.manual_seed(5)
    found = gradient(objective(toy, BATCH, 0.0), toy)
    loss = toy.likelihood(BATCH) + 0.5 * softplus(-judged(judge, toy, free)).mean()
    agree(found, gradient(loss, toy))


def judged(judge: Discriminator, toy: Toy, rows: Sequences) -> Tensor:
    """What its modules say of each sequence, one at a time."""
    said = []
    for hs, tokens in zip(toy.states(BATCH, rows), unpad(rows), strict=True):
        ys, _ = judge.read(hs[None, : len(tokens)].float())
        said.append(judge.judge(ys)[0, :, 0].mean())
    return torch.stack(said)


def test_row_66_the_discriminator_learns_to_tell_forced_from_free_running():
    """By PyTorch's Adam and the loss of a binary classifier."""
    toy = Toy()
    torch.manual_seed(3)
    objective = ProfessorForcing(4, weight=0.5, hidden=6, lr=0.01, gates=(-1.0, 1.1))
    torch.manual_seed(3)
    judge = Discriminator(4, 6)
    adam = torch.optim.Adam(judge.parameters(), lr=0.01)
    for seed in range(4):
        torch.manual_seed(seed)
        free = draw_samples(toy, BATCH, 1).samples
        said = torch.cat([judged(judge, toy, toy.targets(BATCH)), judged(judge, toy, free)])
        loss = 2 * binary_cross_entropy_with_logits(said, torch.tensor([1.0, 1.0, 0.0, 0.0]))
        adam.zero_grad()
        loss.backward()
        adam.step()
        torch.manual_seed(seed)
        objective(toy, BATCH, 0.0)
        learnt = objective.discriminator.get_buffer("weights")
        torch.testing.assert_close(learnt, parameters_to_vector(judge.parameters()), rtol=1e-4, atol=1e-5)
