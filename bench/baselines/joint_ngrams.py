"""Phonetisaurus: joint n-grams of letters and sounds, as its package trains them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from baselines import BenchSet, Outcome
from baselines.pair_sets import read_groups, score_texts
from baselines.plain_command import run_process


def run_phonetisaurus(corpus: BenchSet, seed: int, minutes: float) -> Outcome:
    """Alignments and n-grams with the settings of its package, on all of the training data."""
    words = [word for word, _ in read_groups(corpus.test)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = (f"{word} {sounds}\n" for word, some in read_groups(corpus.train) for sounds in some)
        (folder / "train").write_text("".join(lines), encoding="utf-8")
        command = [sys.executable, "-m", "phonetisaurus"]
        trained = run_process([*command, "train", "--model", "g2p.fst", "train"], folder=folder)
        found = run_process([*command, "predict", "--model", "g2p.fst", *words], folder=folder)
    rows = (line.split(maxsplit=1) for line in found.stdout.splitlines())
    answers = {row[0]: row[1] for row in rows if row[1:]}
    score = score_texts(corpus, [answers.get(word, "") for word in words])
    return Outcome(corpus.name, "Phonetisaurus", seed, corpus.metric, score, trained.seconds)
