"""Classifiers with n-grams, and those that read long texts in parts: the page says what Python says."""

import numpy as np
import pytest
import torch

from elman.errors import ModelError
from elman.live_page import page_file, write_page
from elman.live_page.weight_table import WeightTable
from elman.tasks.classifier.data import ClassifierExample
from elman.tasks.classifier.task import Classifier, ClassifierConfig
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_data import MultilabelExample
from elman.tasks.ngram_fit import Kind, NGramChoice, fit_ngram_model
from tests.live_page.browser import OpenPage, needs_browser, start_browser, write_task
from tests.live_page.models import LINES, classifier, shake
from tests.live_page.runtime import needs_node, run_model

NEAR = {"abs": 1e-5, "rel": 1e-5}
LABELS = ("a", "b", "c")
TEXTS = [*LINES, "No more cats. No more cats. No mice", "zzz qqq", "zzz", ""]  # seen, counted, unknown, empty
PIECES = Kind(pairs=True, pieces=True)
KINDS = {
    "words": (Kind(), {}),
    "pairs": (Kind(pairs=True), {}),
    "pieces of words": (PIECES, {"characters": "cnn", "casing": True}),
    "pieces beside a bag": (PIECES, {"encoder": "bag", "affixes": 1}),
}
PLAIN = TokenizerConfig()


def with_ngrams(kind=PIECES, tokens=PLAIN, examples=None, **model):
    """A network at random beside n-grams that are fitted."""
    examples = examples or [ClassifierExample(line, y) for line, y in zip(LINES, LABELS, strict=True)]
    config = ClassifierConfig(**{"hidden": 5, "embedding": 6, "ngrams": True} | model)
    task = shake(Classifier.from_examples(config, tokens, examples))
    dataset, labels = task.encode(examples), len(task.labels.items)
    texts, loss = [text for (text,) in dataset.rows], task._ngram_loss(dataset)
    task.net.ngrams = fit_ngram_model(texts, dataset.forms, labels, loss, NGramChoice(kind, 100.0))
    task.net.mix.copy_(torch.tensor([0.3, 2.0]))
    return task


def check_labels(folder, task, texts, *, near=NEAR):
    """The labels of each text in the page, as Python gives them."""
    found = run_model(folder, task, f"answer({texts!r}.map((text) => engine.read(text)))")
    for one, prediction in zip(found, task.classify(texts), strict=True):
        chances = {row["label"]: row["probability"] for row in one["labels"]}
        assert chances == pytest.approx(prediction.probabilities, **near)
    return found


@needs_node
@pytest.mark.parametrize("kind", KINDS)
def test_what_n_grams_say_is_what_python_says(kind, tmp_path):
    ngrams, model = KINDS[kind]
    task = with_ngrams(ngrams, **model)
    assert bool((task.net.ngrams.keys < 0).any()) is ngrams.pieces
    check_labels(tmp_path, task, TEXTS)


@needs_node
@pytest.mark.parametrize("tokens", ["chars", "bpe"])
def test_n_grams_of_other_tokens_are_those_of_python(tokens, tmp_path):
    size = {"size": 280} if tokens == "bpe" else {}
    check_labels(tmp_path, with_ngrams(Kind(pairs=True), TokenizerConfig(kind=tokens, **size)), TEXTS)


@needs_node
def test_characters_beyond_the_base_of_the_keys_count_as_one_as_in_python(tmp_path):
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 5000)))
    words = [letters[i : i + 20] for i in range(0, 5000, 20)]
    examples = [ClassifierExample(" ".join(words[k::3]), y) for k, y in enumerate(LABELS)]
    task = with_ngrams(examples=examples, characters="cnn")
    assert len(task.featurizer.spelling.alphabet) > 4097
    check_labels(tmp_path, task, [words[0], words[-1], letters[-9:], letters[4090:4100]])


@needs_node
def test_several_labels_have_the_n_grams_of_python(tmp_path):
    examples = [MultilabelExample(line, ys) for line, ys in zip(LINES, [("a",), (), ("a", "b")], strict=True)]
    found = check_labels(tmp_path, with_ngrams(examples=examples, characters="cnn"), TEXTS)
    assert found[0]["ngrams"]["other"] is None


