"""Joint n-grams of letters and sounds: Phonetisaurus as its package trains it, and Sequitur by its manual."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from baselines import BenchSet, Outcome
from baselines.pair_sets import read_groups, score_texts
from baselines.plain_command import run_process

ORDERS = 6  # Sequitur's longest n-grams, by ramping up; the manual takes about as many


def run_phonetisaurus(corpus: BenchSet, seed: int, minutes: float) -> Outcome:
    """Alignments and n-grams with the settings of its package, on all of the training data."""
    words = [word for word, _ in read_groups(corpus.test)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_lexicon(folder / "train", corpus.train, separator=" ")
        command = [sys.executable, "-m", "phonetisaurus"]
        trained = run_process([*command, "train", "--model", "g2p.fst", "train"], folder=folder)
        found = run_process([*command, "predict", "--model", "g2p.fst", *words], folder=folder)
    rows = (line.split(maxsplit=1) for line in found.stdout.splitlines())
    answers = {row[0]: row[1] for row in rows if row[1:]}
    score = score_texts(corpus, [answers.get(word, "") for word in words])
    return Outcome(corpus.name, "Phonetisaurus", seed, corpus.metric, score, trained.seconds)


def run_sequitur(corpus: BenchSet, seed: int, minutes: float) -> Outcome:
    """Models of growing order, each the start of the next; the best on validation data writes the answers."""
    assert corpus.valid, "sequitur stops by validation data"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, path in (("train", corpus.train), ("valid", corpus.valid)):
            _write_lexicon(folder / part, path, separator="\t")
        words = [word for word, _ in read_groups(corpus.test)]
        (folder / "words").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
        found = list(_ramp_up(folder, 60 * minutes))
        best = max(range(len(found)), key=lambda i: found[i][0])
        answers = _apply(folder, best, "words")
    score = score_texts(corpus, [answers.get(word, "") for word in words])
    details = {"order": best + 1}
    seconds = sum(seconds for _, seconds in found[: best + 1])
    return Outcome(corpus.name, "Sequitur", seed, corpus.metric, score, seconds, details)


def _ramp_up(folder: Path, seconds: float) -> Iterator[tuple[float, float]]:
    """Accuracy on validation data and seconds of each model, while there is time."""
    right = [line.split("\t") for line in (folder / "valid").read_text(encoding="utf-8").splitlines()]
    (folder / "valid-words").write_text("".join(f"{word}\n" for word, _ in right), encoding="utf-8")
    spent = 0.0
    for order in range(ORDERS):
        before = ["--model", f"model-{order - 1}", "--ramp-up"] if order else []
        options = ["--train", "train", "--devel", "valid", *before, "--write-model", f"model-{order}"]
        used = run_process(_command(*options), folder=folder).seconds
        answers = _apply(folder, order, "valid-words")
        yield sum(answers.get(word) == sounds for word, sounds in right) / len(right), used
        spent += used
        if spent > seconds:
            return


def _apply(folder: Path, order: int, words: str) -> dict[str, str]:
    options = ["--model", f"model-{order}", "--apply", words]
    # It ends with an error code where a word has no answer, so that what it printed is what counts.
    code = f"import subprocess, sys; subprocess.run({_command(*options)!r}, stderr=subprocess.DEVNULL)"
    done = run_process([sys.executable, "-c", code], folder=folder)
    rows = (line.split("\t") for line in done.stdout.splitlines() if "\t" in line)
    return {word: sounds.strip() for word, sounds in rows}


def _command(*options: str) -> list[str]:
    script = shutil.which("g2p.py") or str(Path(sys.executable).with_name("g2p.py"))
    return [sys.executable, script, *options]


def _write_lexicon(path: Path, table: Path, *, separator: str) -> None:
    lines = (f"{word}{separator}{sounds}\n" for word, some in read_groups(table) for sounds in some)
    path.write_text("".join(lines), encoding="utf-8")
