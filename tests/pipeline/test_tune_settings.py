"""A search for settings without its trainings: a formula of the settings stands for what a training scores."""

import json
import shutil
import time
from dataclasses import dataclass, field, replace
from math import log
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from elman.errors import ConfigError, ModelError
from elman.pipeline import tune_settings
from elman.pipeline.choose_defaults import apply_settings
from elman.pipeline.default_facts import Facts
from elman.pipeline.recipe import build
from elman.pipeline.setting_importance import measure_importance
from elman.pipeline.trial_run import Launcher, TrialRun
from elman.pipeline.trial_score import find_length
from elman.pipeline.tune_settings import RunEnd, Search, search_settings
from elman.pipeline.tuning_length import Rung, SearchRequest, choose_longest, has_room, plan_rungs
from elman.pipeline.tuning_plan import make_plan, read_plan
from elman.pipeline.tuning_result import gather_result, write_table
from elman.pipeline.tuning_study import TuningStudy
from tests.tasks.topics import table

pytest.importorskip("optuna")

LONG = 1e6  # minutes: the number of trials ends the search
ROWS = (
    {"update": 7, "epoch": 2},
    {"update": 7, "scores": {}, "best": True},
    {"update": 9, "epoch": 2},
    {"update": 9, "scores": {}},
)


