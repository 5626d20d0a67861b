"""A text read, another written, as in the lectures, row by row, each against something that is not Elman."""

import numpy as np
import pytest
import torch
from torch import nn

from elman.cells import Elman
from elman.errors import ConfigError
from elman.inspect import alignment
from elman.layers import RNN, to_torch
from elman.layers.encoder import EncoderOutput
from elman.layers.rnn import StackedRNN
from elman.tasks.seq2seq.loss import loss, teacher_forced
from elman.tasks.seq2seq.task import DecodingConfig, Seq2Seq, Seq2SeqConfig
from elman.text.vocab import BOS, EOS
from tests.layers.test_convolution import by_hand as convolve_by_hand
from tests.layers.test_transformer import by_hand as attend_by_hand
from tests.tasks.toy_pairs import ALIGNED, CHARS, JOINT, SINGLE, WORDS, made, pairs, train

PAIRS = pairs(("abc", "xy"), ("cab", "yyx"), ("b", "x"))
ONE = {"layers": 1, "cell": "elman"}
ENCODERS = ("recurrent", "convolutional", "transformer")
TASKS = pairs(
    ("the cat sleeps", "die Katze schläft"),  # translation
    ("how are you ?", "fine , and you ?"),  # dialogue
    ("rome is in italy . where is rome ?", "in italy"),  # question answering
    ("after days of rain the river rose", "river rises"),  # summarization
    ("she go to school", "she goes to school"),  # grammar correction
    ("once upon a time", "there was a king"),  # story generation
)


def numbers(weight: torch.Tensor) -> np.ndarray:
    return weight.detach().numpy()


class Paper:
    """The lectures' simple RNN, softmax and attention in numpy, with a model's weights."""

    def __init__(self, model: Seq2Seq) -> None:
        self.net = model.net
        self.E = numbers(self.net.target.E.weight)
        cell = self.net.decoder.layers[0].cell
        self.W, self.U, self.b = numbers(cell.W), numbers(cell.matrices()[0]), numbers(cell.b)

    def cell(self, h: np.ndarray, *x: np.ndarray) -> np.ndarray:
        return np.tanh(self.W @ np.concatenate(x) + self.U @ h + self.b)

    def readout(self, h: np.ndarray, c: np.ndarray) -> np.ndarray:
        W = self.net.decoder.readout.W
        return np.tanh(numbers(W.weight) @ np.concatenate([h, c]) + numbers(W.bias))

    def softmax(self, o: np.ndarray) -> np.ndarray:
        soft = self.net.softmax
        o = o if isinstance(soft.P, nn.Identity) else numbers(soft.P.weight) @ o
        return share(numbers(soft.W) @ o + numbers(soft.b))


def share(scores: np.ndarray) -> np.ndarray:
    return np.exp(scores) / np.exp(scores).sum()


def encoded(model: Seq2Seq, source: str) -> EncoderOutput:
    batch = model.collate([model.encode_pair(source)])
    with torch.no_grad():
        return model.net.encode(batch.source, batch.mask)


def read(model: Seq2Seq, source: str, target: str):
    """What the decoder says of each token, by the code under test."""
    with torch.no_grad():
        reading = teacher_forced(model.net, model.collate([model.encode_pair(source, target)]))
        y = model.net.softmax.log_probabilities(reading.os).exp()
    return y[0].numpy(), None if reading.weights is None else reading.weights[0].numpy()


def before(model: Seq2Seq, target: str) -> list[int]:
    return [BOS, *model.tokenizers.target.encode(target)]


def usual(cells: list, width: int) -> nn.LSTM:
    """PyTorch's layers with copies of the weights."""
    theirs = nn.LSTM(width, 4, len(cells), batch_first=True).double()
    theirs.load_state_dict(to_torch(StackedRNN([RNN(cell) for cell in cells])))
    return theirs