@needs_node
def test_what_each_word_adds_is_what_the_n_grams_say_of_the_label_against_the_next(tmp_path):
    task = with_ngrams(characters="cnn")
    found = check_labels(tmp_path, task, TEXTS)
    names = task.labels.items
    for text, one in zip(TEXTS, found, strict=True):
        ngrams = one["ngrams"]
        assert [ngrams["label"], ngrams["other"]] == [row["label"] for row in one["labels"][:2]]
        assert ngrams["tokens"] == one["tokens"]
        best, other = names.index(ngrams["label"]), names.index(ngrams["other"])
        task.net.mix.copy_(torch.tensor([0.0, 2.0]))
        z = (task.logits(*task.encode_texts([(text,)]))[0] - 2 * task.net.ngrams.b).tolist()
        assert sum(ngrams["shares"]) == pytest.approx(z[best] - z[other], abs=1e-4)
    shares = dict(zip(found[3]["tokens"], found[3]["ngrams"]["shares"], strict=False))
    assert abs(shares["cats"]) > 0


@needs_node
def test_n_grams_of_16_bits_keep_their_keys(tmp_path):
    task = with_ngrams(characters="cnn")
    code = "answer([engine.spec.ngrams.W.data, Array.from(engine.spec.ngrams.keys, String)])"
    W, keys = run_model(tmp_path, task, code, half=True)
    assert [*map(int, keys)] == task.net.ngrams.keys.tolist()
    assert min(map(int, keys)) < -(2**53)
    assert np.array_equal(np.float32(W), task.net.ngrams.W.half().float().flatten().numpy())


def test_integers_alone_are_packed():
    table = WeightTable()
    assert table.add_integers(torch.tensor([-(2**60), 3])) == {"$integers": 0}
    assert table.pack()["integers"] == [2]


def test_a_page_that_is_too_large_says_that_n_grams_can_be_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(page_file, "LIMIT", 1000)
    with pytest.raises(ModelError, match=r"model\.ngrams = false"):
        write_page(with_ngrams(), tmp_path / "page.html")


LONG = " ".join(["the cat doesn't sleep", *LINES, "more mice: it's naïve"])
PARTS = {
    "ends": {"max_tokens": 9},
    "chunks": {"chunk": 5, "pool": "attention"},
    "chunks of the ends": {"max_tokens": 12, "chunk": 5, "layers": 2, "cell": "gru", "pool": "mean+max"},
    "ends of a bag": {"encoder": "bag", "max_tokens": 4},
}


@needs_node
@pytest.mark.parametrize("parts", PARTS)
def test_long_texts_are_read_in_parts_as_python_reads_them(parts, tmp_path):
    task = with_ngrams(**PARTS[parts])
    found, _ = check_labels(tmp_path, task, [LONG, "the cat"])
    most, all_tokens = task.config.max_tokens, task.featurizer.display(LONG)
    read = all_tokens[: most - most // 2] + all_tokens[-(most // 2) :] if most else all_tokens
    assert found["tokens"] == read
    assert found["left"] == len(all_tokens) - len(read)
    assert found["ngrams"]["tokens"] == all_tokens


@needs_node
def test_a_unit_depends_on_its_own_chunk_alone_as_the_gradient_says(tmp_path):
    task = with_ngrams(chunk=4, layers=2, pool="mean", cell="gru")
    code = f"engine.read({LINES[0]!r});\n"
    code += "answer([0, 1, 2, 3].map((layer) => engine.connectivity({ layer, position: 5, unit: 2 }).weights))"
    found = run_model(tmp_path, task, code)
    rows, forms = task.encode_texts([(LINES[0],)])
    words = task.collate(rows, forms)
    xs = task.net.words(words).detach().requires_grad_()
    outputs = task.net._read(xs, words.mask)
    for direction in (0, 1):  # of the upper layer
        (g,) = torch.autograd.grad(outputs[0, 5, 5 * direction + 2], xs, retain_graph=True)
        assert found[2 + direction] == pytest.approx(g[0].norm(dim=1).tolist(), **NEAR)
        assert not any(found[direction][:4])
        assert not any(found[direction][8:])


@needs_browser
def test_the_page_shows_what_n_grams_add_and_how_much_of_a_text_is_read(tmp_path):
    task = with_ngrams(max_tokens=9, characters="cnn")
    (tmp_path / "plain").mkdir()
    with start_browser() as browser:
        page = OpenPage(browser, write_task(task, tmp_path, LONG))
        (prediction,) = task.classify([LONG])
        assert page.text("#labels .answer") == prediction.label
        assert page.text("#ngrams .summary").startswith(f"For ‘{prediction.label}’ against ‘")
        shown = page.view.locator("#ngrams .token").count()
        assert shown == len(task.featurizer.display(LONG))
        assert page.text("#reading .summary").startswith(f"9 tokens of {shown}:")
        page.view.fill("#text", "")
        page.wait("#ngrams .summary", "+0.00 in all")
        assert not page.errors
        without = OpenPage(browser, write_task(classifier(), tmp_path / "plain", "a"))
        assert not without.view.locator("#ngrams").is_visible()
