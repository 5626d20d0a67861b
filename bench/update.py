"""What an update of the plain command costs: classifier, tagger, language model of words, sequence to sequence.

A model is built as `elman train TASK` builds it, with what the rules choose for its corpus, and trained for
some updates on one thread. Milliseconds are of the processor, since other work on the machine slows all clocks.
The share of products and recurrences is from PyTorch's profiler, over a few further updates. To compare two
states of the code, run both in turn.

    ELMAN_DATA=... elman bench update [--only ewt] [--updates 80] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from baselines.bench_sets import prepare
from torch.profiler import ProfilerActivity, profile

from elman.pipeline.choose_defaults import choose_settings, list_keys
from elman.pipeline.default_facts import gather_facts
from elman.pipeline.recipe import build, train_target
from elman.pipeline.start_model import start_model
from elman.pipeline.training_data import read_data
from elman.training.events import Update
from elman.training.training_loop import fit

CORPORA: dict[str, dict[str, Any]] = {  # and what their files hold
    "ewt": {"data": {"column": "upos"}},
    "trec": {},
    "wikitext-900k": {"tokens": {"kind": "whitespace"}},
    "cmudict-3600": {},
}
WARM = 20  # updates before the clock starts
PROFILED = 20
PRODUCTS = ("_Linear", "_Recurrence", "aten::mm", "aten::addmm", "aten::bmm")


def measure(name: str, updates: int) -> dict[str, float]:
    """Milliseconds of processor time an update, and which share of it is products and recurrences."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = prepare(name, Path(os.environ["ELMAN_DATA"]), Path(folder))
        running = begin(corpus.task, {"train": str(corpus.train)}, CORPORA[name], Path(folder))
        times = []
        for number in range(WARM + updates):
            start = time.process_time()
            next(running)
            if number >= WARM:
                times.append(time.process_time() - start)
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            start = time.perf_counter()
            for _ in range(PROFILED):
                next(running)
            passed = time.perf_counter() - start
    events = profiler.key_averages()
    products = sum(e.self_cpu_time_total for e in events if e.key.removesuffix("Backward") in PRODUCTS)
    return {"ms": 1e3 * statistics.mean(times), "products": products / 1e6 / passed}


def begin(task: str, data: dict[str, str], given: dict[str, Any], folder: Path) -> Iterator[Update]:
    """The updates of a training with its defaults, without what evaluates it."""
    plain = {"task": task, **given, "data": {**data, **given.get("data", {})}}
    recipe = build(plain)
    examples, keys = read_data(recipe).training, frozenset(list_keys(plain))
    facts = gather_facts(recipe, examples, keys, device="cpu", trained=False)
    recipe = choose_settings(recipe, keys, facts).recipe
    torch.manual_seed(0)
    model = start_model(recipe, examples, folder, resume=False, init=None, texts=[])
    dataset = model.encode(examples)
    model.fit_statistics(dataset)
    settings = replace(recipe.training, patience=0)
    batches, target = model.build_batches(dataset, recipe.data, settings.seed), train_target(recipe, model)
    return (event for event in fit(target.net, batches, target.loss, settings) if isinstance(event, Update))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(CORPORA), choices=CORPORA, metavar="NAME")
    parser.add_argument("--updates", type=int, default=80)
    parser.add_argument("--json", action="store_true", help="one object and nothing else")
    options = parser.parse_args()
    if "ELMAN_DATA" not in os.environ:
        sys.exit("set ELMAN_DATA to the folder of the corpora; its README.md says what is in it")
    torch.set_num_threads(1)
    found = {}
    for name in options.only:
        found[name] = one = measure(name, options.updates)
        if not options.json:
            print(
                f"{name:14} {one['ms']:6.1f} ms an update, {one['products']:.0%} products and recurrences",
                flush=True,
            )
    if options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
