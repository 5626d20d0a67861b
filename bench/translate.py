"""Our sequence-to-sequence model against JoeyNMT's recurrent one on Tatoeba English-French.

The same pairs (found through ELMAN_DATA), subwords, LSTMs, sizes, dropout, smoothing, Adam with one learning
rate, updates an epoch and threads; each system in a process of its own. All take turns in short bursts of
training, order reversed every other round, until each has trained for --minutes: target tokens per second,
median over bursts, the first left out. Then all take turns in translating held-out English sentences with beam
search: sentences per second, median, and BLEU (13a) against all their translations, of what each had learnt in
that time. Ratios are to the first of --systems, medians over rounds, too. How long the answers are decides how
long they take, and a model that has learnt little may write anything: the ratio of tokens written in a second,
beside that of sentences, does not know how long they are.

Ours: "gnmt", the default decoder; "input-feeding" with additive scores, which is JoeyNMT's own formula;
"bahdanau" with additive scores (Bahdanau et al. 2015). JoeyNMT 2.3 needs an environment of its own:

    python -m venv joey && joey/bin/pip install torch==2.13.0 joeynmt importlib_metadata
    ELMAN_DATA=... python bench/translate.py --joey joey/bin/python
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from translators import Job
from translators.corpus import FILE, Corpus, tatoeba
from translators.elman_translator import DECODERS
from translators.results import Measurements, Row, row, show
from translators.worker import JOEY, Remote

from elman.text.batching import bucket_batches

SYSTEMS = (JOEY, *DECODERS)
INSTALL = "pip install torch==2.13.0 joeynmt importlib_metadata"


def measure(corpus: Corpus, options: argparse.Namespace) -> list[Row]:
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        corpus.store(folder)
        _job(corpus, options).store(folder)
        remotes = {}
        for system in options.systems:
            python = options.joey if system == JOEY else sys.executable
            remote = Remote(system, folder, python=python, threads=options.threads)
            remotes[system] = stack.enter_context(remote)
        seen = {system: Measurements(remote.parameters) for system, remote in remotes.items()}
        train(remotes, seen, seconds=60 * options.minutes, burst=options.burst)
        if options.bfloat16:
            for system in options.systems:
                if system != JOEY:
                    seen[f"{system} bf16"] = Measurements(seen[system].parameters, seen[system].bursts)
        for number in range(options.repeats):
            for name in turns(list(seen), number):
                system, *rounded = name.split()
                found = remotes[system].translate(*(["bfloat16"] if rounded else []))
                seen[name].answers.append(found)
    return [row(name, seen, corpus) for name in seen]


def train(remotes: dict[str, Remote], seen: dict[str, Measurements], *, seconds: float, burst: float) -> None:
    """All in turns, until each has trained for so long."""
    rounds = max(1, round(seconds / burst))
    for number in range(rounds):
        for system in turns(list(remotes), number):
            # An update that ran over the end of a burst shortens the next.
            due = seconds * (number + 1) / rounds - seen[system].training_seconds
            seen[system].bursts.append(remotes[system].train(due))
        speeds = (f"{name} {one.tokens_per_s[-1]:.0f}" for name, one in seen.items())
        print(f"{number + 1}/{rounds}: tokens/s", ", ".join(speeds), file=sys.stderr, flush=True)


def turns(systems: Sequence[str], number: int) -> list[str]:
    """The order in a round."""
    return list(reversed(systems)) if number % 2 else list(systems)


def _job(corpus: Corpus, options: argparse.Namespace) -> Job:
    plan = bucket_batches(corpus.lengths, tokens=options.batch, seed=0, epoch=0)
    return Job(
        hidden=options.hidden,
        layers=2,
        dropout=0.3,
        label_smoothing=0.1,
        lr=options.lr,
        clip=1.0,
        batch=options.batch,
        sentences=round(len(corpus.train) / len(plan)),
        beam=options.beam,
        decoded=128,  # as many as ours takes
        threads=options.threads,
    )


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joey", metavar="PYTHON", help="that of JoeyNMT's environment")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--minutes", type=float, default=2.5, help="of training for each")
    parser.add_argument("--burst", type=float, default=10.0, help="seconds of a turn in training")
    parser.add_argument("--repeats", type=int, default=3, help="of translating what is held out")
    parser.add_argument("--pairs", type=int, default=20_000, help="to train on")
    parser.add_argument("--held", type=int, default=1000, help="English sentences to translate")
    parser.add_argument("--subwords", type=int, default=4000, help="of each language")
    parser.add_argument("--hidden", type=int, default=256, help="units and features of a token")
    parser.add_argument("--batch", type=int, default=2048, help="tokens of both sides, padded")
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument(
        "--bfloat16", action="store_true", help="translate in bfloat16, too: ours, on a CPU JoeyNMT cannot"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def check(options: argparse.Namespace) -> None:
    """Say what is missing before anything takes time."""
    for name in ("minutes", "burst", "repeats", "pairs", "held", "beam", "threads"):
        if getattr(options, name) <= 0:
            sys.exit(f"--{name} is {getattr(options, name)}; it must be above 0")
    if "ELMAN_DATA" not in os.environ:
        sys.exit(f"ELMAN_DATA is not set: export ELMAN_DATA=FOLDER, which holds {FILE}")
    if JOEY in options.systems:
        _check_joey(options)


def _check_joey(options: argparse.Namespace) -> None:
    alone = f"or leave it out: --systems {' '.join(DECODERS)}"
    if options.joey is None:
        sys.exit(f"JoeyNMT needs an environment of its own ({INSTALL}): --joey its python, {alone}")
    command = [options.joey, "-c", "import joeynmt.training"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        sys.exit(f"--joey {options.joey}: {error.strerror}; give the python of an environment")
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1]
        sys.exit(f"--joey {options.joey}: {last}; there, {INSTALL}, {alone}")


def main() -> None:
    options = parse_options()
    check(options)
    source = Path(os.environ["ELMAN_DATA"]) / FILE
    corpus = tatoeba(source, pairs=options.pairs, held=options.held, subwords=options.subwords)
    rows = measure(corpus, options)
    if options.json:
        settings = {k: v for k, v in vars(options).items() if k not in ("joey", "json", "systems")}
        json.dump({**settings, "results": [asdict(r) for r in rows]}, sys.stdout)
    else:
        show(rows)


if __name__ == "__main__":
    main()
