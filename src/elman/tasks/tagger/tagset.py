"""The tags of one column: what they are, how they mark spans, which may follow which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from elman.errors import DataError, ModelError, quote
from elman.layers.crf import Constraints
from elman.text import spans
from elman.text.json_io import distinct_strings
from elman.text.schemes import SCHEMES, is_tag
from elman.text.vocab import Labels

UNKNOWN = -1  # the id of a tag that training never saw


class Piece(NamedTuple):
    """Tags in a row; their probability counts with this sign."""

    sign: int
    start: int
    tags: list[int]


@dataclass(frozen=True)
class Tagset:
    """Tags by id. Where they mark spans, they may be trained in another scheme than that of the files."""

    column: str
    labels: Labels
    written: str = ""  # scheme of the files; "": the tags mark no spans
    trained: str = ""  # scheme of the labels

    @classmethod
    def learn(cls, column: str, sentences: Sequence[Sequence[str]], scheme: str) -> Tagset:
        """The tags of training sentences, converted to ``scheme`` where it is one and they mark spans."""
        written = spans.detect_scheme(sentences) or ""
        trained = (scheme or written) if written else ""
        made = cls(column, Labels(()), written, trained)
        tags = [tag for tags in sentences for tag in made.convert(tags)]
        # Even where every word is in a span: with O, any sentence can be tagged.
        labels = Labels.build([*tags, "O"] if trained else tags)
        if len(labels.items) == 1:
            raise DataError(
                f"all words to train on have the tag {quote(labels.items[0])} in column {column}: nothing to "
                "decide; name the column of the tags with --column"
            )
        return cls(column, labels, written, trained)

    @property
    def metric(self) -> str:
        """The score that counts."""
        return "f1" if self.written else "accuracy"

    def convert(self, tags: Sequence[str]) -> Sequence[str]:
        """Tags of a file as they are trained: the same spans, well-formed."""
        return spans.convert_tags(tags, self.trained) if self.trained else tags

    def encode(self, tags: Sequence[str], where: str = "") -> npt.NDArray[np.int64]:
        """The ids of a file's tags; ``where`` (file:line) begins the message if they mark no spans."""
        self._require_spans(tags, where)
        return np.array([self._index.get(tag, UNKNOWN) for tag in self.convert(tags)], np.int64)

    def _require_spans(self, tags: Sequence[str], where: str) -> None:
        strange = next((tag for tag in tags if self.trained and not is_tag(tag)), None)
        if strange is not None:
            raise DataError(
                f"{where}{': ' * bool(where)}the tag {quote(strange)} of column {self.column} marks no span; "
                "the tagger was trained on spans, expected O or a tag like B-PER"
            )

    def count(self, tags: Sequence[str], where: str = "") -> Counter[str]:
        """How often a file has each tag, as it is trained."""
        self._require_spans(tags, where)
        return Counter(self.convert(tags))

    def extend(self, labels: Iterable[str]) -> Tagset:
        """The same with further tags, whose ids follow."""
        return replace(self, labels=self.labels.extend(labels))

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Tags as the files have them."""
        tags = [self.labels.items[i] for i in ids]
        return tags if self.written == self.trained else spans.convert_tags(tags, self.written)

    def pieces(self, span: spans.Span, path: Sequence[int]) -> list[Piece]:
        """Pieces whose probabilities, added up, are that of the span; ``path`` are the tags it was found in.

        Where ends are not marked: it begins with B, or with I but not as the rest of a longer one, and no
        I goes on with it.
        """
        label, start, end = span
        if self.trained not in ("BIO", "IOB1"):
            return [Piece(1, start, list(path[start:end]))]
        B, I = (self._index.get(f"{x}-{label}" if label else x) for x in "BI")
        begun = [] if B is None else [Piece(1, start, [B])]
        if I is not None:
            begun.append(Piece(1, start, [I]))
            before = [tag for tag in (B, I) if tag is not None and start > 0]
            begun += [Piece(-1, start - 1, [tag, I]) for tag in before]
        inside = [Piece(p.sign, p.start, [*p.tags, *path[start + 1 : end]]) for p in begun]
        if I is None or end == len(path):
            return inside
        return inside + [Piece(-p.sign, p.start, [*p.tags, I]) for p in inside]

    def constraints(self) -> Constraints | None:
        """What the scheme allows; None where tags mark no spans."""
        if not self.trained:
            return None
        allowed = spans.transition_masks(self.labels.items, self.trained)
        return Constraints(*(torch.from_numpy(part) for part in allowed))

    def to_json(self) -> dict[str, Any]:
        """What JSON can hold."""
        schemes = {"written": self.written, "trained": self.trained}
        return {"column": self.column, **schemes, "labels": list(self.labels.items)}

    @classmethod
    def from_json(cls, stored: Any, path: Path) -> Tagset:
        """The tagset that ``to_json`` gave."""
        names = {"column", "written", "trained", "labels"}
        if not isinstance(stored, dict) or stored.keys() != names or not stored["labels"]:
            raise ModelError(f"{path}: the file is damaged, expected {', '.join(sorted(names))}")
        column, written, trained = (stored[name] for name in ("column", "written", "trained"))
        schemes = ("", *SCHEMES)
        if not isinstance(column, str) or written not in schemes or trained not in schemes:
            raise ModelError(f"{path}: the file is damaged, a column or a scheme is unknown")
        labels = Labels(distinct_strings(stored["labels"], path))
        if bool(written) != bool(trained) or (trained and not all(map(is_tag, labels.items))):
            raise ModelError(f"{path}: the file is damaged, its labels mark no spans")
        return cls(column, labels, written, trained)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {tag: i for i, tag in enumerate(self.labels.items)}