def test_row_32_one_network_reads_the_source_then_the_separator_then_the_target():
    """One nn.LSTM over source <s> target; the loss counts what comes after <s>."""
    one = made(JOINT, PAIRS, **SINGLE)
    lstm = usual([cell.cell for cell in one.net.decoder.layers], 3)
    E, soft = one.net.target.E.weight, one.net.softmax
    costs = []
    for e in PAIRS:
        source, target = (one.tokenizers.source.encode(text) for text in (e.source, e.targets[0]))
        hs, _ = lstm(E[[*source, BOS, *target]][None])
        logits = soft.P(hs[0, len(source) :]) @ E.T + soft.b
        costs.append(nn.functional.cross_entropy(logits, torch.tensor([*target, EOS]), reduction="none"))
    data = one.encode(PAIRS)
    torch.testing.assert_close(one.loss(data, 0.0), torch.cat(costs).mean())


def test_row_32_a_transducer_is_read_up_to_the_end_token():
    """One nn.LSTM over the source and then <s> again and again, a token from each of its outputs."""
    one = made(CHARS, PAIRS, **ALIGNED)
    lstm = usual([layer.cell.cell for layer in one.net.encoder.layers.stack], 3)
    E, soft = one.net.source.E.weight, one.net.softmax
    for source in ("abc", "b", "cabbac"):
        ids = one.tokenizers.source.encode(source)
        hs, _ = lstm(E[[*ids, *[BOS] * (len(ids) + 5)]][None])
        written = (soft.P(hs[0]) @ soft.W.T + soft.b).argmax(-1).tolist()
        written = [*written, *[written[-1]] * 5]  # beyond its end it repeats itself
        cut = written.index(EOS) if EOS in written else len(written)
        items = one.tokenizers.target.items
        (answer,) = one.translations([source], beam=1)[0]
        assert answer.tokens == [items[i] for i in written[:cut]]


def test_row_33_encoder_and_decoder_have_parameters_and_embeddings_of_their_own():
    one = made(CHARS, PAIRS)
    parts = {name: getattr(one.net, name) for name in ("source", "target", "encoder", "decoder")}
    places = {name: {p.data_ptr() for p in part.parameters()} for name, part in parts.items()}
    assert all(places.values())
    assert len(set().union(*places.values())) == sum(map(len, places.values()))
    assert one.net.source.E.weight.shape == (7, 3)  # four special tokens, a b c
    assert one.net.target.E.weight.shape == (6, 3)


def test_row_34_one_kind_of_model_learns_any_text_to_text():
    torch.manual_seed(0)
    plain = {"dropout": 0.0, "label_smoothing": 0.0, "layers": 1, "decoder": "luong"}
    one = Seq2Seq.from_examples(Seq2SeqConfig(hidden=24, embedding=16, **plain), WORDS, TASKS)
    train(one, one.encode(TASKS), 60, lr=0.03, batch=len(TASKS))
    assert one.translate([e.source for e in TASKS]) == [e.targets[0] for e in TASKS]


def test_row_35_the_decoder_begins_with_the_last_state_of_the_encoder():
    one = made(CHARS, PAIRS, decoder_init="copied", bidirectional=False)
    lstm = usual([layer.cell.cell for layer in one.net.encoder.layers.stack], 3)
    ids = one.tokenizers.source.encode("abca")
    _, (h, c) = lstm(one.net.source.E.weight[ids][None])
    _, state = one.net.decoder.begin(encoded(one, "abca"))
    for layer, part in enumerate(state.cells):
        torch.testing.assert_close(part.h, h[layer].detach())
        torch.testing.assert_close(part.c, c[layer].detach())


def test_row_35_of_two_directions_it_is_the_mean_of_both():
    """Forward after the last word, backward after the first, each by itself in PyTorch."""
    one = made(CHARS, PAIRS, decoder_init="copied", decoder="plain", **ONE)
    (layer,) = one.net.encoder.layers.stack
    xs, last = one.net.source.E.weight[one.tokenizers.source.encode("abca")][None], []
    for side, order in ((layer.forward_rnn, xs), (layer.backward_rnn, xs.flip(1))):
        theirs = nn.RNN(3, 4, batch_first=True).double()
        theirs.load_state_dict(to_torch(RNN(side.cell.cell)))
        last.append(theirs(order)[1][0])
    _, state = one.net.decoder.begin(encoded(one, "abca"))
    torch.testing.assert_close(state.cells[0].h, (last[0] + last[1]).detach() / 2)


