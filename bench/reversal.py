"""Copying and reversal of short strings that were never seen, by every decoder, score, start and cell.

Each model is trained for a few seconds and must write more than 99 % of the strings that were held out exactly
right. A decoder that sees the source in its first state alone cannot begin with zero, a copied state of two
directions cannot be as wide as a dot product needs, and a transducer cannot reverse: these are left out.

    python bench/reversal.py
    python bench/reversal.py --cells lstm gru elman --tasks reversal --json
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from elman.tasks.config import TokenizerConfig
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig, Seq2SeqExample, TokenizerPairConfig

ATTENDING = ("bahdanau", "luong", "gnmt", "input-feeding")
SCORES = ("dot", "scaled", "bilinear", "additive")
STARTS = ("zero", "copied last", "copied mean", "transformed last", "transformed mean")
SINGLE = {"decoder_only": True, "shared": True, "decoder_init": "copied", "bidirectional": False}


def strings(letters: str = "abcde", longest: int = 4) -> list[str]:
    found = ["".join(s) for n in range(1, longest + 1) for s in itertools.product(letters, repeat=n)]
    random.Random(0).shuffle(found)
    return found


def pairs(task: str, texts: list[str]) -> list[Seq2SeqExample]:
    step = -1 if task == "reversal" else 1
    return [Seq2SeqExample(text, (text[::step],)) for text in texts]


def grid(cells: list[str], tasks: list[str]) -> Iterator[dict[str, Any]]:
    """What goes together."""
    for task, cell in itertools.product(tasks, cells):
        yield {"task": task, "cell": cell, "decoder": "plain", "kind": "single"}
        if task == "copying":
            yield {"task": task, "cell": cell, "decoder": "transducer", "kind": "transducer"}
        for decoder, start in itertools.product(("plain", "context"), STARTS):
            if (decoder, start) != ("plain", "zero"):
                yield {"task": task, "cell": cell, "decoder": decoder, "start": start}
        for decoder, score, start in itertools.product(ATTENDING, SCORES, STARTS):
            if not (score in ("dot", "scaled") and start == "copied last"):
                row = {"task": task, "cell": cell, "decoder": decoder}
                yield row | {"score": score, "start": start}


def options(row: dict[str, Any]) -> dict[str, Any]:
    """The model's, from a row of the table."""
    plain = {"cell": row["cell"], "decoder": row["decoder"], "embedding": 16}
    plain |= {"layers": 1 + (row["decoder"] == "gnmt"), "dropout": 0.0, "label_smoothing": 0.0}
    plain |= {"hidden": 32 if row["decoder"] in ATTENDING else 48}
    if row.get("kind") == "single":
        return plain | SINGLE
    if row.get("kind") == "transducer":
        return plain | {"bidirectional": False}
    start, _, summary = row["start"].partition(" ")
    plain |= {"decoder_init": start} | ({"summary": summary} if summary else {})
    if row.get("score") in ("dot", "scaled"):
        plain["encoder_hidden"] = 16  # two directions of it are as wide as the decoder
    return plain | ({"score": row["score"]} if "score" in row else {})


def train(model: Seq2Seq, examples: list[Seq2SeqExample], updates: int) -> None:
    data, dice, lr = model.encode(examples), random.Random(0), 0.015
    optimizer = torch.optim.Adam(model.net.parameters(), lr=lr, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, updates, pct_start=0.2)
    model.net.train()
    for _ in range(updates):
        optimizer.zero_grad()
        model.loss(data.pick(dice.sample(range(len(data)), 64)), 0.0).backward()
        nn.utils.clip_grad_norm_(model.net.parameters(), 1.0)
        optimizer.step()
        schedule.step()


def measure(row: dict[str, Any], updates: int, seed: int) -> dict[str, Any]:
    """The row with the share of held-out strings that are written right, and the seconds it took."""
    texts = strings()
    held, seen = pairs(row["task"], texts[:150]), pairs(row["task"], texts[150:])
    torch.manual_seed(seed)
    side = TokenizerConfig("chars")
    tokens = TokenizerPairConfig(side, side, joint=row.get("kind") == "single")
    model = Seq2Seq.from_examples(Seq2SeqConfig(**options(row)), tokens, seen)
    began = time.perf_counter()
    train(model, seen, updates)
    seconds = time.perf_counter() - began
    answers = model.translate([e.source for e in held], beam=1)
    right = sum(answer == e.targets[0] for answer, e in zip(answers, held, strict=True))
    return row | {"exact": 100 * right / len(held), "seconds": round(seconds, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cells", nargs="+", default=["lstm"])
    parser.add_argument("--tasks", nargs="+", default=["copying", "reversal"])
    parser.add_argument("--updates", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for row in grid(chosen.cells, chosen.tasks):
        rows.append(measure(row, chosen.updates, chosen.seed))
        if not chosen.json:
            names = ("task", "cell", "decoder", "score", "start", "kind")
            said = "".join(f"{rows[-1].get(name, ''):17}" for name in names)
            print(f"{said}{rows[-1]['exact']:6.1f} % {rows[-1]['seconds']:6.1f} s", flush=True)
    learnt = sum(row["exact"] > 99 for row in rows)
    if chosen.json:
        json.dump({"torch": torch.__version__, "learnt": learnt, "rows": rows}, sys.stdout)
    else:
        print(f"{learnt} of {len(rows)} write more than 99 % right")


if __name__ == "__main__":
    main()
