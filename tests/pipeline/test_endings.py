"""However a run ends, what it learnt is delivered: after a loss that is NaN, and where the test fails."""

import logging
from collections.abc import Callable
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest
import torch

import elman
from elman.errors import DataError, ElmanError, ModelError
from elman.pipeline import run_recipe
from elman.tasks.classifier.task import Classifier
from tests.pipeline.test_train_recipe import changed, recipe
from tests.tasks.topics import table


@pytest.fixture
def poison(monkeypatch) -> Callable[[int], None]:
    """Make the loss of an update NaN."""

    def install(at: int) -> None:
        honest, calls = Classifier.loss, []

        def loss(self, batch, progress):
            calls.append(batch)
            return honest(self, batch, progress) * (nan if len(calls) == at else 1)

        monkeypatch.setattr(Classifier, "loss", loss)

    return install


def test_a_loss_that_is_nan_after_an_evaluation_delivers_the_best_model(tmp_path, poison, caplog):
    chosen, out = recipe(tmp_path), tmp_path / "m"
    poison(5)
    with pytest.raises(ModelError) as failure:
        run_recipe(chosen, out)
    said = str(failure.value)
    assert said.startswith("the loss is nan at update 5 (")
    assert "the last checkpoint is of update 3: --resume goes on from there, also with another lr" in said
    assert f"the model in {out} is that of the best evaluation (accuracy " in said
    first = elman.load(out)
    assert first.record.metrics["stopped"] == "failure"
    # The calls go on being counted: there is no further NaN.
    with caplog.at_level(logging.INFO, logger="elman"):
        done = run_recipe(changed(chosen, lr=0.005, grad_clip=0.5), out, resume=True)
    assert done is not None
    assert "training.lr was 0.02 and is 0.005 from here on" in caplog.messages
    assert "training.grad_clip was 1.0 and is 0.5 from here on" in caplog.messages
    assert elman.load(out).record.metrics["updates"] == 12


def test_before_the_first_evaluation_there_is_nothing_to_deliver(tmp_path, poison):
    poison(2)
    with pytest.raises(ModelError, match=r"the loss is nan at update 2 \(.*grad_clip \(now 1\)$"):
        run_recipe(recipe(tmp_path), tmp_path / "m")
    assert not (tmp_path / "m" / "config.json").exists()


@pytest.mark.parametrize("error", [DataError("a line"), KeyboardInterrupt(), torch.OutOfMemoryError("")])
def test_a_test_that_fails_after_training_still_delivers_the_model(tmp_path, monkeypatch, error):
    chosen = recipe(tmp_path, test=table(tmp_path / "c.tsv", 10, 2))

    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(Classifier, "evaluate_dataset", fail)
    with pytest.raises(type(error)) as raised:
        run_recipe(chosen, tmp_path / "m")
    assert raised.value is error
    assert "test" not in elman.load(tmp_path / "m").record.metrics


def test_other_settings_cannot_be_changed_by_a_resumed_run(tmp_path):
    chosen = recipe(tmp_path)
    run_recipe(chosen, tmp_path / "m")
    other = replace(chosen, model=replace(chosen.model, dropout=0.25))
    with pytest.raises(ElmanError, match="another configuration: model"):
        run_recipe(other, tmp_path / "m", resume=True)


def test_a_resumed_run_has_the_models_that_it_began_with_whatever_their_folders_hold_now(tmp_path):
    def train_lm(lines: list[str]) -> None:
        options = {
            "tokens": {"kind": "chars"},
            "model": {"embedding": 5, "layers": 1},
            "data": {"holdout": 0.0},
        }
        elman.LanguageModel.train(
            lines, out=tmp_path / "lm", hidden=7, epochs=1, recipe=options, overwrite=True
        )

    chosen = recipe(tmp_path)
    train_lm(["a text of abc"] * 4)
    reading = replace(chosen, model=replace(chosen.model, lm_forward=str(tmp_path / "lm")))
    run_recipe(reading, tmp_path / "reader")
    run_recipe(reading, tmp_path / "reader", resume=True)
    train_lm(["a text of cab"] * 4)
    with pytest.raises(ElmanError, match=r"another configuration: model\.lm_forward was 'contents"):
        run_recipe(reading, tmp_path / "reader", resume=True)

    run_recipe(chosen, tmp_path / "first")
    run_recipe(chosen, tmp_path / "second", init=tmp_path / "first")
    run_recipe(chosen, tmp_path / "second", init=tmp_path / "first", resume=True)
    run_recipe(changed(chosen, seed=3), tmp_path / "first", overwrite=True)
    with pytest.raises(ElmanError, match="another configuration: init was 'contents"):
        run_recipe(chosen, tmp_path / "second", init=tmp_path / "first", resume=True)


def test_a_run_that_took_the_place_of_its_start_can_be_resumed(tmp_path):
    chosen, out = recipe(tmp_path), tmp_path / "m"
    run_recipe(changed(chosen, seed=3), out)
    first = run_recipe(chosen, out, init=out, overwrite=True)
    again = run_recipe(chosen, out, init=out, resume=True)
    assert first is not None
    assert again is not None
    assert again.metrics["valid"] == first.metrics["valid"]
    begun = run_recipe(chosen, tmp_path / "other", init=out)
    assert begun is not None
    run_recipe(chosen, out, init=tmp_path / "other", overwrite=True)
    with pytest.raises(ElmanError, match="another configuration: init was 'contents"):
        run_recipe(chosen, tmp_path / "other", init=out, resume=True)


def test_the_folder_of_a_failed_run_can_be_read_by_any_verb(tmp_path: Path, poison):
    poison(8)
    with pytest.raises(ModelError, match="update 8"):
        run_recipe(recipe(tmp_path), tmp_path / "m")
    assert "stopped by failure" in (tmp_path / "m" / "README.md").read_text()
    assert elman.load(tmp_path / "m", Classifier).classify(["a text"])


def test_a_run_that_fails_does_not_replace_a_model(tmp_path: Path, poison):
    chosen, out = recipe(tmp_path), tmp_path / "m"
    run_recipe(chosen, out)
    before = (out / "model.safetensors").read_bytes()
    poison(5)
    with pytest.raises(ModelError, match=r"update 5 .* stays as it was"):
        run_recipe(changed(chosen, seed=3), out, overwrite=True)
    assert (out / "model.safetensors").read_bytes() == before
    assert elman.load(out).classify(["a text"])


def test_a_label_of_the_test_that_is_not_known_is_said_before_the_first_update(tmp_path, monkeypatch):
    wrong = tmp_path / "c.tsv"
    wrong.write_text("text\tlabel\na text\tnobody\n")
    monkeypatch.setattr(Classifier, "loss", lambda *_: pytest.fail("an update was made"))
    with pytest.raises(DataError, match=r"c\.tsv:2: unknown label 'nobody'"):
        run_recipe(recipe(tmp_path, test=str(wrong)), tmp_path / "m")
