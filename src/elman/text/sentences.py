"""Raw text cut into sentences by rules, and where the words of a text stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

Range = tuple[int, int]
"""Characters of a text: from the first number up to, not including, the second."""

_CLOSING = "\"'”’»›」』）)\\]}"
_END = re.compile(
    rf"(?P<stop>[.!?…]+)[{_CLOSING}]*(?=\s)"  # ends a sentence, if what stands around agrees
    rf"|[。！？｡][{_CLOSING}]*"
    r"|\n[^\S\n]*(?=\n|[-*•–][^\S\n])"  # an empty line, or an item of a list
)
_OPENING = "\"'“„‘«‹([{¿¡"
_NEXT_WORD = re.compile(rf"\s+[{re.escape(_OPENING)}]*(\w*)")
_LONGEST = 40  # characters of a word before a stop, if it is to be an abbreviation
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")  # J, U.S, e.g


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Before a name; between two parts of a sentence.
_NEVER_LAST = _words(
    "adj adm bzw capt cf col dr fr gen gov hon hr hrn lt maj messrs mgr mlle mm mme mr mrs ms mt pres "
    "prof rep rev sen sgt sog ssgt supt vgl viz vs"
)
# Before a number only: "No. 5", but "He said no. Then …".
_BEFORE_NUMBERS = _words(
    "abb abs apr art aug ca ch dec eq feb fig figs jan jul jun kap mar no nos nov nr oct p pp sec sect "
    "sep sept st str tel vol vols"
)
# At the end of a sentence as often as inside: what follows decides, as after initials.
_MAYBE_LAST = _words("al approx assn bros co corp dept est etc inc jr ltd sr st univ usw")
_BEGINNINGS = _words(
    "A After All An And As At But By Das Der Die El Er Es For From He Her His How However I If In It Its "
    "La Le Les Many My No On One Our She Sie So Some That The Their Then There These They This Those To "
    "Two Wir We What When Where Who Why With You Your"
)
_MONTHS = _words(
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert"
)


def split_sentences(text: str) -> list[Range]:
    """Where the sentences of a text are, in order; between them are only blanks.

    A sentence ends with ``. ! ? …`` and closing quotes, if a blank follows and then no small letter, and with
    ``。！？``, an empty line, or before an item of a list. No sentence ends after an abbreviation (Dr., No. 5),
    after initials (J. R. R., U.S.) unless a word follows that often begins one (The, It), or after the number
    of a list or a date (1. Title, 3. Oktober). A single line end is a blank.
    """
    return list(_trim(text, _cuts(text)))


def locate_words(words: Iterable[str], text: str) -> list[Range]:
    """Where words stand that a text was split into; between them are only blanks."""
    places, at = [], 0
    for word in words:
        start = text.index(word, at)
        at = start + len(word)
        places.append((start, at))
    return places


def _cuts(text: str) -> Iterator[Range]:
    """Sentences with the blanks around them."""
    start = 0
    for found in _END.finditer(text):
        before = text[max(start, found.start() - _LONGEST) : found.start()]
        if found["stop"] is None or _is_end(before, found["stop"], text, found.end()):
            yield start, found.end()
            start = found.end()
    yield start, len(text)


def _trim(text: str, ranges: Iterable[Range]) -> Iterator[Range]:
    for start, end in ranges:
        inside = text[start:end]
        if inside.strip():
            start += len(inside) - len(inside.lstrip())
            yield start, start + len(inside.strip())


def _is_end(before: str, stop: str, text: str, after: int) -> bool:
    """Whether a sentence ends with this mark; ``before`` are its last characters so far."""
    following = _NEXT_WORD.match(text, after)
    word = following[1] if following else ""
    if word[:1].islower():
        return False
    if stop != ".":
        return True
    last = before.split()[-1].lstrip(_OPENING) if before.split() else ""
    short = last.lower()
    if last.isdecimal():
        return before.strip() != last and not (len(last) < 3 and word in _MONTHS)
    if short in _NEVER_LAST or (short in _BEFORE_NUMBERS and word[:1].isdecimal()):
        return False
    if short in _MAYBE_LAST or (_INITIALS.fullmatch(last) and last != "I"):
        return not word or word in _BEGINNINGS
    return True
