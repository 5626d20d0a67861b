"""Which executor runs each cell of a network."""

import pytest
import torch
from torch import nn

from elman.cells import GRU, LSTM
from elman.inspect import executors
from elman.inspect.executors import BY_STEPS, executor_choices
from elman.layers import RNN, BiRNN
from elman.scan import explain
from elman.tasks.seq2seq import Seq2Seq, Seq2SeqConfig, Seq2SeqExample, TokenizerPairConfig
from tests.inspect.models import classifier, lm
from tests.layers.decoders import decoder


def chosen(net, mode):
    return [choice.executor for choice in executor_choices(net) if choice.mode == mode]


def seq2seq(decoder):
    pairs = [Seq2SeqExample("a b", ("b a",)), Seq2SeqExample("b c", ("c b",))]
    config = Seq2SeqConfig(hidden=6, embedding=4, layers=2, decoder=decoder)
    return Seq2Seq.from_examples(config, TokenizerPairConfig(), pairs).net


def test_an_lstm_predicts_by_the_kernels_of_pytorch_and_another_formula_by_generated_code():
    assert set(chosen(classifier().net, "prediction")) == {"torch"}
    (*_, own) = executor_choices(classifier(cell="peephole-lstm").net)
    assert own.executor == "codegen"
    assert "peephole_lstm" in own.reasons["torch"]


def test_where_padding_matters_both_ways_are_told():
    assert set(chosen(lm().net, "training")) == {"codegen"}
    assert set(chosen(lm().net, "training, no padding")) == {"torch"}


@pytest.mark.parametrize(("decoder", "stepwise"), [("luong", False), ("bahdanau", True)])
def test_a_decoder_that_attention_feeds_goes_step_by_step(decoder, stepwise):
    net = seq2seq(decoder)
    of_decoder = [c for c in executor_choices(net) if c.name.startswith("decoder")]
    training = {c.executor for c in of_decoder if c.mode.startswith("training")}
    assert (training == {BY_STEPS}) == stepwise
    assert {c.executor for c in of_decoder if c.mode == "prediction"} == {BY_STEPS}


@pytest.mark.parametrize("training", [False, True])
def test_asking_changes_neither_modes_nor_random_numbers(training):
    net, before = classifier().net.train(training), torch.get_rng_state()
    executor_choices(net)
    assert net.training == training
    assert torch.equal(torch.get_rng_state(), before)


def test_every_layer_is_named_with_the_executor_that_it_was_told():
    net = nn.ModuleDict({"low": BiRNN(LSTM(3, 4), GRU(3, 4)), "top": RNN(LSTM(8, 2), executor="loop")})
    found = {c.name: (c.cell, c.executor) for c in executor_choices(net) if c.mode == "prediction"}
    assert found == {
        "low.forward_rnn.cell": ("lstm 3 -> 4", "torch"),
        "low.backward_rnn.cell": ("gru 3 -> 4", "codegen"),
        "top.cell": ("lstm 8 -> 2", "loop"),
    }


def test_the_stacks_of_a_decoder_are_named_one_by_one():
    names = {c.name for c in executor_choices(nn.Sequential(decoder("gnmt")))}
    assert names == {"0.stacks.0", "0.stacks.1"}


def test_networks_that_write_say_whether_a_gpu_records_their_steps():
    assert chosen(lm().net.float(), "writing, on a GPU") == ["CUDA graph"]
    assert chosen(seq2seq("luong"), "writing, on a GPU") == ["CUDA graph"]
    assert chosen(classifier().net, "writing, on a GPU") == []
    (*_, wide) = executor_choices(lm().net.double())
    assert wide.executor == BY_STEPS
    assert wide.reasons == {"CUDA graph": "kernels for rows of logits have 32 bits"}


def test_it_is_asked_about_rows_of_all_lengths_and_about_one_text(monkeypatch):
    asked = []

    def record(cell, xs, mask=None, **options):
        asked.append((tuple(xs.shape), mask))
        return explain(cell, xs, mask, **options)

    monkeypatch.setattr(executors, "explain", record)
    executor_choices(nn.Sequential(RNN(GRU(3, 4))))
    shapes = [shape for shape, _ in asked]
    assert shapes == [(32, 25, 3)] * 4 + [(1, 25, 3)]
    padded, full, *_, alone = [mask for _, mask in asked]
    assert padded.sum(1).tolist() == [*range(1, 26), *range(1, 8)]
    assert (padded.int().diff(dim=1) <= 0).all()
    assert full is None
    assert alone is None


def test_one_text_of_a_wide_cell_is_read_by_the_code_for_few_rows_or_it_is_said_why_not(monkeypatch):
    net = nn.Sequential(RNN(GRU(3, 64)))
    monkeypatch.setattr(executors, "why_not_few", lambda: "there is no compiler")
    monkeypatch.setattr(
        executors, "explain", lambda cell, *given, **options: explain(cell, *given, executor="loop")
    )
    (alone,) = [c for c in executor_choices(net) if c.mode == "prediction, one text"]
    assert (alone.name, alone.executor) == ("0.cell", "loop")
    assert alone.reasons["few"] == "there is no compiler"
    monkeypatch.setattr(executors, "why_not_few", lambda: None)
    assert chosen(net, "prediction, one text") == []
