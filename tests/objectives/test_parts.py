"""The parts of objectives: what they learn by themselves, costs, schedules, options."""

from math import log

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from elman.errors import ConfigError
from elman.metrics import AddK, edit_distance, sentence_bleus
from elman.objectives import (
    COSTS,
    MinimumRisk,
    Mixer,
    ProfessorForcing,
    Reinforce,
    RiskConfig,
    SampleBatch,
    pairwise_cost,
)
from elman.objectives.auxiliary_network import AuxiliaryNetwork
from elman.objectives.objective import Objective
from elman.objectives.professor import Discriminator
from elman.objectives.risk import measure_costs
from elman.objectives.scheduled_sampling import SCHEDULES
from elman.objectives.sequence_costs import bleu_cost, edit_cost, exact_cost
from elman.pipeline.recipe import build
from tests.objectives.toy import END, A, B, Toy, gradient, pairs, sequences

BATCH = pairs([B, A, END], [A, A, A])


def made() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def test_an_apprentice_learns_as_by_adam():
    net, auxiliary = made(), AuxiliaryNetwork(made(), lr=0.01)
    adam = torch.optim.Adam(net.parameters(), lr=0.01)
    x, y = torch.randn(20, 3), torch.randn(20, 1)
    for _ in range(30):
        adam.zero_grad()
        loss = (net(x) - y).square().mean()
        loss.backward()
        adam.step()
        found = auxiliary.train_step(lambda call: (call(x) - y).square().mean())
        torch.testing.assert_close(found, loss.detach())
    torch.testing.assert_close(auxiliary(x), net(x).detach(), rtol=1e-4, atol=1e-5)


def test_a_closed_gate_changes_nothing():
    auxiliary, x = AuxiliaryNetwork(made(), lr=0.1), torch.randn(5, 3)
    auxiliary.train_step(lambda call: call(x).square().mean())
    before = {name: b.clone() for name, b in auxiliary.named_buffers()}
    auxiliary.train_step(lambda call: call(x).square().mean(), torch.zeros(()))
    for name, value in auxiliary.named_buffers():
        assert torch.equal(value, before[name]), name


def test_nothing_of_an_apprentice_is_a_parameter_and_inputs_alone_get_its_gradient():
    auxiliary = AuxiliaryNetwork(made(), lr=0.1)
    assert not list(auxiliary.parameters())
    x = torch.randn(5, 3, requires_grad=True)
    said = auxiliary(x).sum()
    auxiliary.train_step(lambda call: call(x.detach()).square().mean())  # before the gradient goes back
    said.backward()
    assert x.grad is not None


def test_padding_is_nothing_to_the_discriminator():
    judge, hs = Discriminator(4, 5), torch.randn(2, 6, 4)
    mask = torch.arange(6) < torch.tensor([[6], [3]])
    alone = judge(hs[1:, :3], mask[1:, :3])
    other = hs.masked_fill(~mask[..., None], 7.0)
    torch.testing.assert_close(judge(other, mask)[1:], alone)


def professor(**options) -> ProfessorForcing:
    torch.manual_seed(0)
    settings = {"weight": 1.0, "hidden": 8, "lr": 0.01} | options
    return ProfessorForcing(4, **settings)


def test_the_model_learns_from_the_discriminator_only_above_the_lower_gate():
    toy, never = Toy(), professor(gates=(1.0, 1.0))
    found = gradient(never(toy, BATCH, 0.0), toy)
    torch.testing.assert_close(found, gradient(toy.likelihood(BATCH), toy))
    always = professor(gates=(-1.0, 1.0))
    assert not torch.allclose(gradient(always(toy, BATCH, 0.0), toy), found)


def test_the_discriminator_learns_only_below_the_upper_gate():
    closed, open_ = professor(gates=(0.75, 0.0)), professor(gates=(0.75, 1.1))
    for one, learns in ((closed, False), (open_, True)):
        before = one.discriminator.get_buffer("weights").clone()
        one(Toy(), BATCH, 0.0)
        same = torch.equal(one.discriminator.get_buffer("weights"), before)
        assert same != learns


