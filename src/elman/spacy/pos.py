"""Parts of speech: ``token.tag_`` and, where the tags are the universal ones, ``token.pos_``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spacy.parts_of_speech import IDS
from spacy.tokens import Doc

import elman
from elman.errors import ModelError
from elman.spacy.component import ModelComponent
from elman.spacy.tagged_documents import tag_documents

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger

BLANK = ("_SP", "SPACE")  # what spaCy's own pipelines say of tokens of blanks


class TaggerComponent(ModelComponent["Tagger"]):
    """The component ``elman_tagger``.

    The first column of universal tags is written to ``pos_``, the first other one to ``tag_``; a model of one
    column writes ``tag_``, and ``pos_`` too if its tags are universal.
    """

    @property
    def kind(self) -> type[Tagger]:
        return elman.Tagger

    def check(self, model: Tagger) -> None:
        if all(tagset.written for tagset in model.tagsets):
            raise ModelError("the tags of this model mark spans: elman_ner is the component for it")

    def annotate(self, docs: Sequence[Doc]) -> None:
        tag, pos = self._columns()
        for doc, sentences in tag_documents(self.elman_model, docs):
            for token in doc:
                if token.is_space:
                    token.tag_, token.pos_ = BLANK
            for tokens, columns in sentences:
                for i, token in enumerate(tokens):
                    token.tag_ = columns[tag][i]
                    if pos is not None:
                        token.pos_ = columns[pos][i]

    def _columns(self) -> tuple[int, int | None]:
        """The numbers of the columns for ``tag_`` and for ``pos_``."""
        kept = [i for i, tagset in enumerate(self.elman_model.tagsets) if not tagset.written]
        universal = [i for i in kept if IDS.keys() >= {*self.elman_model.tagsets[i].labels.items}]
        pos = universal[0] if universal else None
        return next((i for i in kept if i != pos), kept[0]), pos
