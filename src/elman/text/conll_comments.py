"""Lines of a CoNLL file that hold no word: where a document starts, and comments.

In files of columns `#` may be a word. So a line that begins with it is a comment where it has another number of
columns than the words, or where it stands before the first word of a sentence and looks like those that tools
write: `# sent_id = 3`, `# id 12 domain=en`, `# text: …`, `# newdoc`, `# 17`.
"""

from __future__ import annotations

import re

DOCUMENT_START = "-DOCSTART-"

_DOCUMENT = re.compile(rf"(?:[0-9]+[ \t]+)?{DOCUMENT_START}(?=[ \t]|$)")
_NEW_DOCUMENT = re.compile(r"#(?:[ \t]+newdoc|[ \t]*begin[ \t]+document)(?=[ \t]|$)")
_MARK = re.compile(r"#[ \t]*(?:begin|end)[ \t]+document(?=[ \t]|$)|#[ \t]*[\w.:-]+[ \t]*=(?=[ \t]|$)")
_ALONE = re.compile(r"newdoc|newpar|[0-9]+|(?:sent_id|id)=.*|https?://.*")
_KEY = re.compile(r"newdoc|newpar|sent_id|doc_id|id|\w+:|https?://.*")


def is_document_start(text: str) -> bool:
    """Whether a line is `-DOCSTART-`, with or without a number before it and columns after it."""
    return _DOCUMENT.match(text) is not None


def announces_document(text: str) -> bool:
    """Whether a comment says that a document begins."""
    return _NEW_DOCUMENT.match(text) is not None


def looks_like_comment(text: str) -> bool:
    """Whether a line that begins with `#` is one of those that tools write, not a word with its tags."""
    if _MARK.match(text):
        return True
    cells = text.split()
    if len(cells) < 2 or cells[0] != "#":
        return False
    return (_ALONE if len(cells) == 2 else _KEY).fullmatch(cells[1]) is not None
