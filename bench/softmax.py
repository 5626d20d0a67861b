"""A training step of a language model with a large vocabulary on the CPU: ours, exact and adaptive, and what
people write with torch.nn (nn.LSTM, tied logits, F.cross_entropy). Interleaved in one process, order reversed
every other round, medians; ratios are times of torch.nn over ours (more than 1: ours is faster).

Memory is the rise of a process's peak when the loss of all tokens follows that of 32 tokens, each in a process
of its own: the weights, their gradients and the libraries are in both. With --text, exact and adaptive are
trained on that file for as many updates, and the perplexity on its last tenth says what adaptive costs.

    python bench/softmax.py [--vocabulary 33280] [--rounds 7] [--threads 2] [--text FILE] [--json]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from recurrence import interleave
from torch import Tensor, nn

from elman.layers.softmax import Softmax
from elman.tasks.language_model.network import BPTTBatch, BPTTLoss, LanguageModelConfig, LanguageModelNetwork

ROWS, STEPS, SIZE = 32, 70, 400
CUTOFFS = (2000, 10_000)


class TorchLanguageModel(nn.Module):
    """As people write it: all logits at once."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.embed, self.lstm = nn.Embedding(vocabulary, SIZE), nn.LSTM(SIZE, SIZE)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        nn.init.normal_(self.embed.weight, std=0.1)

    def loss(self, batch: BPTTBatch) -> Tensor:
        hs, _ = self.lstm(self.embed(batch.ids.t()))
        logits = nn.functional.linear(hs.flatten(0, 1), self.embed.weight, self.bias)
        return nn.functional.cross_entropy(logits, batch.targets.t().flatten())


def step(net: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
    """An update of the weights."""
    optimizer = torch.optim.AdamW(net.parameters(), fused=True)

    def run() -> None:
        optimizer.zero_grad(set_to_none=False)
        loss().backward()
        optimizer.step()

    return run


def ours(vocabulary: int, softmax: str) -> LanguageModelNetwork:
    adaptive = softmax == "adaptive"
    options = {"softmax": softmax, "tied": not adaptive, "cutoffs": CUTOFFS if adaptive else ()}
    return LanguageModelNetwork(
        LanguageModelConfig(hidden=SIZE, embedding=SIZE, layers=1, dropout=0.0, **options), vocabulary
    )


def random_batch(vocabulary: int, rows: int = ROWS) -> BPTTBatch:
    """Ids as words occur: the k-th with probability ∝ 1 / k."""
    chances = 1 / torch.arange(1, vocabulary + 1, dtype=torch.double)
    ids = torch.multinomial(chances, rows * (STEPS + 1), replacement=True).view(rows, -1)
    return BPTTBatch(ids[:, :-1], ids[:, 1:], torch.ones(rows, STEPS, dtype=torch.bool), rows * STEPS)


def steps(vocabulary: int) -> dict[str, Callable[[], None]]:
    batch, usual = random_batch(vocabulary), TorchLanguageModel(vocabulary)
    ways = {"torch.nn": step(usual, lambda: usual.loss(batch))}
    for softmax in ("full", "adaptive"):
        net = ours(vocabulary, softmax)
        loss, state = BPTTLoss(net, LanguageModelConfig()), net.begin(ROWS)
        ways[softmax] = step(net, lambda loss=loss, state=state: loss(batch, 0.0, state)[0])
    return ways


def memory_rise(way: str, vocabulary: int) -> float:
    """MiB by which the peak of this process rises when the loss is that of all tokens."""
    W = nn.Parameter(torch.randn(vocabulary, SIZE) * 0.1)
    b = nn.Parameter(torch.zeros(vocabulary))
    output = Softmax(SIZE, vocabulary, W) if way == "full" else None

    def loss(tokens: int) -> None:
        h, targets = torch.randn(tokens, SIZE, requires_grad=True), torch.arange(tokens)
        if output:
            output.loss(h, targets).backward()
        else:
            nn.functional.cross_entropy(nn.functional.linear(h, W, b), targets).backward()

    peaks = []
    for tokens in (32, 32, ROWS * STEPS):
        loss(tokens)
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)
    return peaks[-1] - peaks[-2]


def memory(way: str, vocabulary: int) -> float:
    """The rise in a process of its own."""
    command = [sys.executable, __file__, "--rise", way, "--vocabulary", str(vocabulary)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def perplexities(text: str, updates: int) -> dict[str, float]:
    """What exact and adaptive reach on the last tenth of a text after as many updates."""
    from elman.pipeline import run_recipe
    from elman.pipeline.recipe import build

    found = {}
    for softmax in ("full", "adaptive"):
        model = {"softmax": softmax, "tied": False, "hidden": SIZE, "embedding": SIZE, "layers": 1}
        with tempfile.TemporaryDirectory() as folder:
            recipe = {
                "task": "lm",
                "data": {"train": text, "streams": ROWS, "bptt": STEPS},
                "tokens": {"kind": "whitespace"},
                "model": model,
                "training": {"updates": updates, "lr": 4e-3, "evaluate_every": updates},
            }
            outcome = run_recipe(build(recipe), Path(folder))
        assert outcome
        found[softmax] = outcome.metrics["valid"]["perplexity"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--vocabulary", type=int, default=33_280)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--text")
    parser.add_argument("--updates", type=int, default=500)
    parser.add_argument("--rise", choices=["torch.nn", "full"], help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.vocabulary <= CUTOFFS[-1]:
        sys.exit(
            f"--vocabulary is {options.vocabulary}; it must be above {CUTOFFS[-1]}, "
            "where the rarest words of the adaptive softmax begin"
        )
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    if options.rise:
        print(memory_rise(options.rise, options.vocabulary))
        return
    # First, while this process is small: a child's peak begins with its parent's.
    extra = {way: memory(way, options.vocabulary) for way in ("torch.nn", "full")}
    seconds = interleave(steps(options.vocabulary), options.rounds)
    result = {
        "tokens": ROWS * STEPS,
        "vocabulary": options.vocabulary,
        "MiB of the loss": extra,
        "milliseconds": {way: 1000 * value for way, value in seconds.items()},
        "times faster": {w: seconds["torch.nn"] / seconds[w] for w in ("full", "adaptive")},
    }
    if options.text:
        result["perplexity"] = perplexities(options.text, options.updates)
    if options.json:
        json.dump(result, sys.stdout)
        return
    for name, value in result.items():
        shown = value if isinstance(value, int) else {k: round(v, 2) for k, v in value.items()}
        print(f"{name}: {shown}")


if __name__ == "__main__":
    main()
