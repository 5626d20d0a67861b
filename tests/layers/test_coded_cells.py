"""A cell without a formula, wherever cells stand: a network of it is that of the same cell with one."""

import pytest
import torch

from elman.cells import Cell, Elman, resolve_cell
from elman.layers.decoders.attention_decoder import AttentionDecoder
from elman.layers.decoders.inference import InferenceDecoder, TokenProjections
from elman.tasks.seq2seq.config import Seq2SeqConfig
from elman.tasks.seq2seq.network import Seq2SeqNetwork


class Coded(Cell):
    """The Elman network as code: nobody outside knows its formula."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.inner = Elman(input_size, hidden_size)
        self.input_size, self.output_size = input_size, hidden_size

    def initial(self, like):
        return self.inner.initial(like)

    def project(self, x):
        return self.inner.project(x)

    def step(self, state, x):
        return self.inner.step(state, x)

    def output(self, state):
        return self.inner.output(state)


@pytest.mark.parametrize("decoder", ["plain", "context", "bahdanau", "luong", "gnmt", "input-feeding"])
@pytest.mark.parametrize("start", ["transformed", "copied", "zero"])
def test_a_sequence_to_sequence_network_of_code_equals_that_of_the_formula(decoder, start):
    options = {"decoder": decoder, "decoder_init": start, "layers": 2, "hidden": 4, "embedding": 3}
    nets = [
        Seq2SeqNetwork(Seq2SeqConfig(cell=cell, **options), (7, 8)).eval()
        for cell in (resolve_cell(Coded), "elman")
    ]
    weights = {name.replace(".inner.", "."): weight for name, weight in nets[0].state_dict().items()}
    nets[1].load_state_dict(weights)
    ids, mask = torch.tensor([[4, 5, 6], [5, 4, 0]]), torch.tensor([[True] * 3, [True, True, False]])
    outputs = [written(net, ids, mask) for net in nets]
    torch.testing.assert_close(outputs[0], outputs[1])


def written(net, ids, mask) -> list[torch.Tensor]:
    """What the decoder says of given tokens in training and, where it attends, in search."""
    tokens = torch.tensor([[2, 4, 5], [2, 6, 7]])
    context, state = net.decoder.begin(net.encode(ids, mask))
    found = [net.read(context, state, tokens).os]
    if isinstance(net.decoder, AttentionDecoder):
        frozen = InferenceDecoder(net.decoder)
        known = frozen.begin(context)
        projected = TokenProjections(net.target, net.decoder)(tokens[:, 0])
        found.append(net.decoder.step(frozen, known, state, projected)[1])
    return [one.detach() for one in found]
