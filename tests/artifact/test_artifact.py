"""A model folder: what was saved is what is loaded, and nothing else is loaded at all."""

import json
import os
import pickle
from itertools import count
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from elman import artifact
from elman.artifact.model_weights import check_numbers
from elman.config import to_plain
from elman.errors import ConfigError, ModelError
from elman.pipeline.recipe import recipe_class
from elman.tasks.classifier.task import Classifier, ClassifierConfig
from elman.tasks.config import TokenizerConfig
from elman.tasks.tagger.task import Tagger
from tests.folders.killing import kill_at_step
from tests.model_folder import store_model
from tests.tasks.topics import TINY, examples, fresh
from tests.tasks.toy_lm import real
from tests.unsigned import drop_digests

TEXTS = ["when", "the city of the river", ""]


def save(model: Classifier, folder: Path) -> Path:
    config = to_plain(recipe_class("classifier")(model=model.config))
    store_model(model, folder, config=config, metrics={"valid": {}}, card="# A model\n")
    return folder


@pytest.fixture
def folder(tmp_path) -> Path:
    """Without digests, as somebody could have made it: what is wrong with it is found by looking closer."""
    return drop_digests(save(fresh(), tmp_path / "m"))


def test_a_folder_holds_what_it_is_said_to(folder):
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "model.safetensors",
        "vocab.json",
        "labels.json",
        "metrics.json",
        "README.md",
    }


def test_every_text_of_a_folder_is_read_as_people_write_it(tmp_path):
    folder = save(fresh(), tmp_path)
    artifact.write_run(folder, {"command": "elman für alle"})
    texts = [path.read_text() for path in folder.iterdir() if path.suffix in (".json", ".md")]
    assert all(text.endswith("\n") for text in texts)
    for name in ("config.json", "metrics.json", "run.json"):
        text = (folder / name).read_text()
        assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
    assert "für" in (folder / "run.json").read_text()


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


def test_a_model_of_another_task_is_refused(folder):
    with pytest.raises(ModelError, match=r"holds a classifier, not a tagger$"):
        artifact.load(folder, Tagger)


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
        ({"model": {**TINY, "layers": 256}}, "a network larger than its weights is asked for"),
        ({"model": {**TINY, "hidden": 100_000}}, "a network larger than its weights is asked for"),
        ({"model": {**TINY, "layers": 10**9}}, "layers is 1000000000"),
        ({"model": {**TINY, "hidden": 10**30}}, "disagree"),
        ({"model": {**TINY, "dropout": float("nan")}}, "dropout is nan"),
        ({"task": []}, "this version of Elman has no task '[]'"),
        ({"elman": []}, "has format []"),
        ({"task": "\ud800"}, "not JSON ('utf-8' codec can't encode"),
        (
            {"data": {"deep": json.loads("[" * 60 + "]" * 60)}},
            "more than 50 lists and tables within each other",
        ),
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


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e38])
def test_weights_that_are_no_numbers_are_refused(folder, value):
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights["decide.0.bias"][1] = value
    save_file(weights, path)
    refused(folder, about="decide.0.bias holds NaN, infinity or a number beyond 1,000,000,000,000,000")


@pytest.mark.parametrize("largest", [1e15, -1e15])
def test_numbers_up_to_the_largest_are_weights(largest):
    weight = torch.tensor([largest, 0.0])
    check_numbers({"w": weight}, Path("m"))
    with pytest.raises(ModelError, match="w holds NaN, infinity or a number beyond"):
        check_numbers({"w": weight.nextafter(2 * weight)}, Path("m"))


@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.float64, torch.bool])
def test_weights_of_another_type_are_refused(folder, dtype):
    path = folder / "model.safetensors"
    save_file(load_file(path) | {"decide.0.bias": torch.zeros(2).to(dtype)}, path)
    refused(folder, about=f"decide.0.bias is {str(dtype)[6:]}, expected float32")


def test_double_precision_is_not_written(folder):
    model = fresh()
    model.net.double()
    with pytest.raises(ModelError, match=r"is float64, expected float32; call model\.net\.float\(\)"):
        artifact.save_model(model, folder)


