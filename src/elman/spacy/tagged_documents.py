"""The sentences of documents as a tagger reads them: spaCy's own tokens, without those of blanks alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from spacy.tokens import Doc, Token

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger


class TaggedSentence(NamedTuple):
    """The tokens of a sentence and their tags, for each column of the model."""

    tokens: list[Token]
    columns: list[list[str]]


def tag_documents(model: Tagger, docs: Sequence[Doc]) -> Iterator[tuple[Doc, list[TaggedSentence]]]:
    """Each document with its sentences, tagged all together."""
    sentences = [[*split_sentences(doc)] for doc in docs]
    words = [[token.text for token in tokens] for each in sentences for tokens in each]
    columns = iter(model.tag_columns(words))
    for doc, each in zip(docs, sentences, strict=True):
        yield doc, [TaggedSentence(tokens, next(columns)) for tokens in each]


def split_sentences(doc: Doc) -> Iterator[list[Token]]:
    """The tokens of each sentence; a document whose sentences are not known is one."""
    parts = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    tokens = ([token for token in part if not token.is_space] for part in parts)
    return filter(None, tokens)
