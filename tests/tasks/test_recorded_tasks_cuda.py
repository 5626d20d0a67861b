"""Language models, translators and taggers whose steps are recorded write what they write step by step."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
import torch

from elman.decoding import AtTokens, Greedy, Sample, rollout
from elman.decoding.interfaces import FixedStep
from elman.objectives.sample_sequences import draw_samples
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.config import LanguageModelConfig
from elman.tasks.language_model.network import LanguageModelNetwork
from elman.tasks.seq2seq.config import ATTENDING
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig, Seq2SeqExample, TokenizerPairConfig

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
@pytest.mark.parametrize("rows", [1, 3, 70])
def test_a_recorded_language_model_writes_what_it_writes_step_by_step(cell: str, rows: int) -> None:
    torch.manual_seed(0)
    config = LanguageModelConfig(cell=cell, embedding=30, hidden=50, layers=2)
    net = LanguageModelNetwork(config, 300).cuda().eval()
    fixed = net.fixed_step()
    assert isinstance(fixed, FixedStep)
    start = torch.arange(rows, device="cuda") + 8  # token 0 is padding, after which all are alike
    limits: Any = {"start": start, "stop": AtTokens((7,)), "limit": 40}
    for policy in (lambda: Greedy(), lambda: Sample(generator=torch.Generator().manual_seed(1))):
        with torch.no_grad():
            expected = rollout(net.step, net.begin(rows), policy(), **limits)
            found = rollout(fixed, net.begin(rows), policy(), **limits)
        assert found.tokens.equal(expected.tokens)
        torch.testing.assert_close(found.log_probs, expected.log_probs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("decoder", ATTENDING)
@pytest.mark.parametrize("copying", [False, True])
def test_a_recorded_translator_draws_what_it_draws_step_by_step(
    decoder: str, copying: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    pairs = [Seq2SeqExample(a, (a[::-1],)) for a in ("a b c", "b", "c a b c a", "a a")]
    tokens = TokenizerPairConfig(TokenizerConfig(kind="whitespace"), TokenizerConfig(kind="whitespace"))
    sizes: Any = {"hidden": 16, "embedding": 8, "copying": copying, "label_smoothing": 0.0}
    model = Seq2SeqConfig(decoder=decoder, **sizes)  # type: ignore[arg-type]
    task = Seq2Seq.from_examples(model, tokens, pairs)
    task.net.cuda()
    view: Any = task.sequence_model()
    batch = view.collate(task.encode(pairs))
    torch.manual_seed(1)
    found = draw_samples(view, batch, 3, True)
    rollouts = import_module("elman.decoding.rollout")  # the package has a function of this name
    monkeypatch.setattr(rollouts, "find_recording", lambda *_, **__: "not now")
    torch.manual_seed(1)
    expected = draw_samples(view, batch, 3, True)
    assert found.samples.tokens.equal(expected.samples.tokens)
    assert found.greedy is not None
    assert expected.greedy is not None
    assert found.greedy.tokens.equal(expected.greedy.tokens)
