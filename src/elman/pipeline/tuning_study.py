"""The trials of a search, as Optuna suggests them and its journal keeps them: a file of lines that grows."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from elman.errors import ModelError
from elman.folders.search_folder import JOURNAL
from elman.pipeline.search_space import make_distributions
from elman.pipeline.tuning_length import REDUCTION
from elman.pipeline.tuning_plan import TuningPlan
from elman.text.optional_packages import import_optional

NAME = "tune"  # of the study in the journal


class TrialResult(NamedTuple):
    """A trial as far as it came."""

    number: int
    values: Mapping[str, Any]  # the settings that were searched
    scores: Mapping[int, float]  # after the training of each rung
    times: dict[int, float]  # seconds that the training of each rung took
    failure: str  # why there is no score; "": nothing went wrong
    ended: bool
    rung: int  # of its next training, or where it ended its last

    @property
    def seconds(self) -> float:
        """That its trainings took."""
        return sum(self.times.values())

    @property
    def reached(self) -> int:
        """The last rung that it has a score of; -1: none."""
        return max(self.scores, default=-1)


class TuningStudy:
    """Suggests settings and remembers what came of them. Scores in it are such that more is better.

    The first trial is what the plain command chooses. Of every other, each setting stays as the best trial so
    far has it with probability a half; the rest is Optuna's suggestion (TPE, Bergstra et al. 2011).
    """

    def __init__(self, folder: Path, plan: TuningPlan) -> None:
        self.optuna = import_optional("optuna", "tune", "to search for settings")
        self.optuna.logging.set_verbosity(self.optuna.logging.WARNING)
        self.plan, self.distributions = plan, make_distributions(plan.space)
        path = folder / JOURNAL
        _mend_journal(path)
        backend = import_optional("optuna.storages.journal", "tune", "to search for settings")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self.optuna.exceptions.ExperimentalWarning)
            storage = self.optuna.storages.JournalStorage(backend.JournalFileBackend(str(path)))
            make: Any = self.optuna.create_study
            self.study = make(storage=storage, study_name=NAME, direction="maximize", load_if_exists=True)
            begun = len(self.study.get_trials(deepcopy=False))
            seed = plan.seed + begun  # a resumed search does not repeat its suggestions
            self.study.sampler = self.optuna.samplers.TPESampler(seed=seed % 2**32, constant_liar=True)

    def begin_trial(self, rung: int) -> TrialResult:
        """A new trial, whose first training is that of a rung."""
        waiting = self.study.get_trials(deepcopy=False, states=[self.optuna.trial.TrialState.WAITING])
        if not waiting:
            self.study.enqueue_trial(self._keep_settings())
        trial = self.study.ask(self.distributions)
        trial.set_user_attr("begun", rung)
        return self.find(trial.number)

    def add_score(self, number: int, rung: int, score: float, seconds: float) -> None:
        """What a training reached."""
        trial = self._open(number)
        times = self.find(number).times | {rung: seconds}
        trial.set_user_attr("times", {str(each): times[each] for each in times})
        trial.report(score, rung)

    def end_trial(self, number: int, failure: str = "") -> None:
        """No further training of a trial; one that did not come to the last rung counts less for Optuna."""
        states, result = self.optuna.trial.TrialState, self.find(number)
        if failure:
            self._open(number).set_user_attr("failure", failure)
            self.study.tell(number, state=states.FAIL)
        elif result.reached == len(self.plan.rungs) - 1:
            self.study.tell(number, result.scores[result.reached])
        else:
            self.study.tell(number, state=states.PRUNED)

    def is_promising(self, number: int) -> bool:
        """Whether a trial is among the best third of those that came as far; of equal ones the first counts."""
        result = self.find(number)
        rung, reached = result.reached, [r for r in self.results if result.reached in r.scores]
        ahead = [r for r in reached if r.number != number and r.scores[rung] >= result.scores[rung]]
        return len(ahead) < ceil(len(reached) / REDUCTION)

    @property
    def seconds(self) -> float:
        """How long the search took so far."""
        return float(self.study.user_attrs.get("seconds", 0.0))

    def keep_seconds(self, seconds: float) -> None:
        """Remember how long the search took, for the case that it is resumed."""
        self.study.set_user_attr("seconds", seconds)

    @property
    def results(self) -> list[TrialResult]:
        """All trials that have begun."""
        waiting = self.optuna.trial.TrialState.WAITING
        return [self._result(t) for t in self.study.get_trials(deepcopy=False) if t.state != waiting]

    @property
    def best(self) -> TrialResult | None:
        """The best of those that came furthest; of equal ones the first."""
        return find_best(self.results)

    def find(self, number: int) -> TrialResult:
        """The trial of that number."""
        return self._result(self.study.get_trials(deepcopy=False)[number])

    @property
    def begun(self) -> int:
        """How many trials have begun."""
        waiting = self.optuna.trial.TrialState.WAITING
        return sum(trial.state != waiting for trial in self.study.get_trials(deepcopy=False))

    def _result(self, trial: Any) -> TrialResult:
        scores = {int(step): value for step, value in trial.intermediate_values.items()}
        about, last = trial.user_attrs, len(self.plan.rungs) - 1
        following = min(max(scores) + 1, last) if scores else about.get("begun", 0)
        values = {key: self._tidy(key, value, trial.number) for key, value in trial.params.items()}
        times = {int(rung): seconds for rung, seconds in about.get("times", {}).items()}
        ended = trial.state.is_finished()
        return TrialResult(trial.number, values, scores, times, about.get("failure", ""), ended, following)

    def _tidy(self, key: str, value: Any, number: int) -> Any:
        """A value as people would write it; the plain ones stay as they are."""
        return float(f"{value:.2e}") if isinstance(value, float) and number else value

    def _keep_settings(self) -> dict[str, Any]:
        trials, best = self.study.get_trials(deepcopy=False), self.best
        if not trials or best is None:
            return dict(self.plan.plain) if not trials else {}
        random, params = Random(f"{self.plan.seed} {len(trials)}"), trials[best.number].params
        return {key: value for key, value in params.items() if random.random() < 0.5}

    def _open(self, number: int) -> Any:
        trial = self.study.get_trials(deepcopy=False)[number]
        return self.optuna.trial.Trial(self.study, trial._trial_id)


def find_best(results: list[TrialResult]) -> TrialResult | None:
    """The best of those that came furthest; of equal ones the first."""
    scored = [r for r in results if r.scores and not r.failure]
    return max(scored, key=lambda r: (r.reached, r.scores[r.reached], -r.number), default=None)


def _mend_journal(path: Path) -> None:
    """Take away a last line that a kill cut short: what is added would be torn, too."""
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    try:
        lines = [json.loads(line) for line in whole.splitlines()]
    except (ValueError, RecursionError):
        lines = [None]
    if not all(isinstance(line, dict) for line in lines):
        raise ModelError(f"{path} is damaged: it is not what a search has written; begin a new one")
    if whole != content:
        with open(path, "r+b") as file:
            file.truncate(len(whole))
