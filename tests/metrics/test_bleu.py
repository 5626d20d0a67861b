from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import example, given, settings
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError
from elman.metrics import AddK, References, corpus_bleu, exponential, sentence_bleus, tokenize_13a
from elman.metrics.bleu import Smoothing, Tokenize

# Few words, so that long n-grams match, repeat, and match too often.
words = st.sampled_from(["a", "b", "b,", "1,5", "(c)", "Ü"])
texts = st.lists(words, max_size=9).map(" ".join)
corpora = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=4)
Corpus = list[tuple[str, list[str]]]

SMOOTHINGS = [(exponential, "exp", None), (AddK(), "add-k", None), (AddK(0.5), "add-k", 0.5)]
TOKENIZERS = [(tokenize_13a, "13a"), (str.split, "none")]

smoothed = pytest.mark.parametrize(("smoothing", "method", "value"), SMOOTHINGS)
tokenized = pytest.mark.parametrize(("tokenize", "name"), TOKENIZERS)


def streams(references: list[list[str]]) -> list[list[str | None]]:
    """As sacreBLEU wants them: the first of all, the second of all where there is one, ..."""
    most = max(map(len, references))
    return [[those[n] if n < len(those) else None for those in references] for n in range(most)]


@tokenized
@given(corpora)
@settings(max_examples=200)
def test_corpus_bleu_is_that_of_sacrebleu(tokenize: Tokenize, name: str, corpus: Corpus) -> None:
    texts, references = [text for text, _ in corpus], [those for _, those in corpus]
    theirs = sacrebleu.BLEU(tokenize=name)
    ours = corpus_bleu(texts, references, tokenize=tokenize)
    assert ours == pytest.approx(theirs.corpus_score(texts, streams(references)).score, abs=1e-9)


@smoothed
@given(texts, st.lists(texts, min_size=1, max_size=3))
@settings(max_examples=100)
def test_sentence_bleu_is_that_of_sacrebleu(
    smoothing: Smoothing, method: str, value: float | None, text: str, references: list[str]
) -> None:
    theirs = sacrebleu.BLEU(effective_order=True, smooth_method=method, smooth_value=value)
    tokens = [[*map(tokenize_13a, [text])]], [[*map(tokenize_13a, references)]]
    [[ours]] = sentence_bleus(*tokens, smoothing=smoothing)
    assert ours == pytest.approx(theirs.sentence_score(text, references).score, abs=1e-9)


def test_the_defaults_are_those_of_sacrebleu() -> None:
    text, reference = "the cat sat there on a mat.", "the cat is sitting on the mat."
    corpus = sacrebleu.corpus_bleu([text], [[reference]]).score
    assert 0 < corpus < 100
    assert corpus_bleu([text], [[reference]]) == pytest.approx(corpus)


pieces = st.one_of(
    st.sampled_from(["&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "<skipped>", "-\n", "\n"]),
    st.characters(min_codepoint=32, max_codepoint=126),
    st.sampled_from("09.,.,-' \t  é。"),
)


@given(st.lists(pieces, max_size=12).map("".join))
@example("x..5")
@example("end-\n")
@settings(max_examples=1000)
def test_13a_splits_as_sacrebleu_does(text: str) -> None:
    assert tokenize_13a(text) == sacrebleu.BLEU()._preprocess_segment(text).split()


def test_a_match_leaves_the_references_as_they_were() -> None:
    references = References.of(["abab", "b"])
    assert references.match("bab") == references.match("bab")


@given(texts, texts)
def test_the_order_of_references_does_not_matter(one: str, other: str) -> None:
    assert corpus_bleu(["a b 1,5"], [[one, other]]) == corpus_bleu(["a b 1,5"], [[other, one]])


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(DataError, match="1 hypotheses cannot be compared with the references of 2"):
        corpus_bleu(["a"], [["a"], ["b"]])
    with pytest.raises(DataError, match="no hypotheses"):
        corpus_bleu([], [])
    with pytest.raises(DataError, match="hypothesis 2 has no reference"):
        corpus_bleu(["a", "b"], [["a"], []])
    with pytest.raises(DataError, match="the sentence has no reference"):
        References.of([])
    with pytest.raises(DataError, match="2 hypotheses cannot be compared"):
        sentence_bleus([[[1]], [[2]]], [[[1]]])


def test_a_text_is_not_taken_for_a_list_of_texts() -> None:
    with pytest.raises(DataError, match="references of hypothesis 1 are one string"):
        corpus_bleu(["a b"], ["a b"])


def test_smoothing_by_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="above 0"):
        AddK(0.0)
