"""The formats of pictures: by the ending of a path, or by name. matplotlib is not loaded here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from elman.errors import ConfigError

PICTURE_FORMATS = ("png", "svg", "pdf")
NO_MATPLOTLIB = 'pictures need matplotlib: pip install "elman[plot]", or ask for no picture'


@dataclass(frozen=True)
class PictureFolder:
    """A folder for pictures of one format."""

    folder: Path
    format: str = "png"

    def path(self, name: str) -> Path:
        """Where the picture of that name lies."""
        return self.folder / f"{name}.{self.format}"


def picture_format(path: Path) -> str:
    """The format that the ending of a path says, in capitals or not."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in PICTURE_FORMATS:
        raise ConfigError(f"{path}: a picture ends in .png, .svg or .pdf")
    return ending


def plan_picture(path: Path, format: str | None = None) -> Path:
    """The path of a picture that can be drawn, checked before the work begins.

    A format gives a path without an ending its ending; another ending is refused.
    """
    if format and not path.suffix:
        path = path.with_suffix(f".{format}")
    if format not in (None, picture_format(path)):
        raise ConfigError(f"{path} does not end in .{format}, the format that was asked for")
    if find_spec("matplotlib") is None:
        raise ConfigError(NO_MATPLOTLIB)
    return path
