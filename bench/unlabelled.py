"""A tenth of the labels, with and without the rest of the text: how much of the error the text takes away.

For each split a tenth of the training data, every label with its share, is drawn by a seed and keeps its
labels; the texts of the others go to `--unlabelled`. The plain command then trains twice on one thread,
without that text and with it, and nothing else is said but the seed of the split. With `--judge test` the
test data judges; else a fifth of the training data, which then is in neither file, so that choices are made
without the test data.

    ELMAN_DATA=... python bench/unlabelled.py --only sst2 r8 --splits 3 --judge test --json unlabelled.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from baselines.classifier_sets import READERS, Row
from baselines.plain_command import run_elman
from baselines.two_columns import write_table


class Split(NamedTuple):
    """Examples with labels, texts of others, and what judges."""

    labelled: list[Row]
    texts: list[str]
    judged: list[Row]


def split_rows(rows: Sequence[Row], test: Sequence[Row], seed: int, judge: str) -> Split:
    """A tenth of the rows with their labels, the others without; for `valid`, a fifth of the rows judges."""
    dealt = _deal(rows, random.Random(seed))
    judged = dealt[: len(rows) // 5] if judge == "valid" else [*test]
    rest = dealt[len(judged) :] if judge == "valid" else dealt
    known = {text for text, _ in judged}
    labelled, others = rest[: len(rows) // 10], rest[len(rows) // 10 :]
    return Split(labelled, [text for text, _ in others if text not in known], judged)


def _deal(rows: Sequence[Row], dice: random.Random) -> list[Row]:
    """The rows in a random order in which every beginning has all labels in their shares."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[1]].append(row)
    places = []
    for some in groups.values():
        dice.shuffle(some)
        places += [((i + dice.random()) / len(some), row) for i, row in enumerate(some)]
    return [row for _, row in sorted(places)]


def train(split: Split, seed: int, *, with_text: bool, options: Sequence[str]) -> dict[str, float]:
    """Accuracy of the plain command on what judges, and its processor time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = write_table(folder / "labelled.tsv", ("text", "label"), split.labelled)
        (folder / "rest.txt").write_text("".join(f"{text}\n" for text in split.texts), encoding="utf-8")
        text = ["--unlabelled", str(folder / "rest.txt")] if with_text else []
        files = ["--train", str(table), *text, "--out", str(folder / "model")]
        usual = ["--threads", "1", "--device", "cpu", "--seed", str(seed)]
        given = [word for setting in options for word in ("--set", setting)]
        done = run_elman("train", "classifier", *files, *usual, *given)
        lines = "".join(f"{text}\n" for text, _ in split.judged)
        said = run_elman(
            "predict", str(folder / "model"), "-", "--device", "cpu", given=lines
        ).stdout.splitlines()
    right = sum(answer == label for answer, (_, label) in zip(said, split.judged, strict=True))
    return {"accuracy": 100 * right / len(split.judged), "seconds": done.seconds}


def main() -> None:
    options = parse_options()
    if "ELMAN_DATA" not in os.environ:
        sys.exit("set ELMAN_DATA to the folder of the corpora; its README.md says what is in it")
    for name in options.only:
        parts, found = READERS[name](Path(os.environ["ELMAN_DATA"])), []
        for seed in range(options.first, options.first + options.splits):
            split = split_rows(parts["train"], parts["test"], seed, options.judge)
            for with_text in options.runs:
                scores = train(split, seed, with_text=with_text, options=options.set)
                found.append(
                    {"corpus": name, "judge": options.judge, "split": seed, "text": with_text, **scores}
                )
                line = json.dumps(found[-1])
                print(line, file=sys.stderr, flush=True)
                if options.json:
                    with options.json.open("a", encoding="utf-8") as file:
                        file.write(f"{line}\n")
        print(summarize(found), flush=True)


def summarize(found: Sequence[dict[str, float]]) -> str:
    """Means over splits, and the share of the error that is gone."""
    without, with_text = ([run for run in found if run["text"] == text] for text in (False, True))
    said = []
    for name, runs in (("without", without), ("with", with_text)):
        if runs:
            seconds = mean(run["seconds"] for run in runs)
            said.append(f"{name} {mean(run['accuracy'] for run in runs):.2f} ({seconds:.0f} s)")
    if without and with_text:
        errors = [mean(100 - run["accuracy"] for run in runs) for runs in (without, with_text)]
        said.append(f"error {100 * (errors[1] / errors[0] - 1):+.1f} %")
    return f"{found[0]['corpus']}, {found[0]['judge']}, {len(found)} runs: {', '.join(said)}"


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=["r8", "sst2"], choices=[*READERS], metavar="NAME")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="seed of the first split")
    parser.add_argument("--judge", choices=("valid", "test"), default="valid")
    sides = {"both": (False, True), "with": (True,), "without": (False,)}
    parser.add_argument("--runs", type=sides.__getitem__, default=(False, True), metavar="both|with|without")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="of the command")
    parser.add_argument("--json", type=Path, metavar="FILE", help="a line for each training, added to")
    return parser.parse_args()


if __name__ == "__main__":
    main()
