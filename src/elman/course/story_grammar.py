"""The grammar of the little stories: capitals are symbols, the rest are words; all choices are equally likely.

Each sentence comes about in one way only, so that its probability is the product of its choices. A word that
has different tags in different places says which: ``rose/VERB``.
"""

from __future__ import annotations

HEROES = (
    {"a": "ONE", "hero": "MAN", "was": "was", "he": "he", "him": "him", "his": "his"},
    {"a": "ONE", "hero": "WOMAN", "was": "was", "he": "she", "him": "her/PRON", "his": "her/DET"},
    {"a": "SOME", "hero": "PEOPLE", "was": "were", "he": "they", "him": "them", "his": "their"},
)
"""What stands for {hero} and its pronouns, all through a tale."""

TALES = (
    "once upon a time there lived {a} {hero} WHERE .",
    "the QUALITY {hero} lost {his} TREASURE WHERE , and {he} looked for it TILL .",
    "one DAYTIME the {hero} left {his} HOME and walked to PLACE .",
    "when the LIGHT rose/VERB , the {hero} {was} still asleep in {his} HOME .",
    "the {hero} gave the VILLAIN a COLOUR rose/NOUN , but {he} never saw/VERB it again .",
    "the VILLAIN saw/VERB {him} WHERE , so the {hero} ran back/ADV to {his} HOME .",
    "the VILLAIN saw/VERB {his} TREASURE and asked the {hero} for it .",
    "the {hero} drank from the DEPTH well/NOUN and slept well/ADV TILL .",
    "the light/NOUN of the LIGHT fell on {his} TREASURE , and the {hero} {was} glad .",
    "the {hero} carried a light/ADJ bag to PLACE , with {his} TREASURE in it .",
    "the {hero} wore a hat of COLOUR felt/NOUN and never felt/VERB the cold/NOUN .",
    "in PLACE the {hero} heard the DEPTH bells ring/VERB TILL .",
    "{a} {hero} found an old saw/NOUN and cut the COLOUR tree WHERE .",
    "the {hero} came back/ADV from PLACE with a TREASURE on {his} back/NOUN .",
)

RULES = {
    "ONE": ("a CONSONANT", "an VOWEL"),
    "SOME": ("two QUALITY", "three QUALITY"),
    "QUALITY": ("CONSONANT", "VOWEL"),
    "CONSONANT": ("young", "poor", "brave", "lazy"),
    "VOWEL": ("old", "honest", "angry"),
    "MAN": ("king", "prince", "fisherman", "baker"),
    "WOMAN": ("queen", "princess", "girl", "grandmother"),
    "PEOPLE": ("brothers", "sisters", "children"),
    "VILLAIN": ("witch", "dragon", "wolf", "giant"),
    "WHERE": ("in PLACE", "near PLACE", "by WATER"),
    "PLACE": ("the DARK forest", "the castle", "the mountains", "a small village"),
    "DARK": ("dark", "deep", "wild"),
    "WATER": ("the sea", "a cold/ADJ lake", "the river"),
    "HOME": ("house", "tower", "garden"),
    "TREASURE": ("COLOUR ring/NOUN", "COLOUR crown", "book", "watch", "silver spoon"),
    "COLOUR": ("golden", "red", "blue"),
    "LIGHT": ("sun", "moon"),
    "DEPTH": ("deep", "old", "silver"),
    "DAYTIME": ("morning", "evening", "winter"),
    "TILL": ("all night", "until the morning", "for many years"),
}
"""What a symbol may become."""

_WORDS = {
    "DET": "a an the one his their all",
    "PRON": "he him she they them it there",
    "NUM": "two three",
    "ADJ": "young poor brave lazy old honest angry dark deep wild small golden red blue silver many "
    "asleep glad",
    "VERB": "lived lost looked left walked was were gave asked ran drank slept fell carried wore heard found "
    "cut came",
    "ADV": "once still never again",
    "ADP": "upon in near by to for from of on with until",
    "CONJ": "and but so when",
    "PUNCT": ". ,",
}
TAGS = {word: tag for tag, words in _WORDS.items() for word in words.split()}
"""The tags of words that have one only; all others are nouns."""
