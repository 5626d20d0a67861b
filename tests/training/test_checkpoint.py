from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from toy import Net, Problem

from elman.errors import ModelError
from elman.files import atomic_files
from elman.training import checkpoint
from elman.training.checkpoint import checkpoint_size, load_checkpoint, read_checkpoint_config, save_checkpoint
from elman.training.events import Checkpoint
from elman.training.snapshot import Snapshot
from elman.training.training_config import TrainingConfig

CONFIG = {"model": {"hidden": 3, "sizes": (1, 2)}, "training": {"lr": 0.1}, "name": "ü"}


def snapshot() -> Snapshot:
    for event in Problem(Net()).fit(TrainingConfig(ema_decay=0.5, evaluate_every=1)):
        if isinstance(event, Checkpoint):
            return event.snapshot()
    raise AssertionError


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("written") / "checkpoint.safetensors"
    save_checkpoint(path, snapshot(), CONFIG)
    return path


def test_the_settings_of_a_checkpoint_are_known_even_of_one_that_does_not_say_them(
    written: Path, tmp_path
) -> None:
    assert read_checkpoint_config(written) == {**CONFIG, "model": {"hidden": 3, "sizes": [1, 2]}}
    path = tmp_path / "other.safetensors"
    for metadata in ({}, {"config": "["}, {"config": "[1]"}, None):
        save_file({"w": torch.zeros(1)}, path, metadata)
        assert read_checkpoint_config(path) == {}


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    taken = snapshot()
    taken.tensors["net/odd"] = torch.tensor([[True, False]])
    taken.tensors["net/empty"] = torch.zeros(0, 3, dtype=torch.float16)
    save_checkpoint(tmp_path / "c", taken, CONFIG)
    read = load_checkpoint(tmp_path / "c", CONFIG)
    assert read.state == {**taken.state, "progress": read.state["progress"]}
    assert read.state["progress"]["metric_history"] == list(taken.state["progress"]["metric_history"])
    assert set(read.tensors) == set(taken.tensors)
    for name, value in taken.tensors.items():
        assert torch.equal(read.tensors[name], value)
        assert read.tensors[name].dtype == value.dtype


def refused(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load_checkpoint(path, CONFIG)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


@given(st.data())
def test_a_flipped_bit_is_found_wherever_it_is(written: Path, data: st.DataObject) -> None:
    content = bytearray(written.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    damaged = written.with_name("damaged")
    damaged.write_bytes(content)
    refused(damaged)


@given(st.data())
def test_a_shortened_or_lengthened_file_is_refused(written: Path, data: st.DataObject) -> None:
    content = written.read_bytes()
    damaged = written.with_name("damaged")
    damaged.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    refused(damaged)
    damaged.write_bytes(content + data.draw(st.binary(min_size=1)))
    refused(damaged)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(written: Path, data: bytes) -> None:
    damaged = written.with_name("damaged")
    damaged.write_bytes(data)
    refused(damaged)


def test_what_is_no_checkpoint_is_said_so(tmp_path: Path) -> None:
    foreign = tmp_path / "model.safetensors"
    save_file({"a": torch.zeros(2)}, foreign)
    assert "is not a checkpoint" in refused(foreign)
    assert "does not exist" in refused(tmp_path / "nothing")
    assert "cannot be read" in refused(tmp_path)


def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "FORMAT", "elman checkpoint 0")
    save_checkpoint(tmp_path / "c", snapshot(), CONFIG)
    monkeypatch.undo()
    assert "is not a checkpoint that this version of elman wrote" in refused(tmp_path / "c")


def test_another_configuration_is_refused_by_its_keys(written: Path) -> None:
    other = {"model": {"hidden": 4, "sizes": [1, 2]}, "training": {"lr": 0.1, "grad_clip": 1}, "name": "ü"}
    with pytest.raises(ModelError) as caught:
        load_checkpoint(written, other)
    assert "model.hidden was 3 and is 4, training.grad_clip was absent and is 1;" in str(caught.value)
    assert "lr" not in str(caught.value)


@pytest.mark.parametrize("moment", ["write", "fsync", "replace"])
def test_a_crash_while_writing_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    path = tmp_path / "c"
    old = snapshot()
    save_checkpoint(path, old, CONFIG)

    class Crash(BaseException):
        pass

    def crash(*arguments: object) -> None:
        raise Crash

    class Half(io.FileIO):
        def write(self, content: bytes) -> None:
            super().write(content[: len(content) // 2])
            raise Crash

    if moment == "write":
        monkeypatch.setattr(atomic_files, "open", Half, raising=False)
    else:
        monkeypatch.setattr(os, moment, crash)
    with pytest.raises(Crash):
        save_checkpoint(path, Snapshot({}, {}), CONFIG)
    monkeypatch.undo()
    assert set(load_checkpoint(path, CONFIG).tensors) == set(old.tensors)
    assert os.listdir(tmp_path) == ["c"]


def test_a_file_is_durable_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    real = {name: getattr(os, name) for name in ("fsync", "replace")}
    for name in real:
        monkeypatch.setattr(os, name, lambda *a, name=name: (done.append(name), real[name](*a))[1])
    save_checkpoint(tmp_path / "c", snapshot(), CONFIG)
    assert done == ["fsync", "replace", "fsync"]


def test_a_folder_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be written"):
        save_checkpoint(tmp_path / "missing" / "c", snapshot(), CONFIG)


def test_what_a_killed_run_left_is_cleared_away(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c", snapshot(), CONFIG)
    (tmp_path / "c.tmp").write_bytes(b"half")
    load_checkpoint(tmp_path / "c", CONFIG)
    assert os.listdir(tmp_path) == ["c"]


@pytest.mark.parametrize(
    "options", [{}, {"ema_decay": 0.5}, {"optimizer": "sgd"}, {"optimizer": "sgd", "momentum": 0.0}]
)
@pytest.mark.parametrize("evaluated", [True, False])
def test_the_size_of_a_checkpoint_is_known_before_the_first_update(
    tmp_path: Path, options: dict[str, Any], evaluated: bool
) -> None:
    problem, settings = Problem(Net(2000)), TrainingConfig(**options, evaluate_every=1)
    expected = checkpoint_size(problem.net, settings, evaluated=evaluated)
    for event in problem.fit(settings, validation=problem.validation if evaluated else None):
        if isinstance(event, Checkpoint):
            save_checkpoint(tmp_path / "c", event.snapshot(), {})
            break
    assert (tmp_path / "c").stat().st_size == pytest.approx(expected, rel=0.05)