def test_row_36_the_decoder_begins_with_what_a_network_makes_of_that_state():
    one = made(CHARS, PAIRS, bidirectional=False, decoder="plain", **ONE)
    h_n = encoded(one, "abca").ys[0, -1].numpy()
    W, b = (numbers(one.net.decoder.initial_state.W.weight), numbers(one.net.decoder.initial_state.W.bias))
    _, state = one.net.decoder.begin(encoded(one, "abca"))
    np.testing.assert_allclose(numbers(state.cells[0].h[0]), np.tanh(W @ h_n + b))


def test_row_37_the_first_input_is_bos():
    one = made(CHARS, PAIRS, decoder_init="zero", decoder="plain", **ONE)
    one.net.softmax.b.data[EOS] = -60.0
    paper = Paper(one)
    y = paper.softmax(paper.cell(np.zeros(4), paper.E[BOS]))
    (answer,) = one.translations(["abc"], beam=1)[0]
    assert np.exp(answer.log_probs[0]) == pytest.approx(y.max())
    assert one.tokenizers.target.items.index(answer.tokens[0]) == y.argmax()


def test_row_38_writing_ends_at_eos_at_any_symbol_or_at_the_maximum_length():
    one = made(CHARS, pairs(("ab", "x\ny"), ("b", "y;\nx")), decoder="plain", seed=3)
    one.net.softmax.b.data[[0, 1, BOS, EOS]] = -60.0  # it would not end by itself
    (whole,) = one.translate(["ab"], beam=1, max_tokens=14)
    assert len(whole) == 14
    assert one.translate(["ab"], beam=1, max_tokens=5) == [whole[:5]]
    for symbol in ("\n", "y", ";"):
        (found,) = one.translate(["ab"], beam=1, max_tokens=14, config=DecodingConfig(stop=(symbol,)))
        assert found == whole.partition(symbol)[0]
    assert {"\n", "y", ";"} & set(whole)
    for beam in (1, 3):  # the search itself ends there: nothing is written that is then cut off
        config = DecodingConfig(stop=("y", ";"), n_best=beam)
        for found in one.translations(["ab"], beam=beam, max_tokens=14, config=config)[0]:
            assert not {"y", ";"} & set(found.tokens[:-1])
            assert len(found.tokens) == len(found.log_probs)
            assert len(found.tokens) == 14 or found.tokens[-1] in ("y", ";")
    one.net.softmax.b.data[EOS] = 60.0
    assert one.translations(["ab"], beam=1)[0][0].tokens == []


def test_row_39_the_context_enters_the_first_state_alone():
    """h_0 = tanh(W c + b), then nothing but h_t = R(h_{t-1}, y_{t-1}); c is the mean of h_{1:n}."""
    one = made(CHARS, PAIRS, decoder="plain", summary="mean", **ONE)
    paper, hs = Paper(one), encoded(one, "abca").ys[0].numpy()
    start = one.net.decoder.initial_state.W
    h = np.tanh(numbers(start.weight) @ hs.mean(0) + numbers(start.bias))
    y, _ = read(one, "abca", "xyx")
    for t, token in enumerate(before(one, "xyx")):
        h = paper.cell(h, paper.E[token])
        np.testing.assert_allclose(y[t], paper.softmax(h))


