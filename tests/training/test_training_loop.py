from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import chain, islice
from math import inf, isclose, nan

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from toy import Lists, Net, Problem, of, same

from elman.errors import ConfigError, DataError, ModelError
from elman.training.ema import load_weights
from elman.training.evaluation import Validation
from elman.training.events import Checkpoint, Evaluation, TrainingEnd, Update
from elman.training.optimizers import should_average
from elman.training.step import EagerStep
from elman.training.training_config import TrainingConfig
from elman.training.training_loop import fit


def path(problem: Problem, settings: TrainingConfig, validation: Validation | None) -> list[dict[str, Tensor]]:
    """The weights after each update."""
    return [
        {name: p.detach().clone() for name, p in problem.net.named_parameters()}
        for event in problem.fit(settings, validation=validation)
        if isinstance(event, Update)
    ]


def sequence(scores: Sequence[float], best: str = "min") -> Validation:
    """A validation that gives these scores one after the other."""
    left = list(scores)
    return Validation(lambda: {"score": left.pop(0)}, "score", best)


def test_it_learns() -> None:
    problem = Problem(Net(16))
    before = problem.scores()["error"]
    *_, end = problem.fit(TrainingConfig(epochs=60, lr=0.02))
    assert isinstance(end, TrainingEnd)
    assert end.reason == "epochs"
    assert end.scores == problem.scores()
    assert end.scores["error"] < before / 3


def test_events_come_as_update_evaluation_checkpoint() -> None:
    happened = list(Problem(Net()).fit(TrainingConfig(epochs=2)))
    kinds = "".join(type(event).__name__[0] + type(event).__name__[1] for event in happened)
    epoch = "UpCh" * 5 + "UpEvCh"
    assert kinds == epoch * 2 + "Tr"
    assert [event.number for event in of(Update, happened)] == list(range(1, 13))
    assert [event.epoch for event in of(Update, happened)] == [1] * 6 + [2] * 6
    assert [event.number for event in of(Evaluation, happened)] == [6, 12]
    assert [event.number for event in of(Checkpoint, happened) if event.due] == [6, 12]
    assert [event.weight for event in of(Update, happened)] == [4, 4, 4, 4, 4, 2] * 2


@pytest.mark.parametrize(
    ("options", "evaluated"),
    [({"evaluate_every": 5}, [5, 10, 12]), ({"updates": 8}, [6, 8]), ({"updates": 6}, [6])],
)
def test_the_last_update_is_always_evaluated(options: dict[str, int], evaluated: list[int]) -> None:
    happened = list(Problem(Net()).fit(TrainingConfig(epochs=2, **options)))
    assert [event.number for event in of(Evaluation, happened)] == evaluated


def test_without_validation_the_last_weights_are_delivered() -> None:
    problem, judged = Problem(Net()), Problem(Net())
    happened = list(problem.fit(TrainingConfig(epochs=1), validation=None))
    assert of(Evaluation, happened) == []
    assert [event.number for event in of(Checkpoint, happened) if event.due] == [6]
    list(judged.fit(TrainingConfig(epochs=1)))
    assert same(problem.net, judged.net)
    assert happened[-1] == TrainingEnd(6, "epochs", {})


def test_the_same_seed_gives_the_same_bits_and_another_gives_others() -> None:
    luck = Validation(lambda: {"luck": torch.rand(()).item()}, "luck")
    nets = []
    for seed in (1, 1, 2):
        nets.append(Net())
        torch.manual_seed(len(nets))
        for _ in Problem(nets[-1]).fit(TrainingConfig(epochs=5, seed=seed), validation=luck):
            torch.rand(len(nets))  # what others draw meanwhile does not matter
    assert same(nets[0], nets[1])
    assert not same(nets[0], nets[2])