class Clock:
    """Time that passes only while something is trained."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        pass


@dataclass(frozen=True)
class PretendedLauncher(Launcher):
    """Trainings that end at once and score by their learning rate and minutes; some of them fail."""

    clock: Clock = field(default_factory=Clock)
    failing: tuple[int, ...] = ()
    started: list[tuple[int, int]] = field(default_factory=list)
    recipes: list[Any] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)  # of its minutes that a training takes; none: all
    ends: list[str] = field(default_factory=lambda: ["epochs"])  # why it stops

    def start(self, recipe, folder: Path, *, trial: int, rung: int) -> TrialRun:
        self.started.append((trial, rung))
        self.recipes.append(recipe)
        folder.mkdir(parents=True, exist_ok=True)
        score = 50 - 5 * abs(log(recipe.training.lr / 6e-3)) + recipe.training.minutes
        for each in (folder, folder / "fold-1"):
            each.mkdir(exist_ok=True)
            found = {"valid": {"accuracy": score}, "stopped": self.ends[-1]}
            (each / "metrics.json").write_text(json.dumps(found))
            (each / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        (folder / "folds.json").write_text(json.dumps({"scores": {"accuracy": {"mean": score}}}))
        (folder / "model.safetensors").write_bytes(b"weights")
        run = TrialRun(trial, rung, folder, folder / "log", None, self.clock.now)
        self.clock.now += 60 * recipe.training.minutes * (self.shares[-1] if self.shares else 1.0)
        return run if trial not in self.failing else FailedRun(**vars(run))


class FailedRun(TrialRun):
    failure = "it was ended by SIGKILL"


@pytest.fixture
def request_(tmp_path):
    data = {"train": table(tmp_path / "a.tsv", 60)}
    return SearchRequest({"task": "classifier", "data": data, "training": {"minutes": 9.0}}, LONG, 1)


@pytest.fixture
def begin(tmp_path, monkeypatch, request_):
    """Begin a search, or go on with it: with how many trials at most, and other things asked for."""
    clock = Clock()
    monkeypatch.setattr("os.fsync", lambda file: None)  # a journal that need not survive a crash is quick
    monkeypatch.setattr(tune_settings, "time", clock)
    monkeypatch.setattr("elman.pipeline.trial_run.time", clock)
    out = tmp_path / "tuned"
    out.mkdir()

    def start(trials: int = 0, *, failing: tuple[int, ...] = (), **asked) -> Search:
        request = replace(request_, trials=trials, **asked)
        plan = read_plan(out, request) if (out / "search.json").exists() else make_plan(request)
        plan.write(out)
        launcher = PretendedLauncher((), "cpu", 0, clock, failing)
        search = Search(out, plan, request, TuningStudy(out, plan), launcher, begun=clock.now)
        search.scores.metric = "accuracy"
        return search

    return start


def finish(search: Search) -> list[RunEnd]:
    return [event for event in search_settings(search) if isinstance(event, RunEnd)]


def test_the_first_trial_is_the_choice_of_the_plain_command(begin, tmp_path):
    search = begin(1)
    finish(search)
    first, *_ = search.launcher.recipes
    plain = build({"task": "classifier", "data": {"train": str(tmp_path / "a.tsv")}})
    settings = {key: value for key, value in search.plan.chosen.items() if not key.startswith("training.")}
    chosen = apply_settings(plain, ["data.train"], settings)
    chosen = replace(chosen, data=replace(chosen.data, holdout=0.2))  # more, since much is compared by it
    assert chosen.model.ngrams  # one of the rules
    assert (first.model, first.tokens, first.data) == (chosen.model, chosen.tokens, chosen.data)
    assert search.plan.chosen["training.epochs"] == first.training.epochs == 0
    assert [rung for _, rung in search.launcher.started] == [0, 1, 2]


def test_options_that_are_given_are_in_every_trial(begin, request_):
    data = {**request_.data, "model": {"hidden": 9, "cell": "elman"}, "training": {"lr": 1e-3, "minutes": 9.0}}
    search = begin(6, data=data)
    finish(search)
    assert not {"model.hidden", "model.cell", "training.lr"} & search.plan.space.keys()
    for recipe in search.launcher.recipes:
        assert (recipe.model.hidden, recipe.model.cell, recipe.training.lr) == (9, "elman", 1e-3)
    assert len({recipe.model.dropout for recipe in search.launcher.recipes}) > 1


def test_of_three_trials_one_goes_on_to_a_longer_training_and_it_is_the_best(begin):
    search = begin(18)
    finish(search)
    results = search.study.results
    assert len(results) == 18
    by_rung = [[r.scores[rung] for r in results if rung in r.scores] for rung in range(3)]
    assert len(by_rung[0]) == 18
    assert 18 > len(by_rung[1]) >= len(by_rung[2]) > 1
    dropped = [r.scores[0] for r in results if r.reached == 0]
    assert max(by_rung[0]) > max(dropped)
    assert search.study.best.scores[2] == max(by_rung[2])


def test_of_trials_with_one_score_the_first_goes_on():
    for count in (1, 2, 3):
        trials = [SimpleNamespace(number=number, reached=0, scores={0: 1.0}) for number in range(count)]
        study = SimpleNamespace(results=trials, find=trials.__getitem__)
        assert TuningStudy.is_promising(study, count - 1) == (count == 1)


def test_the_result_is_never_worse_than_the_plain_settings(begin):
    search = begin(12)
    finish(search)
    result = gather_result(search.plan, search.study.results, search.scores, search.out)
    assert result.best.reached == result.plain.reached == 2
    assert result.score(result.best) >= result.score(result.plain)
    assert result.trials[0] == result.best


def test_an_interrupted_search_goes_on_and_loses_no_trial(begin):
    whole = begin(12)
    events = search_settings(whole)
    ended = [event for _, event in zip(range(16), events, strict=False) if isinstance(event, RunEnd)]
    before = {event.result.number: event.result.scores for event in ended}
    (whole.out / "study.jsonl").open("a").write(
        '{"op_code": 4, "torn'
    )  # as a kill leaves it; nothing is closed
    again = begin(12)
    finish(again)
    after = {result.number: result.scores for result in again.study.results}
    assert len(before) > 2
    for number, scores in before.items():
        assert scores.items() <= after[number].items()
    assert sorted(after) == [*range(12)]
    assert all(result.ended for result in again.study.results)
    done = {(number, rung) for number, scores in before.items() for rung in scores}
    assert not done & {*again.launcher.started}


def test_other_options_cannot_go_on_with_a_search(begin, request_):
    finish(begin(1))
    with pytest.raises(ConfigError, match="holds a search with other options: resume it by the same command"):
        begin(2, data={**request_.data, "model": {"hidden": 9}})


@pytest.mark.parametrize(
    ("name", "content"),
    [("search.json", b"{}"), ("search.json", b"[]"), ("search.json", b'{"rungs": []}')]
    + [("study.jsonl", line) for line in (b"\x00\xff{}\n", b"[]\n", b"{\n")],
)
def test_the_files_of_a_search_are_as_it_wrote_them_or_one_sentence(begin, tmp_path, name, content):
    finish(begin(1))
    (tmp_path / "tuned" / name).write_bytes(content)
    with pytest.raises(ModelError, match=f"{name} is .*; begin a new one"):
        begin(1)


def test_a_training_that_fails_loses_only_its_trial(begin):
    search = begin(8, failing=(2, 3))
    events = finish(search)
    assert [e.result.number for e in events if e.result.failure] == [2, 3]
    assert {r.number for r in search.study.results if r.scores} == {0, 1, 4, 5, 6, 7}


def test_a_search_without_a_plain_training_says_why(begin):
    with pytest.raises(
        ModelError, match="the training with the plain settings failed: it was ended by SIGKILL"
    ):
        finish(begin(3, failing=(0,)))


def test_the_search_ends_in_its_time_and_uses_it(begin):
    search = begin(minutes=60.0)
    finish(search)
    last = 2.3 * 9.0 * 60  # seconds of the training on all data
    assert 0.8 * (3600 - last) < search.seconds <= 3600 - last
    count = len(search.study.results)
    more = begin(minutes=90.0)
    finish(more)
    assert 0.8 * (5400 - last) < more.seconds <= 5400 - last
    assert len(more.study.results) > count


def test_only_the_weights_of_the_best_are_kept(begin):
    search = begin(9)
    finish(search)
    best = search.study.best
    kept = [path.parent for path in search.out.rglob("model.safetensors")]
    assert kept == [search.out / "trials" / str(best.number) / f"rung-{best.reached + 1}"]


def test_the_table_has_all_trials_the_best_first(begin):
    search = begin(5, failing=(1,))
    finish(search)
    result = gather_result(search.plan, search.study.results, search.scores, search.out)
    write_table(result, search.out)
    header, first, *_, last = (search.out / "trials.csv").read_text().splitlines()
    assert header.startswith("trial,training,accuracy,seconds,failure,training.lr")
    assert first.split(",")[0] == str(result.best.number)
    assert last.startswith("1,,,")


def test_what_mattered_is_what_the_score_depends_on(begin):
    pytest.importorskip("sklearn")
    search = begin(16)
    finish(search)
    importance = measure_importance(search.study.results, search.study)
    assert next(iter(importance)) == "training.lr"
    assert sum(importance.values()) == pytest.approx(1)
    assert measure_importance(search.study.results[:5], search.study) == {}


@pytest.mark.parametrize(
    ("minutes", "jobs", "folds", "longest"), [(30, 2, 0, 4), (30, 2, 4, 1), (3, 1, 0, 0.5), (1, 1, 0, 0.2)]
)
def test_the_longest_training_is_a_fifteenth_of_a_long_search_and_more_of_a_short_one(
    minutes, jobs, folds, longest
):
    asked = SearchRequest({"data": {"valid": "b.tsv"}}, float(minutes), jobs, folds)
    assert choose_longest(asked) == longest


@pytest.mark.parametrize(("minutes", "jobs"), [(30.0, 1), (30.0, 2), (30.0, 16), (3.0, 1), (1.0, 1)])
def test_the_training_on_all_data_takes_three_tenths_of_a_search_at_most(minutes, jobs):
    longest = choose_longest(SearchRequest({}, minutes, jobs))
    assert 0 < longest <= minutes * jobs / 5
    assert 2.3 * longest <= 0.3 * minutes + 1e-9


def test_the_best_is_trained_anew_on_all_data_for_as_long_as_it_was_best(begin, request_):
    search = begin(6)
    finish(search)
    result = gather_result(search.plan, search.study.results, search.scores, search.out)
    training = result.recipe.training
    assert (training.updates, training.minutes, training.refit) == (7, 0.0, True)
    trial = search.plan.make_recipe(result.best.values, 2)
    assert (result.recipe.model, result.recipe.data) == (trial.model, trial.data)
    assert training.lr == trial.training.lr


def test_with_a_file_to_validate_on_the_best_trial_is_what_is_delivered(begin, request_, tmp_path):
    data = request_.data["data"] | {"valid": table(tmp_path / "b.tsv", 20, seed=1)}
    search = begin(2, data={**request_.data, "data": data})
    finish(search)
    result = gather_result(search.plan, search.study.results, search.scores, search.out)
    assert not search.plan.refits
    assert (result.recipe.training.minutes, result.recipe.training.refit) == (9.0, False)


def ask(request_, **asked):
    """The same search, without minutes of a training."""
    return replace(request_, data={key: request_.data[key] for key in ("task", "data")}, **asked)


def test_the_plain_settings_are_trained_as_long_as_the_plain_command_does(request_, tmp_path):
    plan = make_plan(ask(request_, minutes=15.0))
    recipe = plan.make_recipe(plan.plain, len(plan.rungs) - 1)
    free = build(ask(request_).data)
    assert recipe.training.epochs == plan.rungs[-1].epochs == 20  # of few texts
    assert recipe.training.patience == 0
    assert [rung.epochs for rung in plan.rungs] == [7, 20]  # a ninth is too short
    assert 0 < recipe.training.minutes < 15.0  # at most
    assert plan.plain["training.epochs"] == 20
    assert free.training.epochs != 20  # a rule's


def test_few_texts_are_judged_in_folds_where_there_is_time(request_, tmp_path):
    assert make_plan(ask(request_, minutes=20.0)).folds == 3
    assert make_plan(ask(request_, minutes=10.0, jobs=2)).folds == 3
    assert make_plan(ask(request_, minutes=15.0)).folds == 0
    data = request_.data["data"]
    held = ask(request_, minutes=20.0)
    for more in ({"holdout": 0.1}, {"valid": table(tmp_path / "b.tsv", 20, seed=1)}):
        assert make_plan(replace(held, data={**held.data, "data": {**data, **more}})).folds == 0
    assert make_plan(ask(request_, minutes=20.0, folds=5)).folds == 5


def test_a_search_in_folds_that_were_chosen_is_resumed_by_the_same_command(request_, tmp_path):
    asked = ask(request_, minutes=20.0)
    plan = make_plan(asked)
    plan.write(tmp_path)
    assert read_plan(tmp_path, asked) == plan
    with pytest.raises(ConfigError, match="other options"):
        read_plan(tmp_path, replace(asked, folds=5))


def test_more_words_than_have_room_are_read_as_far_as_the_minutes_go():
    facts = Facts(words=100_000)
    assert has_room(facts, 10, longest=1.0)
    assert not has_room(facts, 20, longest=1.0)
    assert not has_room(Facts(words=1, running=True), 1, longest=1.0)


def test_trainings_that_end_by_their_epochs_leave_time_for_more(begin, request_):
    counts = []
    for share in (1.0, 0.1):
        search = begin(minutes=15.0, data=ask(request_).data)
        search.launcher.shares.append(share)
        finish(search)
        assert search.seconds <= 15 * 60
        counts.append(len(search.study.results))
        shutil.rmtree(search.out)
        search.out.mkdir()
    assert counts[1] > 3 * counts[0]


@pytest.mark.parametrize(("stopped", "folds"), [("epochs", 0), ("minutes", 0), ("epochs", 3)])
def test_the_best_is_trained_anew_for_its_epochs_as_far_as_they_came(begin, request_, stopped, folds):
    search = begin(3, minutes=15.0, folds=folds, data=ask(request_).data)
    search.launcher.ends.append(stopped)
    finish(search)
    result = gather_result(search.plan, search.study.results, search.scores, search.out)
    training = result.recipe.training
    wanted = search.plan.find_length(result.best.values, len(search.plan.rungs) - 1).epochs
    assert (training.updates, training.minutes, training.refit) == (0, 0.0, True)
    assert training.epochs == (2 if stopped == "minutes" else wanted)


@pytest.mark.parametrize("content", ["", "{}\n", "[]\n", "{\n", '{"best": true}\n'])
def test_a_log_that_was_changed_is_one_sentence(tmp_path, content):
    (tmp_path / "metrics.jsonl").write_text(content)
    with pytest.raises(ModelError, match=r"metrics.jsonl is not what a training has written; begin a new"):
        find_length(tmp_path, 0)


def test_short_searches_have_fewer_rungs():
    assert [rung.minutes for rung in plan_rungs(9.0)] == [1.0, 3.0, 9.0]
    assert [rung.minutes for rung in plan_rungs(1.0)] == [1 / 3, 1.0]
    assert [rung.minutes for rung in plan_rungs(0.1)] == [0.1]


def test_where_epochs_end_a_training_shorter_ones_have_fewer_and_as_much_less_time():
    assert plan_rungs(10.0, 10) == (Rung(1.0, 1), Rung(3.0, 3), Rung(10.0, 10))
    assert plan_rungs(8.0, 4) == (Rung(2.0, 1), Rung(8.0, 4))
    assert plan_rungs(8.0, 2) == (Rung(8.0, 2),)
    assert plan_rungs(0.5, 12) == (Rung(1 / 6, 4), Rung(0.5, 12))  # a ninth would be 3 s


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"data": {}}, "data.train is missing"),
        ({"data": {"train": "a.tsv", "holdout": 0.0}}, "a search needs validation data: give --valid"),
        ({"data": {"train": "/dev/stdin"}}, "a pipe can be read only once"),
    ],
)
def test_what_cannot_be_searched_is_one_sentence(data, said, monkeypatch):
    monkeypatch.setattr("elman.pipeline.tuning_plan.is_pipe", lambda path: path == "/dev/stdin")
    with pytest.raises(ConfigError, match=said):
        make_plan(SearchRequest({"task": "classifier", **data}, 1.0, 1))


def test_too_few_examples_to_hold_any_out_cannot_be_searched(tmp_path):
    (tmp_path / "two.tsv").write_text("text\tlabel\na b\tx\nc d\ty\n")
    data = {"task": "classifier", "data": {"train": str(tmp_path / "two.tsv")}}
    with pytest.raises(ConfigError, match=r"two.tsv: too few examples to hold any out, .* give --valid"):
        make_plan(SearchRequest(data, 1.0, 1))


def test_time_is_that_of_the_machine():
    assert tune_settings.time is time
