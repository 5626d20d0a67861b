"""What a target costs: at once and step by step, alone and in company, forced always or now and then."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.decoding import AtLengths, TeacherForcing, unroll
from elman.errors import ConfigError
from elman.objectives import ScheduledSamplingLoss
from elman.objectives.scheduled_sampling import feed_argmax
from elman.pipeline.recipe import build
from elman.tasks.config import TokenizerConfig
from elman.tasks.seq2seq.evaluation import score_answers
from elman.tasks.seq2seq.loss import decoder_step, nll
from elman.tasks.seq2seq.search import Seq2SeqBatch
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig, Seq2SeqDataset, Seq2SeqExample, TokenizerPairConfig
from elman.text.vocab import BOS
from tests.tasks.toy_pairs import ALIGNED, CHARS, FEW, JOINT, SINGLE, TINY, WORDS, made, pairs

KINDS = {
    "plain": {"decoder": "plain"},
    "context": {"decoder": "context"},
    "bahdanau": {"decoder": "bahdanau"},
    "luong": {"decoder": "luong"},
    "gnmt": {"decoder": "gnmt"},
    "input-feeding": {"decoder": "input-feeding", "score": "additive"},
    "transducer": ALIGNED,
    "single": SINGLE | {"layers": 1},
    "copying": {"decoder": "bahdanau", "copying": True},
    "convolutional": {"decoder": "luong", "encoder": "convolutional"},
    "transformer": {"decoder": "context", "encoder": "transformer"},
}
EVERY = pytest.mark.parametrize("kind", KINDS)
UNKNOWN = pairs(("abz", "zx"), ("c", "y"), ("zbaq", "qqx"))  # z and q are in no vocabulary of FEW


def model(kind: str, **options: object) -> Seq2Seq:
    return made(JOINT if kind == "single" else CHARS, **(KINDS[kind] | options))


def now_and_then(one: Seq2Seq, data: Seq2SeqDataset, p: float) -> torch.Tensor:
    """The loss where the right token is fed back with probability p, else the model's likeliest."""
    view = one.sequence_model()
    return ScheduledSamplingLoss(lambda progress: p, feed_argmax)(view, view.collate(data), 0.0)


def by_steps(one: Seq2Seq, batch: Seq2SeqBatch) -> torch.Tensor:
    """What each target costs by a rollout that is fed the right tokens."""
    step, state = decoder_step(one.net, batch)
    turns = unroll(
        step,
        state,
        TeacherForcing(batch.target),
        start=torch.full((len(batch.target),), BOS),
        stop=AtLengths(batch.target_mask.sum(1)),
        limit=batch.target.shape[1],
    )
    log_probs = torch.stack([turn.logits.log_softmax(-1) for turn in turns], 1)
    return -log_probs.gather(2, batch.target[..., None])[..., 0]


@EVERY
def test_teacher_forcing_by_a_rollout_costs_what_it_costs_at_once(kind):
    one = model(kind)
    batch = one.collate(one.encode([*FEW, *UNKNOWN]).rows)
    with torch.no_grad():
        found, mask = nll(one.net, batch), batch.target_mask
        torch.testing.assert_close(found[mask], by_steps(one, batch)[mask], rtol=0, atol=1e-10)


@EVERY
@settings(max_examples=4)
@given(st.lists(st.tuples(st.text("abcz", max_size=5), st.text("xyz", max_size=4)), min_size=2, max_size=4))
def test_a_pair_costs_in_company_what_it_costs_alone(kind, sides):
    one = model(kind)
    data = one.encode(pairs(*sides))
    with torch.no_grad():
        together = nll(one.net, one.collate(data.rows))
        for b, row in enumerate(data.rows):
            alone = nll(one.net, one.collate([row]))[0]
            torch.testing.assert_close(together[b, : len(alone)], alone, rtol=0, atol=1e-10)
        total = sum(one.loss(data.pick([i]), 0.0) * one.weight(data.pick([i])) for i in range(len(data)))
        torch.testing.assert_close(one.loss(data, 0.0), total / one.weight(data))


@EVERY
def test_sources_without_a_token_leave_no_nan_in_loss_and_gradients(kind):
    one = model(kind)
    one.net.train()
    for sides in ([("", "xy"), ("ab", "")], [("", "")]):
        one.net.zero_grad()
        loss = one.loss(one.encode(pairs(*sides)), 0.0)
        loss.backward()
        assert loss.isfinite()
        assert all(p.grad is None or p.grad.isfinite().all() for p in one.net.parameters())