def test_dropout_differs_from_update_to_update() -> None:
    net = nn.Linear(1, 1)
    drawn: list[Tensor] = []

    def loss(batch: Sequence[int], progress: float) -> Tensor:
        drawn.append(torch.rand(3))
        return net(torch.ones(1, 1)).mean()

    list(fit(net, Lists(lambda epoch: [[0]] * 4), loss, TrainingConfig(epochs=2)))
    assert len({tuple(numbers.tolist()) for numbers in drawn}) == 8


@pytest.mark.parametrize("k", [2, 3, 6])
def test_accumulated_batches_are_one_batch(k: int) -> None:
    """Of unequal sizes too: their weights count."""
    small, large = Problem(Net(plain=True), size=4), Problem(Net(plain=True))
    large.batches = Lists(lambda epoch: joined(small.plan(epoch), k))
    options = {"optimizer": "sgd", "lr": 0.1, "epochs": 4}
    one = list(small.fit(TrainingConfig(grad_accumulation=k, **options), validation=None))
    other = list(large.fit(TrainingConfig(**options), validation=None))
    for event, expected in zip(of(Update, one), of(Update, other), strict=True):
        assert isclose(event.loss, expected.loss, rel_tol=1e-5)
        assert isclose(event.norm, expected.norm, rel_tol=1e-4)
        assert event.weight == expected.weight
    for name, value in small.net.named_parameters():
        torch.testing.assert_close(value, large.net.get_parameter(name), rtol=1e-5, atol=1e-6)


def joined(batches: list[list[int]], k: int) -> list[list[int]]:
    return [list(chain(*batches[i : i + k])) for i in range(0, len(batches), k)]


def test_the_gradient_is_clipped_to_its_largest_norm() -> None:
    for clip in (0.0, 1e-3, 1e3):
        problem = Problem(Net(plain=True))
        before = deepcopy(problem.net)
        settings = TrainingConfig(
            optimizer="sgd",
            momentum=0,
            schedule="constant",
            warmup=0,
            lr=1.0,
            weight_decay=0,
            updates=1,
            grad_clip=clip,
        )
        update, *_ = problem.fit(settings, validation=None)
        moved = [p - q for p, q in zip(problem.net.parameters(), before.parameters(), strict=True)]
        length = torch.cat([m.flatten() for m in moved]).norm().item()
        assert isclose(length, min(update.norm, clip or inf), rel_tol=1e-4)


def test_weight_decay_is_for_matrices() -> None:
    net = Net(plain=True)
    before = deepcopy(net)
    settings = TrainingConfig(
        optimizer="adamw", schedule="constant", warmup=0, lr=0.1, weight_decay=0.5, updates=1
    )
    list(fit(net, Lists(lambda epoch: [[0]]), lambda batch, progress: 0 * net.last.bias.sum(), settings))
    assert torch.equal(net.last.bias, before.last.bias)
    torch.testing.assert_close(net.first.weight, before.first.weight)
    list(
        fit(net, Lists(lambda epoch: [[0]]), lambda batch, progress: 0 * net(torch.ones(1, 3)).sum(), settings)
    )
    torch.testing.assert_close(net.first.weight, before.first.weight * 0.95)
    assert torch.equal(net.first.bias, before.first.bias)


def test_frozen_parameters_stay() -> None:
    problem = Problem(Net())
    problem.net.first.requires_grad_(False)
    before = deepcopy(problem.net.first)
    list(problem.fit(TrainingConfig(epochs=1, ema_decay=0.9)))
    assert same(problem.net.first, before)
    problem.net.last.requires_grad_(False)
    with pytest.raises(ModelError, match="nothing to train"):
        list(problem.fit(TrainingConfig()))


def test_training_stops_when_nothing_gets_better() -> None:
    scores = [5, 4, 4, 3, 3, nan, 3.5, 1]
    happened = list(Problem(Net()).fit(TrainingConfig(epochs=20, patience=3), validation=sequence(scores)))
    evaluations = of(Evaluation, happened)
    assert [event.scores["score"] for event in evaluations[:5]] == [5, 4, 4, 3, 3]
    assert [event.best for event in evaluations] == [True, True, False, True, False, False, False]
    assert happened[-1] == TrainingEnd(42, "patience", {"score": 3}, best_update=24)


