"""What W&B and MLflow are asked for, by packages in their place: which run, with which settings."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from elman.training.trackers import MLflowTracker, WandbTracker


def put_module(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> None:
    module = ModuleType(name)
    module.__dict__.update(content)
    monkeypatch.setitem(sys.modules, name, module)


class Client:
    """As that of MLflow; it numbers its runs, and logs what is done to them."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.runs = 0

    def get_experiment_by_name(self, name: str) -> None:
        return None

    def create_experiment(self, name: str) -> str:
        return name

    def create_run(self, experiment: str, run_name: str) -> SimpleNamespace:
        self.runs += 1
        return SimpleNamespace(info=SimpleNamespace(run_id=f"{experiment}-{self.runs}"))

    def update_run(self, run: str, status: str) -> None:
        self.calls.append((run, status))

    def log_batch(self, run: str, metrics: Any = (), params: Any = ()) -> None:
        self.calls.append((run, *metrics, *params))

    def set_terminated(self, run: str, status: str) -> None:
        self.calls.append((run, status))


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> Client:
    client = Client()
    put_module(monkeypatch, "mlflow", MlflowClient=lambda: client)
    put_module(
        monkeypatch,
        "mlflow.entities",
        Metric=lambda name, value, when, update: (name, value, update),
        Param=lambda name, value: (name, value),
    )
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    return client


def test_mlflow_has_a_run_of_its_own_for_each_training_and_goes_on_with_it(tmp_path, mlflow):
    for updates, run in ((0, "elman-1"), (7, "elman-1"), (0, "elman-2")):
        tracker = MLflowTracker(tmp_path, {})
        tracker.open(updates)
        assert tracker.id == run
        assert mlflow.calls == [(run, "RUNNING")] * (updates > 0)
        mlflow.calls.clear()


def test_mlflow_gets_settings_by_hundreds_as_far_as_it_takes_them_and_numbers_when_they_are_flushed(
    tmp_path, mlflow
):
    many = {f"n{i}": i for i in range(120)}
    tracker = MLflowTracker(tmp_path, {"long": {"text": "ab" * 300}, **many})
    tracker.open(0)
    first, second = mlflow.calls
    assert first[:3] == ("elman-1", ("long.text", "ab" * 250), ("n0", "0"))
    assert [*first[2:], *second[1:]] == [(name, str(value)) for name, value in many.items()]
    assert len(first) == 1 + 100
    tracker.log({"loss": 0.5}, 3)
    assert len(mlflow.calls) == 2
    tracker.close(finished=False)
    assert mlflow.calls[2:] == [("elman-1", ("loss", 0.5, 3)), ("elman-1", "KILLED")]


def test_wandb_has_a_run_of_its_own_for_each_training_and_goes_on_with_it(tmp_path, monkeypatch):
    asked: list[dict[str, Any]] = []

    def init(**options: Any) -> SimpleNamespace:
        asked.append(options)
        return SimpleNamespace(id=options["id"] or f"run-{len(asked)}")

    put_module(monkeypatch, "wandb", init=init, Settings=lambda console: None)
    for updates in (0, 7, 0):
        WandbTracker(tmp_path, {"hidden": 3}).open(updates)
    assert [options["id"] for options in asked] == [None, "run-1", None]
    assert all(options["config"] == {"hidden": 3} for options in asked)
