"""A token through a network in one call: what the layers give one by one, by the weights as they are."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from elman.cells import GRU, LSTM, Dropout, Mogrifier, Residual, Stacked, Zoneout
from elman.kernels.few_rows import most_rows, unsupported_reason
from elman.layers import token_step
from elman.layers.embedding import Embedding
from elman.layers.softmax import Softmax
from elman.layers.token_step import TokenStep, check_steps, step_token
from elman.scan.stack_program import _is_worth_folding
from elman.state import leaves, map_state

pytestmark = pytest.mark.skipif(unsupported_reason() is not None, reason="no library")
VOCABULARY = 50
STACKS = {
    "lstm": lambda: LSTM(33, 40),
    "deep": lambda: Stacked([Dropout(LSTM(33, 40), 0.5), GRU(40, 35)]),
    "residual": lambda: Stacked([GRU(33, 34), Residual(LSTM(34, 34)), Residual(Dropout(GRU(34, 34), 0.2))]),
}
ROOMS = [0, 2**27]  # with and without a table of what the first layer makes of each token


class Network(nn.Module):
    def __init__(self, name, *, tied=False):
        super().__init__()
        self.embed, self.cell = Embedding(VOCABULARY, 33), STACKS[name]()
        size = self.cell.output_size
        self.out = Softmax(size, VOCABULARY, self.embed if tied else None)
        nn.init.normal_(self.out.b)

    def step(self, state, tokens):
        return step_token(self, lambda: (self.embed, self.cell, self.out), state, tokens, whole=True)

    def reference(self, state, tokens):
        """In float64."""
        self.double()
        try:
            state = map_state(torch.Tensor.double, state)
            new = self.cell.step(state, self.cell.project(self.embed(tokens[:, None])[:, 0]))
            return new, self.out.logits(self.cell.output(new))
        finally:
            self.float()


def make(name="deep", rows=2, **options):
    torch.manual_seed(0)
    net = Network(name, **options).eval()
    state = map_state(torch.randn_like, net.cell.initial(torch.zeros(rows, 1)))
    return net, state, torch.randint(VOCABULARY, (rows,))


def assert_near(found, expected):
    assert found is not None
    for (path, a), (_, b) in zip(leaves(found), leaves(expected), strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-5, atol=1e-5, msg=path)


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", STACKS)
def test_a_token_is_what_the_layers_make_of_it(name, tied, rows, room, monkeypatch):
    monkeypatch.setattr("elman.scan.stack_program._ROOM", room)
    net, state, tokens = make(name, min(rows, most_rows()), tied=tied)
    for _ in range(2):  # the second time from the table
        found = net.step(state, tokens)
        assert_near(found, net.reference(state, tokens))


def test_rows_are_the_same_alone_and_together():
    net, state, tokens = make(rows=most_rows())
    together = net.step(state, tokens)[1]
    for i in range(len(tokens)):
        one = map_state(lambda t, i=i: t[i : i + 1], state)
        assert torch.equal(net.step(one, tokens[i : i + 1])[1][0], together[i])


def change_in_place(weight):
    weight.mul_(1.5)


def change_unnoticed(weight):
    weight.data.mul_(1.5)  # not even torch's count of changes tells


def move(weight):
    weight.data = weight.data * 1.5


CHANGES = [change_in_place, change_unnoticed, move]


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_changed_weights_are_seen_at_the_next_token(change, rounded):
    net, state, tokens = make()
    if rounded:
        for weight in net.parameters():
            weight.copy_(weight.bfloat16())
    for weight in net.parameters():
        net.step(state, tokens)
        change(weight)
        assert_near(net.step(state, tokens), net.reference(state, tokens))


@pytest.mark.parametrize("rounded", [False, True])
def test_before_a_text_a_single_number_that_changed_unnoticed_is_seen(rounded, monkeypatch):
    monkeypatch.setattr("elman.scan.kept_weights._ALL", 0)
    monkeypatch.setattr("elman.scan.kept_weights._SAMPLES", 1)
    net, state, tokens = make()
    if rounded:
        for weight in net.parameters():
            weight.copy_(weight.bfloat16())
    for weight in net.parameters():
        for place in (1, -1):
            net.step(state, tokens)
            weight.data.view(-1)[place] += 1
            check_steps(net)
            assert_near(net.step(state, tokens), net.reference(state, tokens))


def test_signs_that_change_together_are_seen():
    net = make()[0]
    step = TokenStep(net, net.embed, net.cell, net.out)
    before = step.program.is_current()
    net.cell.layers[0].cell.W.data.neg_()
    assert before
    assert not step.program.is_current()


def test_nothing_is_written_anew_where_nothing_changed():
    net, state, tokens = make()
    net.step(state, tokens)
    (step,) = token_step._STEPS[net].values()
    check_steps(net)
    assert token_step._STEPS[net] == {True: step}


def test_a_single_row_of_the_embedding_that_changes_unnoticed_is_seen():
    net, state, tokens = make()
    before = net.step(state, tokens)[1]
    net.embed.E.weight.data[tokens[0], 3] += 1
    found = net.step(state, tokens)
    assert not torch.equal(found[1][0], before[0])
    assert_near(found, net.reference(state, tokens))


def test_another_parameter_or_module_in_its_place_is_seen():
    net, state, tokens = make()
    net.step(state, tokens)
    net.out.own = nn.Parameter(torch.randn_like(net.out.own))
    assert_near(net.step(state, tokens), net.reference(state, tokens))
    net.out = Softmax(35, VOCABULARY)
    assert_near(net.step(state, tokens), net.reference(state, tokens))


def test_weights_of_bfloat16_are_packed_and_lose_nothing():
    net, state, tokens = make("residual", rows=3)
    for weight in net.parameters():
        weight.copy_(weight.bfloat16())
    step = TokenStep(net, net.embed, net.cell, net.out)
    assert len(step.kept.samples) > 4
    assert_near(step(state, tokens), net.reference(state, tokens))
    fresh = make("residual")[0]
    assert len(TokenStep(fresh, fresh.embed, fresh.cell, fresh.out).kept.samples) == 2  # W and b of the table


def test_nothing_is_kept_of_a_matrix_that_only_begins_as_bfloat16():
    net = make("residual")[0]
    for weight in net.parameters():
        some = weight.view(-1)[:64]
        some.copy_(some.bfloat16())
    kept = TokenStep(net, net.embed, net.cell, net.out).kept
    assert not [t for t in kept._memory if t.dtype == torch.int8]


def test_threads_share_a_network_and_get_what_one_gets():
    net, state, _ = make(rows=1)
    tokens = [torch.tensor([i % VOCABULARY]) for i in range(200)]
    alone = [net.step(state, token)[1] for token in tokens]
    token_step._STEPS.clear()

    def run(token):
        with torch.no_grad():
            return net.step(state, token)[1]

    with ThreadPoolExecutor(4) as pool:
        for found, expected in zip(pool.map(run, tokens), alone, strict=True):
            assert torch.equal(found, expected)


def test_the_layers_alone_give_what_the_output_reads():
    net, state, tokens = make("residual")
    parts = net.embed, net.cell, net.out
    after, h = step_token(net, lambda: parts, state, tokens, whole=False)
    assert torch.equal(h, net.cell.output(after))
    assert torch.equal(net.out.logits(h), net.step(state, tokens)[1])


def test_a_hook_on_the_embedding_is_called():
    net, state, tokens = make()
    net.step(state, tokens)
    net.embed.register_forward_hook(lambda module, given, found: 2 * found)
    assert net.step(state, tokens) is None


def test_what_has_no_program_is_left_to_others():
    net, state, tokens = make()
    assert net.step(map_state(torch.Tensor.double, state), tokens) is None
    assert net.step(map_state(lambda t: t.repeat(100, 1), state), tokens.repeat(100)) is None
    for cell in (Zoneout(LSTM(33, 40), 0.3), Mogrifier(LSTM(33, 40), rounds=2), LSTM(33, 40, heads=2)):
        assert TokenStep(net, net.embed, cell.eval(), net.out).program is None


def test_the_defaults_of_torch_change_nothing():
    net, state, tokens = make()
    expected = net.step(state, tokens)[1]
    torch.set_default_dtype(torch.float64)
    try:
        token_step._STEPS.clear()
        found = net.step(state, tokens)[1]
    finally:
        torch.set_default_dtype(torch.float32)
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)


def test_a_network_that_was_of_double_precision_is_quick_again():
    net, state, tokens = make()
    net.double()
    assert net.step(map_state(torch.Tensor.double, state), tokens) is None
    net.float()
    assert_near(net.step(state, tokens), net.reference(state, tokens))


def test_a_token_that_is_not_there_is_refused():
    net, state, _ = make()
    with pytest.raises(IndexError, match="no such token"):
        net.step(state, torch.tensor([0, VOCABULARY]))


def test_a_table_of_many_rows_is_not_folded():
    def ask(rows):
        return _is_worth_folding(torch.empty(rows, 100, device="meta"), torch.empty(400, 100, device="meta"))

    assert ask(10_000)  # 20 MB
    assert not ask(100_000)
