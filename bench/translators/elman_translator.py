"""ElmanTranslator by its Python interface: the same loop, batches and search as those of the commands."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import torch

from elman.tasks.config import TokenizerConfig
from elman.tasks.seq2seq.task import (
    Seq2Seq,
    Seq2SeqConfig,
    Seq2SeqDataConfig,
    Seq2SeqExample,
    TokenizerPairConfig,
)
from elman.training.events import Update
from elman.training.training_config import TrainingConfig
from elman.training.training_loop import fit
from translators import Burst, Job, Translations, read

DECODERS = {"gnmt": "bilinear", "input-feeding": "additive", "bahdanau": "additive"}
"""How attention is scored: for ``gnmt``, our default, as by default; else additively, as JoeyNMT does.

JoeyNMT's network is ``input-feeding`` with additive scores. Those of Bahdanau et al. are additive, too.
"""


class ElmanTranslator:
    """Our network with one of the decoders."""

    def __init__(self, job: Job, folder: Path, decoder: str) -> None:
        torch.manual_seed(0)
        sides = (read(folder / f"train.{side}") for side in ("en", "fr"))
        pairs = [Seq2SeqExample(source, (target,)) for source, target in zip(*sides, strict=True)]
        self.texts, self.job = read(folder / "test.en"), job
        cut = TokenizerConfig(kind="whitespace")
        self.model = Seq2Seq.from_examples(_model_config(job, decoder), TokenizerPairConfig(cut, cut), pairs)
        batches = self.model.build_batches(
            self.model.encode(pairs), Seq2SeqDataConfig(batch_tokens=job.batch), 0
        )
        self.events = fit(self.model.net, batches, self.model.loss, _training_config(job))

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
        config = replace(self.model.decoding_config, beam=self.job.beam, precision=precision)
        texts = self.model.translate(self.texts, config=config)
        return Translations(time.perf_counter() - start, texts)


def _model_config(job: Job, decoder: str) -> Seq2SeqConfig:
    return Seq2SeqConfig(
        cell="lstm",
        hidden=job.hidden,
        embedding=job.hidden,
        layers=job.layers,
        decoder=decoder,  # type: ignore[arg-type]
        score=DECODERS[decoder],  # type: ignore[arg-type]
        dropout=job.dropout,
        label_smoothing=job.label_smoothing,
    )


def _training_config(job: Job) -> TrainingConfig:
    return TrainingConfig(
        lr=job.lr, weight_decay=0.0, schedule="constant", warmup=0.0, epochs=10**6, grad_clip=job.clip
    )
