"""The verbs as methods are the functions of the same names."""

import pytest

from elman.decoding import Beam, Greedy
from elman.generation import GenerationConfig, Sampling, complete, generate, generate_iter, score, scores
from tests.tasks.toy_lm import real


def test_a_language_model_scores_writes_completes_and_streams():
    lm, rules = real("words"), GenerationConfig(max_tokens=5)
    assert lm.score("Once upon") == score(lm, "Once upon")
    assert lm.scores(["a", "a time"]) == scores(lm, ["a", "a time"])
    for how, n in ((Greedy(), 1), (Sampling(seed=1), 3), (Beam(width=3), 2)):
        found = lm.generate("Once", how, n=n, config=rules)
        assert found == generate(lm, "Once", how, n=n, config=rules)
    assert list(lm.generate_iter("Once", Greedy(), config=rules)) == list(
        generate_iter(lm, "Once", Greedy(), config=rules)
    )
    (short,) = lm.generate("Once", Greedy(), max_tokens=5)
    assert [short] == lm.generate("Once", Greedy(), config=rules)
    assert lm.complete("Once u", 2) == complete(lm, "Once u", 2)
    stream = lm.stream()
    stream.feed("Once upon")
    stream.end()
    assert abs(stream.log_probability - float(lm.score("Once upon"))) < 1e-9


def test_an_option_that_does_not_exist_is_a_type_error():
    with pytest.raises(TypeError, match="temprature"):
        real("words").generate("Once", temprature=0.5)
