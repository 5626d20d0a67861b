"""Text in pieces: the same tokens, wherever it is cut."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elman.generation.incremental import Pending, encode_chunk, flush
from elman.text.pre_tokenizer import PreTokenizer
from tests.tasks.toy_lm import KINDS, tokenizer

# Letters that fold by context, marks, joiners, halves of flags, digits with points, Han, blanks of all sorts.
TRICKY = "aZ ΣσÉİ'’-.,:07²汉\u0301\u200d👍🏽🇩🇪\t\u00a0\u2003\r\x1c_«\ud83d"
text = st.text(alphabet=TRICKY) | st.text().map(lambda s: s.replace("\n", " "))


@st.composite
def cut_texts(draw):
    whole = draw(text)
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    return whole, [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_ids_are_those_of_the_whole_text_however_it_is_cut(kind, lower):
    made = tokenizer(
        kind, [TRICKY.encode("utf-8", "ignore").decode(), "the don't 3.14"], lower=lower, digits=True
    )

    @given(cut_texts())
    @example(("aΣa Σ", ["aΣ", "a Σ"]))
    def law(cut):
        whole, pieces = cut
        ids, pending = [], Pending()
        for piece in pieces:
            some, pending = encode_chunk(made, pending, piece)
            ids += some
        assert ids + flush(made, pending) == made.encode(whole)

    law()


@pytest.mark.parametrize("kind", ["words", "chars", "bytes"])
def test_nothing_waits_longer_than_it_must(kind):
    made = tokenizer(kind)
    _, pending = encode_chunk(made, Pending(), "汉" * 1000)
    assert len(pending.text) <= 2


def test_folding_is_the_only_thing_that_looks_back_and_a_sigma_the_only_letter():
    fold = PreTokenizer("chars", lower=True).normalize
    changed = [
        c
        for c in map(chr, range(0x110000))
        if not fold(f"{c}x") == fold(f"x{c}")[1:] + "x" == fold(f"x{c}x")[1:] == c.lower() + "x"
    ]
    assert changed == ["Σ"]
