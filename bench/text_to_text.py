"""The text-to-text tasks of the lectures, each by `elman train seq2seq`.

Dialogue turns, questions about short facts, a headline for a sentence, correction of grammar, the continuation
of a story: pairs from corpora (found through ELMAN_DATA) or made up, of which every twentieth is held out to
choose weights by and every twentieth to test. No answer to a source of the test was trained on: a source is in
one part only. The scores stand beside those of two programs that have learnt nothing: one repeats the source,
the other always gives the commonest answer.

    ELMAN_DATA=... python bench/text_to_text.py --epochs 10
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from texts import TASKS, Pair

from elman.metrics import corpus_chrf, exact_match

PIECES = "--source-tokens bpe --target-tokens bpe --joint"
WORDS = "--source-tokens whitespace --target-tokens whitespace --joint"
COPYING = f"{WORDS} --set model.copying=true --set model.label_smoothing=0"
RARE = "--set tokens.source.min_count=2 --set tokens.target.min_count=2"
SIZE = "--set tokens.source.size=3000 --set tokens.target.size=3000"
OPTIONS = {
    "dialogue": f"{PIECES} {SIZE}",
    "facts": f"{COPYING} --dropout 0.1",
    "headline": f"{COPYING} {RARE}",
    "grammar": f"{COPYING} {RARE} --dropout 0.1",
    "story": f"{COPYING} --dropout 0.1",
}
ALWAYS = "--hidden 96 --embedding 96 --batch 1024 --set model.shared=true"


def parts(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """To train on, to choose by and to test on, by source."""
    found: dict[str, list[Pair]] = {"train": [], "valid": [], "test": []}
    sources = {source: i for i, source in enumerate(dict.fromkeys(s for s, _ in pairs))}
    names = {0: "valid", 1: "test"}
    for pair in pairs:
        found[names.get(sources[pair[0]] % 20, "train")].append(pair)
    return found


def elman(*arguments: str, text: str = "") -> str:
    """What the command prints."""
    command = [sys.executable, "-m", "elman", *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def measure(task: str, corpora: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Train, score, and answer a few sources of the test."""
    split = parts(list(TASKS[task](corpora)))
    for name, pairs in split.items():
        for side, suffix in enumerate(("src", "tgt")):
            lines = "".join(f"{pair[side]}\n" for pair in pairs)
            (folder / f"{task}.{name}.{suffix}").write_text(lines)
    files = {name: [str(folder / f"{task}.{name}.{s}") for s in ("src", "tgt")] for name in split}
    model, length = (str(folder / task), [f"--epochs={options.epochs}", f"--threads={options.threads}"])
    command = ["train", "seq2seq", "--train", *files["train"], "--valid", *files["valid"]]
    begun = time.monotonic()
    elman(*command, "--out", model, *OPTIONS[task].split(), *ALWAYS.split(), *length)
    seconds = time.monotonic() - begun
    scores = json.loads(elman("evaluate", model, *files["test"], "--json"))
    sources, targets = zip(*split["test"], strict=True)
    few = range(0, len(sources), max(1, len(sources) // options.examples))[: options.examples]
    said = elman("translate", model, text="".join(f"{sources[i]}\n" for i in few)).split("\n")
    commonest = Counter(target for _, target in split["train"]).most_common(1)[0][0]
    return {
        "task": task,
        "pairs": len(split["train"]),
        "seconds": seconds,
        "elman": scores,
        "repeats": score_baseline(sources, targets),
        "commonest": score_baseline([commonest] * len(targets), targets),
        "examples": [[sources[i], targets[i], said[n]] for n, i in enumerate(few)],
    }


def score_baseline(answers: Sequence[str], targets: Sequence[str]) -> dict[str, float]:
    right = [[" ".join(target.split())] for target in targets]
    texts = [" ".join(answer.split()) for answer in answers]
    return {"exact": exact_match(texts, right), "chrf": corpus_chrf(texts, right)}


def show(found: dict[str, Any]) -> None:
    print(f"{found['task']}: {found['pairs']:,} pairs; exact % and chrF of the test")
    for who in ("elman", "repeats", "commonest"):
        print(f"  {who:<10}{found[who]['exact']:6.1f}{found[who]['chrf']:7.1f}")
    for source, target, said in found["examples"]:
        print(f"  > {source}\n    {said}\n    ({target})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tasks", nargs="*", default=[*TASKS], help="default: all")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--examples", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="an object a task instead of text")
    options = parser.parse_args()
    if "ELMAN_DATA" not in os.environ:
        sys.exit("ELMAN_DATA is not set: it names the folder of the corpora")
    corpora = Path(os.environ["ELMAN_DATA"])
    with tempfile.TemporaryDirectory() as folder:
        for task in options.tasks:
            found = measure(task, corpora, Path(folder), options)
            print(json.dumps(found)) if options.json else show(found)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
