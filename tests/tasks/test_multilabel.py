"""Several labels a text: how they are read, what is learnt, what is answered."""

import json
import warnings

import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

import elman
from elman.cli.app import elman as command
from elman.errors import ConfigError, DataError
from elman.tasks.classifier.task import ClassifierDataConfig, ClassifierExample, read_examples
from elman.tasks.label_sets import sniff_delimiter, split_labels
from tests.click_runner import make_runner
from tests.tasks.parts import fresh_multi, multi_examples
from tests.tasks.topics import examples

MULTI = ClassifierDataConfig(multi=True)
QUICK = {"hidden": 16, "epochs": 12, "batch": 128, "lr": 0.02}
TINY = {"model": {"embedding": 16, "dropout": 0.0, "word_dropout": 0.0}}


def written(tmp_path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def labels_in(data: ClassifierDataConfig, source: object) -> list[tuple[str, ...]]:
    return [e.labels for e in read_examples(data, source)]


@pytest.mark.parametrize("delimiter", [";", "|", ","])
def test_a_column_is_split_at_the_delimiter_that_it_has(tmp_path, delimiter):
    rows = [f"x\ta{delimiter} b", "y\tb", "z\t", f"w\t{delimiter}c{delimiter}c"]
    path = written(tmp_path, "a.tsv", "text\tlabel\n" + "".join(f"{row}\n" for row in rows))
    assert labels_in(MULTI, path) == [("a", "b"), ("b",), (), ("c",)]


def test_a_delimiter_may_be_said(tmp_path):
    path = written(tmp_path, "a.tsv", "text\tlabel\nx\ta;b / c\n")
    assert labels_in(ClassifierDataConfig(multi=True, label_delimiter="/"), path) == [("a;b", "c")]


def test_the_delimiter_is_the_one_that_most_cells_have():
    assert sniff_delimiter(["a,b", "c", "d;e", "f,g"]) == ","
    assert sniff_delimiter(["a", ["b"], None]) == ";"


def test_lists_of_json_are_labels_and_may_be_empty(tmp_path):
    values = [["a", "b"], [], "c;d", [1, 2], None]
    lines = [json.dumps({"text": "x", "label": value}) for value in values]
    path = written(tmp_path, "a.jsonl", "\n".join(lines) + "\n")
    assert labels_in(MULTI, path) == [("a", "b"), (), ("c", "d"), ("1", "2"), ()]


def test_a_list_without_multi_names_the_option(tmp_path):
    path = written(tmp_path, "a.jsonl", '{"text": "x", "label": ["a", "b"]}\n')
    with pytest.raises(DataError, match=r"a\.jsonl:1: .* list.* --multi"):
        list(read_examples(ClassifierDataConfig(), path))


def test_an_empty_label_is_refused_without_multi(tmp_path):
    path = written(tmp_path, "a.tsv", "text\tlabel\nx\t\n")
    with pytest.raises(DataError, match="empty"):
        list(read_examples(ClassifierDataConfig(), path))


def test_a_label_that_is_no_text_is_named_with_its_line():
    with pytest.raises(DataError, match=r"a\.jsonl:3: .label. must be a string or a whole number"):
        split_labels(["a", 0.5], ";", "a.jsonl:3")


def test_numbers_of_numpy_and_missing_cells_of_data_frames_are_read():
    assert split_labels(np.array([1, 2]), ";", "") == ("1", "2")
    assert split_labels(float("nan"), ";", "") == ()


def test_labels_are_cut_renamed_and_left_out_of_their_sets(tmp_path):
    path = written(tmp_path, "a.tsv", "text\tlabel\nx\tLOC:city;NUM:date\ny\tABBR\n")
    data = ClassifierDataConfig(multi=True, label_until=":", labels={"LOC": "place", "NUM": "number"})
    assert labels_in(data, path) == [("place", "number"), ()]


@pytest.mark.parametrize(
    "labels",
    [["a", "b", "a;b"], ["x|y", "y|z", "x|z", "z|w", "w|x"], ["a, b", "a", "b"]],
    ids=["parts alone", "shared parts", "with a blank"],
)
def test_labels_that_look_like_several_are_warned_of(tmp_path, labels):
    path = written(tmp_path, "a.tsv", "text\tlabel\n" + "".join(f"t\t{label}\n" for label in labels))
    with pytest.warns(UserWarning, match="--multi"):
        list(read_examples(ClassifierDataConfig(), path, train=True))


@pytest.mark.parametrize("labels", [["Food, drink", "Sports"], ["a;b", "c;d"], ["yes", "no"]])
def test_labels_that_only_hold_a_delimiter_are_not_warned_of(tmp_path, labels):
    path = written(tmp_path, "a.tsv", "text\tlabel\n" + "".join(f"t\t{label}\n" for label in labels))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(read_examples(ClassifierDataConfig(), path, train=True))


def test_a_delimiter_without_multi_and_trees_with_it_are_refused():
    with pytest.raises(ConfigError, match="--multi"):
        ClassifierDataConfig(label_delimiter=";")
    with pytest.raises(ConfigError, match="tree"):
        ClassifierDataConfig(multi=True, format="trees")


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_loss_is_the_binary_cross_entropy_of_all_labels(smoothing):
    model = fresh_multi(label_smoothing=smoothing)
    some = multi_examples(9)
    data, names = model.encode(some), model.labels.items
    right = torch.tensor([[float(name in e.labels) for name in names] for e in some])
    targets = right * (1 - smoothing) + smoothing / 2
    expected = binary_cross_entropy_with_logits(model.logits(data.rows, data.forms), targets)
    assert model.loss(data, 0.0).item() == pytest.approx(len(names) * expected.item(), rel=1e-5)


def test_with_class_weights_texts_with_and_without_a_label_count_the_same():
    model = fresh_multi(class_weights=True)
    texts = [("year", ("time",)), ("queen", ("person",)), ("queen", ("person",)), ("city", ("place",))]
    data = model.encode([multi_examples(1)[0]._replace(text=t, labels=ls) for t, ls in texts])
    model.fit_statistics(data)
    assert dict(zip(model.labels.items, model.rarity.tolist(), strict=True)) == pytest.approx(
        {"time": 3, "place": 3, "person": 1}
    )


@pytest.mark.parametrize(
    "options", [{}, {"class_weights": True}, {"adversarial": 0.5}, {"label_smoothing": 0.1}]
)
def test_every_kind_of_training_learns(options):
    model = fresh_multi(**options)
    data = model.encode(multi_examples(30))
    model.fit_statistics(data)
    model.net.train()
    optimizer = torch.optim.Adam(model.net.parameters(), 0.02)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = model.loss(data, 0.0)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_one_label_and_several_do_not_mix():
    with pytest.raises(ConfigError, match="say --multi"):
        fresh_multi().encode([ClassifierExample("x", "time")])
    with pytest.raises(DataError, match=r"b:2: unknown label 'who'"):
        fresh_multi().encode([multi_examples(1)[0]._replace(labels=("who",), where="b:2")])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("multi") / "model"
    rows = [(e.text, list(e.labels)) for e in multi_examples(240)]
    valid = [(e.text, list(e.labels)) for e in multi_examples(80, seed=1)]
    elman.Classifier.train(rows, valid=valid, out=path, multi=True, recipe=TINY, **QUICK)
    return path


def run(*arguments: object, stdin: str | None = None) -> str:
    done = make_runner().invoke(command, [*map(str, arguments)], input=stdin)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_it_learns_and_says_labels_or_none(folder):
    model = elman.load(folder, elman.Classifier)
    both, none = model.classify(["the queen is in a city", "the of a"])
    assert set(both.labels) == {"person", "place"}
    assert (none.labels, none.label) == ((), "")
    assert set(both.label.split(";")) == {"person", "place"}
    assert 0 < none.confidence <= 1


def test_its_scores_are_those_of_scikit_learn(folder):
    metrics = pytest.importorskip("sklearn.metrics")
    model, some = elman.load(folder, elman.Classifier), multi_examples(60, seed=2)
    found = model.evaluate([(e.text, e.labels) for e in some])
    names = model.labels.items
    gold, guess = (
        [[int(name in labels) for name in names] for labels in side]
        for side in ([e.labels for e in some], [p.labels for p in model.classify(e.text for e in some)])
    )
    assert found["micro_f1"] == pytest.approx(100 * metrics.f1_score(gold, guess, average="micro"))
    assert found["macro_f1"] == pytest.approx(100 * metrics.f1_score(gold, guess, average="macro"))
    assert found["exact"] == pytest.approx(100 * metrics.accuracy_score(gold, guess))
    assert found["micro_f1"] > 90


def test_the_commands_print_labels_probabilities_and_a_table(folder, tmp_path):
    assert run("predict", folder, "-", stdin="the of a\na year of a\n") == "\ntime\n"
    (answer,) = map(json.loads, run("predict", folder, "-", "--json", stdin="a year of a\n").splitlines())
    assert answer["labels"] == ["time"]
    assert set(answer["probabilities"]) == {"time", "place", "person"}
    assert run("predict", folder, "-", "--top", "2", stdin="a year of a\n").startswith("time ")
    path = written(tmp_path, "t.tsv", "text\tlabel\na year\ttime\na city, a queen\tplace;person\nof the\t\n")
    table = run("evaluate", folder, path)
    assert "micro_f1 100.00" in table
    assert "threshold" in table
    record = json.loads(run("evaluate", folder, path, "--json"))
    assert record["exact"] == 100
    assert set(record["labels"]["time"]) == {"precision", "recall", "f1", "support", "threshold"}
    assert "time" in run("inspect", folder, "--text", "a year of a", "--out", tmp_path / "pictures")


def test_the_card_and_the_repr_say_that_there_are_several_and_their_thresholds(folder):
    card = (folder / "README.md").read_text()
    assert "labels, several a text or none: " in card
    assert "thresholds: " in card
    assert "several a text" in repr(elman.load(folder))


def test_it_is_trained_on_and_averaged(folder, tmp_path):
    rows = [(e.text, e.labels) for e in multi_examples(120, seed=3)]
    options = {**QUICK, "epochs": 1, "multi": True}
    further = elman.Classifier.train(rows, init=folder, out=tmp_path / "b", recipe=TINY, **options)
    assert further.decision.kind == "sigmoid"
    run("average", folder, tmp_path / "b", "--out", tmp_path / "mean")
    mean = elman.load(tmp_path / "mean", elman.Classifier)
    first = elman.load(folder, elman.Classifier)
    parts = [m.decision.threshold for m in (first, further)]
    assert mean.decision.threshold == pytest.approx(sum(parts) / 2)
    with pytest.raises(ConfigError, match="several"):
        elman.Classifier.train([e[:2] for e in examples(40)], init=folder, recipe=TINY, **QUICK)


def test_the_delimiter_of_the_training_data_is_kept(tmp_path):
    rows = "".join(f"{e.text}\t{'|'.join(e.labels)}\n" for e in multi_examples(60))
    path = written(tmp_path, "a.tsv", f"text\tlabel\n{rows}")
    model = elman.Classifier.train(path, multi=True, recipe=TINY, **{**QUICK, "epochs": 1})
    assert model.decision.delimiter == "|"
    assert model.record.data.label_delimiter == "|"
