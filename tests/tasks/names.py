"""A toy task: persons and places of one to three words, and the part of speech of each word."""

import random
from pathlib import Path

import torch

from elman.layers.embedding import Embedding
from elman.tasks.config import TokenizerConfig
from elman.tasks.tagger.task import Tagger, TaggerConfig, TaggerExample
from elman.text.spans import Span, spans_to_tags

PHRASES = (
    (("Ann",), "PER"),
    (("Ann", "Smith"), "PER"),
    (("Bob", "Lee", "Smith"), "PER"),
    (("York",), "LOC"),
    (("New", "York"), "LOC"),
    (("the", "dog"), ""),
    (("saw",), ""),
    (("in",), ""),
)
POS = {"the": "DET", "saw": "VERB", "in": "ADP"}  # all others are nouns

TINY = {
    "hidden": 8,
    "embedding": 8,
    "dropout": 0.0,
    "word_dropout": 0.0,
    "characters": "",
    "casing": False,
    "tag_size": 4,
    "scheme": "",
    "affixes": 0,
}
OUTPUTS = ("softmax", "crf", "autoregressive")


def examples(
    count: int, seed: int = 0, scheme: str = "BIO", columns: tuple[str, ...] = ("ner",)
) -> list[TaggerExample]:
    """Sentences of one to four phrases."""
    dice = random.Random(seed)
    return [_example(dice, i, scheme, columns) for i in range(count)]


def _example(dice: random.Random, i: int, scheme: str, columns: tuple[str, ...]) -> TaggerExample:
    words: list[str] = []
    found = []
    for phrase, label in dice.choices(PHRASES, k=dice.randint(1, 4)):
        if label:
            found.append(Span(label, len(words), len(words) + len(phrase)))
        words += phrase
    tags = {
        "ner": tuple(spans_to_tags(found, len(words), scheme)),
        "pos": tuple(POS.get(word, "NOUN") for word in words),
    }
    return TaggerExample(tuple(words), tuple(tags[c] for c in columns), columns, f"toy:{i + 1}")


def conll(path: Path, count: int, seed: int = 0, scheme: str = "BIO") -> str:
    """The same as columns: word, part of speech, span."""
    blocks = []
    for e in examples(count, seed, scheme, ("pos", "ner")):
        rows = zip(e.words, *e.tags, strict=True)
        blocks.append("".join(f"{' '.join(row)}\n" for row in rows))
    path.write_text("\n".join(blocks))
    return str(path)


def conllu(path: Path, count: int, seed: int = 0) -> str:
    """The same as CoNLL-U: parts of speech are UPOS, spans XPOS."""
    text = ""
    for e in examples(count, seed, "BIO", ("pos", "ner")):
        for i, (word, pos, ner) in enumerate(zip(e.words, *e.tags, strict=True), 1):
            text += "\t".join([str(i), word, "_", pos, ner, *"_____"]) + "\n"
        text += "\n"
    path.write_text(text)
    return str(path)


def fresh(
    scheme: str = "BIO", columns: tuple[str, ...] = ("ner",), count: int = 30, **options: object
) -> Tagger:
    """An untrained tiny tagger in the state in which it answers, its weights far from zero."""
    model, tokens = TaggerConfig(**(TINY | options)), TokenizerConfig(lower=True)
    made = Tagger.from_examples(model, tokens, examples(count, 0, scheme, columns))
    for weight in made.net.parameters():
        torch.nn.init.normal_(weight, std=0.7)
    for layer in made.net.modules():
        if isinstance(layer, Embedding):
            layer.E.weight.data[0] = 0  # as padding is and stays
    made.net.eval()
    return made


def trained(model: Tagger, some: list[TaggerExample], updates: int, lr: float = 0.03) -> list[float]:
    """Losses of updates on all examples at once."""
    data = model.encode(some)
    optimizer = torch.optim.Adam(model.net.parameters(), lr)
    losses = []
    for _ in range(updates):
        model.net.train()
        loss = model.loss(data, 0.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
