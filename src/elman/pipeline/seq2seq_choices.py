"""What the rules for sequence to sequence choose by: whether words are spelled, and how much there is."""

from __future__ import annotations

from math import sqrt

from elman.pipeline.default_facts import Facts


def spells(facts: Facts) -> bool:
    """Whether single words, with or without features, become single words or symbols such as phonemes."""
    writes = facts.target_mean < 1.5 or facts.target_types <= 300
    return 0 < facts.mean - facts.features < 1.5 and facts.characters < 40 * facts.examples and writes


def spells_little(facts: Facts) -> bool:
    """The same for at most 20,000 pairs."""
    return spells(facts) and facts.examples <= 20_000


def spells_in_order(facts: Facts) -> bool:
    """The same where CTC has room: at most three symbols are to be written for two letters."""
    written = facts.target_characters if facts.target_mean < 1.5 else facts.target_words
    return spells_little(facts) and 2 * written <= 3 * facts.characters


def translates_little(facts: Facts) -> bool:
    """Whether sentences in subwords, a million words at most, are learnt on a CPU."""
    pieces = {facts.kind, facts.target_kind} <= {"bpe", "unigram"}
    return not spells(facts) and pieces and facts.device == "cpu" and _pair_words(facts) <= 1_000_000


def choose_spelling_epochs(facts: Facts) -> int:
    """60 for a thousand pairs and fewer, 35 for three thousand, 19 for ten thousand."""
    return min(60, round(60 * sqrt(1000 / max(1, facts.examples))))


def choose_sentence_epochs(facts: Facts) -> int:
    """As many as read two and a half million words, but between 6 and 20."""
    return max(6, min(20, 2_500_000 // max(1, _pair_words(facts))))


def choose_pieces(facts: Facts) -> int:
    """One for each 40 words of each side, between 1,000 and 8,000."""
    return max(1000, min(8000, _pair_words(facts) // 80))


def _pair_words(facts: Facts) -> int:
    return facts.words + facts.target_words
