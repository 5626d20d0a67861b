"""The encoder of a task, trained as a language model of texts that have no labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np
import torch

from elman.errors import DataError
from elman.layers.encoder_lm import EncoderLM
from elman.ranges import NonNegativeInt, PositiveFloat, PositiveInt, Rate, check_ranges
from elman.shapes import Tensor
from elman.state import eval_mode
from elman.tasks.cooccurrence import write_word_vectors
from elman.tasks.word_batch import WordForms, WordRow, collate
from elman.tasks.word_features import WordFeaturizer
from elman.text.batching import BucketBatches, length_sorted_chunks

_PIECE = 128  # tokens; longer texts are read in pieces
_EVERY, _MOST = 20, 500  # every so many-th piece is kept to judge by, up to so many


@dataclass(frozen=True)
class PretrainingConfig:
    """How unlabelled text (``data.unlabelled``) gives the encoder its first weights."""

    epochs: NonNegativeInt = 0  # of that text and the training texts; 0: the fewer, the more text there is
    lr: PositiveFloat = 5e-3
    batch_tokens: PositiveInt = 1024  # padding included
    min_count: PositiveInt = 2  # rarer words of that text, which the training texts lack, are unknown
    share: Rate = 0.5  # of training.minutes, if there is such a limit
    vectors: bool = False  # its embedding begins with vectors by the words that stand near each

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True)
class TextRows:
    """Texts as numbers of words."""

    rows: list[WordRow]
    forms: WordForms

    @property
    def lengths(self) -> list[int]:
        return [len(row) for row in self.rows]

    def pick(self, index: Iterable[int]) -> TextRows:
        return TextRows([self.rows[i] for i in index], self.forms)

    def __len__(self) -> int:
        return len(self.rows)


class EncoderPretraining:
    """What ``fit`` needs to train an encoder on texts: a net, its batches, its loss and what judges it.

    The net shares its layers with the network of the task.
    """

    unit = "texts"
    metric = "perplexity"

    def __init__(self, featurizer: WordFeaturizer, network: Any, texts: Iterable[str]) -> None:
        rows, forms = featurizer.texts(texts)
        pieces = [row[i : i + _PIECE] for row in rows for i in range(0, len(row), _PIECE)]
        pieces = [piece for piece in pieces if len(piece) > 1]
        if not pieces:
            raise DataError("the unlabelled text has no line of two words or more")
        held = pieces[:: max(_EVERY, len(pieces) // _MOST)] if len(pieces) >= _EVERY else []
        kept = {id(piece) for piece in held}
        self.held = TextRows(held, forms)
        self.texts = TextRows([piece for piece in pieces if id(piece) not in kept], forms)
        ids = torch.from_numpy(forms.ids[np.concatenate(self.texts.rows)])
        counts = torch.bincount(ids, minlength=len(featurizer.tokenizer.items))
        self.net = EncoderLM(network.words, network.drop, network.encode, counts)
        self.net.to(next(network.parameters()).device)

    def start_with_vectors(self) -> None:
        """Let the embedding begin with vectors by the words that stand near each in the texts."""
        forms = self.texts.forms
        write_word_vectors(self.net.words.embed[0], [forms.ids[row] for row in self.texts.rows])

    @property
    def tokens(self) -> int:
        return sum(self.texts.lengths)

    def build_batches(self, tokens: int, seed: int) -> BucketBatches[TextRows]:
        return BucketBatches(self.texts, tokens, seed, lambda batch: float(sum(batch.lengths) - len(batch)))

    def loss(self, batch: TextRows, progress: float) -> Tensor:
        return self.net.loss(collate(batch.rows, batch.forms).to(self.net.b.device))

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """The perplexity of the texts that are kept, the mean of both directions."""
        total, count = 0.0, 0
        with eval_mode(self.net) as net:
            for some in length_sorted_chunks(self.held.lengths, max_rows=64):
                batch = self.held.pick(some)
                costs = net.nll(collate(batch.rows, batch.forms).to(net.b.device)).double()
                total, count = total + float(costs.sum()), count + len(costs)
        return {"perplexity": exp(total / count)}
