"""Residual connections and zoneout: options of every task that train, and are refused where they do nothing."""

import pytest
import torch

from elman.cells import Residual, Zoneout
from elman.errors import ConfigError
from elman.tasks.classifier.network import ClassifierConfig
from elman.tasks.language_model.config import LanguageModelConfig
from elman.tasks.language_model.network import LanguageModelNetwork
from elman.tasks.seq2seq.config import Seq2SeqConfig
from elman.tasks.seq2seq.network import Seq2SeqNetwork
from elman.tasks.tagger.network import TaggerConfig
from elman.tasks.word_batch import build_encoder

OPTIONS = {"residual": True, "zoneout": 0.2, "layers": 3, "hidden": 6}


def count(net, kind):
    return sum(isinstance(part, kind) for part in net.modules())


def test_a_language_model_adds_from_the_second_layer_on():
    net = LanguageModelNetwork(LanguageModelConfig(embedding=5, **OPTIONS), 20)
    assert (count(net, Residual), count(net, Zoneout)) == (2, 3)
    loss = net.output.loss(net.read(net.begin(2), torch.randint(20, (2, 7)))[1], torch.ones(2, 7).long())
    loss.backward()
    assert all(p.grad is not None for p in net.parameters())


@pytest.mark.parametrize("bidirectional", [False, True])
def test_an_encoder_adds_in_one_direction_or_two(bidirectional):
    torch.manual_seed(0)
    config = ClassifierConfig(bidirectional=bidirectional, **OPTIONS)
    net = build_encoder(config, 5, 0.0).eval()
    assert count(net, Zoneout) == 3 * (1 + bidirectional)
    xs, mask = torch.randn(2, 4, 5), torch.tensor([[True] * 4, [True] * 2 + [False] * 2])
    ys, _ = net(xs, mask)
    plain = build_encoder(ClassifierConfig(bidirectional=bidirectional, layers=3, hidden=6), 5, 0.0)
    stack, x = net.stack, xs
    for k, layer in enumerate(stack):  # what each cell writes, and by hand what it adds to
        cell = layer.cell.cell if not bidirectional and k else None
        y = type(layer)(cell)(x, mask)[0] if cell is not None else layer(x, mask)[0]
        x = x + y if k else y
    torch.testing.assert_close(ys, x)
    assert plain.output_size == net.output_size


@pytest.mark.parametrize("decoder", ["plain", "context", "bahdanau", "luong", "gnmt", "input-feeding"])
@pytest.mark.parametrize("init", ["zero", "transformed", "copied"])
def test_a_translator_adds_in_encoder_and_decoder(decoder, init):
    config = Seq2SeqConfig(decoder=decoder, decoder_init=init, embedding=5, **OPTIONS)
    net = Seq2SeqNetwork(config, (11, 13))
    assert count(net.decoder, Residual) == (1 if decoder == "gnmt" else 2)
    assert net.encoder.layers.adds == [False, True, True]
    ids, mask = torch.randint(4, 11, (2, 6)), torch.ones(2, 6, dtype=torch.bool)
    written = net.read(*net.decoder.begin(net.encode(ids, mask)), torch.randint(4, 13, (2, 5)))
    assert written.os.isfinite().all()


@pytest.mark.parametrize(
    ("options", "encoder", "decoder"),
    [
        ({"layers": 2, "decoder": "luong"}, True, True),
        ({"layers": 2, "decoder": "gnmt"}, True, False),  # one of its two reads the context
        ({"layers": 3, "decoder": "gnmt", "encoder_layers": 1}, False, True),
        ({"layers": 1, "decoder": "luong", "encoder_layers": 2}, True, False),
        ({"layers": 2, "decoder": "luong", "encoder": "convolutional"}, False, True),
        ({"layers": 2, "decoder": "transducer", "bidirectional": False}, True, False),
    ],
)
def test_a_side_adds_where_it_has_a_layer_above_the_first(options, encoder, decoder):
    config = Seq2SeqConfig(residual=True, decoder_init="zero", **options)
    assert (config.residual_encoder, config.residual_decoder) == (encoder, decoder)
    plain = Seq2SeqConfig(decoder_init="zero", **options)
    assert [plain.residual_encoder, plain.residual_decoder] == [False, False]


def test_where_neither_side_can_add_it_is_refused():
    for options in ({"layers": 2, "decoder": "gnmt", "encoder_layers": 1}, {"layers": 1}):
        with pytest.raises(ConfigError, match=r"^residual is true, but no layer adds to what it reads: take"):
            Seq2SeqConfig(residual=True, decoder_init="zero", **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LanguageModelConfig(layers=1, residual=True),
        lambda: TaggerConfig(layers=1, residual=True),
        lambda: ClassifierConfig(layers=1, residual=True),
        lambda: ClassifierConfig(encoder="bag", zoneout=0.1),
        lambda: Seq2SeqConfig(layers=1, residual=True),
        lambda: TaggerConfig(zoneout=1.0),
    ],
)
def test_options_without_effect_are_refused(make):
    with pytest.raises(ConfigError):
        make()
