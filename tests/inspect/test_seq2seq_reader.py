"""What is seen of a sequence-to-sequence model while it reads and writes."""

import numpy as np
import pytest
import torch

from elman.errors import ConfigError
from elman.inspect.text_explanation import explain
from elman.tasks.config import TokenizerConfig
from elman.tasks.seq2seq.explain import align
from elman.tasks.seq2seq.loss import nll, tokens_before
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig, Seq2SeqExample, TokenizerPairConfig
from elman.text.vocab import EOS
from tests.cli.pairs_folder import pairs
from tests.inspect.models import slope

TEXT = "one red dog"
KINDS = [
    {},
    {"decoder": "bahdanau", "shared": True},
    {"decoder": "plain"},
    {"decoder": "plain", "encoder": "convolutional"},
    {"decoder": "transducer", "bidirectional": False},
    {"decoder": "luong", "copying": True, "label_smoothing": 0.0},
    {
        "decoder": "plain",
        "decoder_only": True,
        "shared": True,
        "bidirectional": False,
        "decoder_init": "copied",
    },
]


def fresh(kind: str = "words", **options) -> Seq2Seq:
    """An untrained model with weights that are large enough to have opinions, in float64."""
    torch.manual_seed(1)
    some = [Seq2SeqExample(s, (t,)) for s, t in pairs(40)]
    joint = bool(options.get("shared"))
    tokens = TokenizerPairConfig(TokenizerConfig(kind), TokenizerConfig(kind), joint)
    made = Seq2Seq.from_examples(Seq2SeqConfig(**({"hidden": 6, "embedding": 5} | options)), tokens, some)
    for weight in made.net.parameters():
        torch.nn.init.normal_(weight, std=0.6)
    made.net.double().eval()
    return made


def batch(model: Seq2Seq):
    """The text and the model's own answer, by the ids of its tokens."""
    (row,) = model.encode([Seq2SeqExample(TEXT, ("",))]).rows
    items = [*model.tokenizers.target.items, *row.unknown]
    written = model.translations([TEXT])[0][0].tokens
    row = row._replace(target=[*map(items.index, written), EOS])
    return row, model.collate([row])


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_surprise_is_what_each_token_of_the_answer_costs(options):
    model = fresh(**options)
    reading = explain(model, TEXT)
    _, both = batch(model)
    with torch.no_grad():
        costs = nll(model.net, both)[0]
    assert reading.surprisal.nats == pytest.approx(costs.tolist(), abs=1e-6)
    assert reading.tokens == TEXT.split()
    assert reading.surprisal.tokens == [*model.translations([TEXT])[0][0].tokens, "</s>"]


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_saliency_is_the_slope_of_what_speaks_for_a_token_rather_than_another(options):
    model = fresh(**options)
    row, _ = batch(model)
    items = [*model.tokenizers.target.items, *row.unknown]
    for i, s in enumerate(explain(model, TEXT).saliency):
        other = model.collate([row._replace(target=[*row.target[:i], items.index(s.other)])])
        own = model.collate([row._replace(target=row.target[: i + 1])])

        def margin(own=own, other=other):
            return nll(model.net, other)[0, -1] - nll(model.net, own)[0, -1]

        if model.config.shared:  # its embedding reads what was written, too
            assert s.shares.shape == (3,)
            continue
        for j in range(3):
            found = slope(margin, model.net.reads, j)
            assert s.shares[j] == pytest.approx(found, abs=1e-5)


def test_the_attention_that_is_shown_is_where_the_decoder_looks():
    model = fresh()
    reading = explain(model, TEXT)
    expected = model.align(TEXT, model.translate([TEXT])[0])
    assert reading.alignment.source == expected.source
    assert reading.alignment.target == expected.target
    torch.testing.assert_close(reading.alignment.weights, expected.weights)
    assert explain(fresh(decoder="plain"), TEXT).alignment is None


def test_only_a_recurrent_encoder_has_gates():
    gates = explain(fresh(), TEXT).gates
    names = [g.name for g in gates]
    assert names[:4] == [f"encoder layer {n} {way}" for n in (1, 2) for way in ("forward", "backward")]
    assert all(len(values) == 3 for g in gates[:4] for values in g.values.values())
    others = explain(fresh(decoder="plain", encoder="transformer", hidden=8), TEXT).gates
    assert {g.part for g in others} == {"decoder"}


DECODERS = [{"decoder": d} for d in ("plain", "context", "bahdanau", "luong", "gnmt", "input-feeding")]


@pytest.mark.parametrize("options", [*DECODERS, {"cell": "gru", "zoneout": 0.1}], ids=str)
def test_the_last_state_that_the_gates_of_a_decoder_show_is_the_one_it_ends_in(options):
    model = fresh(layers=2, **options)
    row, both = batch(model)
    gates = [g for g in explain(model, TEXT).gates if g.part == "decoder"]
    net = model.net
    with torch.no_grad():
        context, state = net.decoder.begin(net.encode(both.source, both.mask))
        xs = net.target(tokens_before(net, both.target))
        state = net.decoder.unroll(context, state, xs).state
    assert [(g.name, len(g.tokens)) for g in gates] == [
        (f"decoder layer {k} forward", len(row.target)) for k in (1, 2)
    ]
    assert gates[0].tokens[0] == "<s>"
    for g, last in zip(gates, state.cells, strict=True):
        for name in g.states:
            found = g.values[name]
            assert len(found) == len(g.tokens)
            assert found[-1] == pytest.approx(getattr(last, name)[0].numpy(), abs=1e-9)


def test_pieces_of_words_are_shown_as_they_are_spelled():
    model = fresh("bpe")
    found = align([model], "big dog", model.tokenizers.target.tokens("groß Hund"))
    assert "".join(found.source) == "bigdog"
    assert "".join(found.target) == "großHund</s>"
    assert found.weights.shape == (len(found.target), len(found.source))


def test_an_unknown_word_is_one_token_of_an_answer():
    found = align([fresh()], TEXT, ["Hund", "<unk>", "xyzzy"])
    assert found.target == ["Hund", "<unk>", "<unk>", "</s>"]
    with pytest.raises(ConfigError, match="no attention to show: decoder is 'plain'"):
        align([fresh(decoder="plain")], TEXT, ["Hund"])


def test_one_token_of_the_answer_can_be_asked_for():
    model = fresh(decoder="bahdanau", shared=True)
    every = explain(model, TEXT).saliency
    (one,) = explain(model, TEXT, word=2).saliency
    assert one.title == every[1].title
    np.testing.assert_array_equal(one.shares, every[1].shares)
    with pytest.raises(ConfigError, match=r"word 99 was asked for, but the answer has"):
        explain(model, TEXT, word=99)
