"""Models whose matrices are bfloat16 by choice: each way to compute with them gives the same."""

import pytest
import torch

import elman
from elman.artifact import save_model
from elman.errors import ConfigError
from elman.generation import complete
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import LanguageModel, LanguageModelConfig
from tests.cli.lm_folder import call

TEXT = "Once upon a time, the upper tide"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of so many units that single steps have a library where there is a compiler."""
    torch.manual_seed(0)
    config = LanguageModelConfig(hidden=40, embedding=33, layers=2)
    lm = LanguageModel.from_examples(config, TokenizerConfig(kind="chars"), [TEXT])
    torch.nn.init.normal_(lm.net.softmax.b)
    made = tmp_path_factory.mktemp("lm") / "m"
    save_model(lm, made)
    return made


def test_matrices_are_rounded_and_biases_are_not(folder):
    plain, rounded = (elman.load(folder, device="cpu", precision=p) for p in ("float32", "bfloat16"))
    for (name, a), b in zip(plain.net.named_parameters(), rounded.net.parameters(), strict=True):
        expected = a.bfloat16().float() if a.dim() > 1 else a
        assert torch.equal(b, expected), name
    assert plain.score(TEXT).log_probability != rounded.score(TEXT).log_probability


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_stream_is_the_whole_text_and_the_text_in_float64(folder, precision):
    lm = elman.load(folder, device="cpu", precision=precision)
    stream = lm.stream()
    for letter in TEXT:
        stream.feed(letter)
        stream.next()
    stream.end()
    whole = lm.score(TEXT).log_probability
    lm.net.double()
    assert stream.log_probability == pytest.approx(whole, rel=1e-5)
    assert whole == pytest.approx(lm.score(TEXT).log_probability, rel=1e-5)


@pytest.mark.parametrize("verb", ["complete", "generate", "score"])
def test_the_verbs_of_language_models_take_a_precision(folder, verb, monkeypatch, capsys):
    seen = []
    monkeypatch.setattr("elman.artifact.load", load_as(seen))
    given = {"complete": ["Once up"], "generate": ["--greedy", "--max-tokens", "3"], "score": []}[verb]
    for options, expected in (([], "float32"), (["--precision", "bfloat16"], "bfloat16")):
        assert call(monkeypatch, capsys, verb, str(folder), *given, *options, stdin="Once\n").code == 0
        assert seen.pop() == expected
    done = call(monkeypatch, capsys, verb, str(folder), *given, "--precision", "int8")
    assert done.code == 2
    assert "--precision" in done.err


def load_as(seen):
    real = elman.load

    def load(*given, precision, **options):
        seen.append(precision)
        return real(*given, precision=precision, **options)

    return load


def test_completions_are_those_of_the_rounded_model(folder, monkeypatch, capsys):
    lm = elman.load(folder, device="cpu", precision="bfloat16")
    done = call(monkeypatch, capsys, "complete", str(folder), "Once up", "-k", "2", "--precision", "bfloat16")
    expected = "".join(f"{one.text}\t{one.probability:.4f}\n" for one in complete(lm, "Once up", 2))
    assert done.out == expected


def test_another_precision_is_refused(folder):
    with pytest.raises(ConfigError, match="precision is 'float16'; it must be float32 or bfloat16"):
        elman.load(folder, precision="float16")
