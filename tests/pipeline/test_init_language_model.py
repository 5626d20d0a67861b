"""A classifier or tagger that begins with a language model: its words, its embedding, its first layer."""

from pathlib import Path

import pytest
import torch

import elman
from elman import artifact
from elman.errors import ConfigError
from elman.pipeline.recipe import build
from elman.pipeline.start_model import start_model
from elman.pipeline.start_options import starts_from_lm, take_options
from elman.tasks.classifier.task import Classifier
from tests.tasks.topics import examples, table

SENTENCES = ["the river is in the town", "when was the year of a city", "where is a river of ruritania"] * 10


@pytest.fixture(scope="module")
def lm(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("lm") / "model"
    network = {"hidden": 7, "embedding": 5, "cell": "gru"}
    given = {"model": network, "training": {"updates": 2}}
    elman.LanguageModel.train(SENTENCES, recipe=given, out=folder, device="cpu")
    return folder


def start(lm: Path, folder: Path, given: frozenset[str] = frozenset(), **network: object) -> Classifier:
    recipe = build({"task": "classifier", "data": {"train": "a.tsv"}, "model": network})
    taken, _ = take_options(recipe, given, lm)
    return start_model(taken, examples(40), folder, resume=False, init=lm, texts=[])


def test_the_words_the_embedding_and_the_first_layer_are_those_of_the_language_model(lm, tmp_path, capsys):
    model, source = start(lm, tmp_path), artifact.load(lm)
    ours, theirs = model.featurizer.tokenizer, source.tokenizer
    rows = model.net.words.embed[0].E.weight
    for word in ("river", "ruritania"):
        expected = source.net.embed.E.weight[theirs.encode_tokens([word])]
        torch.testing.assert_close(rows[ours.encode_tokens([word])], expected)
    cell = model.net.encode.stack[0].forward_rnn.cell
    weights = {name.split("cell.")[-1]: p for name, p in cell.named_parameters()}
    first = dict(source.net.layers.named_parameters())
    for name, weight in weights.items():
        (match,) = [p for key, p in first.items() if key.endswith(f".0.cell.cell.{name}")]
        torch.testing.assert_close(weight, match)
    assert "ruritania" not in " ".join(e.text for e in examples(40))
    assert "1 layer of a language model" in capsys.readouterr().err


def test_one_direction_gets_all_layers(lm, tmp_path, capsys):
    start(lm, tmp_path, frozenset({"model.layers"}), bidirectional=False, layers=2)
    assert "2 layers of a language model" in capsys.readouterr().err


def test_a_wider_input_keeps_what_the_language_model_knows_of_words(lm, tmp_path):
    model, source = start(lm, tmp_path, casing=True), artifact.load(lm)
    W = next(p for n, p in model.net.encode.named_parameters() if n.endswith(".W"))
    given = next(p for n, p in source.net.layers.named_parameters() if n.endswith(".W"))
    assert W.shape[1] > given.shape[1]
    torch.testing.assert_close(W[:, : given.shape[1]], given)


def test_the_plain_command_takes_the_sizes_and_trains(lm, tmp_path):
    rows = [(e.text, e.label) for e in examples(40)]
    model = elman.Classifier.train(rows, init=lm, epochs=1, device="cpu")
    assert (model.config.hidden, model.config.embedding, model.config.cell) == (7, 5, "gru")
    tagger = elman.Tagger.train([(["the", "river"], ["D", "N"])] * 20, init=lm, epochs=1, device="cpu")
    assert tagger.config.hidden == 7
    assert "ruritania" in tagger.featurizer.tokenizer.items


def test_the_rate_is_that_of_training_from_nothing(lm, tmp_path):
    rows = table(tmp_path / "a.tsv", 40)
    model = elman.train(
        {"task": "classifier", "data": {"train": rows}, "training": {"epochs": 1}},
        init=lm,
        choose_defaults=True,
        device="cpu",
    )
    assert model.record.config["training"]["lr"] >= Classifier.defaults.training["lr"]
    assert starts_from_lm(build({"task": "classifier"}), lm)
    assert not starts_from_lm(build({"task": "seq2seq"}), lm)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ({"hidden": 9}, "do not fit"),
        ({"embedding": 9}, "5 features"),
        ({"cell": "lstm"}, "do not fit"),
        ({"encoder": "bag"}, "leave out vectors"),
    ],
)
def test_a_network_that_does_not_fit_is_refused(lm, tmp_path, network, said):
    with pytest.raises(ConfigError, match=said):
        start(lm, tmp_path, frozenset(f"model.{key}" for key in network), **network)


def test_a_language_model_of_characters_is_refused(tmp_path):
    given = {"model": {"hidden": 7, "embedding": 5}, "training": {"updates": 1}, "tokens": {"kind": "chars"}}
    elman.LanguageModel.train(SENTENCES, recipe=given, out=tmp_path / "lm", device="cpu")
    with pytest.raises(ConfigError, match="of words"):
        start(tmp_path / "lm", tmp_path)
