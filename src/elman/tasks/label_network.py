"""What networks that decide on labels have in common, and their options."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import nn

from elman.layers.word_layer import WordBatch, WordLayer
from elman.ranges import OptionalSize, Rate
from elman.shapes import Bool, Float, Tensor
from elman.tasks.word_batch import WordFeaturesConfig

Metric = Literal["auto", "accuracy", "macro_f1", "micro_f1", "exact"]


@dataclass(frozen=True)
class LabelConfig(WordFeaturesConfig):
    """The network: embed, encode, pool, decide."""

    pool: Literal["last", "ends", "mean", "max", "mean+max", "attention"] = "max"
    mlp: OptionalSize = 0  # units of a layer before the decision; 0: none
    label_smoothing: Rate = 0.0  # share of the probability that is spread over all labels
    class_weights: bool = False  # rare labels count as much as frequent ones
    adversarial: Rate = 0.0  # words moved for the worst by this share of their length are trained on, too
    metric: Metric = "auto"  # chooses the best weights; auto: accuracy, of several labels a text micro_f1
    calibrate: bool = True  # choose temperature and thresholds on the validation data

    changeable: ClassVar[frozenset[str]] = WordFeaturesConfig.changeable | {
        "metric",
        "calibrate",
        "label_smoothing",
        "class_weights",
        "adversarial",
    }


class LabelNetwork(nn.Module):
    """Logits of all labels for each example of a batch."""

    words: WordLayer

    def forward(self, words: WordBatch) -> Float[Tensor, "B Y"]:
        return self.logits(self.words(words), words.mask)

    @abstractmethod
    def logits(self, xs: Float[Tensor, "N T D"], mask: Bool[Tensor, "N T"]) -> Float[Tensor, "B Y"]:
        """Logits from what is known of each word; N is B for each text that an example has."""


def build_decision(config: LabelConfig, size: int, labels: int) -> nn.Sequential:
    """A linear layer to the labels, where ``mlp`` says so with another one before it."""
    hidden: list[nn.Module] = []
    if config.mlp:
        hidden = [nn.Linear(size, config.mlp), nn.ReLU(), nn.Dropout(config.dropout)]
    return nn.Sequential(*hidden, nn.Linear(config.mlp or size, labels))
