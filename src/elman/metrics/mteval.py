"""Words and marks as BLEU is reported in papers: NIST's mteval-v13a, which sacreBLEU calls 13a."""

from __future__ import annotations

import re

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

# The order is part of the standard, and so is that a match uses up the characters on both sides:
# of two marks in a row the second may stay where it is.
_RULES = (
    (re.compile(r"([!-&(-+/:-@[-`{-~])"), r" \1 "),  # any mark of ASCII but ' , - .
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),  # a comma that follows no digit
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),  # a comma that no digit follows
    (re.compile(r"([0-9])-"), r"\1 - "),
)


def tokenize_13a(text: str) -> list[str]:
    """Split off all marks but those within numbers and words; case is kept."""
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, mark in _ENTITIES:
        text = text.replace(entity, mark)
    text = f" {text} "
    for pattern, apart in _RULES:
        text = pattern.sub(apart, text)
    return text.split()
