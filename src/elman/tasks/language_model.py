"""Language models: how likely is a text, and what comes next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import exp, inf, log
from pathlib import Path
from typing import Any, Literal

import torch

from elman.errors import ModelError
from elman.layers.embedding import Pretrained
from elman.layers.replayed import WINDOW, pays
from elman.shapes import Tensor
from elman.tasks.language.cache import Cache
from elman.tasks.language.data import Data, Encoded, encoded, in_newlines, learned
from elman.tasks.language.dynamic import Dynamic
from elman.tasks.language.model import Model
from elman.tasks.language.network import Network
from elman.tasks.language.text import Text, read
from elman.tasks.language.truncated import Batch, Truncated
from elman.tasks.settings import Tokens
from elman.tasks.writing.costs import Costs
from elman.tasks.writing.predictor import reading
from elman.tasks.writing.verbs import Verbs
from elman.text import codec as codecs
from elman.text.codec import Codec
from elman.text.streams import Streams, Window
from elman.text.vectors import read_vectors
from elman.text.vocab import EOS

__all__ = [
    "Adapted",
    "Batch",
    "Data",
    "Encoded",
    "LanguageModel",
    "Model",
    "Network",
    "Text",
    "read",
]


@dataclass(frozen=True)
class Adapted:
    """Ways to adapt to a text while it is read."""

    cache: Cache = field(default_factory=Cache)
    dynamic: Dynamic = field(default_factory=Dynamic)


class LanguageModel(Verbs):
    """The probability of texts. Make one with ``fresh``, or load one from a model folder.

    A line ends in `</s>`; among characters and bytes it ends in a newline, a token like others. What ends a
    line also stands before the first token of a text (``end``): there it was seen in training, while `<s>`, and
    among characters `</s>`, never was. So p(text) = p(w_1 … w_n end | end).
    """

    metric = "perplexity"
    best: Literal["max", "min"] = "min"
    unit = "tokens"
    batches_an_epoch = 100

    def __init__(self, model: Model, codec: Codec, vectors: Pretrained | None = None) -> None:
        self.model, self.codec = model, codec
        self.net = Network(model, len(codec.items), vectors)
        self.truncated = Truncated(self.net, model)

    @classmethod
    def fresh(cls, model: Model, tokens: Tokens, examples: Text | Iterable[str]) -> LanguageModel:
        """An untrained model that knows the tokens of a text, or of some lines."""
        codec = examples.learn(tokens) if isinstance(examples, Text) else learned(examples, tokens)
        if not model.vectors:
            return cls(model, codec)
        found = read_vectors(model.vectors, codec.items)
        matrix, known = torch.from_numpy(found.matrix), torch.from_numpy(found.found)
        trained = torch.full_like(known, not model.frozen)
        return cls(model, codec, Pretrained(matrix, known, trained))

    @classmethod
    def restore(cls, model: Model, folder: Path, weights: Mapping[str, Tensor]) -> LanguageModel:
        """The model whose vocabulary is in the folder, sized by these weights."""
        codec = codecs.load(folder)
        if not model.vectors:
            return cls(model, codec)
        if model.frozen:
            own, given, trained = (weights[f"embed.{n}"] for n in ("own", "given", "trained"))
            return cls(model, codec, Pretrained.like(own, given, trained))
        nothing = torch.zeros(len(codec.items), dtype=torch.bool)
        matrix = torch.zeros_like(weights["embed.E.weight"])
        return cls(model, codec, Pretrained(matrix, nothing, ~nothing))

    def adopt(self, folder: Path) -> None:
        """Take the vocabulary that was stored, if it is of the same data."""
        stored = codecs.load(folder)
        if len(stored.items) != len(self.codec.items):
            raise ModelError(f"{folder} was trained on other data: its vocabulary differs")
        self.codec = stored

    def store(self, folder: Path) -> None:
        """Write what is not weights: the vocabulary."""
        for name in ("vocab.json", "tokenizer.json"):  # of an earlier model
            (folder / name).unlink(missing_ok=True)
        self.codec.save(folder)

    @property
    def end(self) -> int:
        """The token that ends a line, and stands before the first one."""
        return self.codec.encode("\n")[0] if in_newlines(self.codec) else EOS

    def encode(self, examples: Text | Iterable[str]) -> Encoded:
        """A text, or some lines, as numbers."""
        if isinstance(examples, Text):
            return examples.encode(self.codec)
        return encoded(examples, self.codec)

    def knows(self, example: Any) -> bool:
        """Any text can be judged."""
        return True

    def learn_from(self, data: Encoded) -> None:
        """The loss needs to know nothing of all data."""

    def loss(self, batch: Batch, progress: float) -> Tensor:
        """The loss of a window by itself; in training ``truncated`` carries the state over."""
        return self.truncated(batch, progress, self.truncated.begin(batch))[0]

    def weight(self, batch: Batch) -> float:
        """Tokens that count."""
        return batch.weight

    def batch(self, window: Window) -> Batch:
        """A window of streams where the network is."""
        device = next(self.net.parameters()).device
        ids, targets, mask = (
            torch.from_numpy(part).to(device, non_blocking=True) for part in window
        )
        return Batch(ids, targets, mask, float(window.mask.sum()))

    def judge(self, data: Encoded) -> dict[str, float]:
        return self.evaluate(data)

    def evaluate(
        self, data: Encoded, *, cache: Cache | None = None, dynamic: Dynamic | None = None
    ) -> dict[str, float]:
        """What a text costs, read from its beginning to its end in as many streams as ``data.rows``."""
        total = self.nats(data, cache=cache, dynamic=dynamic)
        mean = total / len(data)
        scores = {
            "perplexity": exp(mean) if mean < 700 else inf,
            "nats_per_token": mean,
            "bits_per_token": mean / log(2),
        }
        if data.characters is not None:
            scores["bits_per_character"] = total / log(2) / data.characters
        return {**scores, "tokens": len(data)}

    def nats(
        self,
        data: Encoded,
        *,
        cache: Cache | None = None,
        dynamic: Dynamic | None = None,
        window: int = 4096,
    ) -> float:
        """-log p of a text, the state carried from each window of so many tokens to the next."""
        window = min(window, 1024) if cache else window  # the cache compares each token with each
        replayed = not dynamic and pays(self.net, len(data) // data.rows)
        most = min(WINDOW, window // data.rows) if replayed else window // data.rows
        steps = dynamic.steps if dynamic else _even(data, max(1, most))
        total = 0.0
        with reading(self):
            costs = Costs(self.net, data.rows, cache=cache, dynamic=dynamic, replayed=replayed)
            for batch in map(self.batch, Streams(data.ids, data.rows, steps, first=self.end)()):
                nats = costs(batch.ids, batch.targets, batch.mask)
                total += float(nats.double()[batch.mask].sum())
        return total

    def perplexity(self, lines: Iterable[str]) -> float:
        """exp of what a token costs on average, ends of lines included."""
        return self.evaluate(self.encode(lines))["perplexity"]

    def described(self) -> tuple[str, str, list[str]]:
        """For the model card."""
        m = self.model
        sizes = "-".join(map(str, m.widths))
        cell = f"{m.cell} after {m.rounds} rounds of gating" if m.rounds else m.cell
        about = [
            f"tokens: {len(self.codec.items):,}, {self.net.embed.output_size} features each",
            f"network: {cell}, layers of {sizes} units, {'tied ' * m.tied}{m.softmax} softmax"
            + f", {m.mixtures} of them mixed" * (m.mixtures > 1),
        ]
        return "A language model", 'perplexity(["some text"])', about


def _even(data: Encoded, most: int) -> int:
    """The length of windows of at most so many steps, as like in length as can be: the last is filled up."""
    longest = -(-len(data) // data.rows)
    return -(-longest // -(-longest // most))
