"""Labels of whole documents: ``doc.cats``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spacy.tokens import Doc

import elman
from elman.spacy.component import ModelComponent

if TYPE_CHECKING:
    from elman.tasks.classifier.task import Classifier


class TextcatComponent(ModelComponent["Classifier"]):
    """The component ``elman_textcat``: the probability of every label."""

    @property
    def kind(self) -> type[Classifier]:
        return elman.Classifier

    def annotate(self, docs: Sequence[Doc]) -> None:
        for doc, found in zip(docs, self.elman_model.classify([doc.text for doc in docs]), strict=True):
            doc.cats |= found.probabilities
