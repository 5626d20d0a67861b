"""Every task as objectives see it: one pass, one step after the other, and mixtures say the same."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import one_hot

from elman.decoding import Sample, TeacherForcing, rollout, unroll
from elman.decoding.sequence_model import SequenceModel
from elman.errors import ConfigError
from elman.objectives import ScheduledSamplingLoss, draw_samples
from elman.objectives.scheduled_sampling import feed_argmax
from elman.pipeline.recipe import build, train_target
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model import task as language_model
from elman.tasks.language_model.sequence import StatefulBatch
from elman.tasks.seq2seq import task as seq2seq
from elman.tasks.tagger import task as tagger
from elman.text.batching import BPTTWindows
from tests.tasks.names import TINY, examples

WORDS = seq2seq.TokenizerPairConfig(TokenizerConfig("whitespace"), TokenizerConfig("whitespace"))
PAIRS = [
    seq2seq.Seq2SeqExample("a b c d", ("d c b a",)),
    seq2seq.Seq2SeqExample("b d", ("d b",)),
    seq2seq.Seq2SeqExample("q a", ("a q",)),
]
SMALL = {"hidden": 6, "embedding": 6, "dropout": 0.0}


def answers(**options: Any) -> tuple[Any, Any]:
    model = seq2seq.Seq2SeqConfig(**SMALL | options)
    task = seq2seq.Seq2Seq.from_examples(model, WORDS, PAIRS[:2] if model.copying else PAIRS)
    view = task.sequence_model()
    return view, view.collate(task.encode(PAIRS))


def continuations(**options: Any) -> tuple[Any, Any]:
    lines = ["once upon a time", "the tide was up , the end", "a king"]
    model = language_model.LanguageModelConfig(**SMALL | options)
    task = language_model.LanguageModel.from_examples(model, TokenizerConfig(), lines)
    ids = task.encode(lines).ids
    window = next(iter(BPTTWindows(ids, 3, 4, first=task.end)()))
    batch = task.collate(window)
    state = task.net.begin(3)
    return task.sequence_model(), StatefulBatch(batch, task.net.read(state, batch.ids.flip(1))[0])


def fed_back(**options: Any) -> tuple[Any, Any]:
    some = examples(5)
    task = tagger.Tagger.from_examples(
        tagger.TaggerConfig(**TINY, output="autoregressive", **options), TokenizerConfig(), some
    )
    return task.sequence_model(), task.encode(some)


VIEWS = {
    "pairs": lambda: answers(),
    "pairs, input-feeding": lambda: answers(decoder="input-feeding", cell="gru"),
    "pairs, plain": lambda: answers(decoder="plain", decoder_init="copied", bidirectional=False),
    "pairs, copying": lambda: answers(copying=True, label_smoothing=0.0),
    "text": lambda: continuations(),
    "text, adaptive": lambda: continuations(softmax="adaptive", tied=False, cutoffs=(5,)),
    "tags": lambda: fed_back(),
}


@pytest.fixture(params=VIEWS.values(), ids=VIEWS)
def case(request):
    torch.manual_seed(0)
    view, batch = request.param()
    for weight in view.net.parameters():
        nn.init.normal_(weight, std=0.7)
    view.net.double().eval()
    if isinstance(batch, StatefulBatch):
        batch = batch._replace(state=tuple(_doubled(s) for s in batch.state))
    return view, batch


def _doubled(state: Any) -> Any:
    from elman.state import map_state

    return map_state(lambda t: t.detach().double(), state)


def test_it_is_generative(case):
    assert isinstance(case[0], SequenceModel)


def test_what_was_drawn_is_scored_in_one_pass_as_it_was_drawn(case):
    view, batch = case
    begun = view.begin(batch, 3)
    sample = Sample(generator=torch.Generator().manual_seed(0))
    run = rollout(begun.step, begun.state, sample, start=begun.start, stop=begun.stop, limit=begun.limit)
    given = view.targets(batch)._replace(tokens=run.tokens, mask=run.mask)
    scored = view.score(batch, given, 3)
    torch.testing.assert_close(
        scored.log_probs[run.mask], run.log_probs[run.mask], check_dtype=False, rtol=1e-5, atol=1e-6
    )
    assert not scored.log_probs[~run.mask].any()
    hs = view.states(batch, given, 3)
    torch.testing.assert_close(hs[run.mask], scored.hs[run.mask])
    assert hs.shape[-1] == view.features


def test_rows_of_an_example_follow_each_other(case):
    view, batch = case
    gold = view.targets(batch)
    twice = gold._replace(tokens=gold.tokens.repeat_interleave(2, 0), mask=gold.mask.repeat_interleave(2, 0))
    once, both = view.score(batch, gold).log_probs, view.score(batch, twice, 2).log_probs
    torch.testing.assert_close(both, once.repeat_interleave(2, 0))


def test_the_likelihood_is_that_of_gold(case):
    view, batch = case
    gold = view.targets(batch)
    begun = view.begin(batch)
    turns = unroll(
        begun.step,
        begun.state,
        TeacherForcing(gold.tokens),
        start=begun.start,
        stop=begun.stop,
        limit=gold.tokens.shape[1],
    )
    logits = torch.stack([turn.logits for turn in turns], 1)
    found = view.criterion(logits, gold)
    torch.testing.assert_close(found, view.likelihood(batch), check_dtype=False, rtol=1e-5, atol=1e-6)


def test_a_mixture_of_one_token_is_that_token(case):
    view, batch = case
    begun = view.begin(batch)
    state, logits = begun.step(begun.state, begun.start)
    token = view.targets(batch).tokens[:, 0]
    sure = one_hot(token, logits.shape[1]).double()
    _, hard = begun.step(state, token)
    _, soft = begun.blend(state, torch.full_like(token, -1), sure)
    _, given = begun.blend(state, token, torch.rand_like(sure))
    torch.testing.assert_close(soft, hard)
    torch.testing.assert_close(given, hard)


def test_the_loss_of_a_step_by_step_run_has_the_gradient_of_the_likelihood(case):
    """With all of gold fed back: scheduled sampling before it samples."""
    view, batch = case
    weights = [w for w in view.net.parameters() if w.requires_grad]
    stepped = ScheduledSamplingLoss(lambda x: 1 - 1e-12, feed_argmax)(view, batch, 0.0)
    for one, other in zip(
        torch.autograd.grad(stepped, weights, allow_unused=True),
        torch.autograd.grad(view.likelihood(batch), weights, allow_unused=True),
        strict=True,
    ):
        if one is not None and other is not None:
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
        else:
            assert one is None or not one.any()
            assert other is None or not other.any()


def test_in_training_every_copy_has_dice_of_its_own():
    torch.manual_seed(0)
    view, batch = answers(hidden=32, dropout=0.5)
    view.net.train()
    gold = view.targets(batch)
    given = gold._replace(tokens=gold.tokens.repeat_interleave(4, 0), mask=gold.mask.repeat_interleave(4, 0))
    scores = view.score(batch, given, 4).log_probs.sum(1).view(-1, 4)
    assert (scores.std(1) > 0).all()


def test_text_goes_on_from_the_state_of_its_window():
    view, window = continuations()
    view.net.eval()
    other = window._replace(state=view.net.begin(3))
    gold = view.targets(window)
    a, b = (view.score(w, gold).log_probs for w in (window, other))
    assert not torch.allclose(a, b)
    after = view.following(window)
    _, hs = view.net.read(window.state, window.batch.ids)
    torch.testing.assert_close(after[-1].h, hs[:, -1])


def test_a_last_window_that_no_row_fills_costs_what_its_tokens_do():
    view, window = continuations()
    batch = window.batch
    short = replace(batch, mask=batch.mask & (torch.arange(batch.mask.shape[1]) < 2))
    part = StatefulBatch(short, window.state)
    forced = ScheduledSamplingLoss(lambda progress: 0.999999, feed_argmax)
    torch.testing.assert_close(forced(view, part, 0.0), view.likelihood(part))


def test_pieces_of_words_are_compared_as_words():
    lines = ["the dog saw the cat", "a cat saw a dog"]
    pairs = [seq2seq.Seq2SeqExample(line, (line,)) for line in lines]
    bpe = TokenizerConfig("bpe", size=262)
    task = seq2seq.Seq2Seq.from_examples(
        seq2seq.Seq2SeqConfig(**SMALL, bleu="none"), seq2seq.TokenizerPairConfig(bpe, bpe), pairs
    )
    rows = [row.target for row in task.encode(pairs).rows]
    assert max(map(len, rows)) > 6
    assert task.sequence_model().words(rows) == [line.split() for line in lines]


def test_a_tagger_that_does_not_write_is_refused():
    some = examples(5)
    task = tagger.Tagger.from_examples(tagger.TaggerConfig(**TINY, output="crf"), TokenizerConfig(), some)
    recipe = build({"task": "tagger", "objective": {"kind": "risk"}})
    with pytest.raises(ConfigError, match=r"model\.output 'autoregressive'"):
        train_target(recipe, task)


def test_samples_end_at_the_end_or_at_one_and_a_half_gold_lengths():
    torch.manual_seed(0)
    view, batch = answers()
    mask = draw_samples(view, batch, 20).samples.mask
    most = (batch.target_mask.sum(1) * 3 // 2 + 5).repeat_interleave(20)
    assert (mask.sum(1) <= most).all()
    assert np.unique(mask.sum(1)).size > 1


def test_words_are_dropped_while_a_model_writes_in_training_and_only_then():
    """With all of them dropped, the next word no longer depends on the one before."""
    view, batch = continuations(word_dropout=0.9999)
    for training in (True, False):
        view.net.train(training)
        start = view.begin(batch)
        one, other = (start.step(start.state, torch.full((3,), token))[1] for token in (4, 5))
        assert torch.equal(one, other) is training
