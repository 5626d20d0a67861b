"""The verbs as methods are the functions of the same names."""

from elman.decoding import Beam, Greedy
from elman.tasks.writing.completion import complete
from elman.tasks.writing.generation import Sampling, generate, write
from elman.tasks.writing.rules import Rules
from elman.tasks.writing.scoring import score, scores
from tests.tasks.toy_lm import real


def test_a_language_model_scores_writes_completes_and_streams():
    lm, rules = real("words"), Rules(max_tokens=5)
    assert lm.score("Once upon") == score(lm, "Once upon")
    assert lm.scores(["a", "a time"]) == scores(lm, ["a", "a time"])
    for how, n in ((Greedy(), 1), (Sampling(seed=1), 3), (Beam(width=3), 2)):
        found = lm.generate("Once", how, n=n, rules=rules)
        assert found == generate(lm, "Once", how, n=n, rules=rules)
    assert list(lm.write("Once", Greedy(), rules)) == list(write(lm, "Once", Greedy(), rules))
    assert lm.complete("Once u", 2) == complete(lm, "Once u", 2)
    stream = lm.stream()
    stream.feed("Once upon")
    stream.end()
    assert abs(stream.log_probability - float(lm.score("Once upon"))) < 1e-9
