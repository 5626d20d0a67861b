"""seeds.json: the scores of runs with several seeds, their mean and spread, the best."""

import numpy as np
import pytest

from elman.pipeline.seed_summary import SeedRun, describe_seeds, summarize_seeds

VALID, TEST = (90.0, 93.0, 92.5), (70.0, 60.0, 65.0)


def runs(more_is_better: bool = True) -> list[SeedRun]:
    return [
        SeedRun({"valid": {"f1": v, "tokens": 20_000}, "test": {"f1": t}}, "f1", more_is_better)
        for v, t in zip(VALID, TEST, strict=True)
    ]


def test_mean_and_standard_deviation_are_those_of_a_sample():
    found = summarize_seeds(runs())
    for part, values in (("valid", VALID), ("test", TEST)):
        assert found[part] == {
            "f1": {"mean": pytest.approx(np.mean(values)), "sd": pytest.approx(np.std(values, ddof=1))}
        }
    assert [run["folder"] for run in found["runs"]] == ["seed-0", "seed-1", "seed-2"]
    assert found["runs"][1]["valid"] == {"f1": 93.0, "tokens": 20_000}


def test_the_best_is_so_by_the_validation_data_in_the_right_direction():
    assert summarize_seeds(runs())["best"] == {"seed": 1, "folder": "seed-1", "metric": "f1", "valid": 93.0}
    assert summarize_seeds(runs(False))["best"]["seed"] == 0


def test_without_validation_data_no_seed_is_the_best():
    tested = [run._replace(metrics={"valid": {}, "test": run.metrics["test"]}) for run in runs()]
    assert summarize_seeds(tested)["best"] is None
    assert "valid" not in summarize_seeds(tested)


def test_lines_have_mean_and_spread_of_scores_and_leave_out_counts():
    assert describe_seeds(runs()) == ["valid f1 91.83 ± 1.61 (3 seeds)", "test f1 65.00 ± 5.00 (3 seeds)"]
    assert describe_seeds(runs()[:1]) == ["valid f1 90.00", "test f1 70.00"]
