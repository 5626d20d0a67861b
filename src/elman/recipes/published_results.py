"""What each recipe reaches on test data, beside what was published; docs/results.md has the runs."""

from __future__ import annotations

from typing import NamedTuple


class PublishedResult(NamedTuple):
    """A metric, a usual recurrent network, the best recurrent one that we know, and Elman."""

    metric: str
    plain: str
    best: str
    ours: str


RESULTS = {
    "atis": PublishedResult("slot F1", "94.8", "96.89", "95.79"),
    "cmudict": PublishedResult("word / phoneme error %", "28.6 / 7.6", "21.7 / 5.0", "21.9 / 5.1"),
    "conll2000": PublishedResult("chunk F1", "94.46", "95.06", "94.44"),
    "ewt": PublishedResult("UPOS %", "94.4", "96.3", "95.67"),
    "ewt-vectors": PublishedResult("UPOS %", "95.6", "96.3", "95.99"),
    "multi30k": PublishedResult("BLEU", "38.1", "38.1", "40.06"),
    "multi30k-risk": PublishedResult("BLEU", "38.1", "38.1", "41.22"),
    "r8": PublishedResult("accuracy %", "96.31", "96.31", "97.67"),
    "shakespeare": PublishedResult("nats per character", "–", "–", "1.367"),
    "shakespeare-cpu": PublishedResult("nats per character", "–", "–", "1.433"),
    "snips-intent": PublishedResult("accuracy %", "97.0", "98.0", "97.57"),
    "snips-slots": PublishedResult("slot F1", "88.8", "94.2", "94.12"),
    "sst2": PublishedResult("accuracy %", "87.5", "89.5", "87.57"),
    "trec": PublishedResult("accuracy %", "93.0", "96.1", "93.73"),
    "wikitext2": PublishedResult("perplexity", "65.6", "55.0", "62.19"),
    "wikitext2-mogrifier": PublishedResult("perplexity", "65.6", "55.0", "60.64"),
    "wnut17": PublishedResult("entity F1", "41.86", "41.86", "21.28"),
    "words": PublishedResult("perplexity", "–", "–", "–"),
}
"""By the name of a recipe. A dash: nothing was published, or nothing measured."""
