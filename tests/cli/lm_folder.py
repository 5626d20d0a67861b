"""A model folder of a tiny language model, and the command called in this process."""

import io
import sys
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import torch

from elman.cli import main
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import LanguageModel, LanguageModelConfig
from tests.model_folder import store_model
from tests.tasks.toy_lm import LINES


class Done(NamedTuple):
    code: int
    out: str
    err: str


def store(folder: Path, kind: str = "words", **data: str) -> LanguageModel:
    """An untrained model with weights that are large enough to have opinions."""
    torch.manual_seed(0)
    options = LanguageModelConfig(hidden=5, embedding=4, layers=1)
    lm = LanguageModel.from_examples(options, TokenizerConfig(kind=kind), LINES)
    for weight in lm.net.parameters():
        torch.nn.init.normal_(weight)
    lm.net.eval()
    config = {"task": "lm", "data": data, "model": asdict(options)}
    store_model(lm, folder, config=config, metrics={}, card="")
    return lm


def call(monkeypatch, capsys, *arguments: str, stdin: str = "") -> Done:
    monkeypatch.setattr(sys, "argv", ["elman", *arguments])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    code = 0
    try:
        main()
    except SystemExit as stop:
        code = stop.code
    return Done(code, *capsys.readouterr())
