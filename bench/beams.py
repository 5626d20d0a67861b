"""Beams of fixed and of variable width on a trained language model: texts a second, log-probability found.

The beginnings of a file's lines are continued by so many tokens, no more and no fewer, so that the
log-probabilities of what each way finds compare. All ways continue one beginning before the next one's turn, in
an order that rotates. A cap with a factor is a beam that keeps, of at most so many hypotheses, those at most so
many times less probable than the best. Speeds are beside a beam of width 5; "best" says of how many texts no
other way found a likelier one.

    elman train lm --train train.txt --tokens whitespace --size 10000 --out models/words
    python bench/beams.py models/words test.txt
    python bench/beams.py models/words test.txt --texts 100 --tokens 20 --threads 1 --json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch

import elman
from elman.decoding import Beam, Greedy
from elman.errors import ElmanError
from elman.generation import GenerationConfig
from elman.tasks.language_model import LanguageModel
from elman.text.files import read_lines

WIDTHS, CAPS, FACTORS = (5, 10, 20), (10, 20), (2.0, 5.0, 20.0)
BASE = "width 5"


def ways() -> dict[str, Greedy | Beam]:
    """All that are compared; log-probabilities are plain, not by length."""
    fixed = {f"width {width}": Beam(width=width, length_penalty=0.0) for width in WIDTHS}
    varied = {
        f"cap {cap}, factor {factor:g}": Beam(width=cap, factor=factor, length_penalty=0.0)
        for cap in CAPS
        for factor in FACTORS
    }
    return {"greedy": Greedy(), **fixed, **varied}


def beginnings(file: str, words: int) -> Iterator[str]:
    """The first words of each line that has more, a blank behind them."""
    for _, line in read_lines(file):
        found = line.split()
        if len(found) > words:
            yield " ".join(found[:words]) + " "


def measure(lm: LanguageModel, texts: list[str], tokens: int) -> list[dict[str, Any]]:
    """Of each way: texts a second, the mean log-probability that it found, and how often it found the best."""
    compared, rules = ways(), GenerationConfig(min_tokens=tokens, max_tokens=tokens)
    seconds = dict.fromkeys(compared, 0.0)
    found: dict[str, list[float]] = {name: [] for name in compared}
    for how in compared.values():  # once before the clock runs
        lm.generate(texts[0], how, config=rules)
    for turn, text in enumerate(texts):
        order = list(compared)
        shift = turn % len(order)
        for name in order[shift:] + order[:shift]:
            began = time.perf_counter()
            (written,) = lm.generate(text, compared[name], config=rules)
            seconds[name] += time.perf_counter() - began
            found[name].append(sum(written.log_probs))
    best = [max(each) for each in zip(*found.values(), strict=True)]
    return [
        {
            "way": name,
            "texts_per_second": len(texts) / seconds[name],
            "speed": seconds[BASE] / seconds[name],
            "log_probability": sum(found[name]) / len(texts),
            "best": 100 * sum(a > b - 1e-4 for a, b in zip(found[name], best, strict=True)) / len(texts),
        }
        for name in compared
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", help="folder of a language model")
    parser.add_argument("text", help="the file whose lines begin the texts")
    parser.add_argument("--texts", type=int, default=50)
    parser.add_argument("--words", type=int, default=10, help="of a beginning")
    parser.add_argument("--tokens", type=int, default=20, help="that are written")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    try:
        lm = elman.load(chosen.model)
        texts = list(islice(beginnings(chosen.text, chosen.words), chosen.texts))
    except ElmanError as error:
        sys.exit(str(error))
    if not isinstance(lm, LanguageModel):
        sys.exit(f"{chosen.model} is no language model")
    if not texts:
        sys.exit(f"{chosen.text} has no line of more than {chosen.words} words")
    rows = measure(lm, texts, chosen.tokens)
    if chosen.json:
        json.dump({"torch": torch.__version__, "texts": len(texts), "rows": rows}, sys.stdout)
        return
    print(f"{len(texts)} texts, {chosen.tokens} tokens after {chosen.words} words")
    print(f"{'':20}{'texts/s':>9}{'speed':>8}{'log p':>9}{'best':>8}")
    for row in rows:
        numbers = f"{row['texts_per_second']:9.2f}{row['speed']:7.2f}×{row['log_probability']:9.2f}"
        print(f"{row['way']:20}{numbers}{row['best']:6.0f} %")


if __name__ == "__main__":
    main()
