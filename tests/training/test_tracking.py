"""Trackers get the numbers of metrics.jsonl; none of them can end a run."""

import json
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.tasks.topics import TINY
from tests.training.toy import Net, Problem

import elman
from elman.errors import ConfigError
from elman.training.run import find_resume_point, follow
from elman.training.trackers import TensorBoardTracker
from elman.training.tracking import open_log
from elman.training.training_config import TrainingConfig

SETTINGS = TrainingConfig(epochs=2)


def track(name, events, folder, config):
    """Follow a run with a tracker."""
    return follow(events, folder, config, trackers=[open_log(name, folder, config)])


@pytest.fixture
def local(tmp_path, monkeypatch):
    """All trackers write into the test's folder and speak to nobody."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "WANDB_MODE": "offline",
        "WANDB_SILENT": "true",
        "WANDB_DIR": str(tmp_path),
        "MLFLOW_TRACKING_URI": (tmp_path / "mlruns").as_uri(),
        "MLFLOW_ALLOW_FILE_STORE": "true",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def logged(folder: Path) -> dict[str, dict[int, float]]:
    """What metrics.jsonl has, under the names of trackers."""
    found: dict[str, dict[int, float]] = {}
    for line in map(json.loads, (folder / "metrics.jsonl").read_text().splitlines()):
        scores = {f"validation/{n}": v for n, v in line.get("scores", {}).items()}
        losses = {f"training/{n}": line[n] for n in ("loss", "lr", "norm") if n in line}
        for name, value in (scores | losses).items():
            found.setdefault(name, {})[line["update"]] = value
    return found


def test_tensorboard_gets_the_same_numbers(local):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    track("tensorboard", Problem(Net()).fit(SETTINGS), local / "m", {})
    board = EventAccumulator(str(local / "m" / "tensorboard"))
    board.Reload()
    for name, values in logged(local / "m").items():
        assert {p.step: p.value for p in board.Scalars(name)} == pytest.approx(values)


def test_tensorboard_shows_what_a_resumed_run_does_again_once(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for start, value in ((0, 1.0), (3, 2.0)):  # killed after update 5, its checkpoint is of update 3
        tracker = TensorBoardTracker(tmp_path, {})
        tracker.open(start)
        for update in range(start + 1, 6):
            tracker.log({"loss": value}, update)
        tracker.close(finished=False)
    board = EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    assert [(p.step, p.value) for p in board.Scalars("loss")] == [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2)]


def wandb_records(data: bytes) -> Iterator[bytes]:
    """The records of a .wandb file: after seven bytes a log as LevelDB has it, in blocks of 32 KiB."""
    place, parts = 7, b""
    while place + 7 <= len(data):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
        length, kind = struct.unpack_from("<HB", data, place + 4)
        parts += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield parts
            parts = b""


def finished_records(file: Path) -> list[Any]:
    """All records, once the process that writes them has written the last."""
    from wandb.proto.wandb_internal_pb2 import Record

    for _ in range(300):
        records = [Record.FromString(data) for data in wandb_records(file.read_bytes())]
        if any(record.HasField("exit") for record in records):
            return records
        time.sleep(0.1)
    raise AssertionError(f"{file} is not finished")


def test_wandb_gets_the_same_numbers_offline(local):
    pytest.importorskip("wandb")
    follow(
        Problem(Net()).fit(SETTINGS),
        local / "m",
        {"model": {"hidden": 3}},
        trackers=[open_log("wandb", local / "m", {"model": {"hidden": 3}})],
    )
    (file,) = local.glob("wandb/offline-run-*/*.wandb")
    found, settings = {}, {}
    for record in finished_records(file):
        for update in record.run.config.update:
            settings[update.key] = json.loads(update.value_json)
        for item in record.history.item:
            name = item.key or "/".join(item.nested_key)
            found.setdefault(name, {})[record.history.step.num] = json.loads(item.value_json)
    for name, values in logged(local / "m").items():
        assert found[name] == pytest.approx(values)
    assert settings["model"] == {"hidden": 3}


def test_mlflow_gets_the_same_numbers_and_a_resumed_run_goes_on_with_its_own(local):
    pytest.importorskip("mlflow")
    from mlflow import MlflowClient

    config, client = {"model": {"hidden": 3}}, MlflowClient()
    for updates in (6, 12):
        resume = find_resume_point(local / "m", config, asked=updates > 6)
        settings = TrainingConfig(epochs=2, updates=updates)
        follow(
            Problem(Net()).fit(settings, resume=resume),
            local / "m",
            config,
            trackers=[open_log("mlflow", local / "m", config)],
        )
        (run,) = client.search_runs([client.get_experiment_by_name("elman").experiment_id])
        assert (run.data.params, run.info.status) == ({"model.hidden": "3"}, "FINISHED")
        for name, values in logged(local / "m").items():
            points = client.get_metric_history(run.info.run_id, name)
            assert {point.step: point.value for point in points} == pytest.approx(values)
        assert len(logged(local / "m")["training/loss"]) == updates


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("tensorboard", "torch.utils.tensorboard.writer", "track"),
        ("wandb", "wandb", "wandb"),
        ("mlflow", "mlflow", "mlflow"),
    ],
)
def test_a_missing_package_is_one_sentence_before_the_first_update(tmp_path, monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    said = rf'{name} is asked for, but not installed: pip install "elman\[{extra}\]"'
    with pytest.raises(ConfigError, match=said):
        track(name, Problem(Net()).fit(SETTINGS), tmp_path, {})
    assert not (tmp_path / "metrics.jsonl").exists()


@pytest.mark.parametrize("when", ["open", "log", "flush", "close"])
def test_a_tracker_that_fails_is_said_once_and_the_run_ends_well(tmp_path, monkeypatch, capsys, when):
    class Broken:
        def __init__(self, folder, config):
            pass

        def open(self, updates):
            self.fail("open")

        def log(self, numbers, update):
            self.fail("log")

        def flush(self):
            self.fail("flush")

        def close(self, *, finished):
            self.fail("close")

        def fail(self, here):
            if here == when:
                raise OSError("the server is gone\nand more")

    monkeypatch.setattr("elman.training.trackers.WandbTracker", Broken)
    assert track("wandb", Problem(Net()).fit(SETTINGS), tmp_path, {}) is not None
    said = capsys.readouterr().err
    assert said.count("wandb gets no more numbers (the server is gone); the training goes on\n") == 1
    assert "and more" not in said


def test_python_and_the_command_ask_for_trackers_by_the_same_names(local):
    pytest.importorskip("tensorboard")
    rows = [("when was it", "time"), ("where is it", "place"), ("what year", "time"), ("which city", "place")]
    model = elman.Classifier.train(
        rows, valid=rows, epochs=1, out=local / "m", tensorboard=True, recipe={"model": TINY, "mlflow": False}
    )
    assert (local / "m" / "tensorboard").is_dir()
    assert (model.record.config["tensorboard"], model.record.config["wandb"]) == (True, False)
