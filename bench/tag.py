"""The default command of the tagger against Flair's BiLSTM-CRF and python-crfsuite on CoNLL-2000 chunking.

The same data (found through ELMAN_DATA), threads and metric, one after the other in one run: test F1, seconds
of training with reading and start-up, seconds until the F1 of the others was reached, sentences of the test set
tagged per second from words (interleaved, median), and the time of one sentence of ten words on one thread.
Only crfsuite sees the given parts of speech; "no POS" does without. Flair trains its embeddings, and stops
after the epoch in which --minutes are over. Needs, best in an environment of its own: pip install flair
python-crfsuite.

    ELMAN_DATA=... python bench/tag.py --minutes 20
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles

import torch
from taggers import Corpus, TrainedTagger, conll2000, crfsuite, elman_tagger, flair_bilstm

from elman.tasks.tagger.task import TaggerExample

PACKAGES = {"crfsuite": "pycrfsuite", "flair": "flair"}
SHORT = (
    ("He", "reckons", "the", "current", "account", "deficit", "will", "narrow", "to", "only"),
    ("PRP", "VBZ", "DT", "JJ", "NN", "NN", "MD", "VB", "TO", "RB"),
)


def train_all(corpus: Corpus, options: argparse.Namespace) -> list[TrainedTagger]:
    makers: dict[str, list[Callable[[Corpus, Path], TrainedTagger]]] = {
        "crfsuite": [partial(crfsuite.train, pos=pos) for pos in (True, False)],
        "flair": [partial(flair_bilstm.train, minutes=options.minutes)],
        "ours": [partial(elman_tagger.train, threads=options.threads)],
    }
    systems = []
    for make in (make for name in makers if name in options.systems for make in makers[name]):
        with tempfile.TemporaryDirectory() as folder:
            system = make(corpus, Path(folder))
        point = system.curve[-1]
        print(f"{system.name}: F1 {point.f1:.2f} in {point.seconds:.0f} s", file=sys.stderr)
        systems.append(system)
    return systems


def sentences_per_second(
    systems: list[TrainedTagger], test: Sequence[TaggerExample], repeats: int
) -> list[float]:
    seconds: list[list[float]] = [[] for _ in systems]
    for _ in range(repeats):
        for system, times in zip(systems, seconds, strict=True):
            start = time.perf_counter()
            system.predict(test)
            times.append(time.perf_counter() - start)
    return [len(test) / median(times) for times in seconds]


def latency(systems: list[TrainedTagger], calls: int) -> list[tuple[float, float]]:
    """Milliseconds of one short sentence: median and 99th percentile; in turns of 50 calls."""
    words, pos = SHORT
    sentence = [TaggerExample(words, (pos,))]
    times: list[list[float]] = [[] for _ in systems]
    while len(times[0]) < calls:
        for system, own in zip(systems, times, strict=True):
            system.predict(sentence)  # its weights are back in the cache
            for _ in range(50):
                start = time.perf_counter()
                system.predict(sentence)
                own.append(1000 * (time.perf_counter() - start))
    return [(median(own), quantiles(own, n=100)[98]) for own in times]


@dataclass(frozen=True)
class Row:
    """What was measured of one system."""

    system: str
    f1: float
    train_s: float
    s_to_f1_of: dict[str, float | None]  # None: it never was as good
    sentences_per_s: float
    ms_median: float
    ms_p99: float
    curve: list[tuple[float, float]]  # seconds, F1


def measure(options: argparse.Namespace) -> list[Row]:
    torch.set_num_threads(options.threads)
    source = Path(os.environ["ELMAN_DATA"]) / "conll2000-chunking"
    with tempfile.TemporaryDirectory() as folder:
        corpus = conll2000(source, Path(folder), options.sentences)
        systems = train_all(corpus, options)
    speeds = sentences_per_second(systems, corpus.test, options.repeats)
    torch.set_num_threads(1)
    times = latency(systems, options.calls)
    return [
        Row(
            system.name,
            system.curve[-1].f1,
            system.curve[-1].seconds,
            {other.name: system.seconds_to(other.curve[-1].f1) for other in systems},
            speed,
            *own,
            [(point.seconds, point.f1) for point in system.curve],
        )
        for system, speed, own in zip(systems, speeds, times, strict=True)
    ]


def show(rows: list[Row]) -> None:
    print(f"{'system':17} {'F1':>6} {'train s':>8} {'sent./s':>8} {'ms p50':>7} {'ms p99':>7}")
    for row in rows:
        print(
            f"{row.system:17} {row.f1:6.2f} {row.train_s:8.0f} {row.sentences_per_s:8.0f} "
            f"{row.ms_median:7.2f} {row.ms_p99:7.2f}"
        )
    print("\nseconds to F1 of", *(f"{row.system:>17}" for row in rows))
    for row in rows:
        cells = ("never" if s is None else f"{s:.0f}" for s in row.s_to_f1_of.values())
        print(f"{row.system:16}", *(f"{cell:>17}" for cell in cells))
    print("\nsentences per second, times those of", *(f"{row.system:>17}" for row in rows))
    for row in rows:
        ratios = (row.sentences_per_s / other.sentences_per_s for other in rows)
        print(f"{row.system:36}", *(f"{ratio:17.2f}" for ratio in ratios))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--minutes", type=float, default=10.0, help="of training for Flair")
    parser.add_argument("--sentences", type=int, help="only so many to train and to test")
    parser.add_argument("--repeats", type=int, default=5, help="of tagging the test set")
    parser.add_argument("--calls", type=int, default=500, help="to tag one sentence")
    systems = ["crfsuite", "flair", "ours"]
    parser.add_argument("--systems", nargs="+", default=systems, choices=systems)
    options = parser.parse_args()
    for name in options.systems:
        if name in PACKAGES and find_spec(PACKAGES[name]) is None:
            sys.exit(f"{name} is not installed: pip install flair python-crfsuite, or leave it out")
    if "ELMAN_DATA" not in os.environ:
        sys.exit("ELMAN_DATA is not set: export ELMAN_DATA=FOLDER, which holds conll2000-chunking")
    rows = measure(options)
    if options.json:
        results = [asdict(row) for row in rows]
        json.dump({"threads": options.threads, "results": results}, sys.stdout)
    else:
        show(rows)


if __name__ == "__main__":
    main()
