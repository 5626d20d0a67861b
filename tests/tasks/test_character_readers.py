"""Language models of characters beside the words: read by taggers and classifiers, kept in their folders."""

import json
import pickle
import shutil
from pathlib import Path

import pytest
import torch

import elman
from elman.errors import ConfigError, ModelError
from elman.files.model_files import READERS
from elman.tasks.character_readers import load_readers, save_readers, take_reader
from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model import LanguageModel, LanguageModelConfig

LINES = ["when was the war", "in which year was it", "where is the river", "in which town is it"] * 6
ROWS = [(line, "time" if "war" in line or "year" in line else "place") for line in LINES]
SENTENCES = [(line.split(), ["W" if word.startswith("w") else "O" for word in line.split()]) for line in LINES]
SMALL = {"hidden": 8, "epochs": 2, "batch": 32}
NETWORK = {"embedding": 6, "characters": ""}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Language models of lines as they are, of the same from their end, and of words."""
    base = tmp_path_factory.mktemp("lm")
    recipe = {"model": {"embedding": 5, "layers": 1}, "data": {"holdout": 0.0, "streams": 2}}
    made = {}
    for name, lines, kind in (
        ("lm_forward", LINES, "chars"),
        ("lm_backward", [line[::-1] for line in LINES], "chars"),
        ("words", LINES, "words"),
    ):
        made[name] = str(base / name)
        options = {"tokens": {"kind": kind}, **recipe}
        elman.LanguageModel.train(lines, out=made[name], hidden=7, epochs=1, recipe=options)
    return made


def both(folders: dict[str, str]) -> dict[str, str]:
    return {name: folder for name, folder in folders.items() if name != "words"}


def test_a_classifier_answers_the_same_from_its_folder_alone(folders, tmp_path):
    moved = {name: str(shutil.copytree(folder, tmp_path / name)) for name, folder in both(folders).items()}
    recipe = {"model": NETWORK | moved, "data": {"holdout": 0.0}}
    made = elman.Classifier.train(ROWS, out=tmp_path / "m", recipe=recipe, **SMALL)
    for folder in moved.values():
        shutil.rmtree(folder)
    again = elman.load(tmp_path / "m", elman.Classifier)
    assert [type(part).__name__ for part in again.net.words.readers] == ["CharacterStates"] * 2
    texts = ["when is it", "unseen wörds", ""]
    for one, other in zip(made.classify(texts), again.classify(texts), strict=True):
        assert one.probabilities == pytest.approx(other.probabilities)


def test_the_states_are_those_of_the_language_model(folders):
    recipe = {"model": NETWORK | {"lm_forward": folders["lm_forward"]}, "data": {"holdout": 0.0}}
    made = elman.Tagger.train(SENTENCES, recipe=recipe, **SMALL)
    lm = elman.load(folders["lm_forward"], elman.LanguageModel)
    text = "where was it"
    with torch.no_grad():
        _, hs = lm.net.read_layers(lm.net.begin_layers(1), torch.tensor([lm.tokenizer.encode("\n" + text)]))
        rows, forms = made.featurizer.sentences([text.split()])
        xs = made.net.words(elman.tasks.word_batch.collate(rows, forms))
    ends = [i for i, sign in enumerate("\n" + text + " ") if sign == " "]
    expected = hs[0, [end - 1 for end in ends]]
    torch.testing.assert_close(xs[0, :, -7:], expected, rtol=0, atol=1e-5)


def test_training_leaves_the_language_model_as_it_is(folders):
    recipe = {"model": NETWORK | both(folders), "training": {"ema_decay": 0.9}, "data": {"holdout": 0.0}}
    made = elman.Tagger.train(SENTENCES, recipe=recipe, **SMALL)
    lm = elman.load(folders["lm_forward"], elman.LanguageModel)
    assert torch.equal(made.net.words.readers[0].embed.E.weight, lm.net.embed.E.weight)


def test_a_trained_model_takes_the_memory_of_a_loaded_one(folders, tmp_path):
    recipe = {"model": NETWORK | both(folders), "data": {"holdout": 0.0}}
    made = elman.Tagger.train(SENTENCES, out=tmp_path / "m", recipe=recipe, **SMALL)
    loaded = elman.Tagger.load(tmp_path / "m")
    trained, fresh = (len(pickle.dumps(one.net)) for one in (made, loaded))
    assert abs(trained - fresh) < 100  # a count may be a byte longer; the states of a word take hundreds


def test_a_tagger_trained_on_keeps_them(folders, tmp_path):
    recipe = {"model": NETWORK | both(folders), "data": {"holdout": 0.0}}
    elman.Tagger.train(SENTENCES, out=tmp_path / "m", recipe=recipe, **SMALL)
    more = [(["why", "not"], ["W", "N"])] * 4
    grown = elman.Tagger.train(more, init=tmp_path / "m", epochs=1, recipe={"data": {"holdout": 0.0}})
    assert len(grown.net.words.readers) == 2
    assert len(grown.tag(["why not"])[0]) == 2


def test_only_a_language_model_of_characters_is_read(folders):
    for name in ("lm_forward", "lm_backward"):
        with pytest.raises(ConfigError, match="language model of characters"):
            elman.Classifier.train(ROWS, recipe={"model": NETWORK | {name: folders["words"]}}, **SMALL)


def test_characters_have_no_language_model_beside_them(folders):
    recipe = {"model": NETWORK | both(folders), "tokens": {"kind": "chars"}}
    with pytest.raises(ConfigError, match="beside words only"):
        elman.Classifier.train(ROWS, recipe=recipe, **SMALL)


def test_unlabelled_text_is_not_read_beside_them(folders):
    with pytest.raises(ConfigError, match="give them or --unlabelled"):
        elman.Classifier.train(ROWS, recipe={"model": NETWORK | both(folders)}, unlabelled=LINES, **SMALL)


def test_a_page_refuses_them_by_name(folders):
    recipe = {"model": NETWORK | both(folders) | {"ngrams": False}, "data": {"holdout": 0.0}}
    made = elman.Classifier.train(ROWS, recipe=recipe, **SMALL)
    with pytest.raises(ModelError, match="language model of characters"):
        made.blueprint()


@pytest.mark.parametrize("damage", ["[{}]", "{}", '[{"cell": "lstm"}]', "sizes", "cell"])
def test_a_damaged_file_of_them_is_told(folders, tmp_path, damage):
    recipe = {"model": NETWORK | both(folders), "data": {"holdout": 0.0}}
    elman.Classifier.train(ROWS, out=tmp_path / "m", recipe=recipe, **SMALL)
    path: Path = tmp_path / "m" / READERS
    stored = json.loads(path.read_text())
    if damage in ("sizes", "cell"):
        stored[0] |= {"sizes": {"hidden": 0}, "cell": {"cell": "none"}}[damage]
        damage = json.dumps(stored)
    path.write_text(damage)
    with pytest.raises(ModelError, match=READERS):
        elman.load(tmp_path / "m")


def language_model(**options: object) -> LanguageModel:
    config = LanguageModelConfig(**({"hidden": 7, "embedding": 5, "layers": 2} | options))
    return LanguageModel.from_examples(config, TokenizerConfig(kind="chars"), LINES)


def test_readers_come_back_from_their_file_without_their_weights(tmp_path):
    readers = [take_reader(language_model(), False), take_reader(language_model(cell="gru"), True)]
    assert load_readers(tmp_path) == ()
    save_readers(readers, tmp_path)
    again = load_readers(tmp_path)
    assert [reader.config for reader in again] == [reader.config for reader in readers]
    assert [reader.config.backward for reader in again] == [False, True]
    for one, other in zip(readers, again, strict=True):
        assert one.tokenizer == other.tokenizer
        assert [w.shape for w in one.states.parameters()] == [w.shape for w in other.states.parameters()]


def test_words_are_not_read_as_characters_nor_other_models_as_language_models():
    words = LanguageModel.from_examples(LanguageModelConfig(hidden=4, embedding=4), TokenizerConfig(), LINES)
    characters = TokenizerConfig(kind="chars")
    rows = [ClassifierExample(*row) for row in ROWS]
    config = ClassifierConfig(hidden=4, embedding=4)
    for model in (words, Classifier.from_examples(config, characters, rows)):
        with pytest.raises(ConfigError, match="a language model of characters is read"):
            take_reader(model, False)


@pytest.mark.parametrize(
    "options", [{"mogrifier_rounds": 2}, {"residual": True, "embedding": 7}, {"last_hidden": 6}], ids=str
)
def test_a_language_model_that_nothing_reads_beside_words_is_refused(options):
    with pytest.raises(ConfigError, match=rf"has model\.{next(iter(options))}, which nothing reads"):
        take_reader(language_model(**options), False)