@pytest.mark.parametrize("name", ["labels.json", "vocab.json", "model.safetensors", "config.json"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    refused(folder, about=name)


@pytest.mark.parametrize("deep", [60, 1_000, 100_000])
@pytest.mark.parametrize("name", ["labels.json", "vocab.json", "config.json"])
def test_deep_nesting_is_refused(folder, name, deep):
    (folder / name).write_text("[" * deep + "]" * deep)
    refused(folder, about=name)


@pytest.mark.parametrize("name", ["metrics.json", "run.json"])
def test_a_record_that_is_no_table_is_refused(folder, name):
    (folder / name).write_text("[1]")
    refused(folder, about=f"{name} is damaged")


def test_half_a_surrogate_pair_is_no_label(folder):
    (folder / "labels.json").write_text(r'["time", "\ud800"]')
    refused(folder, about="labels.json")


def test_weights_that_are_no_numbers_are_not_written_over_a_model(folder):
    exploded = fresh()
    exploded.net.decide[0].bias.data[0] = float("nan")
    with pytest.raises(ModelError, match=r"model\.safetensors: decide\.0\.bias holds NaN"):
        artifact.save_model(exploded, folder)
    artifact.load(folder)


def test_labels_that_do_not_fit_are_refused(folder):
    (folder / "labels.json").write_text('["time", "place", "person"]')
    refused(folder, about="disagree")


def test_whatever_else_lies_in_the_folder_stays(folder):
    (folder / "checkpoint.safetensors").write_text("x")
    save(fresh(), folder)
    assert (folder / "checkpoint.safetensors").read_text() == "x"


def test_a_writer_that_is_killed_at_any_step_leaves_the_old_model_or_the_new_one(tmp_path):
    """Two models of the same sizes, with other words: a mixture of their files would answer otherwise."""
    texts = ["time place when where", "city of year"]
    old, new = fresh(), fresh()
    words = new.featurizer.tokenizer.vocab
    object.__setattr__(words, "items", (*words.items[:4], *words.items[:3:-1]))
    answers = [[p.probabilities for p in model.classify(texts)] for model in (old, new)]
    found = []
    for step in count(1, 3):
        save(old, tmp_path / "m")
        over = not kill_at_step(step, lambda: save(new, tmp_path / "m"))
        model = artifact.load(tmp_path / "m")
        found.append(answers.index([p.probabilities for p in model.classify(texts)]))
        if over:
            break
    assert found == sorted(found)
    assert 2 < found.count(0) < len(found) - 2, "killed before the new model was complete, and after"


def test_files_of_others_are_replaced_only_when_told_to(tmp_path):
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "notes.txt").write_text("mine, too")
    model = fresh()
    with pytest.raises(ConfigError, match=r"holds files of others \('README.md'\): .*overwrite=True.*replaces"):
        model.save(tmp_path)
    assert sorted(path.read_text() for path in tmp_path.iterdir()) == ["mine", "mine, too"]
    model.save(tmp_path, overwrite=True)
    assert (tmp_path / "notes.txt").read_text() == "mine, too"
    assert artifact.load(tmp_path).classify(TEXTS) == model.classify(TEXTS)


def test_a_folder_without_a_name_is_not_the_current_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for use in (fresh().save, artifact.load):
        with pytest.raises(ConfigError, match="name of the folder is empty"):
            use("")
    assert not [*tmp_path.iterdir()]


def test_a_loaded_model_is_ready_to_answer(folder):
    model = artifact.load(folder)
    assert not model.net.training
    assert next(model.net.parameters()).device == torch.device("cpu")


def test_a_model_that_is_loaded_draws_no_weights(tmp_path):
    """Of a large network that takes longer than to read them."""
    model = real("chars")
    model.net.float()
    artifact.save_model(model, tmp_path / "m")
    before = torch.random.get_rng_state()
    loaded = artifact.load(tmp_path / "m")
    assert torch.equal(torch.random.get_rng_state(), before)
    for name, weight in loaded.net.state_dict().items():
        assert torch.equal(weight, model.net.state_dict()[name])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError(), "ValueError"),
        (RuntimeError("several lines:\n\tthe last one "), "the last one"),
        (KeyError("x" * 400), "'" + "x" * 299),
    ],
)
def test_what_no_network_can_be_made_of_is_one_short_line(error, reason, folder, monkeypatch):
    def fail(*given):
        raise error

    monkeypatch.setattr(Classifier, "from_folder", fail)
    with pytest.raises(ModelError) as found:
        artifact.load(folder)
    assert str(found.value) == f"{folder}: config.json and model.safetensors disagree: {reason}"
