"""What the rules for language models choose by: how much is read in the time that there is."""

from __future__ import annotations

import math

from elman.pipeline.default_facts import Facts


def learns_text(facts: Facts) -> bool:
    """Whether a text of 50,000 tokens or more is to be learnt from nothing; others keep the plain defaults."""
    return facts.tokens >= 50_000 and facts.objective == "likelihood" and not facts.trained


def learns_words(facts: Facts) -> bool:
    """The same, of words or pieces of them."""
    return learns_text(facts) and not facts.reads_characters


def count_read(facts: Facts) -> float:
    """About how many tokens a run on a CPU reads: 600,000 words a minute and core, or 2 million characters."""
    if not facts.timed:
        return choose_lm_epochs(facts) * facts.tokens
    speed = 2_000_000 if facts.reads_characters else 600_000
    return speed * facts.minutes * math.pow(facts.cores, 0.7)


def is_read_soon(facts: Facts) -> bool:
    """Whether a run reads at most five million characters or a million words, and as long as it likes."""
    return not facts.minutes and count_read(facts) <= (5_000_000 if facts.reads_characters else 1_000_000)


def choose_lm_epochs(facts: Facts) -> int:
    """as many as read four million words or characters, but 2 to 10"""
    return max(2, min(10, round(4_000_000 / facts.tokens)))


def choose_lm_units(facts: Facts) -> int:
    """256; 300 where a million words are read, 400 for three million; 384 for three million characters"""
    read = count_read(facts)
    if facts.reads_characters:
        return 384 if read >= 3_000_000 else 256
    return 256 if read < 1_000_000 else 300 if read < 3_000_000 else 400


def choose_lm_embedding(facts: Facts) -> int:
    """128; 200 where a million words are read"""
    return 128 if count_read(facts) < 1_000_000 else 200


def choose_lm_dropout(facts: Facts) -> float:
    """0.1 where the text is read up to 3 times, 0.3 for up to 10 times, 0.5 for more"""
    passes = count_read(facts) / facts.tokens
    return 0.1 if passes <= 3 else 0.3 if passes <= 10 else 0.5


def choose_char_dropout(facts: Facts) -> float:
    """0 where the text is read up to 3 times, 0.1 for up to 10 times, 0.3 for up to 30, 0.5 for more"""
    passes = count_read(facts) / facts.tokens
    return 0.0 if passes <= 3 else 0.1 if passes <= 10 else 0.3 if passes <= 30 else 0.5


def choose_ngram_least(facts: Facts) -> int:
    """1; 2 for more than two million words"""
    return 1 if facts.tokens <= 2_000_000 else 2


def choose_eval_tokens(facts: Facts) -> int:
    """10,000 a minute, but 10,000 to 200,000"""
    return max(10_000, min(200_000, round(10_000 * facts.minutes)))
