"""Two tasks whose tests are longer than what was trained on: parity, and copying.

Parity: is the number of ones odd? One bit of memory is enough for any length, but every symbol may turn it.
Copying: symbols are read, and after a sign written once more; the memory must grow with the length.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import cos, pi

import torch
from torch.nn.functional import cross_entropy

from elman.inspect.char_model import CharModel, update_weights
from elman.inspect.training_budget import TrainingBudget
from elman.shapes import Int, Tensor

COPIED = 8  # different symbols to copy; then the sign, and blanks while the copy is written
ROWS, LR, TESTED = 128, 5e-3, 512  # sequences of an update, its first step, sequences of a test

Examples = Callable[[int, int, int], tuple[Tensor, Tensor]]


def parity_examples(count: int, length: int, seed: int) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B 1"]]:
    """Bits, and whether there is an odd number of ones: what is to be said at the last."""
    bits = torch.randint(2, (count, length), generator=torch.Generator().manual_seed(seed))
    return bits, bits.sum(1, keepdim=True) % 2


def copying_examples(count: int, length: int, seed: int) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B N"]]:
    """``length`` symbols, the sign and blanks, and the symbols: what is to be said from the sign on."""
    symbols = torch.randint(COPIED, (count, length), generator=torch.Generator().manual_seed(seed))
    sign, blanks = symbols.new_full((count, 1), COPIED), symbols.new_full((count, length - 1), COPIED + 1)
    return torch.cat((symbols, sign, blanks), 1), symbols


TASKS: dict[str, tuple[Examples, int]] = {
    "parity": (parity_examples, 2),
    "copying": (copying_examples, COPIED + 2),
}
"""What makes the examples of a task, and how many symbols it has."""


def train_task(
    net: CharModel, examples: Examples, longest: int, seed: int, budget: TrainingBudget, *, lr: float = LR
) -> int:
    """Train on fresh sequences of every length up to the longest; how many updates there were."""
    optimizer, draw, done = torch.optim.Adam(net.parameters(), lr=lr), random.Random(seed), 0
    for spent, whole in budget.turns():
        for group in optimizer.param_groups:
            group["lr"] = lr * (1 + cos(pi * spent / whole)) / 2
        done += 1
        logits, targets = _answer(net, examples(ROWS, draw.randint(1, longest), seed + done))
        loss = cross_entropy(logits.flatten(0, 1), targets.flatten())
        update_weights(net, optimizer, loss)
    return done


@torch.no_grad()
def score_task(net: CharModel, examples: Examples, length: int, seed: int) -> float:
    """Right answers in percent, on sequences of one length."""
    logits, targets = _answer(net, examples(TESTED, length, seed + 10_000_000))
    return 100 * float((logits.argmax(-1) == targets).float().mean())


def _answer(net: CharModel, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """What the net says where it is asked, at the end of each sequence, and what would be right."""
    ids, targets = (t.to(net.decide.weight.device) for t in batch)
    logits, _ = net(ids, None)
    return logits[:, -targets.shape[1] :], targets
