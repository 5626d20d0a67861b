"""Which settings mattered in a search."""

from __future__ import annotations

from math import inf

from elman.pipeline.tuning_study import TrialResult, TuningStudy
from elman.text.optional_packages import import_optional

FEW = 12  # trials; fewer say nothing of which settings mattered


def measure_importance(results: list[TrialResult], study: TuningStudy) -> dict[str, float]:
    """How much each setting mattered for the first training of a trial, the largest first (Hutter et al. 2014).

    It is empty where there are too few trials to tell.
    """
    optuna = study.optuna
    import_optional("sklearn", "tune", "to tell which settings mattered")
    rung = min((min(r.scores) for r in results if r.scores), default=0)
    scored = [r for r in results if r.scores.get(rung, -inf) > -inf]
    if len(scored) < FEW:
        return {}
    memory = optuna.create_study(direction="maximize")
    for result in scored:
        trial = study.study.get_trials(deepcopy=False)[result.number]
        made = {"params": trial.params, "distributions": trial.distributions, "value": result.scores[rung]}
        memory.add_trial(optuna.trial.create_trial(**made))
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    found = optuna.importance.get_param_importances(memory, evaluator=evaluator)
    return {key: float(value) for key, value in found.items()}
