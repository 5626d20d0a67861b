"""What the plain command chooses for pairs of words: tokens, copying, members."""

from __future__ import annotations

from typing import Any

import pytest

from elman.pipeline.choose_defaults import choose_settings, list_keys
from elman.pipeline.default_facts import gather_facts
from elman.pipeline.recipe import Recipe, build
from elman.tasks.seq2seq.task import Seq2SeqExample

SOUNDS = [Seq2SeqExample("cab", ("K AE B",)), Seq2SeqExample("bad", ("B AE D",))]
FORMS = [Seq2SeqExample("walk V;PST", ("walked",)), Seq2SeqExample("talk V;PRS;3", ("talks",))]
LEMMAS = [Seq2SeqExample("walked", ("walk",)), Seq2SeqExample("talks", ("talk",))]
SCRIPTS = [Seq2SeqExample("anna", ("анна",)), Seq2SeqExample("nina", ("нина",))]
SENTENCES = [Seq2SeqExample("I see a cat.", ("Je vois un chat.",)), Seq2SeqExample("I go.", ("Je vais.",))]


def choose(examples: list[Seq2SeqExample], copies: int = 1, **sections: Any) -> tuple[Recipe, Any]:
    """The recipe for so many copies of some examples, and what was chosen in it."""
    data = {"task": "seq2seq", **sections}
    recipe, given = build(data), frozenset(list_keys(data))
    facts = gather_facts(recipe, examples * copies, given, device="cpu", trained=False)
    return choose_settings(recipe, given, facts)


@pytest.mark.parametrize(
    ("examples", "kinds"),
    [
        (SOUNDS, ("chars", "whitespace")),
        (FORMS, ("chars+features", "chars")),
        (LEMMAS, ("chars", "chars")),
        (SCRIPTS, ("chars", "chars")),
        (SENTENCES, ("bpe", "bpe")),
    ],
)
def test_tokens_are_chosen_by_what_stands_on_both_sides(
    examples: list[Seq2SeqExample], kinds: tuple[str, str]
) -> None:
    tokens = choose(examples)[0].tokens
    assert (tokens.source.kind, tokens.target.kind) == kinds


def test_words_are_copied_where_they_share_their_letters() -> None:
    assert choose(LEMMAS)[0].model.copying
    assert choose(FORMS)[0].model.copying
    assert not choose(SCRIPTS)[0].model.copying
    assert not choose(SOUNDS)[0].model.copying


def test_features_are_not_looked_for_in_the_target() -> None:
    upper = [Seq2SeqExample("walk WALKED;WALKS", ("WALKED",))]
    assert not choose(upper)[0].model.copying


def test_copying_is_left_out_where_the_given_tokens_forbid_it() -> None:
    recipe, _ = choose(LEMMAS, tokens={"source": {"kind": "bpe"}, "target": {"kind": "bpe"}})
    assert recipe.tokens.source.kind == "bpe"
    assert not recipe.model.copying


def test_ctc_needs_room() -> None:
    assert choose(SOUNDS)[0].model.ctc
    assert not choose([Seq2SeqExample("ab", ("K AE B K AE B",))])[0].model.ctc


def test_sentences_are_learnt_by_a_small_network_on_a_cpu() -> None:
    assert choose(SENTENCES)[0].model.layers == 1
    assert choose(SENTENCES, model={"layers": 3})[0].model.layers == 3
    kept = choose(SENTENCES, model={"decoder": "gnmt"})[0].model
    assert (kept.layers, kept.hidden) == (2, choose(SENTENCES)[0].model.hidden)


def test_a_given_vocabulary_of_words_is_not_cut() -> None:
    recipe, _ = choose(SENTENCES, tokens={"target": {"kind": "words"}})
    assert recipe.tokens.target.size == 0


def test_more_words_are_read_fewer_times() -> None:
    few, many = (choose(SOUNDS, copies=n)[0].training.epochs for n in (500, 20_000))
    assert few > many > 1
