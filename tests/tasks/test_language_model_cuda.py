"""A language model as CUDA graphs: its update, with the state carried from replay to replay, and reading."""

from dataclasses import replace

import pytest
import torch

from elman.generation import Cache
from elman.layers import graph_replay
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import LanguageModel, LanguageModelConfig, LanguageModelDataConfig
from elman.training.events import Checkpoint, Update
from elman.training.snapshot import Snapshot
from elman.training.training_config import TrainingConfig
from elman.training.training_loop import fit

pytestmark = pytest.mark.gpu

LINES = [f"the {a} cat sat on the {b} mat" for a in "abcdef" for b in "ghijkl"] * 4
MODEL = LanguageModelConfig(
    hidden=32, embedding=16, last_hidden=16, dropout=0.0, activation_penalty=1.0, temporal_penalty=1.0
)


def trained(
    model: LanguageModelConfig, stop: int = 0, resume: Snapshot | None = None, **settings: object
) -> tuple[list[float], Snapshot | None]:
    torch.manual_seed(0)
    lm = LanguageModel.from_examples(model, TokenizerConfig(), LINES)
    lm.net.to("cuda")
    batches = lm.build_batches(
        lm.encode(LINES), LanguageModelDataConfig(streams=6, bptt=9, random_start=True), 0
    )
    how = TrainingConfig(epochs=3, lr=0.01, grad_clip=0.25, **settings)
    losses = []
    for event in fit(lm.net, batches, lm.bptt_loss, how, resume=resume):
        if isinstance(event, Update):
            losses.append(event.loss)
        if isinstance(event, Checkpoint) and event.number == stop:
            return losses, event.snapshot()
    return losses, None


def test_replays_carry_the_state_as_eager_updates_do() -> None:
    eager, _ = trained(MODEL)
    replays, _ = trained(MODEL, cuda_graph=True)
    assert replays == pytest.approx(eager, rel=1e-3)


@pytest.mark.parametrize(
    "options",
    [{"mixtures": 3}, {"mogrifier_rounds": 2, "mogrifier_rank": 4}, {"mogrifier_rounds": 3, "layers": 3}],
    ids=str,
)
def test_mixtures_and_mogrifiers_are_replayed_too(options: dict[str, int]) -> None:
    model = replace(MODEL, **options)
    eager, _ = trained(model)
    replays, _ = trained(model, cuda_graph=True)
    assert replays == pytest.approx(eager, rel=1e-3)
    half, _ = trained(model, cuda_graph=True, precision="float16")
    assert half == pytest.approx(eager, rel=0.03)


def test_float16_replays_are_near_float32() -> None:
    eager, _ = trained(MODEL)
    half, _ = trained(MODEL, cuda_graph=True, precision="float16")
    assert half == pytest.approx(eager, rel=0.03)


def test_a_resumed_graph_goes_on_with_the_carried_state() -> None:
    whole, _ = trained(MODEL, cuda_graph=True)
    begun, snapshot = trained(MODEL, 17, cuda_graph=True)
    rest, _ = trained(MODEL, resume=snapshot, cuda_graph=True)
    assert begun + rest == pytest.approx(whole, rel=1e-3)


def test_each_replay_drops_other_weights() -> None:
    model = replace(MODEL, weight_drop=0.5, word_dropout=0.2, dropout=0.3)
    losses, _ = trained(model, cuda_graph=True, precision="float16")
    eager, _ = trained(model, precision="float16")
    assert losses[-1] < losses[0]
    assert losses == pytest.approx(eager, rel=0.1)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("cache", [None, Cache(window=20)], ids=["plain", "cache"])
def test_a_text_read_by_replays_costs_the_same(
    rows: int, cache: Cache | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_replay, "_WORTH", 1)
    torch.manual_seed(0)
    lm = LanguageModel.from_examples(replace(MODEL, mogrifier_rounds=2, layers=2), TokenizerConfig(), LINES)
    data = replace(lm.encode(LINES), rows=rows)
    read = lm.nll(data, cache=cache)
    lm.net.to("cuda")
    assert graph_replay.worthwhile(lm.net, len(data))
    assert lm.nll(data, cache=cache, window=48) == pytest.approx(read, rel=1e-5)
