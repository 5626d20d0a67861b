"""What a user types: train from memory, save, load, evaluate, show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import elman
from elman.tasks.registry import TASKS

ROOT = Path(__file__).parents[1]
TEXTS = [(f"the {a} {b}", label) for label, a in (("up", "bird"), ("down", "mole")) for b in "abcdefghij"]
SENTENCES = [(["the", "dog", "barks"], ["D", "N", "V"]), (["a", "cat", "sleeps"], ["D", "N", "V"])] * 4
LINES = ["once upon a time", "there was a king", "the king was old"] * 8
PAIRS = [("a b", "b a"), ("b c", "c b"), ("c a", "a c")] * 4
TWO_TEXTS = [("a b", "a b", "same"), ("a b", "b c", "other")] * 8
QUICK = {"hidden": 8, "epochs": 1}


def train(task, **options):
    if task == "classifier":
        return elman.Classifier.train(TEXTS, **QUICK, **options)
    if task == "tagger":
        return elman.Tagger.train(SENTENCES, **QUICK, **options)
    if task == "pairs":
        return elman.Pairs.train(TWO_TEXTS, **QUICK, **options)
    if task == "lm":
        return elman.LanguageModel.train(LINES, **QUICK, **options)
    words = {"source": {"kind": "whitespace"}, "target": {"kind": "whitespace"}}
    return elman.Seq2Seq.train(PAIRS, recipe={"tokens": words}, **QUICK, **options)


DATA = {"classifier": TEXTS, "pairs": TWO_TEXTS, "tagger": SENTENCES, "lm": LINES, "seq2seq": PAIRS}
CLASSES = {
    "classifier": elman.Classifier,
    "pairs": elman.Pairs,
    "tagger": elman.Tagger,
    "lm": elman.LanguageModel,
    "seq2seq": elman.Seq2Seq,
}


@pytest.mark.parametrize("task", DATA)
def test_a_model_trained_from_memory_is_the_same_after_saving_and_loading(task, tmp_path):
    model = train(task)
    model.save(tmp_path / "m")
    again = elman.load(tmp_path / "m", CLASSES[task])
    assert again.evaluate(DATA[task]) == model.evaluate(DATA[task])
    assert repr(again) == repr(model)
    assert (tmp_path / "m" / "README.md").read_text().startswith("# ")
    again.save(tmp_path / "copy")
    for name in ("config.json", "metrics.json", "README.md", "model.safetensors"):
        assert (tmp_path / "copy" / name).read_bytes() == (tmp_path / "m" / name).read_bytes()


def test_training_from_memory_gives_the_weights_of_training_from_a_file(tmp_path):
    file = tmp_path / "train.tsv"
    file.write_text("".join(f"{text}\t{label}\n" for text, label in TEXTS))
    one, other = elman.Classifier.train(TEXTS, **QUICK), elman.Classifier.train(file, **QUICK)
    for (name, a), (_, b) in zip(one.net.state_dict().items(), other.net.state_dict().items(), strict=True):
        assert torch.equal(a, b), name


def test_rows_may_be_mappings_with_named_columns():
    rows = [{"body": text, "folder": label, "id": 1} for text, label in TEXTS]
    columns = {"data": {"text": "body", "label": "folder"}}
    model = elman.Classifier.train(rows, recipe=columns, **QUICK)
    assert model.labels.items == ("down", "up")
    with pytest.raises(elman.DataError, match="no column 'label'; there are 'body', 'folder', 'id'"):
        elman.Classifier.train(rows, **QUICK)


class Frame:
    """As a data frame looks to others."""

    columns = ("text", "label")

    def to_dict(self, kind):
        assert kind == "records"
        return [{"text": text, "label": label} for text, label in TEXTS]


def test_a_data_frame_is_its_rows():
    assert elman.Classifier.train(Frame(), **QUICK).labels.items == ("down", "up")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "there are no examples"),
        ([("a", "b"), ("only",)], "examples in memory:2: expected (text, label), got ('only',)"),
        ([("a", 0.5)], "examples in memory:1: 'label' must be a string or a whole number"),
    ],
)
def test_rows_that_are_no_examples_are_refused_by_number(rows, said):
    with pytest.raises(elman.DataError) as error:
        elman.Classifier.train(rows, **QUICK)
    assert said in str(error.value)


def test_an_unknown_option_is_refused():
    with pytest.raises(elman.ConfigError, match="unknown option 'hiden'"):
        elman.Classifier.train(TEXTS, hiden=3)


def test_loading_as_another_task_is_refused_in_one_sentence(tmp_path):
    train("classifier", out=tmp_path / "m")
    with pytest.raises(elman.ModelError, match="holds a classifier, not a tagger"):
        elman.load(tmp_path / "m", elman.Tagger)
    assert isinstance(elman.Classifier.load(tmp_path / "m"), elman.Classifier)


def test_training_and_answering_leave_modes_and_random_numbers_alone():
    before = torch.get_rng_state()
    model = train("classifier")
    assert torch.equal(torch.get_rng_state(), before)
    model.net.train()
    model.classify(["the bird"])
    model.evaluate(TEXTS)
    assert model.net.training
    assert torch.equal(torch.get_rng_state(), before)


def test_a_model_shows_what_it_is():
    model = train("classifier")
    assert repr(model).startswith("<Classifier task: classifier; labels: down, up; network: 1 × lstm, 8")
    card = model._repr_html_()
    assert "<th>labels</th><td>down, up</td>" in card
    assert f"<th>valid</th><td>accuracy {model.record.metrics['valid']['accuracy']:.2f}" in card


def test_every_task_of_the_table_is_at_the_front_door():
    names = {spec.home.split(":")[1] for spec in TASKS.values()}
    assert names <= set(elman.__all__)
    assert all(issubclass(getattr(elman, name), elman.tasks.base.Task) for name in names)


def test_the_types_of_the_front_door_are_known(tmp_path):
    (tmp_path / "typed.py").write_text(
        "import elman\n"
        'reveal_type(elman.load("m", elman.Classifier))\n'
        'reveal_type(elman.load("m"))\n'
        'reveal_type(elman.Tagger.train([(["a"], ["B"])], minutes=1))\n'
        'elman.Classifier.train([("a", "b")], hiden=3)\n'
        "elman.LanguageModel.train([1])\n"
    )
    options = ["--strict", "--follow-imports=silent", f"--cache-dir={ROOT / '.mypy_cache' / 'docs'}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(tmp_path / "typed.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    said = dict(re.findall(r"typed\.py:(\d): (.*)", done.stdout)[::-1])  # of each line the first
    assert said["2"] == 'note: Revealed type is "elman.tasks.classifier.task.Classifier"'
    assert said["3"] == 'note: Revealed type is "elman.tasks.base.Task[Any]"'
    assert said["4"] == 'note: Revealed type is "elman.tasks.tagger.task.Tagger"'
    assert 'Unexpected keyword argument "hiden"' in said["5"]
    assert "expected" in said["6"]
