from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import example, given, settings
from hypothesis import strategies as st

from elman.errors import DataError
from elman.metrics import corpus_chrf

texts = st.text("abc é\t", max_size=12)
corpora = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=4)


@given(corpora)
@example([("abc", [""])])
@example([("", ["abc"]), ("", [""])])
@example([("ab", ["abcdefg", "ab"]), ("abcdefg", ["ab"])])
@settings(max_examples=300)
def test_chrf_is_that_of_sacrebleu(corpus: list[tuple[str, list[str]]]) -> None:
    texts, references = [text for text, _ in corpus], [those for _, those in corpus]
    most = max(map(len, references))
    streams = [[those[n] if n < len(those) else None for those in references] for n in range(most)]
    theirs = sacrebleu.CHRF().corpus_score(texts, streams).score
    assert corpus_chrf(texts, references) == pytest.approx(theirs)


@given(texts.filter(str.strip))
def test_the_reference_itself_scores_100_however_spaced(text: str) -> None:
    assert corpus_chrf([" ".join(text)], [["zzz", text]]) == 100


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(DataError, match="2 hypotheses cannot be compared with the references of 1"):
        corpus_chrf(["a", "b"], [["a"]])
    with pytest.raises(DataError, match="hypothesis 1 has no reference"):
        corpus_chrf(["a"], [[]])
    with pytest.raises(DataError, match="one string"):
        corpus_chrf(["a"], ["a"])
