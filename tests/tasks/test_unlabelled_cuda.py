"""Text without labels, folds of few texts and language models beside words, on a GPU."""

import pytest
import torch

import elman

pytestmark = pytest.mark.gpu

LINES = [f"{word} was the {thing} of the {thing}" for word in ("when", "where") for thing in "abcdefghij"] * 3
ROWS = [(line, "time" if line.startswith("when") else "place") for line in LINES]
SMALL = {"hidden": 8, "epochs": 2, "batch": 64, "device": "cuda"}
NETWORK = {"embedding": 6, "ngrams": True, "characters": "cnn"}


def test_unlabelled_text_is_read_first():
    made = elman.Classifier.train(
        ROWS, unlabelled=[f"{line} too" for line in LINES], recipe={"model": NETWORK}, **SMALL
    )
    assert made.device.type == "cuda"
    assert len(made.classify(["when was it"])) == 1


def test_folds_choose_how_much_the_network_counts():
    made = elman.Classifier.train(ROWS, recipe={"model": NETWORK}, **SMALL)
    assert made.net.mix is not None
    assert made.net.mix.sum() > 0


def test_states_of_a_language_model_are_those_of_the_cpu(tmp_path):
    sections = {"tokens": {"kind": "chars"}, "data": {"holdout": 0.0, "streams": 2}, "model": {"layers": 1}}
    elman.LanguageModel.train(LINES, out=tmp_path / "lm", hidden=7, epochs=1, recipe=sections)
    recipe = {"model": NETWORK | {"lm_forward": str(tmp_path / "lm")}, "data": {"holdout": 0.0}}
    elman.Classifier.train(ROWS, out=tmp_path / "m", recipe=recipe, **SMALL)
    there, here = (elman.load(tmp_path / "m", elman.Classifier, device=name) for name in ("cuda", "cpu"))
    rows = there.encode_texts([("when was it",), ("where",)])
    torch.testing.assert_close(there.logits(*rows), here.logits(*rows), rtol=1e-3, atol=1e-3)
