"""What people call the columns that a task reads."""

from __future__ import annotations

_NAMES = """
text    sentence review body content comment message question title utterance document tweet post article
text    headline description abstract query phrase input mail email data satz nachricht kommentar inhalt
text    beschreibung plot story lyrics transcript selftext reviewtext
label   labels category class target sentiment intent topic tag rating y stars polarity emotion genre
label   classification is_duplicate kategorie klasse thema genres queue department priority abteilung
first   sentence1 sentence_a text1 text_a premise question1 anchor question query sentence source s1
second  sentence2 sentence_b text2 text_b hypothesis question2 positive answer passage target s2
source  src input question original prompt quelle
target  tgt trg output translation answer response summary reference completion ziel
words   tokens token word sentence text
tags    ner_tags pos_tags chunk_tags labels ner pos upos tag label entities spans
"""

SYNONYMS: dict[str, list[str]] = {}
"""For each role of a column the names, beside the role itself, by which people call it."""

for _line in _NAMES.split("\n"):
    for _role, *_names in [_line.split()] if _line else []:
        SYNONYMS.setdefault(_role, []).extend(_names)
