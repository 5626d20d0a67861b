"""Sequence to sequence on a GPU: every decoder trains there and writes what it writes on the CPU."""

from __future__ import annotations

import pytest
import torch

from elman.tasks.config import TokenizerConfig
from elman.tasks.seq2seq.config import ATTENDING
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig, Seq2SeqExample, TokenizerPairConfig

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("decoder", ["plain", "context", *ATTENDING])
def test_a_gpu_computes_the_loss_and_the_answers_of_the_cpu(decoder: str) -> None:
    torch.manual_seed(0)
    pairs = [Seq2SeqExample(a, (a[::-1],)) for a in ("a b c", "b", "c a b c a", "a a")]
    tokens = TokenizerPairConfig(TokenizerConfig(kind="whitespace"), TokenizerConfig(kind="whitespace"))
    model = Seq2SeqConfig(decoder=decoder, hidden=16, embedding=8, dropout=0.0)  # type: ignore[arg-type]
    task = Seq2Seq.from_examples(model, tokens, pairs)
    data = task.encode(pairs)
    expected, answers = task.loss(data, 0.0), task.translate(["a b", "c c c"], beam=3)
    task.net.cuda()
    task.net.train()
    loss = task.loss(data, 0.0)
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in task.net.parameters())
    torch.testing.assert_close(loss.cpu(), expected, rtol=1e-4, atol=1e-4)
    assert task.translate(["a b", "c c c"], beam=3) == answers