def test_row_40_the_context_enters_every_step():
    """h_t = tanh(W [y_{t-1}; c] + U h_{t-1} + b), and the softmax sees h_t and c."""
    one = made(CHARS, PAIRS, decoder="context", decoder_init="zero", summary="mean", **ONE)
    paper, c = Paper(one), encoded(one, "abca").ys[0].numpy().mean(0)
    y, _ = read(one, "abca", "xyx")
    h = np.zeros(4)
    for t, token in enumerate(before(one, "xyx")):
        h = paper.cell(h, paper.E[token], c)
        np.testing.assert_allclose(y[t], paper.softmax(paper.readout(h, c)))


def test_row_40_the_context_may_enter_every_step_and_not_the_softmax():
    """y_t = softmax(V h_t + b): c is seen by the cell alone."""
    options = {"decoder_init": "zero", "summary": "mean", "context_readout": False}
    one = made(CHARS, PAIRS, decoder="context", **options, **ONE)
    paper, c = Paper(one), encoded(one, "abca").ys[0].numpy().mean(0)
    y, _ = read(one, "abca", "xyx")
    h = np.zeros(4)
    for t, token in enumerate(before(one, "xyx")):
        h = paper.cell(h, paper.E[token], c)
        np.testing.assert_allclose(y[t], paper.softmax(h))
    with pytest.raises(ConfigError, match="context_readout is for the decoder 'context'"):
        Seq2SeqConfig(decoder="luong", context_readout=False)


def looking(one: Seq2Seq, score, source: str, target: str) -> None:
    """Row 41 in numpy with any score of two vectors: c_i from h^d_{i-1}, fed into the cell."""
    paper, hs = Paper(one), encoded(one, source).ys[0].numpy()
    y, weights = read(one, source, target)
    h = np.zeros(one.config.hidden)
    for t, token in enumerate(before(one, target)):
        alpha = share(np.array([score(h, h_j) for h_j in hs]))
        c = sum(a * h_j for a, h_j in zip(alpha, hs, strict=True))
        h = paper.cell(h, paper.E[token], c)
        np.testing.assert_allclose(weights[t], alpha)
        np.testing.assert_allclose(y[t], paper.softmax(paper.readout(h, c)))


def attending(score: str, **options: object) -> Seq2Seq:
    return made(CHARS, PAIRS, decoder="bahdanau", decoder_init="zero", score=score, **ONE, **options)


def test_row_41_attention_is_scored_with_the_state_before_and_fed_into_the_cell():
    one = attending("additive")
    v, W, U = (numbers(w) for w in one.net.decoder.attention.score.parameters())
    looking(one, lambda h, h_j: v @ np.tanh(W @ h + U @ h_j), "abca", "xyx")


def test_row_42_the_dot_product_scores():
    looking(attending("dot", bidirectional=False), lambda h, h_j: h @ h_j, "abca", "xyx")


def test_row_43_the_bilinear_form_scores_and_its_sizes_may_differ():
    one = attending("bilinear", encoder_hidden=3)
    W_s = numbers(one.net.decoder.attention.score.W_s.weight)
    assert W_s.shape == (4, 6), "four units of the decoder, twice three of the encoder"
    looking(one, lambda h, h_j: h @ W_s @ h_j, "abca", "xyx")


