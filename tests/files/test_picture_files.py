"""Which format a picture has, decided before it is drawn."""

from pathlib import Path

import pytest

from elman.errors import ConfigError
from elman.files import picture_files
from elman.files.picture_files import PictureFolder, plan_picture


@pytest.mark.parametrize(
    ("path", "format", "planned"),
    [
        ("a.svg", None, "a.svg"),
        ("a.PDF", None, "a.PDF"),
        ("a.PDF", "pdf", "a.PDF"),
        ("a", "svg", "a.svg"),
        ("a.b/c", "png", "a.b/c.png"),
    ],
)
def test_a_picture_has_the_format_of_its_ending_or_takes_the_one_that_is_asked_for(path, format, planned):
    assert plan_picture(Path(path), format) == Path(planned)


@pytest.mark.parametrize(
    ("path", "format", "said"),
    [
        ("a.gif", None, "a.gif: a picture ends in .png, .svg or .pdf"),
        ("a", None, "a: a picture ends in .png, .svg or .pdf"),
        ("a.svg", "pdf", "a.svg does not end in .pdf, the format that was asked for"),
    ],
)
def test_what_is_no_picture_is_one_sentence(path, format, said):
    with pytest.raises(ConfigError) as error:
        plan_picture(Path(path), format)
    assert str(error.value) == said


def test_without_matplotlib_no_work_begins(monkeypatch):
    monkeypatch.setattr(picture_files, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r'pip install "elman\[plot\]"'):
        plan_picture(Path("a.png"))


def test_pictures_of_a_folder_lie_in_it():
    assert PictureFolder(Path("plots"), "svg").path("gates") == Path("plots/gates.svg")
    assert PictureFolder(Path("plots")).path("gates") == Path("plots/gates.png")