@pytest.mark.parametrize("kind", ["plain", "input-feeding", "gnmt", "single"])
def test_teacher_forcing_with_a_probability_near_one_is_teacher_forcing(kind):
    """Both losses are smoothed alike, and so are their gradients."""
    one = model(kind, label_smoothing=0.1)
    one.net.train()
    data, weights = one.encode(FEW), list(one.net.parameters())
    plain, nearly = one.loss(data, 0.0), now_and_then(one, data, 1 - 1e-12)
    torch.testing.assert_close(nearly, plain)
    for a, b in zip(torch.autograd.grad(nearly, weights), torch.autograd.grad(plain, weights), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("kind", ["plain", "input-feeding", "copying"])
def test_without_teacher_forcing_the_model_reads_what_it_wrote(kind):
    """-log p of the right token after the model's own, written out step by step."""
    one = model(kind)
    data = one.encode(FEW)
    one.net.train()
    batch = one.collate(data.rows)
    step, state = decoder_step(one.net, batch)
    tokens, costs = torch.full((len(data),), BOS), []
    for t in range(batch.target.shape[1]):
        state, logits = step(state, tokens)
        costs.append(-logits.log_softmax(-1).gather(1, batch.target[:, t : t + 1])[:, 0])
        tokens = logits.argmax(-1)
    expected = torch.stack(costs, 1)[batch.target_mask].mean()
    found = now_and_then(one, data, 0.0)
    torch.testing.assert_close(found, expected)
    found.backward()
    assert not torch.allclose(one.loss(data, 0.0), expected)


def test_teacher_forcing_now_and_then_draws_anew_each_time():
    one = model("input-feeding")
    one.net.train()
    data = one.encode(FEW)
    assert len({now_and_then(one, data, 0.5).item() for _ in range(8)}) > 1


def test_a_recipe_with_both_that_and_a_cost_of_looking_twice_is_refused():
    both = {"model": {"coverage": 1.0}, "objective": {"kind": "scheduled"}}
    with pytest.raises(ConfigError, match=r"model\.coverage is for .* set it to 0"):
        build({"task": "seq2seq", **both})
    build({"task": "seq2seq", "model": both["model"]})


def test_the_right_token_is_fed_with_the_probability_that_was_given_drawn_at_each_step():
    """Targets that the model never writes: so what was fed tells which one it was."""
    one = model("plain")
    x, y = one.tokenizers.target.encode("xy")
    one.net.softmax.b.data[y] = 60.0
    data = one.encode(pairs(*[("abc", "x" * 20)] * 10))
    fed, honest = [], one.net.read

    def watched(session, state, tokens):
        fed.append(tokens[:, 0])
        return honest(session, state, tokens)

    one.net.read = watched
    one.net.train()
    for _ in range(5):
        now_and_then(one, data, 0.3)
    tokens = torch.stack(fed, 1).view(10, 5, 21)
    assert (tokens[..., 0] == BOS).all()
    rest = tokens[..., 1:]
    assert set(rest.unique().tolist()) == {x, y}
    right = (rest == x).double()
    assert right.mean().item() == pytest.approx(0.3, abs=0.05)
    runs = right[..., 1:] * right[..., :-1]
    assert runs.mean().item() == pytest.approx(0.3**2, abs=0.04), "each step for itself"


def test_encoder_and_decoder_share_nothing_unless_told_to():
    def names(one: Seq2Seq) -> set[str]:
        return {name.split(".")[0] for name, _ in one.net.named_parameters()}

    apart = made(decoder="input-feeding", layers=1, tied=False)
    assert names(apart) == {"source", "target", "encoder", "decoder", "softmax"}
    assert names(made(JOINT, decoder="input-feeding", shared=True)) == {
        *("target", "encoder", "decoder", "softmax")
    }
    assert names(made(JOINT, **SINGLE)) == {"target", "decoder", "softmax"}


def test_shared_embeddings_need_joint_tokens():
    with pytest.raises(ConfigError, match=r"tokens\.joint"):
        made(CHARS, shared=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"coverage": -1.0}, "coverage is -1.0"),
        ({"decoder": "context", "copying": True}, "copying needs attention"),
        ({"decoder": "plain", "coverage": 1.0}, "coverage needs attention"),
        ({"layers": 1, "decoder": "gnmt"}, "gnmt"),
        ({"copying": True}, "set label_smoothing to 0"),
        ({"shared": True, "vectors": "v.txt"}, "set shared to false"),
        ({"decoder": "transducer"}, "set bidirectional to false"),
        ({"decoder_only": True}, "set decoder to 'plain'"),
        (SINGLE | {"decoder_init": "zero"}, "decoder_init to 'copied'"),
        (SINGLE | {"summary": "mean"}, "summary to 'last'"),
        ({"decoder_init": "copied", "encoder": "transformer"}, "no last state to copy"),
        ({"decoder_init": "copied", "encoder_layers": 1}, "1 layers and the decoder 2"),
        ({"cell": "lstn"}, "did you mean 'lstm'"),
        ({"beam": 0}, "beam is 0"),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_a_way_out(options, said):
    with pytest.raises(ConfigError, match=said):
        Seq2SeqConfig(**options)


def test_a_dot_product_of_different_sizes_names_both():
    with pytest.raises(Exception, match="4 units and the encoder gives 8"):
        made(score="dot")


def test_copying_and_replacement_are_for_words_and_characters_on_both_sides():
    pieces = TokenizerConfig("bpe", size=270)
    for tokens in (TokenizerPairConfig(pieces, WORDS.target), TokenizerPairConfig(WORDS.source, pieces)):
        for name in ("copying", "replace_unk"):
            with pytest.raises(ConfigError, match=r"not for subwords: .* both sides' tokens to words or chars"):
                Seq2Seq.from_examples(Seq2SeqConfig(**TINY, **{name: True}), tokens, FEW)


def test_scores_are_those_of_answers_beside_several_references():
    one = made(WORDS, pairs(("a", "x y"), ("b", "x")))
    data = one.encode([Seq2SeqExample("a", ("x y z", "x y")), Seq2SeqExample("b", ("y",))])
    found = score_answers(one, data, ["x  y", "x"])
    assert found["exact"] == 50
    assert found["examples"] == 2
    assert found["edit_rate"] == pytest.approx(100 / 3)
    with torch.no_grad():
        costs = [nll(one.net, one.collate([row]))[0] for row in data.rows]
    assert found["nats_per_token"] == pytest.approx(torch.cat(costs).mean().item())
    keys = {"bleu", "chrf", "exact", "edit_rate", "nats_per_token", "examples"}
    assert set(one.evaluate_dataset(data)) == set(one.validate(data)) == keys
