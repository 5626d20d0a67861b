"""Ours by its Python interface: the same loop, batches and search as those of the commands."""

from __future__ import annotations

import time
from pathlib import Path

import torch

from elman.learning.examples import planned
from elman.tasks.seq2seq import Data, Example, Model, PairTokens, Seq2Seq
from elman.tasks.settings import Tokens
from elman.training.events import Update
from elman.training.fit import fit
from elman.training.settings import Settings
from translators import Burst, Job, Translations, read

CONTEXTS = {"between": "bilinear", "feeding": "additive", "previous": "additive"}
"""How attention is scored: between layers, the default, as it is by default; else as JoeyNMT does.

JoeyNMT's network is ``feeding`` with additive scores: the state of now asks, and what is said goes into the
next step. ``previous`` is that of Bahdanau et al., whose scores are additive, too.
"""


class Ours:
    """Our network with one of the contexts."""

    def __init__(self, job: Job, folder: Path, context: str) -> None:
        torch.manual_seed(0)
        sides = (read(folder / f"train.{side}") for side in ("en", "fr"))
        pairs = [Example(source, (target,)) for source, target in zip(*sides, strict=True)]
        self.texts, self.job = read(folder / "test.en"), job
        cut = Tokens(kind="whitespace")
        self.model = Seq2Seq.fresh(_model(job, context), PairTokens(cut, cut), pairs)
        batches = planned(self.model.encode(pairs), Data(batch=job.batch), 0, self.model)
        self.events = fit(self.model.net, batches, self.model.loss, _settings(job))

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.model.net.parameters())

    def train(self, seconds: float) -> Burst:
        start, updates, tokens = time.perf_counter(), 0, 0
        for event in self.events:
            if isinstance(event, Update):
                updates, tokens = updates + 1, tokens + int(event.weight)
                if time.perf_counter() - start >= seconds:
                    break
        return Burst(time.perf_counter() - start, updates, tokens)

    def translate(self, precision: str = "float32") -> Translations:
        start = time.perf_counter()
        texts = self.model.translate(self.texts, beam=self.job.beam, precision=precision)
        return Translations(time.perf_counter() - start, texts)


def _model(job: Job, context: str) -> Model:
    return Model(
        cell="lstm",
        hidden=job.hidden,
        embedding=job.hidden,
        layers=job.layers,
        context=context,  # type: ignore[arg-type]
        score=CONTEXTS[context],  # type: ignore[arg-type]
        dropout=job.dropout,
        smoothing=job.smoothing,
    )


def _settings(job: Job) -> Settings:
    return Settings(
        lr=job.lr, weight_decay=0.0, schedule="constant", warmup=0.0, epochs=10**6, clip=job.clip
    )