def test_a_discriminator_tells_free_from_forced_running_of_a_model_that_writes_other_things():
    toy, one = Toy(), professor(weight=0.0, gates=(0.75, 1.1), lr=0.03)
    with torch.no_grad():
        toy.net.O.mul_(0)  # all it writes is chance, while gold is the same letter over and over
    batch = pairs(*[[A, A, A]] * 20)
    for _ in range(150):
        one(toy, batch, 0.0)
    assert one.metrics()["accuracy"] > 0.8
    assert set(one.metrics()) == {"likelihood", "fooled", "discriminator", "accuracy"}


def test_a_discriminator_that_cannot_tell_is_right_about_half():
    """It says 0 of everything: log 2 nats each for what is fooled, for forced and for free running."""
    toy, one = Toy(), professor(gates=(0.5, 0.5))
    one.discriminator.get_buffer("weights").zero_()
    one(toy, BATCH, 0.0)
    nats = {"likelihood": toy.likelihood(BATCH).item(), "fooled": log(2), "discriminator": 2 * log(2)}
    assert one.metrics() == pytest.approx(nats | {"accuracy": 0.5})


class Said(Objective):
    metric_names = ("first", "second")

    def forward(self, model, batch, progress):
        self.log(torch.tensor(progress), torch.tensor(-progress))
        return torch.zeros(())


def test_what_is_logged_is_the_mean_of_all_at_first_and_of_about_fifty_later():
    one, values, mean = Said(), [(7 * i) % 11 / 10 for i in range(120)], 0.0
    assert one.metrics() == {}
    for i, value in enumerate(values):
        one(None, None, value)
        mean = sum(values[: i + 1]) / (i + 1) if i < 50 else mean + (value - mean) / 50
        assert one.metrics() == pytest.approx({"first": mean, "second": -mean}, abs=1e-6)


class Quarter(nn.Module):
    greedy = False

    def forward(self, trial):
        return torch.full_like(trial.hs[..., 0], -0.25)


def test_reinforcement_logs_what_samples_cost_and_how_far_they_are_from_expected():
    drawn = draw_these([A, END], [B, A, END])
    one = Reinforce(pairwise_cost(lambda a, b: float(len(a))), Quarter(), samples=1, sampler=drawn)
    one(Toy(), BATCH, 0.0)
    # Rewards -1 on two tokens and -2 on three, each compared with -0.25.
    assert one.metrics() == pytest.approx({"cost": 1.5, "advantage": (2 * 0.75 + 3 * 1.75) / 5})


