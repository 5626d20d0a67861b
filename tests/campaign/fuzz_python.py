"""What a program may give by mistake to every verb of every task, and to the parts of a network."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

import elman
from elman.cells import GRU, LSTM
from elman.decoding import Beam
from elman.errors import ArgumentError
from elman.generation import GenerationConfig, Sampling, TextStream
from elman.layers import RNN, BiRNN, StackedRNN
from elman.scan import scan
from elman.tasks.seq2seq.search import DecodingConfig
from tests.campaign.harness import Target, main

ROWS = [("when was that", "time"), ("what year", "time"), ("where was that", "place"), ("what town", "place")]
TINY = {"data": {"holdout": 0.0}, "model": {"embedding": 4, "hidden": 4}}
VERBS = {
    "classifier": ("classify", "predict", "evaluate"),
    "pairs": ("classify", "predict", "evaluate"),
    "tagger": ("tag", "analyse", "tag_columns", "evaluate"),
    "seq2seq": ("translate", "translations", "evaluate"),
    "lm": ("score", "scores", "generate", "generate_iter", "complete", "perplexity", "evaluate"),
}
NUMBERS = (0, 1, -1, 2, 10**30, 2.5, -0.0, math.nan, math.inf, True, 1e-300)
STRINGS = ("a b", "", " ", "\n", "a\ud800", "\0", "é" * 5, "no/such/file.tsv")


@cache
def model(task: str) -> Any:
    """One of each task, hardly trained."""
    words = {"source": {"kind": "words"}, "target": {"kind": "words"}}
    make: dict[str, Callable[[], Any]] = {
        "classifier": lambda: elman.Classifier.train(ROWS, epochs=1, recipe=TINY),
        "pairs": lambda: elman.Pairs.train([(a, "that", label) for a, label in ROWS], epochs=1, recipe=TINY),
        "tagger": lambda: elman.Tagger.train([(["Ann", "saw"], ["N", "V"])] * 4, epochs=1, recipe=TINY),
        "seq2seq": lambda: elman.Seq2Seq.train([("a b", "b a")] * 4, epochs=1, recipe=TINY | {"tokens": words}),
        "lm": lambda: elman.LanguageModel.train(["a b c"] * 9, epochs=1, recipe=TINY),
    }
    return make[task]()


def anything(rng: Random, depth: int = 2) -> Any:
    """A value of any kind: texts, numbers, arrays, tensors, nothing, and collections of such."""
    plain: list[Callable[[], Any]] = [
        lambda: rng.choice(STRINGS),
        lambda: rng.choice(NUMBERS),
        lambda: rng.choice((None, b"a b", bytearray(b"x"), object(), Path("a"), ..., 1j, elman)),
        lambda: rng.choice(
            (np.array([1.0, 2.0]), np.array("x"), np.array(["a", "b c"]), np.str_("a b"), np.int64(3))
        ),
        lambda: rng.choice((torch.zeros(2), torch.ones(2, 3).long(), torch.tensor(1))),
    ]
    if not depth:
        return rng.choice(plain)()
    inner = partial(anything, rng, depth - 1)
    some: list[Callable[[], Any]] = [
        lambda: [inner() for _ in range(rng.randrange(4))],
        lambda: tuple(inner() for _ in range(rng.randrange(4))),
        lambda: {rng.choice(STRINGS): inner()},
        lambda: (x for x in [inner()]),
        lambda: ["a b", inner()],
    ]
    return rng.choice([*plain, *some])()


def verbs(rng: Random) -> None:
    """Verbs of a model are given anything in the place of texts."""
    task = rng.choice([*VERBS])
    one = model(task)
    verb = rng.choice([name for name in VERBS[task] if hasattr(one, name)])
    call(getattr(one, verb), anything(rng))


def options(rng: Random) -> None:
    """Verbs are given texts, and anything for an option."""
    lm, one = model("lm"), model("seq2seq")
    value = anything(rng, 1)
    call(
        rng.choice(
            (
                lambda: lm.generate("a", value, max_tokens=5),
                lambda: lm.generate("a", n=small(value), max_tokens=5),
                lambda: lm.generate("a", max_tokens=small(value)),
                lambda: lm.generate("a", config=value, max_tokens=5),
                lambda: lm.generate("a", passage=value, max_tokens=5),
                lambda: lm.generate("a", cache=value, max_tokens=5),
                lambda: lm.generate("a", dynamic=value, max_tokens=5),
                lambda: lm.complete("a", small(value)),
                lambda: lm.complete("a", width=small(value)),
                lambda: lm.stream(cache=value),
                lambda: lm.stream().feed(value),
                lambda: lm.stream().next(small(value)),
                lambda: lm.stream().sample(value),
                lambda: TextStream.from_bytes(lm, value),
                lambda: one.translate(["a"], beam=small(value)),
                lambda: one.translations(["a"], n_best=small(value)),
                lambda: one.translate(["a"], max_tokens=small(value)),
                lambda: one.translate(["a"], config=value),
                lambda: one.translations(["a"], others=value),
                lambda: one.align(value, "a"),
                lambda: one.align("a", value),
                lambda: elman.load(value),
                lambda: elman.load("no such folder", value),
                lambda: one.save(value) if not isinstance(value, str | Path) else None,
                lambda: elman.train(value),
                lambda: elman.Classifier.train(ROWS, epochs=value if not sensible(value) else 1, recipe=TINY),
                lambda: elman.Classifier.train(value),
                lambda: elman.Classifier.train(ROWS, valid=value, epochs=1, recipe=TINY),
                lambda: elman.Classifier.train(ROWS, recipe=value, epochs=1),
                lambda: elman.Tagger.train(value),
                lambda: elman.LanguageModel.train(value),
                lambda: elman.Seq2Seq.train(value),
            )
        )
    )


def settings(rng: Random) -> None:
    """The settings of writing are given anything."""
    kind, names = rng.choice(
        (
            (Sampling, ("temperature", "top_k", "top_p", "min_p", "min_tokens_to_keep", "seed")),
            (Beam, ("width", "factor", "length_penalty", "n_best", "narrow")),
            (GenerationConfig, ("max_tokens", "min_tokens", "max_seconds", "no_repeat", "banned", "stop")),
            (DecodingConfig, ("beam", "factor", "length_penalty", "n_best", "max_tokens", "no_repeat", "stop")),
        )
    )
    call(kind, **{name: anything(rng, 1) for name in rng.sample(names, rng.randrange(1, 3))})


def networks(rng: Random) -> None:
    """Cells and layers are given tensors of any shape and kind, or none."""
    xs, mask = tensor(rng), rng.choice((None, tensor(rng)))
    layers = (RNN(LSTM(3, 4)), BiRNN(LSTM(3, 4), LSTM(3, 4)), StackedRNN([RNN(LSTM(3, 4))]))
    call(
        rng.choice(
            (
                lambda: scan(LSTM(3, 4), xs, mask),
                lambda: scan(GRU(3, 4), xs, mask, executor=anything(rng, 0)),
                lambda: rng.choice(layers)(xs, mask),
                lambda: LSTM(anything(rng, 0), 2),
                lambda: scan(anything(rng, 0), xs),
            )
        )
    )


def tensor(rng: Random) -> Any:
    """What may stand in the place of a tensor (B, T, 3)."""
    ones = torch.ones(tuple(rng.choice((0, 1, 2, 3)) for _ in range(rng.randrange(5))))
    good = torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(1))
    tensors = [good, ones, ones.long(), torch.ones(2, 3).bool(), good.double(), good * math.nan]
    return rng.choice([*tensors, good.to_sparse(), good.numpy(), good.tolist(), None, "a b"])


def call(function: Callable[..., Any], *given: Any, **named: Any) -> None:
    """Call it, and take what it gives; the test run's own checks of types refuse what Elman would."""
    try:
        found = function(*given, **named)
        if isinstance(found, Iterator):
            for _ in zip(range(5), found, strict=False):
                pass
    except TypeError as error:
        if type(error).__name__ == "TypeCheckError":
            raise ArgumentError("refused by the types of the test run") from None
        raise


def sensible(value: Any) -> bool:
    """Whether it is a number that would take time."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 1


def small(value: Any) -> Any:
    """The same, but no number that would be taken and cost minutes."""
    return 3 if sensible(value) else value


TARGETS: dict[str, Target] = {
    "python_verbs": verbs,
    "python_options": options,
    "python_settings": settings,
    "python_networks": networks,
}

if __name__ == "__main__":
    main(TARGETS)
