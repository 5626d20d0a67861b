"""One token, one sentence, one short text at a time: what streams, completions and single predictions cost.

A language model of characters (two layers of 512) and one of words (650, 10,000 words) stream as a user calls
them (``stream.feed``, then ``stream.next``) beside stepping `torch.nn.LSTM` with its embedding and output, a
hundred tokens at a time in turns, and once more with matrices of bfloat16; a sentence of ten words is tagged
and a short text classified by models of default sizes beside the bare network in `torch.nn`; a beam of five
translates one sentence, with and without the C++; `elman complete` starts beside ``import torch``. Weights are
random: they change no time. Times are of the process (CPU), medians of rounds; cold starts are what a clock
says.

    elman bench decode --threads 1
    elman bench decode --json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

import elman
from elman.artifact import save_model
from elman.kernels import few_rows
from elman.tasks.classifier.task import Classifier, ClassifierExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import LanguageModel, LanguageModelConfig
from elman.tasks.seq2seq import quick_step
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqExample
from elman.tasks.tagger.task import Tagger, TaggerExample

Call = Callable[[], object]
SENTENCE = ["He", "reckons", "the", "current", "account", "deficit", "will", "narrow", "to", "only"]
TEXT = "What is the capital of the largest country in Europe ?"
CHARACTERS = "".join(map(chr, range(33, 128)))
TOKENS = 100  # a turn of a stream: it goes on, and only its first tokens find the other's weights in the cache


def interleave(ours: Call, other: Call, rounds: int, calls: int) -> tuple[float, float, float]:
    """Milliseconds a call of each, and how many times ours is as fast: medians of rounds taken in turns."""
    times: list[tuple[float, float]] = []
    for _ in range(2):
        ours(), other()
    for _ in range(rounds):
        own, theirs = (_time(call, calls) for call in (ours, other))
        times.append((own, theirs))
    return *(1000 * median(each) for each in zip(*times, strict=True)), median(b / a for a, b in times)


def _time(call: Call, calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


class SteppedLSTM:
    """What people write: an embedding, `nn.LSTM` over one token, an output; the likeliest token comes next."""

    def __init__(self, vocabulary: int, size: int) -> None:
        self.E, self.O = nn.Embedding(vocabulary, size), nn.Linear(size, vocabulary)
        self.lstm = nn.LSTM(size, size, 2)
        self.state = torch.zeros(2, 1, size), torch.zeros(2, 1, size)
        self.token = torch.zeros(1, 1, dtype=torch.long)

    @torch.no_grad()
    def __call__(self) -> None:
        ys, self.state = self.lstm(self.E(self.token), self.state)
        self.token = self.O(ys[0]).argmax(1, keepdim=True)


class BareNetwork:
    """An embedding, a bidirectional `nn.LSTM` over ten words, a linear layer."""

    def __init__(self, vocabulary: int, features: int, hidden: int, labels: int) -> None:
        self.E, self.O = nn.Embedding(vocabulary, features), nn.Linear(2 * hidden, labels)
        self.lstm, self.ids = nn.LSTM(features, hidden, bidirectional=True), torch.arange(10)[:, None]

    @torch.no_grad()
    def __call__(self) -> list[Any]:
        found: list[Any] = self.O(self.lstm(self.E(self.ids))[0]).argmax(-1).tolist()
        return found


def make_lm(kind: str, lines: list[str], size: int) -> LanguageModel:
    config = LanguageModelConfig(hidden=size, embedding=size, layers=2)
    return LanguageModel.from_examples(config, TokenizerConfig(kind=kind), lines)


def stream_by(lm: LanguageModel, pieces: Sequence[str], precision: str = "float32") -> Call:
    stream, draw = reload(lm, precision).stream(), random.Random(0)
    weights = [1 / rank for rank in range(1, len(pieces) + 1)]  # as often as in texts (Zipf)
    text = iter(draw.choices(pieces, weights, k=100_000))

    def read_on() -> None:
        stream.feed(next(text))
        stream.next()

    return read_on


def reload(model: Any, precision: str = "float32") -> Any:
    """The model as a user has it: from its folder."""
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, folder, overwrite=True)
        return elman.load(folder, device="cpu", precision=precision)


def measure_streams(rounds: int) -> dict[str, float]:
    found = {}
    words = [f"w{i}" for i in range(9996)]
    for name, kind, lines, size, pieces in (
        ("char", "chars", [CHARACTERS], 512, CHARACTERS),
        ("word", "whitespace", [" ".join(words)], 650, [f"{word} " for word in words]),
    ):
        lm = make_lm(kind, lines, size)
        other = SteppedLSTM(lm.net.vocabulary, size)
        own, theirs, ratio = interleave(stream_by(lm, pieces), other, rounds, TOKENS)
        found |= {f"{name}_ms": own, f"{name}_nn_ms": theirs, f"{name}_stream": ratio}
        own, _, ratio = interleave(stream_by(lm, pieces, "bfloat16"), other, rounds, TOKENS)
        found |= {f"{name}_bfloat16_ms": own, f"{name}_bfloat16_stream": ratio}
    return found


def measure_predictions(rounds: int) -> dict[str, float]:
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghijklmnop", k=draw.randint(2, 9))) for _ in range(8000)]
    tags, labels = (
        [f"{a}-{b}" for a in "BI" for b in ("NP", "VP", "PP")] + ["O"],
        ["a", "b", "c", "d", "e", "f"],
    )
    sentences = [tuple(draw.choices(words, k=20)) for _ in range(800)]
    marked = [TaggerExample(some, (tuple(draw.choices(tags, k=20)),)) for some in sentences]
    chosen = [ClassifierExample(" ".join(some), draw.choice(labels)) for some in sentences]
    tagger = reload(Tagger.from_examples(Tagger.defaults.model, Tagger.defaults.tokens, marked))
    tagger.tag([SENTENCE])
    hidden, features = tagger.config.hidden, 220
    tagged = interleave(lambda: tagger.tag([SENTENCE]), BareNetwork(8000, features, hidden, 8), rounds, 20)
    classifier = reload(Classifier.from_examples(Classifier.defaults.model, Classifier.defaults.tokens, chosen))
    hidden, features = classifier.config.hidden, classifier.config.embedding
    other = BareNetwork(8000, features, hidden, 6)
    classified = interleave(lambda: classifier.classify([TEXT]), other, rounds, 20)
    names = ("ms", "nn_ms", "over_nn")
    return {f"tag_{n}": v for n, v in zip(names, tagged, strict=True)} | {
        f"classify_{n}": v for n, v in zip(names, classified, strict=True)
    }


def measure_beam(rounds: int) -> dict[str, float]:
    draw = random.Random(0)
    words = [f"w{i}" for i in range(8000)]
    lines = [" ".join(words[i : i + 25]) for i in range(0, 8000, 25)]
    pairs = [Seq2SeqExample(line, line) for line in lines]
    model = reload(Seq2Seq.from_examples(Seq2Seq.defaults.model, Seq2Seq.defaults.tokens, pairs))
    source = " ".join(draw.choices(words, k=25))
    written = len(model.translations([source], beam=5)[0][0].tokens)

    def without() -> None:
        programs = patch.object(quick_step, "find_program", lambda *parts: None)
        with patch.object(few_rows, "most_rows", lambda: 0), programs:
            model.translate([source], beam=5)

    own, plain, ratio = interleave(lambda: model.translate([source], beam=5), without, rounds, 1)
    return {"beam_ms_per_token": own / written, "beam_plain_ms_per_token": plain / written, "beam": ratio}


def measure_cold_start(rounds: int) -> dict[str, float]:
    """Seconds until `elman complete` has answered, and until torch is imported, each in its own process."""
    lm = make_lm("chars", [CHARACTERS], 512)
    with tempfile.TemporaryDirectory() as folder:
        save_model(lm, Path(folder) / "lm")
        # As installed: compiled files of Python are kept.
        env = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/cache", "PYTHONDONTWRITEBYTECODE": ""}
        commands = [["-m", "elman", "complete", f"{folder}/lm", "Once upo"], ["-c", "import torch"]]
        times: list[list[float]] = [[], []]
        for turn in range(rounds + 1):
            for command, own in zip(commands, times, strict=True):
                start = time.perf_counter()
                subprocess.run([sys.executable, *command], check=True, capture_output=True, env=env)
                if turn:  # the first time files are compiled
                    own.append(time.perf_counter() - start)
    complete, bare = map(median, times)
    return {"complete_s": complete, "import_torch_s": bare, "complete_over_torch": complete / bare}


PARTS = {
    "streams": measure_streams,
    "predictions": measure_predictions,
    "beam": measure_beam,
    "start": measure_cold_start,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    found: dict[str, float] = {}
    for part in options.parts:
        found |= PARTS[part](options.rounds)
    if options.json:
        json.dump({"threads": options.threads, **found}, sys.stdout)
        return
    for name, value in found.items():
        print(f"{name:24} {value:10.3f}")


if __name__ == "__main__":
    main()