def test_a_trained_net_is_evaluated_first_and_stays_if_nothing_is_better() -> None:
    problem = Problem(Net())
    begin = deepcopy(problem.net)
    happened = list(problem.fit(TrainingConfig(epochs=3), validation=sequence([1, 2, 3, 4]), trained=True))
    assert [event.number for event in of(Evaluation, happened)] == [0, 6, 12, 18]
    assert happened[-1] == TrainingEnd(18, "epochs", {"score": 1}, best_update=0)
    assert same(problem.net, begin)


def test_of_a_trained_net_what_is_better_is_delivered() -> None:
    problem, plain = Problem(Net()), Problem(Net())
    list(plain.fit(TrainingConfig(epochs=2, seed=3)))
    happened = list(problem.fit(TrainingConfig(epochs=2, seed=3), trained=True))
    assert isinstance(happened[-1], TrainingEnd)
    assert happened[-1].best_update == 12
    assert same(problem.net, plain.net)  # the first evaluation changes nothing


@pytest.mark.parametrize(("best", "at"), [("min", 2), ("max", 1)])
def test_the_best_weights_are_delivered(best: str, at: int) -> None:
    problem = Problem(Net())
    kept = {}
    for event in problem.fit(TrainingConfig(epochs=4), validation=sequence([2, 3, 1, 2], best)):
        if isinstance(event, Evaluation):
            kept[len(kept)] = deepcopy(problem.net)
    assert same(problem.net, kept[at])


def test_a_metric_that_is_not_scored_is_named() -> None:
    with pytest.raises(ModelError, match="'accuracy' is to tell the best weights, but scored is 'f1'"):
        list(Problem(Net()).fit(TrainingConfig(), validation=Validation(lambda: {"f1": 1.0}, "accuracy")))


def test_training_stops_when_the_time_is_up() -> None:
    happened = list(Problem(Net()).fit(TrainingConfig(epochs=10**6, minutes=0.1 / 60)))
    assert happened[-1].reason == "minutes"
    assert isinstance(happened[-3], Evaluation)


def test_a_checkpoint_is_due_after_some_minutes() -> None:
    happened = list(Problem(Net()).fit(TrainingConfig(epochs=3, checkpoint_minutes=1e-9)))
    assert all(event.due for event in of(Checkpoint, happened))


def test_plateau_lowers_the_learning_rate() -> None:
    settings = TrainingConfig(
        epochs=5, schedule="plateau", lr=1.0, warmup=0, plateau_patience=1, plateau_factor=0.1
    )
    happened = list(Problem(Net()).fit(settings, validation=sequence([3, 4, 2, 2, 1])))
    rates = [event.lr for event in of(Update, happened)][::6]
    assert rates == pytest.approx([1, 1, 0.1, 0.1, 0.01])


def test_the_exponential_average_is_evaluated_and_delivered() -> None:
    problem = Problem(Net())
    decay, judged = 0.8, []
    seen = path(problem, TrainingConfig(epochs=2, lr=0.05, ema_decay=decay), None)
    for name, value in problem.net.named_parameters():
        total = sum(decay ** (len(seen) - 1 - i) * w[name] for i, w in enumerate(seen))
        torch.testing.assert_close(value.data, total * (1 - decay) / (1 - decay ** len(seen)))
    problem = Problem(Net())
    for event in problem.fit(TrainingConfig(epochs=2, lr=0.05, ema_decay=decay)):
        if isinstance(event, Evaluation):
            judged.append((event.scores["error"], deepcopy(problem.net)))
            assert problem.scores() == event.scores
    assert same(problem.net, min(judged, key=lambda pair: pair[0])[1])