def draw_these(*rows):
    """A sampler that always draws these, as many for each example of the batch."""
    return lambda *_: SampleBatch(sequences(rows), torch.full((2, len(rows) // 2), 2 / len(rows)), None)


def test_risk_logs_the_expected_cost_and_how_many_candidates_differ():
    drawn = draw_these([A, END], [B, B, A], [A, END], [A, END], [A, END], [A, END])
    one, half = (
        MinimumRisk(COSTS["edits"], samples=3, sharpness=0.5, likelihood=share, sampler=drawn)
        for share in (0.0, 0.5)
    )
    risk = one(Toy(), BATCH, 0.0).item()
    assert one.metrics() == pytest.approx({"risk": risk, "candidates": 1.5})
    half(Toy(), BATCH, 0.0)
    assert half.metrics() == pytest.approx(one.metrics())


def test_mixer_logs_what_samples_cost_and_how_many_steps_are_its_own():
    cost = pairwise_cost(lambda a, b: float(len(a)))
    drawn = draw_these([A, END], [B, A, END])
    one = Mixer(cost, Quarter(), delta=2, start=0.5, every=0.1, sampler=drawn)
    one(Toy(), BATCH, 0.4)
    assert one.metrics() == {}
    one(Toy(), BATCH, 0.65)
    assert one.metrics() == {"cost": 1.5, "own_steps": 4.0}


def test_a_cost_may_answer_with_truth_values():
    def wrong(outputs, references):
        both = zip(outputs, references, strict=True)
        return [[list(one) != list(gold) for one in some] for some, gold in both]

    drawn = draw_these([A, END], [B, A, END])
    values = [
        Reinforce(cost, Quarter(), samples=1, sampler=drawn)(Toy(), BATCH, 0.0) for cost in (wrong, exact_cost)
    ]
    assert torch.equal(*values)


rows = st.lists(st.text("abc", max_size=6), min_size=2, max_size=2)


@given(st.lists(rows, min_size=1, max_size=3), st.data())
def test_costs_are_those_of_the_metrics(outputs, data):
    texts = st.lists(st.text("abc", min_size=1, max_size=6), min_size=len(outputs), max_size=3)
    right = data.draw(texts)[: len(outputs)]
    found = edit_cost(outputs, right)
    for some, gold, costs in zip(outputs, right, found, strict=True):
        wanted = [min(1, edit_distance(one, gold) / len(gold)) for one in some]
        assert costs == pytest.approx(wanted)
    scores = sentence_bleus(outputs, [[one] for one in right], smoothing=AddK(1))
    assert bleu_cost(outputs, right) == [[1 - s / 100 for s in some] for some in scores]
    wrong = pairwise_cost(lambda one, gold: one != gold)
    assert exact_cost(outputs, right) == wrong(outputs, right)


@pytest.mark.parametrize("name", [name for name in SCHEDULES if name != "constant"])
def test_schedules_fall_from_first_to_last(name):
    p = [SCHEDULES[name](i / 20, 0.9, 0.2) for i in range(21)]
    assert (p[0], p[-1]) == pytest.approx((0.9, 0.2))
    assert p == sorted(p, reverse=True)


def test_a_constant_schedule_is_constant():
    assert {SCHEDULES["constant"](i / 9, 1.0, 0.4) for i in range(10)} == {0.4}


def test_an_objective_is_chosen_by_its_kind():
    recipe = build({"task": "seq2seq", "objective": {"kind": "risk", "samples": 3}})
    assert recipe.objective == RiskConfig(samples=3)
    assert build({"task": "seq2seq", "objective": {"kind": "risk", "samples": 1, "reference": True}})
    assert build({"task": "lm", "objective": "professor"}).objective.kind == "professor"
    assert build({"task": "tagger"}).objective.kind == "likelihood"


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ({"kind": "riks"}, "objective.kind is 'riks'; it may be 'likelihood', 'scheduled'"),
        ({"kind": "risk", "sample": 3}, "'objective.sample'; did you mean 'samples'"),
        ({"kind": "risk", "samples": 0}, "objective.samples is 0; it must be from 1 to 10,000"),
        ({"kind": "risk", "samples": 1}, "samples is 1, with nothing to compare it with: take 2, or reference"),
        ({"kind": "risk", "sharpness": 0}, "objective.sharpness is 0.0; it must be above 0"),
        ({"kind": "scheduled", "p_end": 1.5}, "objective.p_end is 1.5; it must be from 0 to 1"),
        ({"kind": "scheduled", "schedule": "exponential", "p_end": 0}, "p_end is 0, which an exponential"),
        ({"kind": "scheduled", "schedule": "constant", "p_start": 0.5}, "p_start is where a schedule begins"),
        ({"kind": "mixer", "every": 0}, "objective.every is 0.0; it must be above 0"),
        ({"kind": "professor", "lr": -1}, "objective.lr is -1.0; it must be above 0"),
        ({"kind": "reinforce", "baseline": "mean"}, "objective.baseline is 'mean'; it may be"),
    ],
)
def test_wrong_options_are_named(objective, message):
    with pytest.raises(ConfigError, match=message.split(";")[0]) as found:
        build({"task": "seq2seq", "objective": objective})
    assert message in str(found.value)


def test_a_classifier_has_no_objective_to_choose():
    with pytest.raises(ConfigError, match="unknown key 'objective'"):
        build({"task": "classifier", "objective": {"kind": "risk"}})


def test_outputs_that_are_the_same_are_measured_once():
    asked = []

    def cost(outputs, references):
        asked.extend(map(len, outputs))
        return [[float(row[0]) for row in some] for some in outputs]

    written = [[A], [B], [A], [B], [B], [A]]
    found = measure_costs(cost, Toy(), written, [[A], [B]])
    assert found.tolist() == [[A, B, A], [B, B, A]]
    assert asked == [2, 2]
