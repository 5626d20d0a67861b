"""The classifier: what it computes, by hand where it is simple, by laws where it is not."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from elman.cells import CELLS
from elman.errors import ConfigError, DataError
from elman.tasks.classifier.task import (
    Classifier,
    ClassifierConfig,
    ClassifierDataConfig,
    ClassifierExample,
    read_examples,
)
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_data import LabelDataset, label_counts
from elman.tasks.word_batch import collate
from elman.text.tables import collect_reports
from tests.tasks.topics import TINY, examples, fresh

TEXTS = ["when", "the city of the river", "", "is a year", "was in the town of a river in a month"]


def chances(model: Classifier, texts: list[str]) -> torch.Tensor:
    """(texts, labels), labels in the order of their ids."""
    names = model.labels.items
    return torch.tensor([[p.probabilities[name] for name in names] for p in model.classify(texts)]).reshape(
        -1, len(names)
    )


def learns(model: Classifier, steps: int = 12) -> None:
    data = model.encode(examples(12))
    optimizer = torch.optim.Adam(model.net.parameters(), 0.02)
    losses = []
    for _ in range(steps):
        model.net.train()
        loss = model.loss(data, 0.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_learns(cell):
    learns(fresh(cell=cell))


@pytest.mark.parametrize("pool", ["last", "mean", "max", "mean+max", "attention", "ends"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_every_pooling_learns(pool, bidirectional):
    if pool == "ends" and not bidirectional:
        with pytest.raises(ConfigError, match="take 'last'"):
            fresh(pool=pool, bidirectional=bidirectional)
        return
    learns(fresh(pool=pool, bidirectional=bidirectional, layers=2))


@pytest.mark.parametrize("encoder", ["rnn", "bag", "window"])
@pytest.mark.parametrize("input", ["embedding", "one-hot"])
@pytest.mark.parametrize("mlp", [0, 5])
def test_every_encoder_learns_from_every_input_straight_or_through_an_mlp(encoder, input, mlp):
    learns(fresh(encoder=encoder, input=input, mlp=mlp, window=4), steps=20)


@pytest.mark.parametrize(
    "options", [{"dropout": 0.5, "word_dropout": 0.2}, {"label_smoothing": 0.1}, {"class_weights": True}]
)
def test_every_regulariser_learns(options):
    learns(fresh(**options), steps=25)


@pytest.mark.parametrize("kind", ["words", "whitespace", "chars", "bytes", "bpe", "unigram"])
def test_every_kind_of_tokens_gives_probabilities(kind):
    size = 270 if kind in ("bpe", "unigram") else 0
    model = Classifier.from_examples(
        ClassifierConfig(**TINY), TokenizerConfig(kind=kind, size=size), examples(30)
    )
    assert torch.allclose(chances(model, TEXTS).sum(1), torch.ones(len(TEXTS)))


POOLINGS = [
    {"pool": "last"},
    {"pool": "ends"},
    {"pool": "mean+max"},
    {"pool": "attention"},
    {"encoder": "bag"},
    {"encoder": "window", "window": 3},
]


@pytest.mark.parametrize("options", POOLINGS, ids=str)
def test_one_by_one_is_all_together(options):
    model = fresh(**options)
    together = chances(model, TEXTS)
    alone = torch.cat([chances(model, [text]) for text in TEXTS])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-6)


@pytest.mark.parametrize("options", POOLINGS, ids=str)
@given(tail=st.lists(st.integers(0, 9), min_size=1, max_size=5))
def test_padding_is_inert(options, tail):
    torch.manual_seed(0)
    model = fresh(**options)
    _, forms = model.featurizer.texts([])
    short = collate([np.array([4, 7, 5], np.int32)], forms)
    long = collate([np.array([4, 7, 5, *tail], np.int32)], forms)
    masked = long._replace(mask=torch.arange(3 + len(tail))[None] < 3)
    torch.testing.assert_close(model.net(masked), model.net(short), rtol=0, atol=1e-6)


def test_the_order_of_the_texts_is_kept():
    model = fresh()
    forward, backward = model.classify(TEXTS), model.classify(TEXTS[::-1])
    for one, other in zip(forward, backward[::-1], strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-6)


def test_nothing_to_classify_is_nothing():
    assert fresh().classify([]) == []


def test_the_label_is_the_likeliest_and_probabilities_fall():
    for prediction in fresh().classify(TEXTS):
        values = list(prediction.probabilities.values())
        assert values == sorted(values, reverse=True)
        assert next(iter(prediction.probabilities)) == prediction.label
        assert sum(values) == pytest.approx(1)


def decision(model: Classifier, features: np.ndarray) -> np.ndarray:
    layer = model.net.decide[-1]
    logits = features @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    return np.exp(logits) / np.exp(logits).sum()


def rows_of_e(model: Classifier, text: str) -> np.ndarray:
    return model.net.words.embed[0].E.weight.detach().numpy()[model.featurizer.tokenizer.encode(text)]


def test_the_bag_of_words_is_a_decision_on_the_mean_of_the_words():
    model = fresh(encoder="bag")
    for text in ("when", "the city of the river"):
        by_hand = decision(model, rows_of_e(model, text).mean(0))
        np.testing.assert_allclose(chances(model, [text])[0], by_hand, atol=1e-6)
    words = ["is", "a", "year"]
    torch.testing.assert_close(chances(model, [" ".join(words)]), chances(model, [" ".join(words[::-1])]))


@pytest.mark.parametrize("text", ["when", "is a year", "the city of the river"])
def test_the_window_is_a_decision_on_the_first_words_side_by_side(text):
    model = fresh(encoder="window", window=3)
    features = np.zeros((3, TINY["embedding"]), np.float32)
    rows = rows_of_e(model, text)[:3]
    features[: len(rows)] = rows
    by_hand = decision(model, features.ravel())
    np.testing.assert_allclose(chances(model, [text])[0], by_hand, atol=1e-6)


def test_balanced_weighs_a_label_by_how_rare_it_is():
    model = fresh(class_weights=True)
    data = model.encode([ClassifierExample("when", "time")] * 3 + [ClassifierExample("where", "place")])
    model.fit_statistics(data)
    nll = -model.scores(data.rows, data.forms).numpy()[range(4), data.labels]
    counts = {"time": 3, "place": 1}
    weights = np.array([1 / counts[model.labels.items[i]] for i in data.labels])
    expected = (weights * nll).sum() / weights.sum()
    assert model.loss(data, 0.0).item() == pytest.approx(expected, rel=1e-5)


def test_without_balance_the_loss_is_the_mean_cross_entropy():
    model = fresh()
    data = model.encode(examples(7))
    nll = -model.scores(data.rows, data.forms).numpy()[range(7), data.labels]
    assert model.loss(data, 0.0).item() == pytest.approx(nll.mean(), rel=1e-5)


def test_evaluate_counts_what_classify_gets_right():
    model, some = fresh(), examples(20, seed=3)
    guessed = model.classify(e.text for e in some)
    right = [p.label == e.label for p, e in zip(guessed, some, strict=True)]
    scores = model.evaluate_dataset(model.encode(some))
    assert scores["accuracy"] == pytest.approx(100 * sum(right) / len(right))
    assert scores["examples"] == 20


@pytest.mark.parametrize("frozen", [False, True])
def test_frozen_vectors_stay_and_all_others_move(tmp_path, frozen):
    """Even under weight decay, which moves what has no gradient."""
    file = tmp_path / "vectors.txt"
    file.write_text("when 1 2 3\ncity 2 1 -1\n")
    made = fresh(vectors=str(file), freeze_vectors=frozen)
    words = ["when", "city", "year", "river"]
    ids = torch.tensor([made.featurizer.tokenizer.encode(word) for word in words])
    embed = made.net.words.embed[0]
    before = embed(ids).detach().clone()
    trained = [p for p in made.net.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, 0.01, weight_decay=0.5)
    for _ in range(3):
        made.loss(made.encode(examples(40)), 0.0).backward()
        optimizer.step()
    moved = (embed(ids) != before).flatten(1).any(1).tolist()
    assert moved == [not frozen, not frozen, True, True]
    assert made.featurizer.coverage.types == pytest.approx(100 * 2 / 14)


def test_a_single_label_is_refused():
    with pytest.raises(DataError, match="'x'"):
        Classifier.from_examples(
            ClassifierConfig(**TINY),
            TokenizerConfig(),
            [ClassifierExample("a", "x"), ClassifierExample("b", "x")],
        )


def test_columns_the_wrong_way_round_are_suspected():
    swapped = [ClassifierExample(e.label, f"{e.text} {i}") for i, e in enumerate(examples(300))]
    with pytest.raises(DataError, match="wrong way round"):
        Classifier.from_examples(ClassifierConfig(**TINY), TokenizerConfig(), swapped)


@pytest.mark.parametrize(("count", "most"), [(120, 100), (300, 150)])
def test_half_the_examples_may_have_labels_of_their_own_and_a_hundred_in_any_case(count, most):
    some = [ClassifierExample("a", str(i % most)) for i in range(count)]
    assert len(label_counts(some)) == most
    with pytest.raises(DataError, match=f"{most + 1} different labels in {count} examples"):
        label_counts([*some[1:], ClassifierExample("a", "another")])


def test_an_unknown_label_is_named_with_its_line():
    with pytest.raises(DataError, match=r"b\.tsv:3: unknown label 'who'"):
        fresh().encode([ClassifierExample("x", "who", "b.tsv:3")])


def written(tmp_path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_a_first_line_with_a_label_of_its_own_is_suspected_to_name_the_columns(tmp_path):
    rows = "".join(f"{e.text},{e.label}\n" for e in examples(100))
    path = written(tmp_path, "a.csv", f"question,kind\n{rows}")
    with pytest.warns(UserWarning, match=r"a\.csv:1: .* text='question' and label='kind'"):
        found = list(read_examples(ClassifierDataConfig(), path, train=True))
    assert len(found) == 101


@pytest.mark.parametrize(("count", "suspected"), [(30, False), (31, True)])
def test_only_of_ten_examples_a_label_a_single_one_is_suspected(tmp_path, count, suspected):
    rows = "".join(f"{e.text},{e.label}\n" for e in examples(count - 1))
    path = written(tmp_path, "a.csv", f"question,kind\n{rows}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(read_examples(ClassifierDataConfig(), path, train=True))
    assert bool(caught) is suspected
    later = written(tmp_path, "b.csv", f"{rows}question,kind\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(read_examples(ClassifierDataConfig(), later, train=True))


def test_the_report_of_a_file_counts_its_labels(tmp_path):
    path = written(tmp_path, "a.csv", "text,label\na,x\nb,y\nc,x\n")
    with collect_reports() as reports:
        list(read_examples(ClassifierDataConfig(), path))
    assert [report.labels for report in reports] == [2]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("first", ["text,label\n", ""], ids=["header", "none"])
def test_a_first_line_that_names_text_and_label_or_is_an_example_is_not_suspected(tmp_path, first):
    rows = "".join(f"{e.text},{e.label}\n" for e in examples(100))
    assert (
        len(list(read_examples(ClassifierDataConfig(), written(tmp_path, "a.csv", first + rows), train=True)))
        == 100
    )


def test_labels_are_cut_renamed_and_left_out_as_said(tmp_path):
    file = written(tmp_path, "a.tsv", "x\tLOC:city\ny\tNUM:date\nz\tABBR\n")
    data = ClassifierDataConfig(label_until=":", labels={"LOC": "place", "NUM": "number"})
    assert [e[:2] for e in read_examples(data, file)] == [("x", "place"), ("y", "number")]
    assert [e.where for e in read_examples(data, file)] == [f"{file}:1", f"{file}:2"]


def test_texts_and_labels_may_be_two_files(tmp_path):
    files = (written(tmp_path, "seq.in", "a b\nc\n"), written(tmp_path, "label", "x\ny\n"))
    assert [e[:2] for e in read_examples(ClassifierDataConfig(), files)] == [("a b", "x"), ("c", "y")]
    with pytest.raises(ConfigError, match="not in 3"):
        list(read_examples(ClassifierDataConfig(), (*files, files[0])))


def test_phrases_of_trees_are_for_training_only(tmp_path):
    file = written(tmp_path, "t", "(3 (2 It) (4 works))\n")
    data = ClassifierDataConfig(format="trees", phrases=True)
    assert len(list(read_examples(data, file, train=True))) == 3
    assert [e[:2] for e in read_examples(data, file)] == [("It works", "3")]


def test_picking_keeps_rows_and_labels_together():
    _, forms = fresh().featurizer.texts([])
    data = LabelDataset([(np.array([i], np.int32),) for i in range(5)], forms, [0, 1, 2, 3, 4])
    picked = data.pick([3, 1])
    assert [text.item() for (text,) in picked.rows] == picked.labels == [3, 1]
    assert len(picked) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"hidden": 0}, "hidden is 0"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"cell": "lstmm"}, "did you mean 'lstm'"),
        ({"vectors": "x", "input": "one-hot"}, "one-hot"),
    ],
)
def test_settings_that_cannot_be_are_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        ClassifierConfig(**options)


@pytest.mark.parametrize("class_weights", [False, True])
def test_the_loss_of_a_batch_is_the_weighted_mean_of_its_parts(class_weights):
    """So two processes, or two accumulated batches, have the gradient of one."""
    model = fresh(class_weights=class_weights)
    data = model.encode([ClassifierExample("when", "time")] * 5 + [ClassifierExample("where", "place")])
    model.fit_statistics(data)
    parts = [data.pick(range(rank, len(data), 4)) for rank in range(4)]
    weights = [model.weight(part) for part in parts]
    assert sum(weights) == pytest.approx(model.weight(data))
    losses = [model.loss(part, 0.0).item() for part in parts]
    assert np.average(losses, weights=weights) == pytest.approx(model.loss(data, 0.0).item())
    assert model.weight(data.pick([])) == 0


def test_adversarial_training_is_the_mean_with_the_loss_after_a_step_along_the_gradient():
    made = fresh(adversarial=0.5)
    batch = made.encode(examples(6))
    words = collate([text for (text,) in batch.rows], batch.forms)
    xs = made.net.words(words).detach().requires_grad_()
    gold = torch.tensor(batch.labels)
    plain = cross_entropy(made.net.logits(xs, words.mask), gold)
    (g,) = torch.autograd.grad(plain, xs)
    known = (xs * words.mask[..., None]).detach()
    step = torch.stack([0.5 * x.norm() * row / row.norm() for x, row in zip(known, g, strict=True)])
    worst = cross_entropy(made.net.logits(xs + step, words.mask), gold)
    assert worst > plain
    weights = [*made.net.parameters()]
    xs = made.net.words(words)
    both = sum(cross_entropy(made.net.logits(x, words.mask), gold) for x in (xs, xs + step)) / 2
    made.net.train()
    loss = made.loss(batch, 0.0)
    torch.testing.assert_close(loss, (plain + worst) / 2)
    for found, expected in zip(*(torch.autograd.grad(y, weights) for y in (loss, both)), strict=True):
        torch.testing.assert_close(found, expected)
    made.net.eval()
    torch.testing.assert_close(made.loss(batch, 0.0), plain)


def test_a_step_away_from_the_words_may_not_be_negative():
    with pytest.raises(ConfigError, match="adversarial is -1"):
        ClassifierConfig(adversarial=-1.0)


def test_below_the_threshold_the_answer_is_the_other_one_and_nothing_else_changes():
    model = fresh()
    plain = model.classify(TEXTS)
    cut = sorted(max(p.probabilities.values()) for p in plain)[len(plain) // 2]
    for before, after in zip(plain, model.classify(TEXTS, threshold=cut, otherwise="?"), strict=True):
        sure = max(before.probabilities.values()) >= cut
        label = before.label if sure else "?"
        assert after == before._replace(label=label, labels=(label,))
    assert {p.label for p in model.classify(TEXTS, threshold=1)} == {""}
    with pytest.raises(ConfigError, match="threshold is 2"):
        model.classify(TEXTS, threshold=2)


def test_what_is_not_read_of_long_texts_is_said():
    """Of ten tokens four are left out, of all sixteen a quarter; a text of just six is read."""
    rows = [ClassifierExample("a b c d e f g h i j", "x"), ClassifierExample("a b c d e f", "y")]
    model = Classifier.from_examples(ClassifierConfig(**TINY, max_tokens=6), TokenizerConfig(), rows)
    data = model.encode(rows)
    with pytest.warns(UserWarning, match="1 of 2 texts are longer than 6 tokens: .* 25 % of all tokens"):
        batches = model.build_batches(data, ClassifierDataConfig(), 0)
    assert sorted(length for batch in batches(0, 0) for (length,) in batch.lengths) == [6, 6]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.build_batches(model.encode(rows[1:]), ClassifierDataConfig(), 0)
