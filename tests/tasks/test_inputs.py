"""Columns that are read beside the words, not tagged."""

import random

import pytest
import torch

from elman import artifact
from elman.errors import ConfigError, ModelError
from elman.tasks.config import TokenizerConfig
from elman.tasks.tagger.task import Tagger, TaggerConfig, TaggerDataConfig, TaggerExample, read_examples
from tests.model_folder import store_model
from tests.tasks.names import TINY

VALUES = ("red", "green", "blue")


def examples(count: int, seed: int = 0) -> list[TaggerExample]:
    """The tag of a word is what the other column says of it: the words say nothing."""
    dice = random.Random(seed)
    found = []
    for i in range(count):
        colours = tuple(dice.choices(VALUES, k=dice.randint(1, 5)))
        words = tuple(dice.choices(("a", "b"), k=len(colours)))
        tags = tuple(c.upper() for c in colours)
        found.append(TaggerExample(words, (tags,), ("tag",), f"toy:{i + 1}", {"colour": colours}))
    return found


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    torch.manual_seed(0)
    some = examples(60)
    made = Tagger.from_examples(TaggerConfig(**(TINY | {"casing": True})), TokenizerConfig(), some)
    data = made.encode(some)
    optimizer = torch.optim.Adam(made.net.parameters(), 0.03)
    made.net.train()
    for _ in range(80):
        optimizer.zero_grad()
        made.loss(data, 0.0).backward()
        optimizer.step()
    made.net.eval()
    return made


def answers(made: Tagger, some: list[TaggerExample]) -> list[list[str]]:
    inputs = [[*e.inputs.values()] for e in some]
    return [columns[0] for columns in made.tag_columns([e.words for e in some], inputs)]


def test_what_only_the_other_column_says_is_learnt(tagger):
    new = examples(40, seed=1)
    assert tagger.evaluate_dataset(tagger.encode(new))["accuracy"] == 100
    assert answers(tagger, new) == [list(e.tags[0]) for e in new]


def test_together_as_alone(tagger):
    new = examples(10, seed=2)
    assert answers(tagger, new) == [answers(tagger, [e])[0] for e in new]


def test_saved_and_loaded_it_is_the_same(tagger, tmp_path):
    config = {"task": "tagger", "data": {}, "model": {**TINY, "casing": True}}
    store_model(tagger, tmp_path, config=config, metrics={}, card="")
    loaded = artifact.load(tmp_path)
    new = examples(10, seed=3)
    assert isinstance(loaded, Tagger)
    assert answers(loaded, new) == answers(tagger, new)


def test_values_that_were_never_seen_are_unknown(tagger):
    assert len(tagger.tag_columns([["a", "b"]], [[["mauve", "red"]]])[0][0]) == 2


def test_no_examples_are_encoded_as_none(tagger):
    assert len(tagger.encode([])) == 0


def test_words_alone_are_refused_by_the_name_of_the_column(tagger):
    with pytest.raises(ModelError, match="column colour"):
        tagger.tag([["a", "b"]])


def test_a_file_is_read_with_its_tags_and_inputs(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("Ann NN B-PER\nsaw VB O\n")
    (found,) = read_examples(TaggerDataConfig(column="3", inputs="2"), str(path))
    assert found.tags == (("B-PER", "O"),)
    assert dict(found.inputs) == {"2": ("NN", "VB")}


def test_inputs_without_a_column_are_refused():
    with pytest.raises(ConfigError, match="column of the tags"):
        TaggerDataConfig(inputs="2")
