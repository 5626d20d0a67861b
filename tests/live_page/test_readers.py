"""Models that read, run by the page: what they say is what Python says."""

import numpy as np
import pytest

from elman.inspect.text_explanation import explain
from elman.tasks.classifier.task import Classifier, ClassifierConfig
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_data import MultilabelExample
from tests.live_page.models import LINES, classifier, language_model, shake, tagger
from tests.live_page.runtime import needs_node, run_model

pytestmark = needs_node
NEAR = {"abs": 1e-5, "rel": 1e-5}
TEXT = "Größe: the cat isn't 10 mice! 漢 👍🏽 zzz"
TOKENS = {
    "chars": TokenizerConfig(kind="chars", lower=True),
    "bpe": TokenizerConfig(kind="bpe", size=280, lower=True, digits=True),
}
NETWORKS = {
    "untied gru": {"cell": "gru", "tied": False},
    "projected between": {"last_hidden": 7, "residual": False},
    "residual": {"hidden": 6, "residual": True},
    "mogrifier and zoneout": {"mogrifier_rounds": 3, "zoneout": 0.2, "weight_drop": 0.3},
    "mixture": {"mixtures": 3},
}


def check_reading(found, task, text):
    """Tokens and every gate of every layer."""
    seen = explain(task, text)
    assert len(found["layers"]) == len(seen.gates)
    for layer, gates in zip(found["layers"], seen.gates, strict=True):
        assert set(layer) == set(gates.values)
        for name, values in gates.values.items():
            assert np.allclose(np.reshape(layer[name], values.shape), values, atol=1e-5), name
    return seen


READ = """
const read = engine.read(text);
const gates = ({ values }) => Object.fromEntries(Object.entries(values).map(([n, m]) => [n, m.data]));
answer({ ...read, layers: read.layers.map(gates), next: read.next?.(read.tokens.length - 1, 3) });
"""


def read(folder, task, text=TEXT):
    return run_model(folder, task, f"const text = {text!r};\n{READ}")


@pytest.mark.parametrize("kind", TOKENS)
def test_tokens_and_their_surprise_are_those_of_python(kind, tmp_path):
    task = language_model(TOKENS[kind], layers=1)
    found = read(tmp_path, task)
    seen = check_reading(found, task, TEXT)
    *tokens, _ = seen.surprisal.tokens
    assert [one["token"] for one in found["surprise"]] == tokens
    assert [one["nats"] for one in found["surprise"]] == pytest.approx(seen.surprisal.nats[:-1], **NEAR)


@pytest.mark.parametrize("network", NETWORKS)
def test_surprise_is_that_of_python_for_all_networks(network, tmp_path):
    task = language_model(**NETWORKS[network])
    found = read(tmp_path, task)
    seen = check_reading(found, task, TEXT)
    assert [one["nats"] for one in found["surprise"]] == pytest.approx(seen.surprisal.nats[:-1], **NEAR)


def test_a_text_that_is_typed_on_is_read_like_one_that_is_read_at_once(tmp_path):
    code = """
    const twice = (engine) => { engine.read("The cat does"); return engine.read("The cab doesn't sleep"); };
    const at_once = (await openModel(data)).read("The cab doesn't sleep");
    const nats = ({ surprise }) => surprise.map((one) => one.nats);
    answer([nats(twice(engine)), nats(at_once)]);
    """
    typed, at_once = run_model(tmp_path, language_model(), code)
    assert typed == pytest.approx(at_once, rel=1e-6)


CLASSIFIERS = {
    "max": {},
    "two layers, ends": {"layers": 2, "pool": "ends", "cell": "gru", "mlp": 4},
    "attention over characters": {"pool": "attention", "characters": "cnn", "casing": True, "affixes": 2},
    "mean and max of spelled words": {"pool": "mean+max", "characters": "lstm", "bidirectional": False},
    "window of one-hot words": {"encoder": "window", "window": 4, "input": "one-hot"},
    "bag": {"encoder": "bag"},
}


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_labels_are_those_of_python(kind, tmp_path):
    task = classifier(**CLASSIFIERS[kind])
    found = read(tmp_path, task)
    seen = check_reading(found, task, TEXT)
    (prediction,) = task.classify([TEXT])
    chances = {one["label"]: one["probability"] for one in found["labels"]}
    assert chances == pytest.approx(prediction.probabilities, **NEAR)
    assert found["tokens"] == seen.tokens
    assert [one["label"] for one in found["labels"] if one["chosen"]] == [prediction.label]
    if seen.attention is not None:
        assert found["attention"][0]["weights"] == pytest.approx(seen.attention.tolist(), **NEAR)


def test_several_labels_are_those_of_python(tmp_path):
    examples = [
        MultilabelExample(line, labels) for line, labels in zip(LINES, [("a",), (), ("a", "b")], strict=True)
    ]
    config = ClassifierConfig(hidden=5, embedding=6)
    task = shake(Classifier.from_examples(config, TokenizerConfig(), examples))
    found = read(tmp_path, task)
    (prediction,) = task.classify([TEXT])
    assert {one["label"]: one["probability"] for one in found["labels"]} == pytest.approx(
        prediction.probabilities
    )
    assert tuple(one["label"] for one in found["labels"] if one["chosen"]) == prediction.labels


TAGGERS = {
    "crf": {},
    "softmax": {"tags": ("A", "B", "A"), "characters": "lstm"},
    "autoregressive": {"output": "autoregressive", "layers": 2},
}


@pytest.mark.parametrize("kind", TAGGERS)
def test_tags_are_those_of_python(kind, tmp_path):
    task = tagger(**TAGGERS[kind])
    found = read(tmp_path, task)
    check_reading(found, task, TEXT)
    ((tagging,),) = task.analyse([TEXT])
    assert [one["tag"] for one in found["tags"]] == tagging.tags
    assert [one["probability"] for one in found["tags"]] == pytest.approx(tagging.confidence, **NEAR)
