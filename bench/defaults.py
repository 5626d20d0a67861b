"""The plain command against the best alternatives, on all corpora of ELMAN_DATA that fit.

Ours: `elman train TASK` with nothing said but what the files hold, one thread, --seeds times. Theirs: TF-IDF
with logistic regression, fastText, CRFsuite, Kneser-Ney n-grams, a plain nn.LSTM, Phonetisaurus and
Yoyodyne, with settings chosen on validation data; those without early stopping are then fitted on all training
data. The test data is seen once. Seconds are of processor time, for the training that is delivered; nn.LSTM and
Yoyodyne have --minutes of them. The table shows mean and standard deviation over seeds and the best of others.

Each result goes into the file of --json at once, one JSON object a line, and results that are in it are not
computed again, so that a bench which --limit minutes ended goes on where it was. Two such files from two
machines become one table with --join. Needs for the baselines: pip install "elman[bench]".

    ELMAN_DATA=... elman bench defaults --only trec r8 --json results.jsonl
    ELMAN_DATA=... elman bench defaults --ours-only --jobs 15 --json ours.jsonl
    elman bench defaults --join ours.jsonl theirs.jsonl
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from baselines import OURS, BenchSet, Outcome
from baselines.bench_sets import NAMES, prepare
from baselines.comparison_table import show_table
from baselines.outcome_file import OutcomeFile, read_outcomes
from baselines.plain_command import run_plain_command
from baselines.systems import SYSTEMS
from baselines.wall_limit import set_limit

from elman.errors import DataError

Job = Callable[[], Outcome]


def main() -> None:
    options = parse_options()
    if options.join:
        print(show_table([outcome for path in options.join for outcome in read_outcomes(path)]))
        return
    if "ELMAN_DATA" not in os.environ:
        sys.exit("set ELMAN_DATA to the folder of the corpora; its README.md says what is in it")
    if options.limit:
        set_limit(options.limit)
    outcomes = OutcomeFile(options.json)
    with tempfile.TemporaryDirectory() as folder:
        try:
            sets = [prepare(name, Path(os.environ["ELMAN_DATA"]), Path(folder)) for name in options.only]
        except (FileNotFoundError, DataError) as error:
            sys.exit(f"{error}; choose among the corpora that are there with --only")
        # Threads that wait for processes: ours are processes of one thread each, and so are those of --jobs.
        with ThreadPoolExecutor(options.jobs) as pool:
            for failure in pool.map(partial(compute, outcomes), list_jobs(sets, options, outcomes)):
                if failure:
                    print(failure, file=sys.stderr, flush=True)
    print(show_table([outcome for outcome in outcomes if outcome.corpus in options.only]))


def list_jobs(
    sets: list[BenchSet], options: argparse.Namespace, outcomes: OutcomeFile
) -> Iterator[tuple[str, Job]]:
    """What is not known yet, with a name: the first seed of all corpora in their order, then the next one."""
    for seed in range(options.seeds):
        for corpus in sets:
            if not options.baselines_only and (corpus.name, OURS, seed) not in outcomes:
                yield f"{corpus.name} {OURS} {seed}", partial(run_plain_command, corpus, seed)
            for name, system in SYSTEMS[corpus.task].items():
                wanted = not options.ours_only and name in (options.systems or [name]) and corpus.name in system
                if wanted and seed < system.seeds and (corpus.name, name, seed) not in outcomes:
                    yield f"{corpus.name} {name} {seed}", partial(system.run, corpus, seed, options.minutes)


def compute(outcomes: OutcomeFile, job: tuple[str, Job]) -> str | None:
    """Keep the outcome; what went wrong, where something did: the others go on."""
    name, run = job
    try:
        outcome = run()
    except ImportError as error:
        return f'{name}: {error}; the baselines are installed by pip install "elman[bench]"'
    except RuntimeError as error:
        return f"{name}: {error}"
    outcomes.add(outcome)
    print(
        f"{name}: {outcome.score:.2f} in {outcome.seconds:.0f} s {outcome.details}", file=sys.stderr, flush=True
    )
    return None


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(NAMES), choices=NAMES, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    sides = parser.add_mutually_exclusive_group()
    sides.add_argument("--ours-only", action="store_true")
    sides.add_argument("--baselines-only", action="store_true")
    systems = {name for some in SYSTEMS.values() for name in some}
    parser.add_argument("--systems", nargs="+", choices=sorted(systems), help="these baselines alone")
    parser.add_argument(
        "--minutes", type=float, default=5.0, help="of the baselines that train until told to stop"
    )
    parser.add_argument("--limit", type=float, help="minutes after which trainings are ended and none begins")
    parser.add_argument("--json", type=Path, default=_cache() / "bench-defaults.jsonl", metavar="FILE")
    parser.add_argument("--join", type=Path, nargs="+", metavar="FILE", help="make the table of these files")
    return parser.parse_args()


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "elman"


if __name__ == "__main__":
    main()
