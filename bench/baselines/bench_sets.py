"""All corpora of the bench, by name."""

from __future__ import annotations

from pathlib import Path

from baselines import BenchSet, classifier_sets, pair_sets, tagger_sets, text_sets

PREPARE = {
    **dict.fromkeys(classifier_sets.NAMES, classifier_sets.prepare_classifier),
    **dict.fromkeys(tagger_sets.NAMES, tagger_sets.prepare_tagger),
    **dict.fromkeys(text_sets.NAMES, text_sets.prepare_text),
    **dict.fromkeys(pair_sets.NAMES, pair_sets.prepare_pairs),
}
NAMES = tuple(PREPARE)


def prepare(name: str, data: Path, folder: Path) -> BenchSet:
    """The corpus of this name in the folder of corpora, as files in another folder."""
    return PREPARE[name](name, data, folder)
