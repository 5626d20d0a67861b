"""Pictures inside a notebook: the same that go to files, as HTML."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

DPI = 65  # a notebook with ten pictures stays small
COLOURS = 128  # enough for a heat map and its letters


def inline_picture(draw: Callable[[Path], None], description: str) -> str:
    """What ``draw`` writes to a PNG file, as an image of a page."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        draw(path)
        data = b64encode(shrink_png(path.read_bytes())).decode()
    return f'<img alt="{description}" src="data:image/png;base64,{data}">'


def shrink_png(data: bytes) -> bytes:
    """The same picture with few colours, in about a third of the bytes."""
    from PIL import Image  # matplotlib needs it, too

    small = BytesIO()
    Image.open(BytesIO(data)).convert("RGB").quantize(COLOURS).save(small, "png", optimize=True)
    return small.getvalue()