def test_row_44_weights_are_a_softmax_their_sum_is_the_context_and_the_alignment_is_drawn(
    tmp_path, monkeypatch
):
    one = made(CHARS, PAIRS, decoder="luong", decoder_init="zero", **ONE)
    paper, hs = Paper(one), encoded(one, "abca").ys[0].numpy()
    W_s = numbers(one.net.decoder.attention.score.W_s.weight)
    found = one.align("abca", "xy")
    y, _ = read(one, "abca", "xy")
    h = np.zeros(4)
    for t, token in enumerate(before(one, "xy")):
        h = paper.cell(h, paper.E[token])
        alpha = share(hs @ W_s.T @ h)
        np.testing.assert_allclose(found.weights[t].numpy(), alpha, rtol=1e-5)
        np.testing.assert_allclose(y[t], paper.softmax(paper.readout(h, alpha @ hs)))
    assert (found.source, found.target) == ([*"abca"], ["x", "y", "</s>"])
    drawn, write = [], alignment.write_figure

    def watch(fig, path, **options):
        drawn.extend(fig.axes[0].images)
        write(fig, path, **options)

    monkeypatch.setattr(alignment, "write_figure", watch)
    alignment.plot_alignment(found.weights.numpy(), found.source, found.target, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[1:4] == b"PNG"
    (image,) = drawn
    assert (image.get_array().shape, image.get_clim()) == ((3, 4), (0, 1))
    np.testing.assert_array_equal(image.get_array(), found.weights.numpy())


@pytest.mark.parametrize("decoder", ["context", "bahdanau", "gnmt", "input-feeding"])
def test_row_45_a_decoder_does_not_care_who_has_read(decoder):
    """With outputs of any encoder put in place of another's, what is written is the same."""
    ones = [made(CHARS, PAIRS, encoder=e, decoder=decoder, bidirectional=False) for e in ENCODERS]
    batch = ones[0].collate(ones[0].encode(PAIRS).rows)
    for one in ones:
        one.net.decoder.load_state_dict(ones[0].net.decoder.state_dict())
        for name in ("target", "softmax"):
            getattr(one.net, name).load_state_dict(getattr(ones[0].net, name).state_dict())
        assert one.net.encode(batch.source, batch.mask).ys.shape == (3, 3, 4)
    for donor in ones:
        with torch.no_grad():
            found = donor.net.encode(batch.source, batch.mask)
        costs = []
        for one in ones:
            one.net.encode = lambda ids, mask, found=found: found
            costs.append(loss(one.net, one.config, batch).item())
            del one.net.encode
        assert costs == pytest.approx([costs[0]] * 3)


@pytest.mark.parametrize("kind", ENCODERS)
def test_row_45_each_encoder_reads_the_source_in_its_own_way(kind):
    one = made(CHARS, PAIRS, encoder=kind, bidirectional=False)
    xs = numbers(one.net.source.E.weight)[one.tokenizers.source.encode("abca")]
    if kind == "recurrent":
        lstm = usual([layer.cell.cell for layer in one.net.encoder.layers.stack], 3)
        expected = numbers(lstm(torch.tensor(xs)[None])[0][0])
    elif kind == "convolutional":
        expected = convolve_by_hand(one.net.encoder.net, xs)
    else:
        expected = attend_by_hand(one.net.encoder.net, xs, one.net.encoder.net.layers[0].self_attn.num_heads)
    found = encoded(one, "abca")
    np.testing.assert_allclose(found.ys[0].numpy(), expected, atol=1e-10)
    np.testing.assert_allclose(found.last[0].numpy(), expected[-1], atol=1e-10)


def test_row_68_tokenise_embed_encode_generate():
    """Each stage by itself, the last as a loop in numpy."""
    one = made(WORDS, pairs(("a b c", "x y"), ("c", "y y x")), decoder="context", decoder_init="zero", **ONE)
    (cell,) = (layer for layer in one.net.encoder.layers.stack)
    E = numbers(one.net.source.E.weight)
    xs = [E[i] for i in one.tokenizers.source.encode("b c new")]

    def encode(side: Elman, order: list[np.ndarray]) -> np.ndarray:
        h = np.zeros(4)
        for x in order:
            h = np.tanh(numbers(side.W) @ x + numbers(side.matrices()[0]) @ h + numbers(side.b))
        return h

    ends = encode(cell.forward_rnn.cell.cell, xs), encode(cell.backward_rnn.cell.cell, xs[::-1])
    paper, c, h, written = Paper(one), np.concatenate(ends), np.zeros(4), [BOS]
    while written[-1] != EOS and len(written) <= 16:  # 2 n + 10
        h = paper.cell(h, paper.E[written[-1]], c)
        written.append(int(paper.softmax(paper.readout(h, c)).argmax()))
    tokens = [one.tokenizers.target.items[i] for i in written[1:] if i != EOS]
    assert one.translations(["b c new"], beam=1)[0][0].tokens == tokens
