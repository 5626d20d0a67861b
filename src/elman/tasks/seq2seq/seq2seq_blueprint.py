"""The parts of a sequence-to-sequence model, for whoever runs it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elman.cells import Residual
from elman.errors import ModelError
from elman.layers.decoders.base import Decoder, RecurrentDecoder
from elman.layers.encoder import RecurrentEncoder
from elman.tasks.seq2seq.config import Seq2SeqConfig

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq


def list_seq2seq_parts(task: Seq2Seq) -> dict[str, Any]:
    """Embed, encode, decode, say what comes next."""
    net, config, tokenizers = task.net, task.config, task.tokenizers
    _refuse(config)
    assert isinstance(net.reader, RecurrentEncoder)
    return {
        "kind": "seq2seq",
        "separator": " " if tokenizers.source.level == "word" else "",
        "sourceTokenizer": tokenizers.source,
        "targetTokenizer": None if tokenizers.joint else tokenizers.target,
        "sourceEmbed": net.reads,
        "targetEmbed": net.target,
        "aligned": net.aligned,
        "encoder": net.reader.layers,
        "decoder": _list_decoder_parts(config, net.decoder),
        "output": net.softmax,
        "search": {"beam": config.beam, "lengthPenalty": config.length_penalty, "maxTokens": config.max_tokens},
    }


def _refuse(config: Seq2SeqConfig) -> None:
    """What only Python runs."""
    if config.encoder != "recurrent":
        raise ModelError(f"the model has a {config.encoder} encoder; a page runs recurrent ones only")
    for name in ("copying", "replace_unk"):
        if getattr(config, name):
            raise ModelError(f"model.{name} is true, which a page cannot run")
    if config.members > 1:
        raise ModelError(f"a page runs one network, not {config.members}: train with --set model.members=1")


def _list_decoder_parts(config: Seq2SeqConfig, decoder: Decoder) -> dict[str, Any]:
    if not isinstance(decoder, RecurrentDecoder):
        return {"cells": [], "start": {"kind": "zero"}, "residual": [], "attention": None, "readout": None}
    readout = getattr(decoder, "readout", None)
    attention = getattr(decoder, "attention", None)
    return {
        "cells": decoder.layers,
        "residual": [isinstance(cell, Residual) for cell in decoder.layers],
        "start": _list_start_parts(config, decoder),
        "summary": config.summary if config.decoder == "context" else None,
        "attention": None if attention is None else attention.score,
        "attentionLayer": getattr(decoder, "attention_layer", None),
        "feedsBack": getattr(decoder, "input_feeding", False),
        "readout": None if readout is None else readout.W,
    }


def _list_start_parts(config: Seq2SeqConfig, decoder: RecurrentDecoder) -> dict[str, Any]:
    if config.decoder_init == "transformed":
        learned: Any = decoder.initial_state
        return {"kind": "transformed", "of": config.summary, "W": learned.W}
    copied = "copied" if config.summary == "last" else "mean"
    return {"kind": copied if config.decoder_init == "copied" else "zero"}
