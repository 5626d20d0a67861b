"""What a language model writes by itself beside what people wrote: likelihood and professor forcing.

    python bench/free_running.py --recipe recipes/words.toml --out runs/words
        [--kinds likelihood,professor] [--set professor.objective.weight=0.5] [--device cuda] [--json]

A model is trained by the recipe, and each objective goes on from it. Then every window of the test text is
written anew, a sample of the model after all the text before it, and counted beside the text itself.
Distinct: different n-grams of all n-grams. Repeated: 4-grams that stand earlier in the same window. Line: words
until a line ends. Told apart: the share of unseen windows that a fresh bidirectional judge of hidden states,
trained on the others, takes rightly for free or forced running; 50 % is what it can do when they are alike.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from exposure import train, with_objective
from torch.nn.functional import softplus

from elman import artifact
from elman.config import apply_override
from elman.decoding.sequence_model import Sequences
from elman.inspect.exposure import measure_task_exposure
from elman.objectives import draw_samples
from elman.objectives.professor import Discriminator
from elman.pipeline.recipe import Recipe, expand_paths, read
from elman.tasks.language_model.sequence import LanguageModelSequenceModel, StatefulBatch
from elman.text.batching import BPTTWindows

FURTHER = {"epochs": 5, "updates": 700, "lr": 1e-3}
RUNS: dict[str, dict[str, Any]] = {
    "likelihood": {"objective": {"kind": "likelihood"}, "training": FURTHER},
    "professor": {"objective": {"kind": "professor", "weight": 0.5}, "training": FURTHER},
}
ROWS, STEPS = 100, 60  # texts side by side, and tokens of each window
JUDGED, TOGETHER = 200, 100  # updates of a judge, windows in each


def evaluate_model(folder: Path, recipe: Recipe, device: str) -> dict[str, dict[str, float]]:
    """Perplexity, and the counts of what the model writes and of the text that it stands for."""
    torch.manual_seed(0)
    model: Any = artifact.load(folder, device=device)
    data = model.encode(recipe.task_class.read(recipe.data, recipe.data.test))
    text, written, states = rewrite_windows(model, data)
    scores = {"perplexity": model.evaluate_dataset(data)["perplexity"]}
    scores["exposure"] = measure_task_exposure(model, data).bias
    scores["told_apart"] = discriminator_accuracy(*states)
    return {"model": scores | count_ngrams(written, model.end), "text": count_ngrams(text, model.end)}


@torch.no_grad()
def rewrite_windows(model: Any, data: Any) -> tuple[Any, Any, tuple[Any, Any]]:
    """All windows of the text, as they are and as the model writes them, and the states of both."""
    view, state = LanguageModelSequenceModel(model), model.net.begin(ROWS)
    model.net.eval()
    text, written, forced, free = [], [], [], []
    for batch in map(model.batch, BPTTWindows(data.ids, ROWS, STEPS, first=model.end)()):
        window = StatefulBatch(batch, state)
        gold = view.targets(window)
        if gold.mask.all() and gold.mask.shape[1] == STEPS:
            sample = draw_samples(view, window, 1).samples
            for found, parts, tokens in ((gold, forced, text), (sample, free, written)):
                given = Sequences(found.tokens, found.mask)
                parts.append(view.states(window, given).float().cpu())
                tokens.append(found.tokens.cpu())
        state = view.following(window)
    return torch.cat(text), torch.cat(written), (torch.cat(forced), torch.cat(free))


def count_ngrams(windows: Any, end: int) -> dict[str, float]:
    """How varied windows of tokens are, how often they repeat themselves, how long their lines are."""
    rows = windows.tolist()
    scores = {}
    for n in (1, 2, 3):
        grams = [gram for row in rows for gram in ngrams(row, n)]
        scores[f"distinct_{n}"] = 100 * len(set(grams)) / len(grams)
    fours = [list(ngrams(row, 4)) for row in rows]
    again = sum(len(some) - len(set(some)) for some in fours)
    scores["repeated"] = 100 * again / sum(map(len, fours))
    scores["line"] = windows.numel() / max(1, int((windows == end).sum()))
    return scores


def ngrams(row: list[int], n: int) -> Any:
    return zip(*(row[i:] for i in range(n)), strict=False)


def discriminator_accuracy(forced: Any, free: Any) -> float:
    """The accuracy in percent of a judge on every other window, trained on those between."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    judge = Discriminator(forced.shape[-1], 128).to(device)
    mask = torch.ones(TOGETHER, forced.shape[1], dtype=torch.bool, device=device)
    optimizer = torch.optim.Adam(judge.parameters(), 1e-3)
    seen, unseen = (torch.arange(first, len(forced), 2) for first in (0, 1))
    for _ in range(JUDGED):
        some = seen[torch.randint(len(seen), (TOGETHER,))]
        optimizer.zero_grad()
        taken, told = judge(forced[some].to(device), mask), judge(free[some].to(device), mask)
        (softplus(-taken).mean() + softplus(told).mean()).backward()
        optimizer.step()
    right = []
    with torch.no_grad():
        for some in unseen.split(TOGETHER):
            right.append(judge(forced[some].to(device), mask[: len(some)]) > 0)
            right.append(judge(free[some].to(device), mask[: len(some)]) <= 0)
    return 100 * torch.cat(right).float().mean().item()


def report(results: dict[str, dict[str, float]]) -> None:
    columns = ("perplexity", "exposure", "told_apart")
    columns += ("distinct_1", "distinct_2", "distinct_3", "repeated", "line", "minutes")
    print("| |", " | ".join(name.replace("_", " ") for name in columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for name, scores in results.items():
        cells = [f"{scores[c]:.2f}" if c in scores else "" for c in columns]
        print(f"| {name} |", " | ".join(cells), "|")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--recipe", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--kinds", default=",".join(RUNS))
    parser.add_argument("--set", action="append", default=[], metavar="KIND.objective.KEY=VALUE")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    asked = options()
    recipe = expand_paths(read(asked.recipe))
    runs: dict[str, Any] = RUNS
    for text in asked.set:
        runs = apply_override(runs, text)
    base = asked.out / "base"
    minutes = train(recipe, base, asked.device)
    first = evaluate_model(base, recipe, asked.device)
    results = {"text": first["text"], "where both begin": first["model"] | {"minutes": minutes}}
    for kind in asked.kinds.split(","):
        out = asked.out / kind
        minutes = train(with_objective(recipe, runs[kind]), out, asked.device, base)
        results[kind] = evaluate_model(out, recipe, asked.device)["model"] | {"minutes": minutes}
    if asked.json:
        print(json.dumps(results))
    else:
        report(results)


if __name__ == "__main__":
    main()
