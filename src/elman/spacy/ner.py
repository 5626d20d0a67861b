"""Entities, or whatever the spans of a tagger are: ``doc.ents``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spacy.tokens import Doc, Span

import elman
from elman.errors import ModelError
from elman.spacy.component import ModelComponent
from elman.spacy.tagged_documents import TaggedSentence, tag_documents
from elman.text.spans import tags_to_spans

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger


class NERComponent(ModelComponent["Tagger"]):
    """The component ``elman_ner``. Entities that a document has already stay; what overlaps one is left out."""

    @property
    def kind(self) -> type[Tagger]:
        return elman.Tagger

    def check(self, model: Tagger) -> None:
        if not any(tagset.written for tagset in model.tagsets):
            raise ModelError("the tags of this model mark no spans: elman_tagger is the component for it")

    def annotate(self, docs: Sequence[Doc]) -> None:
        for doc, sentences in tag_documents(self.elman_model, docs):
            known = {token.i for entity in doc.ents for token in entity}
            found = [span for sentence in sentences for span in self._spans(doc, sentence)]
            free = [span for span in found if known.isdisjoint(range(span.start, span.end))]
            doc.set_ents([*doc.ents, *free])

    def _spans(self, doc: Doc, sentence: TaggedSentence) -> Iterator[Span]:
        column = next(i for i, tagset in enumerate(self.elman_model.tagsets) if tagset.written)
        for label, start, end in tags_to_spans(sentence.columns[column]):
            first, last = sentence.tokens[start].i, sentence.tokens[end - 1].i
            yield Span(doc, first, last + 1, label=label or self.elman_model.tagsets[column].column)
