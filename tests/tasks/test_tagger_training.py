"""From a recipe to a tagger in a folder: the same bits, also after an interruption."""

import json
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from elman import artifact
from elman.errors import ModelError
from elman.pipeline import run_recipe
from elman.pipeline.recipe import Recipe, build
from elman.tasks.tagger.task import Tagger
from tests.tasks.names import TINY, conll, conllu, examples


def recipe(folder: Path, **model: object) -> Recipe:
    """A tiny recipe of nine updates, an evaluation after every third."""
    files = {"train": conll(folder / "a.conll", 40), "valid": conll(folder / "b.conll", 10, 1)}
    training = {"updates": 9, "evaluate_every": 3, "lr": 0.02}
    settings = {"data": files | {"batch_tokens": 32}, "model": TINY | model, "training": training}
    return build({"task": "tagger"} | settings)


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture
def interrupted(monkeypatch):
    """Trains and is interrupted by Ctrl-C within the fifth update."""

    def train(chosen: Recipe, out: Path) -> None:
        honest, calls = Tagger.loss, []

        def loss(self, batch, progress):
            calls.append(batch)
            if len(calls) == 5:
                signal.raise_signal(signal.SIGINT)
            return honest(self, batch, progress)

        with monkeypatch.context() as patch:
            patch.setattr(Tagger, "loss", loss)
            assert run_recipe(chosen, out) is None

    return train


@pytest.mark.parametrize(
    "options",
    [
        {"output": "softmax", "dropout": 0.3},
        {"output": "crf", "characters": "cnn", "casing": True, "word_dropout": 0.2},
        {"output": "autoregressive", "dropout": 0.3},
    ],
    ids=str,
)
def test_a_resumed_run_ends_with_the_bits_of_one_never_interrupted(tmp_path, interrupted, options):
    chosen = recipe(tmp_path, **options)
    run_recipe(chosen, tmp_path / "whole")
    interrupted(chosen, tmp_path / "cut")
    assert run_recipe(chosen, tmp_path / "cut", resume=True) is not None
    assert weights(tmp_path / "cut") == weights(tmp_path / "whole")
    one, two = (artifact.load(tmp_path / name) for name in ("cut", "whole"))
    words = [e.words for e in examples(5, 3)]
    assert one.analyse(words) == two.analyse(words)


def test_other_tags_are_not_resumed(tmp_path, interrupted):
    chosen = recipe(tmp_path)
    interrupted(chosen, tmp_path / "m")
    file = Path(chosen.data.train)
    file.write_text(file.read_text().replace("LOC", "GPE"))
    with pytest.raises(ModelError, match="other data: its tags differ"):
        run_recipe(chosen, tmp_path / "m", resume=True)


def test_the_folder_says_what_was_done(tmp_path):
    chosen = recipe(tmp_path)
    files = {"train": conllu(tmp_path / "a.conllu", 30), "test": conllu(tmp_path / "c.conllu", 9, 2)}
    data = replace(chosen.data, **files, valid="", column="xpos,upos")
    outcome = run_recipe(replace(chosen, data=data), tmp_path / "m")
    stored = json.loads((tmp_path / "m" / "config.json").read_text())
    assert stored["data"]["column"] == "xpos,upos"
    metrics = json.loads((tmp_path / "m" / "metrics.json").read_text())
    assert metrics == json.loads(json.dumps(outcome.metrics))
    assert 0 < metrics["valid"]["sentences"] <= 3  # a tenth at most: sentences that are alike stay together
    assert metrics["test"]["sentences"] == 9
    assert "upos_accuracy" in metrics["test"]
    assert [t.column for t in artifact.load(tmp_path / "m").tagsets] == ["xpos", "upos"]


def test_training_on_may_search_wider(tmp_path):
    chosen = recipe(tmp_path, output="autoregressive")
    run_recipe(chosen, tmp_path / "first")
    other = replace(chosen, model=replace(chosen.model, beam=3, loss="mean"))
    run_recipe(other, tmp_path / "second", init=tmp_path / "first")
    (head,) = artifact.load(tmp_path / "second").net.heads
    assert head.beam == 3
