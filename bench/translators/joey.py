"""JoeyNMT's recurrent encoder-decoder, trained by its own steps; runs in an environment without Elman."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from joeynmt.config import parse_global_args
from joeynmt.prediction import predict, prepare
from joeynmt.training import TrainManager

from translators import Burst, Job, Translations


class Joey:
    """LSTMs with additive attention and input feeding, its tutorial's network."""

    def __init__(self, job: Job, folder: Path) -> None:
        for name in list(logging.root.manager.loggerDict):
            if name.startswith("joeynmt"):
                logging.getLogger(name).setLevel(logging.ERROR)
        own = folder / "joey"
        own.mkdir()
        self.args = parse_global_args(_config(job, folder, own), rank=0, mode="train")
        self.model, self.data, _, self.held = prepare(self.args, rank=0, mode="train")
        self.manager = TrainManager(
            rank=0,
            model=self.model,
            model_dir=own,
            device=self.args.device,
            autocast=self.args.autocast,
            seed=self.args.seed,
            train_args=self.args.train,
        )
        self.batches = self._epochs()

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.model.parameters())

    def train(self, seconds: float) -> Burst:
        """Its loop less logging and validation: step, clip, update."""
        manager, start, updates, tokens = self.manager, time.perf_counter(), 0, 0
        for batch in self.batches:
            manager._train_step(batch)
            manager.clip_grad_fun(parameters=self.model.parameters())
            manager.optimizer.step()
            self.model.zero_grad()
            updates, tokens = updates + 1, tokens + batch.ntokens
            if time.perf_counter() - start >= seconds:
                break
        return Burst(time.perf_counter() - start, updates, tokens)

    def translate(self) -> Translations:
        start = time.perf_counter()
        found = predict(
            model=self.model,
            data=self.held,
            device=self.args.device,
            n_gpu=0,
            args=self.args.test,
            autocast=self.args.autocast,
        )
        return Translations(time.perf_counter() - start, found[2])

    def _epochs(self) -> Iterator[Any]:
        args, seed = self.args.train, self.args.seed
        batches = self.data.make_iter(
            batch_size=args.batch_size,
            batch_type=args.batch_type,
            seed=seed,
            shuffle=True,
            device=self.args.device,
            eos_index=self.model.eos_index,
            pad_index=self.model.pad_index,
        )
        while True:
            seed += 1
            batches.batch_sampler.set_seed(seed)
            yield from batches


def _config(job: Job, folder: Path, own: Path) -> dict[str, Any]:
    cut = {"level": "word"}
    return {
        "name": "bench",
        "model_dir": str(own),
        "use_cuda": False,
        "random_seed": 0,
        "data": {
            "train": str(folder / "train"),
            "test": str(folder / "test"),
            "dataset_type": "plain",
            "src": {"lang": "en", **cut},
            "trg": {"lang": "fr", **cut},
        },
        "training": {
            "normalization": "tokens",
            "label_smoothing": job.label_smoothing,
            "optimizer": "adam",
            "learning_rate": job.lr,
            # A constant rate: it must have a schedule, and its "plateau" fails with torch 2.13.
            "scheduling": "exponential",
            "decrease_factor": 1.0,
            "clip_grad_norm": job.clip,
            "batch_type": "sentence",
            "batch_size": job.sentences,
        },
        "testing": {
            "batch_type": "sentence",
            "batch_size": job.decoded,
            "beam_size": job.beam,
            "beam_alpha": 1.0,
        },
        "model": _network(job),
    }


def _network(job: Job) -> dict[str, Any]:
    common = {
        "type": "recurrent",
        "rnn_type": "lstm",
        "embeddings": {"embedding_dim": job.hidden, "dropout": job.dropout},
        "hidden_size": job.hidden,
        "num_layers": job.layers,
        "dropout": job.dropout,
    }
    attending = {
        "attention": "bahdanau",
        "input_feeding": True,
        "init_hidden": "bridge",
        "hidden_dropout": job.dropout,
    }
    return {
        "tied_softmax": True,
        "encoder": {**common, "bidirectional": True},
        "decoder": {**common, **attending},
    }
