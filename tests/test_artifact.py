"""A model folder: what was saved is what is loaded, and nothing else is loaded at all."""

import json
import os
import pickle
import random
import signal
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from elman import artifact
from elman.config import to_plain
from elman.errors import ModelError
from elman.pipeline.recipe import recipe_class
from elman.tasks.classifier.task import Classifier, ClassifierConfig
from elman.tasks.config import TokenizerConfig
from tests.tasks.topics import TINY, examples, fresh

TEXTS = ["when", "the city of the river", ""]


def save(model: Classifier, folder: Path) -> Path:
    config = to_plain(recipe_class("classifier")(model=model.config))
    artifact.save(model, folder, config=config, metrics={"valid": {}}, card="# A model\n")
    return folder


@pytest.fixture
def folder(tmp_path) -> Path:
    return save(fresh(), tmp_path / "m")


def test_a_folder_holds_what_it_is_said_to(folder):
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "model.safetensors",
        "vocab.json",
        "labels.json",
        "metrics.json",
        "README.md",
    }


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"encoder": "bag", "input": "one-hot"},
        {"encoder": "window", "mlp": 3},
        {"cell": "gru", "layers": 2, "pool": "attention", "bidirectional": False},
    ],
    ids=str,
)
def test_save_then_load_is_identity(tmp_path, options):
    model = fresh(**options)
    again = artifact.load(save(model, tmp_path))
    assert again.classify(TEXTS) == model.classify(TEXTS)
    assert again.config == model.config


@pytest.mark.parametrize("frozen", [False, True])
def test_pretrained_vectors_are_in_the_folder(tmp_path, frozen):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("when 1 2 3\ncity 2 1 -1\n")
    model = fresh(vectors=str(vectors), freeze_vectors=frozen)
    save(model, tmp_path / "m")
    vectors.unlink()
    assert artifact.load(tmp_path / "m").classify(TEXTS) == model.classify(TEXTS)


@pytest.mark.parametrize("kinds", [("words", "bpe"), ("bpe", "words")])
def test_a_folder_can_be_written_again_with_other_tokens(tmp_path, kinds):
    for kind in kinds:
        tokens = TokenizerConfig(kind=kind, size=270 if kind == "bpe" else 0)
        model = Classifier.from_examples(ClassifierConfig(**TINY), tokens, examples(20))
        model.net.eval()
        assert artifact.load(save(model, tmp_path)).classify(TEXTS) == model.classify(TEXTS)


def refused(folder: Path, *, about: str = "") -> None:
    with pytest.raises(ModelError) as caught:
        artifact.load(folder)
    message = str(caught.value)
    assert str(folder) in message
    assert about in message
    assert "\n" not in message


def test_what_is_no_folder_is_refused(tmp_path):
    refused(tmp_path / "nothing", about="there is no such folder")
    file = tmp_path / "file"
    file.write_text("x")
    refused(file, about="this is a file, not a model folder")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", about="no config.json")


def test_an_unfinished_training_says_how_to_go_on(tmp_path):
    (tmp_path / "checkpoint.safetensors").touch()
    refused(tmp_path, about="--resume")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.json", "labels.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    refused(folder, about=name)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.json", "labels.json"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[1, 2", b"[]", b"{}", b"null", b"7"])
def test_a_damaged_file_is_refused(folder, name, content):
    (folder / name).write_bytes(content)
    refused(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.json", "labels.json"])
def test_half_a_file_is_refused(folder, name):
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2])
    refused(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.json", "labels.json"])
def test_a_pickle_is_not_opened(folder, name, tmp_path):
    witness = tmp_path / "witness"

    class Evil:
        def __reduce__(self):
            return (Path.touch, (witness,))

    (folder / name).write_bytes(pickle.dumps(Evil()))
    refused(folder)
    assert not witness.exists()


def change(folder: Path, **values: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    ("values", "about"),
    [
        ({"elman": 99}, "has format 99, this version reads 2; update Elman"),
        ({"elman": 1}, "has format 1, this version reads 2; an older Elman wrote it: train the model again"),
        ({"task": "poet"}, "'poet'"),
        ({"model": {"hiden": 3}}, "'hiden'"),
        ({"model": {**TINY, "cell": "lstmm"}}, "lstmm"),
        ({"model": {**TINY, "hidden": 7}}, "size mismatch"),
        ({"model": {**TINY, "encoder": "bag"}}, "disagree"),
        ({"model": 5}, "no table 'model'"),
        ({"data": None}, "no table 'data'"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(folder, values, about):
    change(folder, **values)
    refused(folder, about=about)


def test_weights_that_do_not_fit_are_refused(folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights.pop("decide.0.bias")
    save_file(weights, path)
    refused(folder, about="decide.0.bias")


def test_labels_that_do_not_fit_are_refused(folder):
    (folder / "labels.json").write_text('["time", "place", "person"]')
    refused(folder, about="disagree")


def test_whatever_else_lies_in_the_folder_stays(folder):
    (folder / "checkpoint.safetensors").write_text("x")
    save(fresh(), folder)
    assert (folder / "checkpoint.safetensors").read_text() == "x"


def test_a_killed_writer_leaves_a_whole_model_or_none(tmp_path):
    """SIGKILL at random moments while two models of the same size overwrite each other."""
    texts = ["time place when where", "city of year"]
    models = [fresh(), fresh()]
    words = models[1].featurizer.tokenizer.vocab
    object.__setattr__(words, "items", (*words.items[:4], *words.items[:3:-1]))
    answers = [[p.probabilities for p in model.classify(texts)] for model in models]
    assert answers[0] != answers[1]
    dice, folder, whole = random.Random(0), tmp_path / "m", 0
    for _ in range(25):
        child = os.fork()
        if child == 0:
            while True:
                for model in models:
                    save(model, folder)
                    time.sleep(0.02)  # whole for as long as it is not
        time.sleep(dice.uniform(0.02, 0.12))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        try:
            found = [p.probabilities for p in artifact.load(folder).classify(texts)]
        except ModelError as error:
            assert "config.json" in str(error) or "no such folder" in str(error)  # noqa: PT017
        else:
            whole += 1
            assert found in answers
    assert whole
    save(models[0], folder)
    assert [p.probabilities for p in artifact.load(folder).classify(texts)] == answers[0]


def test_a_loaded_model_is_ready_to_answer(folder):
    model = artifact.load(folder)
    assert not model.net.training
    assert next(model.net.parameters()).device == torch.device("cpu")
