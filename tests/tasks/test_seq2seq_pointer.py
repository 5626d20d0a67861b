"""Copying from the source: one distribution, one cost; words never seen; coverage; replacement."""

import random

import pytest
import torch

from elman.tasks.seq2seq.loss import decoder_step, nll, teacher_forced
from elman.tasks.seq2seq.pointer import Pointer
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig, Seq2SeqExample
from elman.text.vocab import BOS, UNK
from tests.tasks.toy_pairs import WORDS, made, pairs, train

PAIRS = pairs(("a b c", "x b"), ("b", "c x x"), ("c a", "a"))
ODD = pairs(("new b new", "new x"), ("a odd", "odd odd gone b"), ("b", "x"))


def test_the_mixture_is_counted_out_and_sums_to_one():
    """Ids from four on are beyond the vocabulary; the second word stands in the source twice."""
    torch.manual_seed(0)
    pointer, o = Pointer(3, 4).double(), torch.randn(1, 3, dtype=torch.double)
    weights = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).double()
    own = torch.randn(1, 4, dtype=torch.double).log_softmax(-1)
    copies = torch.tensor([[4, 2, 2, 5]])
    found = pointer.log_probabilities(o, weights, own, copies, 2).exp()[0]
    g = torch.sigmoid(pointer.gate(o))[0, 0]
    copied = torch.tensor([0, 0, 0.5, 0, 0.1, 0.4])
    expected = torch.cat([g * own.exp()[0], torch.zeros(2)]) + (1 - g) * copied
    torch.testing.assert_close(found, expected)
    assert found.sum().item() == pytest.approx(1)
    for target in range(6):
        ids = torch.tensor([[target]])
        cost = -own[:, min(target, 3)][None] if target < 4 else torch.zeros(1, 1).double()
        nat = pointer.nll(o[:, None], weights[:, None], cost, ids, copies)
        assert nat.item() == pytest.approx(-expected[target].log().item())


@pytest.mark.parametrize("decoder", ["bahdanau", "luong", "gnmt", "input-feeding"])
def test_a_target_costs_what_the_distribution_says_and_that_sums_to_one(decoder):
    one = made(WORDS, PAIRS, decoder=decoder, copying=True)
    batch = one.collate(one.encode([*PAIRS, *ODD]).rows)
    assert batch.target.max() >= len(one.tokenizers.target.items), "some targets are beyond"
    with torch.no_grad():
        costs = nll(one.net, batch)
        step, state = decoder_step(one.net, batch)
        tokens = torch.full((len(batch.target),), BOS)
        for t in range(batch.target.shape[1]):
            state, log_probs = step(state, tokens)
            assert log_probs.shape[1] == len(one.tokenizers.target.items) + batch.unknown
            torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(len(tokens)).double())
            tokens = batch.target[:, t]
            expected = -log_probs.gather(1, tokens[:, None])[:, 0]
            real = batch.target_mask[:, t]
            torch.testing.assert_close(costs[real, t], expected[real])


def test_no_gradient_is_nan_where_nothing_can_be_copied_and_nothing_is_known():
    one = made(WORDS, PAIRS, decoder="luong", copying=True)
    one.net.train()
    loss = one.loss(one.encode([*ODD, Seq2SeqExample("", ("x gone",))]), 0.0)
    loss.backward()
    assert loss.isfinite()
    assert all(p.grad is None or p.grad.isfinite().all() for p in one.net.parameters())


def sentences(count: int, names: list[str], seed: int) -> list[Seq2SeqExample]:
    """``say NAME now`` is answered ``NAME !``, with words before and after."""
    dice, found = random.Random(seed), []
    for _ in range(count):
        name = dice.choice(names)
        words = [*dice.choices(["so", "oh"], k=dice.randint(0, 2)), "say", name, "now"]
        found.append((" ".join(words), f"{name} !"))
    return pairs(*found)


def test_who_can_copy_writes_words_never_seen_and_who_cannot_does_not():
    known, new = [f"n{i}" for i in range(12)], [f"m{i}" for i in range(20)]
    examples, unseen = sentences(300, known, 0), sentences(40, new, 1)
    # Half of the names are unknown in training, too: so it is learnt when to copy.
    vocabulary = sentences(300, known[:6], 2)
    right = {}
    for copying in (True, False):
        torch.manual_seed(0)
        options = {"copying": copying, "decoder": "bahdanau", "layers": 1, "hidden": 16}
        plain = {"embedding": 12, "dropout": 0.0, "label_smoothing": 0.0}
        one = Seq2Seq.from_examples(Seq2SeqConfig(**options, **plain), WORDS, vocabulary)
        train(one, one.encode(examples), 50, lr=0.03, batch=32)
        answers = one.translate([e.source for e in unseen], beam=2)
        right[copying] = sum(a == e.targets[0] for a, e in zip(answers, unseen, strict=True))
    assert right == {True: len(unseen), False: 0}


def test_what_is_unknown_is_replaced_by_the_word_that_was_looked_at():
    one = made(WORDS, PAIRS, decoder="luong", replace_unk=True)
    one.net.softmax.b.data[UNK] = 40.0
    source = "b new odd"
    (answer,) = one.translations([source], beam=1, max_tokens=4)[0]
    assert len(answer.tokens) == 4
    row = one.encode_pair(source)._replace(target=[UNK] * 4)
    with torch.no_grad():
        weights = teacher_forced(one.net, one.collate([row])).weights[0]
    assert answer.tokens == [source.split()[j] for j in weights.argmax(-1)]
    assert answer.text == " ".join(answer.tokens)


def test_coverage_costs_what_a_slow_loop_counts():
    examples = pairs(("a b c", "x b x"), ("b", "c"))
    one = made(WORDS, [*PAIRS, *examples], decoder="luong", coverage=0.7)
    data = one.encode(examples)
    batch = one.collate(data.rows)
    with torch.no_grad():
        alpha = teacher_forced(one.net, batch).weights.tolist()
        plain = nll(one.net, batch)[batch.target_mask].mean().item()
        looked = 0.0
        for b, row in enumerate(data.rows):
            for i in range(len(row.target)):
                for j in range(len(row.source)):
                    looked += min(alpha[b][i][j], sum(alpha[b][k][j] for k in range(i)))
        found = one.loss(data, 0.0).item()
    assert found == pytest.approx(plain + 0.7 * looked / one.weight(data))
    assert looked > 0


def test_a_target_that_nothing_points_to_costs_much_but_not_everything():
    pointer, o = Pointer(3, 4), torch.zeros(1, 1, 3)
    nat = pointer.nll(o, torch.zeros(1, 1, 2), torch.zeros(1, 1), torch.tensor([[5]]), torch.tensor([[4, 2]]))
    assert 40 < nat.item() < 60
