"""Teacher forcing and its remedies, row by row, on a model of which every output can be listed."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from elman.inspect.exposure import measure_exposure
from elman.metrics import edit_distance, sentence_bleus
from elman.metrics.bleu import AddK
from elman.objectives import (
    COSTS,
    MinimumRisk,
    Mixer,
    ProfessorForcing,
    Reinforce,
    ScheduledSamplingLoss,
    SelfCriticalBaseline,
    draw_samples,
    pairwise_cost,
)
from elman.objectives.professor import Discriminator
from elman.objectives.sample_sequences import unpad
from elman.objectives.scheduled_sampling import feed_argmax
from tests.objectives.toy import END, START, A, B, Toy, all_sequences, every, gradient, pairs, probability

GOLD = ([B, A, END], [A, A, A])
BATCH = pairs(*GOLD)


def expected(toy: Toy, cost) -> float:
    """Σ_y p(y | x) cost(y, gold), the mean over x."""
    total = 0.0
    for x, gold in zip(BATCH.x, GOLD, strict=True):
        right = toy.words([gold])[0]
        for row in all_sequences():
            p = probability(toy, x, row).item()
            total += p * cost(toy.words([row])[0], right) / len(GOLD)
    return total


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


def test_row_62_the_probability_falls_with_the_progress_of_training():
    asked = []
    objective = ScheduledSamplingLoss(lambda progress: asked.append(progress) or 1.0, feed_argmax)
    objective(Toy(), BATCH, 0.25)
    assert asked == [0.25]


def test_row_63_a_model_that_does_not_read_what_it_wrote_has_no_exposure_bias():
    toy = Toy(3)
    assert abs(measure_exposure(toy, [BATCH]).bias) > 0.01
    with torch.no_grad():
        toy.net.E.zero_()
    assert measure_exposure(toy, [BATCH]).excess == pytest.approx(0, abs=1e-12)


def test_row_64_a_step_down_the_risk_lowers_the_expected_loss_of_what_is_written():
    """The loss is that of the lectures, negative BLEU; the expectation is counted out."""
    toy = Toy()

    def cost(output: list[int], right: list[int]) -> float:
        return 1 - sentence_bleus([[output]], [[right]], smoothing=AddK(1))[0][0] / 100

    risk = MinimumRisk(COSTS["bleu"], samples=1, sharpness=1.0, reference=False, sampler=every)
    before = expected(toy, cost)
    assert risk(toy, BATCH, 0.0).item() == pytest.approx(before, rel=1e-5)
    step = torch.optim.SGD(toy.net.parameters(), lr=0.05)
    risk(toy, BATCH, 0.0).backward()
    step.step()
    assert expected(toy, cost) < before


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

    def cost(output: list[int], right: list[int]) -> float:
        return 1 - sentence_bleus([[output]], [[right]], smoothing=AddK(1))[0][0] / 100

    def updates(loss, count: int) -> None:
        for _ in range(count):
            adam.zero_grad()
            loss().backward()
            adam.step()

    updates(lambda: toy.likelihood(BATCH), 5)
    pretrained = expected(toy, cost)
    torch.manual_seed(0)
    reinforce = Reinforce(COSTS["bleu"], SelfCriticalBaseline(), samples=8)
    updates(lambda: reinforce(toy, BATCH, 0.0), 40)
    assert expected(toy, cost) < 0.7 * pretrained


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
    hs = toy.states(BATCH, free)
    said = []
    for row, tokens in zip(hs, unpad(free), strict=True):
        ys, _ = judge.read(row[None, : len(tokens)].float())
        said.append(judge.judge(ys)[0, :, 0].mean())
    loss = toy.likelihood(BATCH) + 0.5 * softplus(-torch.stack(said)).mean()
    torch.testing.assert_close(found, gradient(loss, toy), rtol=1e-4, atol=1e-6)