def test_ntasgd_averages_from_its_trigger_on() -> None:
    """Against plain SGD, whose weights it must have, and a mean taken of them afterwards."""
    scores = [9, 7, 8, 8, 7.5, 6, 5, 4]
    options = {"lr": 0.1, "momentum": 0.0, "schedule": "constant", "epochs": 8}
    plain, problem = Problem(Net()), Problem(Net())
    walked = path(plain, TrainingConfig(optimizer="sgd", **options), sequence(scores))
    first = next(i for i in range(8) if should_average([-s for s in scores[: i + 1]], 2))
    assert first == 4
    settings = TrainingConfig(optimizer="ntasgd", ntasgd_window=2, **options)
    for event in problem.fit(settings, validation=sequence(scores)):
        if isinstance(event, Evaluation):
            begun = (first + 1) * 6 if event.number > (first + 1) * 6 else event.number
            for name, value in problem.net.named_parameters():
                mean = sum(w[name] for w in walked[begun - 1 : event.number]) / (event.number - begun + 1)
                torch.testing.assert_close(value.data, mean)


def poisoned(problem: Problem, at: int, what: str) -> None:
    """Make the ``at``-th loss, or its gradient, infinite."""
    loss, calls = problem.loss, []

    def infinite(batch: Sequence[int], progress: float) -> Tensor:
        calls.append(batch)
        value = loss(batch, progress)
        if len(calls) != at:
            return value
        return value * inf if what == "loss" else value + (0 * value).sqrt()

    problem.loss = infinite


@pytest.mark.parametrize("what", ["loss", "gradient"])
def test_a_loss_that_is_not_finite_stops_with_the_last_good_weights(what: str) -> None:
    problem, good = Problem(Net()), Problem(Net())
    poisoned(problem, 9, what)
    settings = TrainingConfig(lr=0.5, schedule="constant", epochs=3)
    events = problem.fit(settings, validation=None)
    with pytest.raises(ModelError, match=r"at update 9 \(epoch 2, batch 3\).*lower lr \(now 0.5\)"):
        list(events)
    for event in good.fit(settings, validation=None):
        if isinstance(event, Checkpoint) and event.number == 8:
            break
    assert same(problem.net, good.net)


@pytest.mark.parametrize("what", ["loss", "gradient"])
def test_after_an_evaluation_a_loss_that_is_not_finite_delivers_the_best_weights(what: str) -> None:
    problem, good = Problem(Net()), Problem(Net())
    poisoned(problem, 9, what)
    settings = TrainingConfig(lr=0.01, schedule="constant", epochs=3)
    *before, end = problem.fit(settings)
    assert isinstance(before[-1], Checkpoint)
    assert before[-1].number == 8
    assert not before[-1].due  # from there the loss would not be finite again
    for event in good.fit(settings):
        if isinstance(event, Evaluation):
            assert end == TrainingEnd(8, "failure", event.scores, end.failure, best_update=6)
            break
    assert re.search(r"at update 9 \(epoch 2, batch 3\).*lower lr \(now 0.01\)", end.failure)
    assert same(problem.net, good.net)


def test_weights_that_are_not_finite_are_never_the_best() -> None:
    problem = Problem(Net())

    def score() -> dict[str, float]:
        problem.net.last.bias.data.fill_(inf)
        return {"error": 1.0}

    events = problem.fit(TrainingConfig(), validation=Validation(score, "error", "min"))
    *_, evaluation = islice(events, 12)
    assert evaluation == Evaluation(6, {"error": 1.0}, "error", best=False)
    with pytest.raises(ModelError, match="the loss is inf"):
        list(events)


