"""Decoding on a GPU: recorded steps against the same steps launched from Python.

    elman bench gpu_decode [--json]
    elman bench gpu_decode --recipe recipes/multi30k.toml --model models/multi30k   # updates by risk, too

- A word model of 2 × 650 units, V = 10,000, writes one text of 1,000 tokens, drawn and greedy.
- 64 sources, beams of 5, V = 10,000, an LSTM of 512 units with attention and input feeding, 30 steps.
- An update by risk, reinforcement and likelihood of a trained model (as many updates of each, in turn).

Medians after a rehearsal, both ways in one run. ``graph`` is what a replayed step takes on the GPU alone;
``whole`` is the call as a program makes it at first, with the recording; ``again`` is a later call of the same
shapes, whose recording was kept.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from elman import artifact
from elman.config import build_config
from elman.cuda_graph import Recording
from elman.decoding import AtTokens, BannedTokens, Beam, Greedy, Sample, rollout
from elman.decoding.hypotheses import BeamState
from elman.decoding.interfaces import FixedStep
from elman.decoding.recorded_beam import RecordedBeam
from elman.decoding.recorded_rollout import find_recording
from elman.decoding.recorded_stop import EndRule
from elman.objectives import ObjectiveConfig
from elman.pipeline.recipe import expand_paths, read
from elman.tasks.language_model.config import LanguageModelConfig
from elman.tasks.language_model.network import LanguageModelNetwork
from elman.tasks.seq2seq.config import Seq2SeqConfig
from elman.tasks.seq2seq.network import Seq2SeqNetwork
from elman.tasks.seq2seq.quick_step import QuickSteps
from elman.tasks.seq2seq.search import Seq2SeqBatch

SHAPES = 3  # of batches
TOKENS, STEPS, ROWS, WIDTH, SOURCE, VOCABULARY = 1000, 30, 64, 5, 30, 10_000
OBJECTIVES: dict[str, dict[str, Any]] = {
    "risk": {"kind": "risk", "samples": 10, "likelihood": 0.05},
    "reinforce": {"kind": "reinforce", "samples": 5, "likelihood": 0.1},
}


def draw_tokens() -> Sample:
    return Sample(generator=torch.Generator().manual_seed(1))


def take_median(run: Callable[[], Any], repeats: int = 7) -> float:
    """Milliseconds of a call, waited for."""
    found = []
    for _ in range(repeats + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        found.append(1000 * (time.perf_counter() - begin))
    return statistics.median(found[1:])


def time_replays(recording: Recording, place: torch.Tensor, count: int) -> float:
    """Milliseconds of one replay, by CUDA events around many of them, each time from the first place on."""
    found = []
    for _ in range(8):
        place.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(count):
            recording.replay()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / count)
    return statistics.median(found[1:])


@torch.no_grad()
def measure_generation(dtype: torch.dtype, make_policy: Callable[[], Any]) -> dict[str, Any]:
    """Tokens a second of one text: step by step, and recorded."""
    torch.manual_seed(0)
    config = LanguageModelConfig(embedding=650, hidden=650, layers=2)
    net = LanguageModelNetwork(config, VOCABULARY).cuda().eval().to(dtype)
    fixed = net.fixed_step()
    assert isinstance(fixed, FixedStep)
    limits: Any = {"start": torch.ones(1, dtype=torch.long, device="cuda"), "stop": AtTokens(())}
    limits["constraints"] = [BannedTokens(((0,), (2,)))]

    def write(step: Any, count: int) -> torch.Tensor:
        return rollout(step, net.begin(1), make_policy(), limit=count, **limits).tokens

    same = bool(write(net.step, 100).equal(write(fixed, 100)))
    eager = take_median(lambda: write(net.step, 100), 3) / 100
    again = take_median(lambda: write(fixed, TOKENS)) / TOKENS
    whole = take_median(lambda: write(FixedStep(fixed.run), TOKENS)) / TOKENS  # nothing of it is kept
    recorded = find_recording(fixed, make_policy(), limit=TOKENS, **limits)
    assert not isinstance(recorded, str)
    with recorded.open_tape(net.begin(1), limits["start"], TOKENS) as tape:
        graph = time_replays(tape.recording, tape.parts.books.place, 100) / tape.recording.times
    return {
        "what": "generation",
        "policy": type(make_policy()).__name__,
        "dtype": str(dtype)[6:],
        "same_tokens": same,
        "eager_tokens_s": 1000 / eager,
        "graph_tokens_s": 1000 / graph,
        "whole_tokens_s": 1000 / whole,
        "again_tokens_s": 1000 / again,
    }


def make_batch() -> Seq2SeqBatch:
    ids = torch.randint(4, VOCABULARY, (ROWS, SOURCE), device="cuda")
    mask = torch.ones_like(ids, dtype=torch.bool)
    return Seq2SeqBatch(ids, mask, ids, mask, ids[:, :0], 0)


@torch.no_grad()
def measure_beam(dtype: torch.dtype) -> dict[str, Any]:
    """Microseconds a step: books on the CPU at every step, and recorded."""
    torch.manual_seed(0)
    sizes: Any = {"hidden": 512, "embedding": 512, "layers": 1, "bidirectional": False}
    config = Seq2SeqConfig(decoder="input-feeding", cell="lstm", score="dot", **sizes)
    net = Seq2SeqNetwork(config, (VOCABULARY, VOCABULARY)).cuda().eval().to(dtype)
    beam, start = Beam(width=WIDTH), torch.full((ROWS,), 2, device="cuda")
    fixed, state = QuickSteps(net).begin(make_batch(), WIDTH)
    assert isinstance(fixed, FixedStep)
    limits: Any = {"start": start, "stop": AtTokens((3,)), "limit": STEPS}
    found, expected = (beam(step, state, **limits) for step in (fixed, fixed.run))
    agree = sum(a[0].tokens == b[0].tokens for a, b in zip(found, expected, strict=True)) / ROWS
    eager = take_median(lambda: beam(fixed.run, state, **limits), 3) / STEPS
    again = take_median(lambda: beam(fixed, state, **limits)) / STEPS
    whole = take_median(lambda: beam(FixedStep(fixed.run), state, **limits)) / STEPS  # nothing of it is kept
    recorded = RecordedBeam(fixed, EndRule((3,)), 400, float("inf"))
    beams = BeamState(ROWS, 400, WIDTH, penalty=1, narrow=True, n_best=1)
    with recorded.open_tape(state, start, beams) as tape:
        graph = time_replays(tape.recording, tape.parts.books.place, 300)
    return {
        "what": "beam",
        "dtype": str(dtype)[6:],
        "same_best": agree,
        "eager_us_step": 1000 * eager,
        "graph_us_step": 1000 * graph,
        "whole_us_step": 1000 * whole,
        "again_us_step": 1000 * again,
    }


def measure_updates(folder: Path, recipe_path: Path, precision: str, updates: int) -> list[dict[str, Any]]:
    """Milliseconds of an update (loss and gradients) by each objective, in turn on the same batches."""
    recipe: Any = expand_paths(read(recipe_path))
    model: Any = artifact.load(folder, device="cuda")
    model.net.train()
    view: Any = model.sequence_model()
    kinds: dict[str, Any] = {"likelihood": lambda view, batch, progress: view.likelihood(batch)}
    for name, options in OBJECTIVES.items():
        kinds[name] = build_config(ObjectiveConfig, options).build(view).to("cuda")
    examples = list(recipe.task_class.read(recipe.data, recipe.data.train, train=True))[:4000]
    batches = list(model.build_batches(model.encode(examples), recipe.data, 0)(0, 0))
    half = precision != "float32"
    spent: dict[str, list[float]] = {name: [] for name in kinds}
    some = [view.collate(batches[k * len(batches) // SHAPES]) for k in range(SHAPES)]
    for number in range(-2 * SHAPES, updates):  # kernels are chosen for each shape at first
        batch = some[number % SHAPES]
        for name, objective in kinds.items():
            torch.cuda.synchronize()
            begin = time.perf_counter()
            with torch.autocast("cuda", getattr(torch, precision), enabled=half):
                loss = objective(view, batch, 0.5)
            loss.backward()
            model.net.zero_grad()
            torch.cuda.synchronize()
            if number >= 0:
                spent[name].append(1000 * (time.perf_counter() - begin))
    medians = {name: statistics.median(values) for name, values in spent.items()}
    return [
        {"what": "update", "objective": name, "precision": precision, "ms": value,
         "times_likelihood": value / medians["likelihood"]}
        for name, value in medians.items()
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("generation", "beam", "update"), help="one of the three")
    parser.add_argument("--model", type=Path, help="a trained seq2seq model, for the updates")
    parser.add_argument("--recipe", type=Path, help="the recipe that it was trained by")
    parser.add_argument("--updates", type=int, default=12, help="that are timed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("this benchmark needs a CUDA device")
    results: list[dict[str, Any]] = []
    for dtype in (torch.float32, torch.bfloat16):
        if options.only in (None, "generation"):
            results += [measure_generation(dtype, make) for make in (draw_tokens, Greedy)]
        if options.only in (None, "beam"):
            results.append(measure_beam(dtype))
    if options.only in (None, "update") and options.model and options.recipe:
        for precision in ("float32", "float16"):
            results += measure_updates(options.model, options.recipe, precision, options.updates)
    if options.json:
        print(json.dumps({"device": torch.cuda.get_device_name(), "results": results}))
        return
    for one in results:
        print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in one.items()))


if __name__ == "__main__":
    main()
