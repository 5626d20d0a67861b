"""elman tune against the plain command, on the data of five recipes (found through ELMAN_DATA).

Each search has the same minutes and cores. Then the plain command trains on the same data, with no setting but
the seed, and both are scored once on the test data, which the search never read. Needs: optuna.

    ELMAN_DATA=... python bench/tune.py --minutes 30 --jobs 2 --out tuned
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SETS = {"trec": 1.0, "r8": 1.0, "sst2": 1.0, "conll2000": 1.0, "cmudict": 0.034}  # and how much of the data
LESS_IS_BETTER = ("perplexity", "edit_rate", "nats_per_token")
SETTINGS = ("holdout", "batch_tokens", "share")  # of a recipe's data: they are for the search, or the bench


def data_options(name: str) -> tuple[str, list[str]]:
    """The task of a recipe, and what its data is as options of a command: none of its other settings."""
    recipe = tomllib.loads((ROOT / "recipes" / f"{name}.toml").read_text())
    data = {key: value for key, value in recipe["data"].items() if key not in SETTINGS}
    words = ["--train", data.pop("train"), "--set", f"data.share={SETS[name]}"]
    for key, value in data.items():
        words += ["--set", f"data.{key}={to_toml(value)}"]
    if recipe["task"] == "seq2seq":
        for side, tokens in recipe["tokens"].items():
            words += ["--set", f"tokens.{side}.kind={tokens['kind']}"]
        words += ["--set", f"model.metric={recipe['model']['metric']}"]
    return recipe["task"], words


def to_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {to_toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)


def run(*words: str) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "elman", *words], check=True, stdout=sys.stderr, env=environment)


def read_metrics(folder: Path) -> dict[str, Any]:
    metrics: dict[str, Any] = json.loads((folder / "metrics.json").read_text())
    return metrics


def compare(name: str, out: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Search, train by the plain command, score both."""
    task, data = data_options(name)
    plain, data = out / f"{name}-plain", [*data, "--seed", str(options.seed), "--device", "cpu"]
    limits = ["--minutes", str(options.minutes), "--jobs", str(options.jobs)]
    begun = ["--resume"] if (out / name / "search.json").exists() else []
    run("tune", task, *data, *limits, "--out", str(out / name), *begun)
    table = (out / name / "trials.csv").read_text().splitlines()
    metric = table[0].split(",")[2]
    if not (plain / "metrics.json").exists():
        run("train", task, *data, "--threads", "1", "--out", str(plain), "--overwrite")
    before, after = (read_metrics(folder) for folder in (plain, out / name / "model"))
    scores = {part: (before[part][metric], after[part][metric]) for part in ("valid", "test")}
    sign = -1 if metric in LESS_IS_BETTER else 1
    gain = sign * (scores["test"][1] - scores["test"][0])
    return {"set": name, "metric": metric, "trials": len(table) - 1, **scores, "test_gain": gain}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0, help="of each search")
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time")
    parser.add_argument("--sets", default=",".join(SETS), help=f"some of {', '.join(SETS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where the searches are kept, and gone on with")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if unknown := {*options.sets.split(",")} - {*SETS}:
        parser.error(f"unknown sets {', '.join(sorted(unknown))}; there are {', '.join(SETS)}")
    with tempfile.TemporaryDirectory() as folder:
        rows = [compare(name, options.out or Path(folder), options) for name in options.sets.split(",")]
    if options.json:
        print(json.dumps({"minutes": options.minutes, "jobs": options.jobs, "sets": rows}))
        return
    print("set         metric     trials  valid plain  tuned   test plain  tuned    gain")
    for row in rows:
        scores = "  ".join(f"{before:>9.2f} {after:>6.2f}" for before, after in (row["valid"], row["test"]))
        print(f"{row['set']:<11} {row['metric']:<10} {row['trials']:>5}  {scores}  {row['test_gain']:>+7.2f}")
    print(f"gains on {sum(row['test_gain'] > 0 for row in rows)} of {len(rows)} sets")


if __name__ == "__main__":
    main()