@pytest.mark.parametrize(("call", "saved"), [("loss", True), ("scores", True), ("apply", False)])
def test_a_lack_of_memory_is_one_sentence_and_leaves_the_weights_before_it(
    monkeypatch: pytest.MonkeyPatch, call: str, saved: bool
) -> None:
    """In the middle of an optimizer's step is no point to go on from; any other one is saved."""
    problem, calls = Problem(Net()), []

    def fail(*arguments: object) -> object:
        calls.append(call)
        if len(calls) == (9 if call != "scores" else 2):
            raise RuntimeError("alloc_cpu.cpp: can't allocate memory: you tried to allocate 9 bytes")
        return work(*arguments)

    where = EagerStep if call == "apply" else problem
    work = getattr(where, call)
    monkeypatch.setattr(where, call, fail)
    problem.validation = replace(problem.validation, scores=problem.scores)
    *before, end = problem.fit(TrainingConfig(epochs=3))
    assert isinstance(end, TrainingEnd)
    place = "in an evaluation" if call == "scores" else "at update 9 (epoch 2, batch 3)"
    assert end.failure.startswith(f"out of memory (9 bytes more were needed) {place}; a smaller --batch")
    assert isinstance(before[-1], Checkpoint)
    assert before[-1].due == saved


def test_a_refused_setting_is_named_before_anything_is_done() -> None:
    problem = Problem(Net())
    for options, match in (
        ({"precision": "float16"}, "only a GPU can do precision = 'float16', but the net is on the CPU"),
        (
            {"cuda_graph": True},
            "only a GPU can do cuda_graph = true,.*; there set training.cuda_graph=false and",
        ),
        (
            {"cuda_graph": True, "precision": "float16"},
            "only a GPU can do cuda_graph = true and precision = 'float16',",
        ),
        ({"patience": 1}, "need validation data"),
        ({"schedule": "plateau"}, "need validation data"),
        ({"optimizer": "ntasgd"}, "need validation data"),
    ):
        with pytest.raises(ConfigError, match=match):
            problem.fit(TrainingConfig(**options), validation=None)


def test_batches_that_weigh_nothing_are_refused() -> None:
    problem = Problem(Net())
    problem.batches = Lists(problem.plan, weigh=lambda batch: 0)
    with pytest.raises(DataError, match=r"update 1 \(epoch 1, batches 1 to 2\) weigh 0"):
        list(problem.fit(TrainingConfig(grad_accumulation=2)))


def test_the_loss_is_told_how_far_training_is() -> None:
    problem, told = Problem(Net()), []
    loss = problem.loss

    def listening(batch: Sequence[int], progress: float) -> Tensor:
        told.append(progress)
        return loss(batch, progress)

    problem.loss = listening
    happened = list(problem.fit(TrainingConfig(epochs=2)))
    assert told == [event.progress for event in of(Update, happened)]
    assert told == pytest.approx([(i + 0.5) / 12 for i in range(12)])


def test_a_net_is_trained_in_training_mode_and_judged_in_evaluation_mode() -> None:
    problem, modes = Problem(Net()), []
    problem.validation = replace(
        problem.validation, scores=lambda: modes.append(problem.net.training) or problem.scores()
    )
    for event in problem.fit(TrainingConfig(epochs=2)):
        if isinstance(event, Update):
            assert problem.net.training
            problem.net.eval()
    assert modes == [False, False]
    assert not problem.net.training
    load_weights(problem.net, {})


def test_a_schedule_ends_when_the_time_does() -> None:
    settings = TrainingConfig(epochs=100_000, minutes=0.02, lr=0.01, schedule="one_cycle", warmup=0.1)
    rates = [event.lr for event in Problem(Net()).fit(settings) if isinstance(event, Update)]
    assert max(rates) > 0.009
    assert rates[-1] < 0.001
    assert rates.index(max(rates)) < len(rates) / 2


def test_minutes_to_spare_change_nothing() -> None:
    plain, ample = Problem(Net()), Problem(Net())
    list(plain.fit(TrainingConfig(epochs=2)))
    list(ample.fit(TrainingConfig(epochs=2, minutes=1000)))
    assert same(plain.net, ample.net)


def test_training_leaves_the_random_numbers_of_others_alone() -> None:
    def everyone() -> list[object]:
        name, keys, *rest = np.random.get_state()
        return [torch.get_rng_state().tolist(), name, keys.tolist(), rest]

    problem = Problem(Net())
    before = everyone()
    for _ in problem.fit(TrainingConfig(epochs=2, ema_decay=0.9)):
        assert everyone() == before
    assert everyone() == before
