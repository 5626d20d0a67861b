"""Tiny language models with random weights, in float64: everything can be counted out by hand."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from elman.layers.softmax import Softmax
from elman.state import State
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model import LanguageModel, LanguageModelConfig
from elman.text.tokenizer import Tokenizer, build_tokenizer
from elman.text.vocab import EOS

LINES = ["Once upon a time", "once up a tide", "the upper tide , the end", "don't go on"]
KINDS = ("words", "whitespace", "chars", "bytes", "bpe", "unigram")


class Net(nn.Module):
    """h' = tanh(h / 2 + E[token]), written without Elman's cells."""

    def __init__(self, vocabulary: int, size: int = 6) -> None:
        super().__init__()
        self.E = nn.Parameter(torch.randn(vocabulary, size))
        self.softmax = Softmax(size, vocabulary)
        self.softmax.own.data.normal_()

    @property
    def output(self) -> Softmax:
        """A property: since Python 3.12 protocols see no submodules."""
        return self.softmax

    def begin(self, rows: int) -> State:
        return State(h=self.E.new_zeros(rows, self.E.shape[1]))

    def read(self, state: State, ids: Tensor, mask: Tensor | None = None) -> tuple[State, Tensor]:
        hs, h = [], state.h
        for t in range(ids.shape[1]):
            new = torch.tanh(h / 2 + self.E[ids[:, t]])
            h = new if mask is None else torch.where(mask[:, t, None], new, h)
            hs.append(h)
        return State(h=h), torch.stack(hs, 1)

    def step(self, state: State, tokens: Tensor) -> tuple[State, Tensor]:
        state, hs = self.read(state, tokens[:, None])
        return state, self.output.logits(hs[:, 0])


@dataclass(frozen=True)
class Toy:
    """A tokenizer and a net; lines end in `</s>`, those of characters and bytes in a newline."""

    tokenizer: Tokenizer
    net: Net

    @property
    def end(self) -> int:
        newlines = self.tokenizer.level in ("char", "byte")
        return self.tokenizer.encode("\n")[0] if newlines else EOS


def tokenizer(kind: str, lines: list[str] = LINES, **options) -> Tokenizer:
    size = {"size": 290} if kind in ("bpe", "unigram") else {}
    ends = "\n" if kind in ("chars", "bytes") else ""
    return build_tokenizer([line + ends for line in lines], kind=kind, **size, **options)


def toy(kind: str, lines: list[str] = LINES, seed: int = 0, **options) -> Toy:
    torch.manual_seed(seed)
    made = tokenizer(kind, lines, **options)
    return Toy(made, Net(len(made.items)).double())


def real(kind: str, lines: list[str] = LINES, seed: int = 0) -> LanguageModel:
    """The package's own model."""
    torch.manual_seed(seed)
    tokens = TokenizerConfig(kind=kind, size=290) if kind in ("bpe", "unigram") else TokenizerConfig(kind=kind)
    model = LanguageModel.from_examples(LanguageModelConfig(hidden=5, embedding=4, layers=1), tokens, lines)
    for weight in model.net.parameters():
        nn.init.normal_(weight)
    model.net.double().eval()
    return model


def next_probabilities(lm, ids: list[int]) -> list[float]:
    """p(token | ids) by single steps from the beginning, without the code under test."""
    state, token = lm.net.begin(1), torch.tensor([lm.end])
    with torch.no_grad():
        for i in ids:
            state, _ = lm.net.step(state, token)
            token = torch.tensor([i])
        return lm.net.step(state, token)[1][0].softmax(0).tolist()


def writable(lm, probabilities: list[float]) -> dict[int, float]:
    """Those of what can be written, which sum to one."""
    kept = {i: p for i, p in enumerate(probabilities) if i > 3 or i == lm.end}
    return {i: p / sum(kept.values()) for i, p in kept.items()}
