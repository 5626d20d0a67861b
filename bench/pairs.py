"""The default commands of pairs against TF-IDF with logistic regression, on paraphrases.

Two English sentences of Tatoeba (found through ELMAN_DATA) with the same French translation are a pair "yes".
For each there is a "no": one of the two with a sentence that shares no translation with it, not even by way of
others; half of these are drawn at random, half have the most words in common. Sentences that are linked by
translations lie in one of ten parts, and so does a pair: eight are for training, one is the dev set, one the
test set. No sentence is in two of them. Test accuracy, and seconds with start-up. Systems:

  overlap     words in common / words of either; the threshold that is best in training
  tfidf       |a - b| and a ⊙ b of TF-IDF vectors, logistic regression; n-grams and C chosen by the dev set
  none, soft  elman train pairs, with --attention none and soft; with --vectors FILE twice, without and with it

Needs: pip install scikit-learn.

    ELMAN_DATA=... python bench/pairs.py --out paraphrases
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

Pair = tuple[str, str, str]
Run = Callable[[dict[str, list[Pair]], Path], float]
PARTS, MOST = 10, 3  # at most so many pairs of sentences that are linked
NAMES = ("train", "valid", "test")


def corpus(lines: list[tuple[str, str]]) -> dict[str, list[Pair]]:
    """Pairs to train on, to validate on and to test on."""
    dice = random.Random(0)
    groups = [dice.sample(pairs, min(MOST, len(pairs))) for pairs in linked(lines)]
    dice.shuffle(groups)
    parts = [part(groups[i::PARTS], dice) for i in range(PARTS)]
    return {"train": [pair for some in parts[2:] for pair in some], "valid": parts[0], "test": parts[1]}


def linked(lines: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """For each set of sentences that are linked by translations, the pairs that share one."""
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        while parent.setdefault(text, text) != text:
            parent[text] = text = parent[parent[text]]
        return text

    sentences: dict[str, set[str]] = defaultdict(set)
    for english, french in lines:
        parent[root(f"en {english}")] = root(f"fr {french}")
        sentences[french].add(english)
    pairs: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)
    for french, several in sentences.items():
        each = sorted(several)
        for i, a in enumerate(each):
            pairs[root(f"fr {french}")].update(dict.fromkeys((a, b) for b in each[i + 1 :]))
    return [list(found) for found in pairs.values() if found]


def part(groups: list[list[tuple[str, str]]], dice: random.Random) -> list[Pair]:
    """The pairs of some groups, and as many of sentences of two groups."""
    pool = [
        (s, words(s), i)
        for i, pairs in enumerate(groups)
        for s in dict.fromkeys(s for pair in pairs for s in pair)
    ]
    rows: list[Pair] = []
    for i, pairs in enumerate(groups):
        for pair in pairs:
            a, b = dice.sample(pair, 2)
            others = [(overlap(words(a), bag), s) for s, bag, j in pool if i != j]
            hard = len(rows) % 4 == 0
            c = max(others)[1] if hard else dice.choice(others)[1]
            rows += [(a, b, "yes"), (*dice.sample((a, c), 2), "no")]  # type: ignore[list-item]
    dice.shuffle(rows)
    return rows


def words(text: str) -> set[str]:
    return {word.strip(".,!?\"'").lower() for word in text.split()}


def overlap(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b)


def by_overlap(data: dict[str, list[Pair]], folder: Path) -> float:
    scores = {n: [(overlap(words(a), words(b)), y == "yes") for a, b, y in data[n]] for n in NAMES}

    def accuracy(name: str, threshold: float) -> float:
        return 100 * sum((s >= threshold) == y for s, y in scores[name]) / len(scores[name])

    best = max({s for s, _ in scores["train"]}, key=lambda threshold: accuracy("train", threshold))
    return accuracy("test", best)


def by_tfidf(data: dict[str, list[Pair]], folder: Path) -> float:
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    sides = {n: tuple(zip(*data[n], strict=True)) for n in NAMES}
    found: list[tuple[float, float]] = []
    for kind, grams in (("word", (1, 1)), ("word", (1, 2)), ("char_wb", (1, 4)), ("char_wb", (2, 5))):
        tfidf = TfidfVectorizer(analyzer=kind, ngram_range=grams, sublinear_tf=True)
        tfidf.fit([*sides["train"][0], *sides["train"][1]])
        xs: dict[str, Any] = {}
        for name, (first, second, _) in sides.items():
            a, b = tfidf.transform(first), tfidf.transform(second)
            xs[name] = hstack([abs(a - b), a.multiply(b)]).tocsr()
        for c in (0.1, 0.3, 1, 3, 10, 30):
            model = LogisticRegression(C=c, max_iter=2000).fit(xs["train"], sides["train"][2])
            valid, test = (100 * model.score(xs[n], sides[n][2]) for n in ("valid", "test"))
            found.append((valid, test))
    return max(found)[1]


def by_elman(attention: str, *options: str) -> Run:
    def run(data: dict[str, list[Pair]], folder: Path) -> float:
        elman = [sys.executable, "-m", "elman"]
        out = folder / (attention + "-vectors" * bool(options))
        files = [*("--train", folder / "train.tsv"), *("--valid", folder / "valid.tsv")]
        train = [*elman, "train", "pairs", *files, "--out", out, "--threads", "1"]
        train += ["--attention", attention, *options]
        subprocess.run(train, check=True, capture_output=True)
        score = [*elman, "evaluate", out, folder / "test.tsv", "--json"]
        done = subprocess.run(score, check=True, capture_output=True, text=True)
        return float(json.loads(done.stdout)["accuracy"])

    return run


SYSTEMS: dict[str, Run] = {
    "overlap": by_overlap,
    "tfidf": by_tfidf,
    "none": by_elman("none"),
    "soft": by_elman("soft"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the tables and models")
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--vectors", help="pretrained word vectors: our systems with them, too")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with gzip.open(f"{os.environ['ELMAN_DATA']}/tatoeba-en-fr/fra.txt.gz", "rt", encoding="utf-8") as file:
        data = corpus([tuple(line.rstrip("\n").split("\t")) for line in file])  # type: ignore[misc]
    options.out.mkdir(parents=True, exist_ok=True)
    for name, rows in data.items():
        table = "".join("\t".join(row) + "\n" for row in (("first", "second", "label"), *rows))
        (options.out / f"{name}.tsv").write_text(table, encoding="utf-8")
    systems = {name: SYSTEMS[name] for name in options.systems}
    if options.vectors:
        ours = [name for name in ("none", "soft") if name in systems]
        systems |= {f"{n}+vectors": by_elman(n, "--vectors", options.vectors) for n in ours}
    results = []
    for system, run in systems.items():
        start = time.perf_counter()
        accuracy = run(data, options.out)
        results.append({"system": system, "accuracy": accuracy, "s": time.perf_counter() - start})
        if not options.json:
            print(f"{system:13} {accuracy:.1f} %  {results[-1]['s']:.0f} s", flush=True)
    if options.json:
        json.dump({"pairs": {n: len(rows) for n, rows in data.items()}, "results": results}, sys.stdout)


if __name__ == "__main__":
    main()
