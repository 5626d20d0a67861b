"""The options of a sequence-to-sequence model: which go together, and where in the network they arrive."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from elman.cells import Dropout, Residual, Zoneout
from elman.errors import ConfigError
from elman.layers.embedding import LockedDropout
from elman.layers.rnn import StackedRNN
from elman.tasks.seq2seq.loss import teacher_forced
from elman.tasks.seq2seq.task import SEARCH_OPTIONS, Seq2Seq, Seq2SeqConfig, Seq2SeqDataConfig
from tests.tasks.toy_pairs import ALIGNED, JOINT, SINGLE, made, pairs, strings

COPIED = {"decoder": "plain", "decoder_init": "copied"}


def count(net: nn.Module, kind: type[nn.Module], **values: Any) -> int:
    """Modules of a kind, of which all have these values."""
    found = [module for module in net.modules() if isinstance(module, kind)]
    assert all(getattr(module, name) == value for module in found for name, value in values.items())
    return len(found)


@pytest.mark.parametrize(
    ("options", "cells", "residual"),
    [
        ({"layers": 3}, 3 + 2 * 3, 1 + 2),
        ({"layers": 3, "decoder": "luong", "encoder_layers": 1}, 3 + 2, 2),
        ({"layers": 2, "encoder_layers": 3}, 2 + 2 * 3, 2),
        ({"layers": 2, "decoder": "context", "bidirectional": False}, 2 + 2, 1 + 1),
        (ALIGNED | {"layers": 2}, 2, 1),
        ({"layers": 2, "decoder": "luong", "encoder": "convolutional"}, 2, 1),
    ],
    ids=str,
)
def test_dropout_zoneout_and_residual_connections_are_in_all_layers_of_cells(options, cells, residual):
    net = made(**options, dropout=0.25, zoneout=0.125, residual=True, label_smoothing=0.2).net
    assert count(net, Dropout, p=0.25) == count(net, Zoneout, p={"h": 0.125, "c": 0.125}) == cells
    adding = sum(sum(layers.adds) for layers in net.modules() if isinstance(layers, StackedRNN))
    assert count(net, Residual) + adding == residual
    assert count(net, LockedDropout, p=0.25) == 1
    assert net.softmax.smoothing == 0.2


@pytest.mark.parametrize("encoder", ["convolutional", "transformer"])
def test_encoders_without_cells_have_their_layers_size_and_dropout(encoder):
    net = made(encoder=encoder, dropout=0.25, layers=1, encoder_layers=3, encoder_hidden=8).net
    assert count(net.encoder, nn.Dropout, p=0.25) > 0
    layers = nn.TransformerEncoderLayer if encoder == "transformer" else nn.Conv1d
    assert count(net.encoder, layers) == 3
    assert net.encoder.output_size == 8


def test_whole_tokens_of_both_sides_are_dropped_in_training():
    model = made(word_dropout=0.5)
    seen = []
    model.net.drop.register_forward_pre_hook(lambda _, given: seen.append(given[0].detach()))
    data = model.encode(pairs(*[("abca" * 5, "xyyx" * 5)] * 4))
    batch = model.collate(data.rows)
    plain = model.net.reads(batch.source)
    teacher_forced(model.net, batch)
    assert torch.equal(seen[0], plain)
    model.net.train()
    model.loss(data, 0.0)
    _, _, source, target, outputs = seen
    assert outputs.shape[:2] == batch.target.shape, "what the softmax sees is dropped, too"
    scale = source / plain
    assert set(scale.unique().round().tolist()) == {0, 2}
    assert torch.equal(scale.round(), scale.round()[..., :1].expand_as(scale))
    assert 0.2 < (target == 0).all(-1).double().mean() < 0.8


@pytest.mark.parametrize(
    ("options", "adding"),
    [
        ({"layers": 1, "encoder_layers": 2}, (True, False)),
        ({"layers": 2}, (True, False)),
        ({"layers": 3}, (True, True)),
        ({"layers": 2, "decoder": "luong"}, (True, True)),
        ({"layers": 2, "decoder": "luong", "encoder_layers": 1}, (False, True)),
        ({"layers": 2, "decoder": "luong", "encoder": "transformer"}, (False, True)),
        ({"layers": 2} | ALIGNED, (True, False)),
    ],
    ids=str,
)
def test_which_layers_add_to_what_they_read(options, adding):
    config = Seq2SeqConfig(**options, residual=True)
    assert (config.residual_encoder, config.residual_decoder) == adding
    config = replace(config, residual=False)
    assert not (config.residual_encoder)
    assert not (config.residual_decoder)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"residual": True, "layers": 1}, "no layer adds to what it reads"),
        ({"residual": True, "encoder_layers": 1}, "no layer adds to what it reads"),
        (ALIGNED | {"encoder": "transformer", "zoneout": 0.1}, "there are none"),
        ({"context_readout": False}, "decoder is 'gnmt'"),
        ({"replace_unk": True, "decoder": "plain"}, "replace_unk needs attention"),
        (SINGLE | {"encoder": "convolutional"}, "encoder to 'recurrent'"),
        (SINGLE | {"bidirectional": True}, "bidirectional to false"),
        (SINGLE | {"decoder": "context"}, "decoder to 'plain'"),
        (SINGLE | {"shared": False}, "set shared to true"),
        (COPIED | {"encoder_hidden": 9}, "9 units and the decoder 256"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        Seq2SeqConfig(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"encoder": "transformer", "zoneout": 0.1},
        ALIGNED | {"zoneout": 0.1},
        ALIGNED | {"encoder": "transformer"},
        ALIGNED | {"decoder_init": "copied", "encoder": "transformer"},
        {"context_readout": False, "decoder": "context"},
        {"ctc": 0.3},
        {"ctc": 0.3, "ctc_ranking": 0.1},
        {"copying": True, "label_smoothing": 0.0, "coverage": 1.0, "replace_unk": True},
        {"shared": True},
        {"vectors": "v.txt"},
        {"decoder": "gnmt", "layers": 2},
        {"decoder_init": "zero", "encoder": "transformer"},
        COPIED | {"encoder_hidden": 256, "encoder_layers": 2},
        COPIED | {"summary": "mean", "encoder_hidden": 9},
        SINGLE,
    ],
    ids=str,
)
def test_what_goes_together_is_taken(options):
    Seq2SeqConfig(**options)


@pytest.mark.parametrize(("layers", "decoder"), [(1, "luong"), (2, "gnmt"), (3, "gnmt")])
def test_the_usual_decoder_attends_between_its_first_layers_where_it_has_two(layers, decoder):
    assert Seq2SeqConfig(layers=layers).decoder == decoder


def test_reading_is_as_wide_and_deep_as_writing_unless_told():
    assert (Seq2SeqConfig(hidden=7, layers=3).reading, Seq2SeqConfig(hidden=7).reading_units) == (3, 7)
    other = Seq2SeqConfig(hidden=7, layers=3, encoder_layers=1, encoder_hidden=5)
    assert (other.reading, other.reading_units) == (1, 5)


def test_several_networks_are_for_likelihood_alone():
    for members, objective in ((2, "likelihood"), (1, "risk")):
        Seq2Seq.check_objective(Seq2SeqConfig(members=members), objective)
    with pytest.raises(ConfigError, match="'risk' is for one network"):
        Seq2Seq.check_objective(Seq2SeqConfig(members=2), "risk")


@pytest.mark.parametrize(
    ("most", "kept"), [(0, range(7)), (3, (0, 2, 4)), (6, range(6)), (7, range(7)), (9, range(7))]
)
def test_what_evaluations_in_training_write_is_spread_over_all(most, kept):
    examples = [*pairs(*((text, "x") for text in strings()[:7]))]
    found = made().encode_valid(Seq2SeqDataConfig(eval_examples=most), examples)
    assert found.examples == [examples[i] for i in kept]


def test_the_metric_says_which_way_is_better():
    best = {name: made(metric=name).best for name in ("bleu", "chrf", "exact", "edit_rate", "nats_per_token")}
    assert [name for name in best if best[name] == "min"] == ["edit_rate", "nats_per_token"]


def test_what_predict_understands_are_the_options_of_the_search_and_what_is_shown_of_it():
    search = {
        "beam",
        "factor",
        "length_penalty",
        "max_tokens",
        "no_repeat",
        "repetition_penalty",
        "stop",
        "precision",
    }
    shown = {"n_best", "attention", "show_attention", "beam_tree"}
    assert search | {"others"} == SEARCH_OPTIONS
    assert Seq2Seq.predict_options == search | shown | {"others"}


def test_the_card_says_how_a_decoder_sees_the_source():
    attending = made(layers=2, encoder_layers=1, score="additive").card_info().facts[1]
    assert attending == (
        "network: recurrent encoder of 1 layers, lstm decoder of 2, 4 units; "
        "decoder: attention (gnmt, additive)"
    )
    plain = made(JOINT, decoder="plain").card_info().facts
    assert plain[0].endswith(", joint")
    assert plain[1].endswith("decoder: plain")
