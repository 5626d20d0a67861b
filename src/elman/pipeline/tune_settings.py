"""A search for settings by successive halving (Li et al. 2020): short trainings, longer ones for the better.

`search_settings` is a generator of events; whoever iterates over it prints, draws or stops.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from elman.errors import ConfigError, ModelError
from elman.pipeline.trial_run import Launcher, TrialRun, drop_weights, run_folder, stop_runs
from elman.pipeline.trial_score import ScoreReader
from elman.pipeline.tuning_length import LAST, SearchRequest
from elman.pipeline.tuning_plan import TuningPlan
from elman.pipeline.tuning_study import TrialResult, TuningStudy

STARTING = 5.0  # seconds that a process needs before and after its training, until one was seen
TICK = 0.1  # seconds between two looks at the trainings
REFUSALS = 100  # suggestions in a row that do not go together


@dataclass(frozen=True)
class RunEnd:
    """A training of a trial ended."""

    result: TrialResult
    seconds: float
    goes_on: bool  # to a longer training


@dataclass(frozen=True)
class Waiting:
    """Nothing new; ``seconds`` of the search have passed."""

    seconds: float


SearchEvent = RunEnd | Waiting


@dataclass
class Search:
    """A search that goes on: its trials, and the trainings that run now."""

    out: Path
    plan: TuningPlan
    request: SearchRequest
    study: TuningStudy
    launcher: Launcher
    runs: list[TrialRun] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.before = self.study.seconds  # of sessions that were interrupted
        self.extras: list[float] = []  # seconds of each process that were no training
        self.took: dict[int, list[float]] = {}  # seconds of each process, by rung, where epochs end a training
        for result in self.study.results:
            self.note_times(result.times)
        self.scores = ScoreReader(self.plan)
        self.kept = self.find_best()

    def find_best(self) -> Path | None:
        """Where the model of the best trial is."""
        best = self.study.best
        return run_folder(self.out, best.number, best.reached) if best else None

    @property
    def seconds(self) -> float:
        return self.before + time.monotonic() - self.begun

    @property
    def starting(self) -> float:
        """Seconds that a process needs beside its training."""
        return mean(self.extras) if self.extras else STARTING + self.plan.reading

    @property
    def left(self) -> float:
        """Seconds that are left for trials: a training on all data comes last, where that is not done yet."""
        plan, last = self.plan, len(self.plan.rungs) - 1
        times = LAST if plan.refits else 1.0 if plan.folds else 0.0
        if plan.refits and plan.folds:  # each of them learns from fewer examples
            times *= plan.folds / (plan.folds - 1)
        reserve = times * self.expect(last, max) / max(1, plan.folds)
        return 60 * self.request.minutes - self.seconds - reserve

    def note_times(self, times: Mapping[int, float]) -> None:
        """Seconds of trainings by rung."""
        for rung, seconds in times.items():
            if self.plan.rungs[rung].epochs:
                self.took.setdefault(rung, []).append(seconds)

    def expect(self, rung: int, of: Callable[[list[float]], float] = mean) -> float:
        """Seconds of a training of a rung, with its folds: as seen before, or the most it may take."""
        if found := self.took.get(rung):
            return of(found)
        return 60 * self.plan.rungs[rung].minutes * max(1, self.plan.folds) + self.starting

    def cost(self, first: int, last: int) -> float:
        """Seconds of the trainings from one rung to another."""
        return sum(self.expect(rung) for rung in range(first, last + 1))


def search_settings(search: Search) -> Iterator[SearchEvent]:
    """Train trial after trial until the time is up; trainings that run when the caller stops are ended."""
    last = len(search.plan.rungs) - 1
    open_trials = [r for r in search.study.results if not r.ended]
    try:
        while True:
            while open_trials and len(search.runs) < search.request.jobs:
                _resume(search, open_trials.pop(0))
            while len(search.runs) < search.request.jobs and (rung := _choose_rung(search, last)) is not None:
                _continue(search, _begin(search, rung))
            if not search.runs:
                return
            time.sleep(TICK)
            for run in [run for run in search.runs if run.ended]:
                search.runs.remove(run)
                yield _take(search, run, last)
            yield Waiting(search.seconds)
    finally:
        stop_runs(search.runs)
        search.study.keep_seconds(search.seconds)


def _choose_rung(search: Search, last: int) -> int | None:
    """Where a new trial begins: so low that it can still come to the last rung; None: there is no time."""
    begun = search.study.begun
    if not begun:
        return 0  # the plain settings, whatever time is left
    if search.request.trials and begun >= search.request.trials:
        return None
    return next((rung for rung in range(last + 1) if search.cost(rung, last) <= search.left), None)


def _begin(search: Search, rung: int) -> TrialResult:
    """A new trial, whose settings go together."""
    for _ in range(REFUSALS):
        trial = search.study.begin_trial(rung)
        try:
            search.plan.make_recipe(trial.values, rung)
        except ConfigError as error:
            search.study.end_trial(trial.number, str(error))
        else:
            return trial
    raise ConfigError("no settings were found that go together; give fewer of them")


def _resume(search: Search, trial: TrialResult) -> None:
    """Go on with a trial that was interrupted, if there is time."""
    if trial.number == 0 or search.cost(trial.rung, trial.rung) <= search.left:
        _continue(search, trial)
    else:
        search.study.end_trial(trial.number)


def _continue(search: Search, trial: TrialResult) -> None:
    """Start the next training of a trial."""
    folder = run_folder(search.out, trial.number, trial.rung)
    recipe = search.plan.make_recipe(trial.values, trial.rung)
    search.runs.append(search.launcher.start(recipe, folder, trial=trial.number, rung=trial.rung))


def _take(search: Search, run: TrialRun, last: int) -> RunEnd:
    """Judge a training that ended, and go on with its trial if that is worth it."""
    study, number, seconds = search.study, run.trial, run.seconds
    study.keep_seconds(search.seconds)
    if run.failure:
        study.end_trial(number, run.failure)
        if number == 0:
            raise ModelError(f"the training with the plain settings failed: {run.failure} ({run.log})")
        return RunEnd(study.find(number), seconds, goes_on=False)
    rung = search.plan.rungs[run.rung]
    if not rung.epochs:
        search.extras.append(max(0.0, seconds - 60 * rung.minutes * max(1, search.plan.folds)))
    search.note_times({run.rung: seconds})
    study.add_score(number, run.rung, search.scores.read(run.folder), seconds)
    goes_on = run.rung < last and (number == 0 or _is_worthwhile(search, run))
    if goes_on:
        _continue(search, study.find(number))
    else:
        study.end_trial(number)
    _drop_others(search, run.folder)
    return RunEnd(study.find(number), seconds, goes_on)


def _is_worthwhile(search: Search, run: TrialRun) -> bool:
    return search.study.is_promising(run.trial) and search.cost(run.rung + 1, run.rung + 1) <= search.left


def _drop_others(search: Search, ended: Path) -> None:
    """Keep the weights of the best trial alone, not those of a training that ended nor of what was the best."""
    earlier, search.kept = search.kept, search.find_best()
    for folder in (ended, earlier):
        if folder and folder != search.kept:
            drop_weights(folder)
