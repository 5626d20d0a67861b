"""elman average: the mean of the weights of several folders."""

import json

import pytest
import torch
from safetensors.torch import load_file

from elman import artifact
from elman.errors import ConfigError, ElmanError
from elman.pipeline import average_models, train
from tests.cli.lm_folder import call, store
from tests.cli.pairs_folder import pairs, recipe, write


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Models m, more (trained on from m), others that differ from them, and a language model."""
    folder = tmp_path_factory.mktemp("average")
    write(folder, "a", pairs(60))
    write(folder, "b", pairs(20, seed=1))
    train(recipe(folder, epochs=1), folder / "m")
    train(recipe(folder, epochs=1, dropout=0.1), folder / "more", init=folder / "m")
    train(recipe(folder, epochs=1, hidden=7), folder / "small")
    train(recipe(folder, epochs=1, decoder="bahdanau"), folder / "bahdanau")
    write(folder, "a", [("ein Haus", "a house"), *pairs(60)])
    train(recipe(folder, epochs=1), folder / "words")
    store(folder / "lm")
    return folder


@pytest.fixture
def elman(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    return lambda *arguments, stdin="": call(monkeypatch, capsys, *arguments, stdin=stdin)


def test_a_folder_that_holds_something_is_said_before_any_model_is_read(elman, made):
    with pytest.raises(ElmanError, match="lm"):
        average_models.average([made / "missing", made / "none"], made / "lm")
    with pytest.raises(ConfigError, match=r"^a mean needs two folders at least$"):
        average_models.average([made / "m"], made / "fresh")
    with pytest.raises(ElmanError, match="missing"):
        average_models.average([made / "missing", made / "none"], made / "lm", overwrite=True)
    assert not (made / "fresh").exists()


def test_the_weights_are_the_mean_and_all_else_is_of_the_first(elman, made):
    done = elman("average", "m", "more", "m", "--out", "mean")
    assert done == (0, "", "model: mean\n")
    one, other, mean = (load_file(made / name / "model.safetensors") for name in ("m", "more", "mean"))
    assert any(not torch.equal(one[name], other[name]) for name in one)
    for name in one:
        torch.testing.assert_close(mean[name], (2 * one[name] + other[name]) / 3)
    stored = [json.loads((made / name / "config.json").read_text()) for name in ("m", "mean")]
    assert stored[0].pop("sha256") != stored[1].pop("sha256")
    assert stored[0] == stored[1]
    assert json.loads((made / "mean" / "metrics.json").read_text()) == {"averaged": ["m", "more", "m"]}
    assert "the mean of those in m, more, m" in (made / "mean" / "README.md").read_text()
    assert elman("inspect", "mean").code == 0


def test_the_mean_of_a_model_and_itself_is_the_model(elman, made):
    assert elman("average", "m", "m", "--out", "same").code == 0
    assert elman("translate", "same", "b.en").out == elman("translate", "m", "b.en").out


def test_of_what_is_no_number_with_a_point_all_must_be_alike():
    marks = torch.tensor([True, False])
    assert torch.equal(average_models._mean([marks, marks.clone()]), marks)
    with pytest.raises(ConfigError, match="differ in which of their weights are trained"):
        average_models._mean([marks, ~marks])
    assert average_models._mean([torch.tensor([1.0]), torch.tensor([4.0])]).tolist() == [2.5]


def test_a_language_model_can_be_averaged_too(elman, made):
    lm = artifact.load(made / "lm")
    lm.net.load_state_dict({name: -w for name, w in lm.net.state_dict().items()})
    lm.save(made / "lm2")
    assert elman("average", "lm", "lm2", "--out", "zero").code == 0
    weights = load_file(made / "zero" / "model.safetensors")
    assert all(not w.any() for w in weights.values())
    assert elman("score", "zero", stdin="Once upon\n").code == 0


@pytest.mark.parametrize(
    ("folders", "said"),
    [
        (["m"], "a mean needs two folders at least"),
        (["m", "lm"], "m and lm are of two tasks: a Seq2Seq and a LanguageModel"),
        (["m", "small"], "m and small differ: model.hidden is 20 in one, 7 in the other"),
        (["m", "more", "bahdanau"], "m and bahdanau differ: model.decoder is 'luong' in one"),
        (["m", "words"], "m and words have other vocabularies"),
        (["m", "none"], "none: there is no such folder"),
    ],
)
def test_what_has_no_mean_is_one_line(elman, made, folders, said):
    done = elman("average", *folders, "--out", "out")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert said in done.err
    assert not (made / "out").exists()
