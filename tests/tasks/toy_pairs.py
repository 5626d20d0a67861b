"""Sequence-to-sequence models that are small enough to count everything out, and strings to learn on."""

import random
from itertools import product

import torch
from torch import nn

from elman.tasks.config import TokenizerConfig
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig, Seq2SeqDataset, Seq2SeqExample, TokenizerPairConfig

CHARS = TokenizerPairConfig(TokenizerConfig("chars"), TokenizerConfig("chars"))
JOINT = TokenizerPairConfig(TokenizerConfig("chars"), TokenizerConfig("chars"), joint=True)
WORDS = TokenizerPairConfig(TokenizerConfig("whitespace"), TokenizerConfig("whitespace"))
TINY = {"hidden": 4, "embedding": 3, "dropout": 0.0, "label_smoothing": 0.0}
SINGLE = {
    "decoder_only": True,
    "decoder": "plain",
    "bidirectional": False,
    "shared": True,
    "decoder_init": "copied",
}
ALIGNED = {"decoder": "transducer", "bidirectional": False}


def pairs(*sides: tuple[str, str]) -> list[Seq2SeqExample]:
    return [Seq2SeqExample(source, (target,), f"toy:{i}") for i, (source, target) in enumerate(sides, 1)]


FEW = pairs(("ab", "x"), ("bca", "yx"), ("c", "xyy"), ("abca", "y"))


def made(tokens: TokenizerPairConfig = CHARS, examples: list[Seq2SeqExample] = FEW, seed: int = 0, **options):
    """A model with large random weights in float64, in the state in which it answers."""
    torch.manual_seed(seed)
    model = Seq2Seq.from_examples(Seq2SeqConfig(**(TINY | options)), tokens, examples)
    for weight in model.net.parameters():
        nn.init.normal_(weight, std=0.7)
    model.net.double().eval()
    return model


def strings(letters: str = "abcdef", longest: int = 4, seed: int = 0) -> list[str]:
    """All strings of these letters up to this length, in an order by chance."""
    found = ["".join(s) for n in range(1, longest + 1) for s in product(letters, repeat=n)]
    random.Random(seed).shuffle(found)
    return found


def task(name: str, texts: list[str]) -> list[Seq2SeqExample]:
    """Copying or reversal of strings."""
    step = -1 if name == "reversal" else 1
    return pairs(*((text, text[::step]) for text in texts))


def train(model: Seq2Seq, data: Seq2SeqDataset, updates: int, *, lr: float = 1e-2, batch: int = 64):
    """Adam on batches by chance, its rate falling to zero."""
    optimizer = torch.optim.Adam(model.net.parameters(), lr=lr, betas=(0.9, 0.98))
    falling = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, updates, pct_start=0.2)
    dice = random.Random(0)
    model.net.train()
    for _ in range(updates):
        optimizer.zero_grad()
        model.loss(data.pick(dice.sample(range(len(data)), batch)), 0.0).backward()
        nn.utils.clip_grad_norm_(model.net.parameters(), 1.0)
        optimizer.step()
        falling.step()
    model.net.eval()
