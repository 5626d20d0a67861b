"""Kneser-Ney n-grams, their order chosen on validation data, and a plain nn.LSTM in the given minutes."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from lm_baselines import Ids, plain_characters, plain_lstm

from baselines import BenchSet, Outcome
from baselines.text_sets import read_tokens

ORDERS = {"perplexity": (5,), "bits_per_character": (5, 6, 7, 8)}


class Encoded(NamedTuple):
    """A corpus as ids; without validation data the last tenth of the training data takes its place."""

    train: Ids
    valid: Ids
    test: Ids
    every: Ids  # all that may be trained on
    vocabulary: int


def run_kneser_ney(corpus: BenchSet, seed: int, minutes: float) -> Outcome:
    """Interpolated modified Kneser-Ney; of characters, the best of five to eight."""
    texts, start = encode(corpus), time.process_time()
    orders = ORDERS[corpus.metric]
    best = min(orders, key=lambda n: _count(texts, texts.train, texts.valid, n)) if orders[1:] else orders[0]
    searched = time.process_time()
    nats = _count(texts, texts.every, texts.test, best)
    seconds = time.process_time() - searched
    details = {"order": best, "search_s": round(searched - start, 1)}
    return Outcome(corpus.name, "Kneser-Ney", seed, corpus.metric, _score(corpus, nats), seconds, details)


def run_plain_lstm(corpus: BenchSet, seed: int, minutes: float) -> Outcome:
    """The script for words or for characters, with its own settings."""
    texts, start = encode(corpus), time.process_time()
    train = plain_lstm if corpus.metric == "perplexity" else plain_characters
    perplexity = train(texts.train, texts.valid, texts.test, texts.vocabulary, minutes, seed)
    score = _score(corpus, math.log(perplexity))
    return Outcome(corpus.name, "nn.LSTM", seed, corpus.metric, score, time.process_time() - start)


def encode(corpus: BenchSet) -> Encoded:
    """The texts in ids by the order of first occurrence; tokens that are not in the training data share one."""
    tokens = read_tokens(corpus, corpus.train)
    ids = {token: i for i, token in enumerate(dict.fromkeys(tokens))}

    def numbers(some: list[str]) -> Ids:
        return np.array([ids.get(token, len(ids)) for token in some])

    every, test = numbers(tokens), numbers(read_tokens(corpus, corpus.test))
    if corpus.valid:
        return Encoded(every, numbers(read_tokens(corpus, corpus.valid)), test, every, len(ids) + 1)
    end = len(every) * 9 // 10
    return Encoded(every[:end], every[end:], test, every, len(ids) + 1)


def _count(texts: Encoded, train: Ids, test: Ids, order: int) -> float:
    """Nats a token of n-grams."""
    from elman.layers.kneser_ney import KneserNey

    first = int(train[-1])
    model = KneserNey.fit(train, texts.vocabulary, order=order, first=first)
    return float(model.text_nll(test, first).mean())


def _score(corpus: BenchSet, nats: float) -> float:
    return math.exp(nats) if corpus.metric == "perplexity" else nats / math.log(2)
