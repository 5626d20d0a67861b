"""Sizes are known before anything is allocated: of weights exactly, of a batch within a factor of two."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import elman
from elman import free_memory
from elman.errors import ConfigError
from elman.layers.attention import Additive, Attention, Dot
from elman.layers.embedding import Embedding, Pretrained
from elman.tasks import building_limit
from elman.tasks.building_limit import BuildingLimit
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.config import LanguageModelConfig
from elman.tasks.language_model.network import LanguageModelNetwork
from elman.tasks.network_memory import estimate_activations
from elman.tasks.seq2seq.config import Seq2SeqConfig
from elman.tasks.seq2seq.network import Seq2SeqNetwork

LM, SEQ2SEQ = LanguageModelConfig, Seq2SeqConfig
VECTORS = Pretrained(torch.randn(50, 8), torch.arange(50) % 2 == 0, torch.ones(50, dtype=torch.bool))
NETWORKS = {
    "lm": lambda: LanguageModelNetwork(LM(), 50),
    "lm with vectors": lambda: LanguageModelNetwork(LM(vectors="x"), 50, VECTORS),
    "lm with frozen vectors": lambda: LanguageModelNetwork(
        LM(vectors="x", freeze_vectors=True, tied=False), 50, VECTORS
    ),
    "mogrifier": lambda: LanguageModelNetwork(
        LM(mogrifier_rounds=3, cell="gru", weight_drop=0.1, zoneout=0.1), 50
    ),
    "adaptive": lambda: LanguageModelNetwork(LM(softmax="adaptive", tied=False), 50),
    "mixtures": lambda: LanguageModelNetwork(LM(mixtures=3), 50),
    "seq2seq": lambda: Seq2SeqNetwork(SEQ2SEQ(), (50, 60)),
    "seq2seq with vectors": lambda: Seq2SeqNetwork(SEQ2SEQ(), (50, 60), VECTORS),
    "convolutional": lambda: Seq2SeqNetwork(SEQ2SEQ(encoder="convolutional", score="additive"), (50, 60)),
    "transformer": lambda: Seq2SeqNetwork(SEQ2SEQ(encoder="transformer"), (50, 60)),
}


def test_weights_that_do_not_fit_are_refused_before_they_are_allocated() -> None:
    with pytest.raises(ConfigError, match=r"^the weights of the model would need about .* TB, but .* are free"):
        elman.LanguageModel.from_examples(LM(hidden=1_000_000), TokenizerConfig(), ["a b c"])


@pytest.mark.parametrize("name", NETWORKS)
def test_building_asks_for_every_weight_and_changes_none(name: str) -> None:
    asked: list[int] = []
    torch.manual_seed(0)
    with BuildingLimit(lambda tensors, elements: asked.append(elements)):
        counted = NETWORKS[name]().state_dict()
    torch.manual_seed(0)
    plain = NETWORKS[name]().state_dict()
    assert all(torch.equal(counted[key], plain[key]) for key in plain)
    assert asked[-1] >= sum(p.numel() for p in NETWORKS[name]().parameters() if p.shape != VECTORS.matrix.shape)


def test_a_matrix_is_counted_by_what_it_reads_and_gives_an_embedding_by_its_rows() -> None:
    assert estimate_activations(nn.Linear(3, 5), 7, 1) == 4 * 7 * (3 + 5)
    assert estimate_activations(Embedding(1000, 6), 7, 1) == 4 * 7 * 6


def test_of_a_wide_layer_no_more_than_a_chunk_is_counted() -> None:
    """A vocabulary gives its outputs in chunks: beyond 2^14 its size costs nothing."""
    wide, wider = (nn.Linear(3, size, device="meta") for size in (2**14, 10**6))
    assert estimate_activations(wide, 7, 1) == estimate_activations(wider, 7, 1) == 4 * 7 * (3 + 2**14)


def test_attention_is_counted_by_pairs_of_positions() -> None:
    assert estimate_activations(Attention(Dot(4, 4)), 7, 11) == 4 * 7 * 11 * 4
    one, other = (estimate_activations(Additive(4, 4, 9), 1, longest) for longest in (1, 2))
    assert other - one == 4 * 9


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_within_the_limit_of_its_own_weights(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = NETWORKS[name]().state_dict()
    monkeypatch.setattr(building_limit, "_ELEMENTS", 0)
    with building_limit.limit_to_weights(weights):
        assert NETWORKS[name]().state_dict().keys() == weights.keys()
    few = {key: weight for key, weight in weights.items() if weight.numel() < 100}
    with pytest.raises(ConfigError, match="larger than its weights"), building_limit.limit_to_weights(few):
        NETWORKS[name]()


def kept_bytes(module: nn.Module, *inputs: torch.Tensor) -> int:
    """What autograd keeps of a forward pass, the weights left out."""
    weights = {p.untyped_storage().data_ptr() for p in module.parameters()}
    kept: dict[int, int] = {}

    def remember(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        held.append(tensor)
        return tensor

    held: list[torch.Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(remember, lambda tensor: tensor):
        out = module(*inputs)
    held.append(out)
    return sum(kept.values())


@pytest.mark.parametrize("options", [{}, {"hidden": 100, "layers": 3}, {"embedding": 20}])
@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
def test_the_estimate_is_within_a_factor_of_two_of_what_autograd_keeps(cell: str, options: Any) -> None:
    net = LanguageModelNetwork(LM(cell=cell, **options), 50)
    ratio = estimate_activations(net, 4 * 25, 25) / kept_bytes(net, torch.randint(50, (4, 25)))
    assert 0.5 <= ratio <= 2


def test_training_that_does_not_fit_is_refused_before_its_first_update(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("good text", "pos"), ("bad text", "neg")] * 50
    monkeypatch.setattr(free_memory, "free_memory", lambda device: 1_000_000.0)
    said = (
        r"^training \(.* for the weights, .* for \d+,?\d* tokens\) would need about .* MB, but 1\.0 MB are free"
    )
    with pytest.raises(ConfigError, match=said):
        elman.Classifier.train(rows, epochs=1)


@pytest.mark.parametrize(("option", "remedy"), [({}, "model.hidden"), ({"batch": 10**6}, "data.batch_tokens")])
def test_the_remedy_is_the_option_that_takes_most(
    option: dict[str, Any], remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [("good text", "pos"), ("bad text", "neg")] * 500
    monkeypatch.setattr(free_memory, "free_memory", lambda device: 1_000_000.0)
    with pytest.raises(ConfigError, match=rf": take a smaller {remedy}"):
        elman.Classifier.train(rows, epochs=1, **option)


def test_as_many_tensors_are_made_as_a_network_of_the_weights_may_take() -> None:
    weights = {"a": torch.zeros(3), "b": torch.zeros(2)}
    for most in (0, 1):
        with building_limit.limit_to_weights(weights):
            for _ in range(100 + 2 * 10):
                torch.zeros(1)
            if most:
                with pytest.raises(ConfigError, match="larger than its weights"):
                    torch.zeros(1)
    for elements in (1_000_000 + 4 * 5, 1_000_000 + 4 * 5 + 1):
        with building_limit.limit_to_weights(weights):
            if elements % 2:
                with pytest.raises(ConfigError, match="larger than its weights"):
                    torch.zeros(elements)
            else:
                torch.zeros((2, elements // 2), dtype=torch.bool)
