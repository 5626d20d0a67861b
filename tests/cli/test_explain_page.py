"""elman explain, as it is typed."""

import elman
from elman.cli.app import elman as command
from elman.errors import ConfigError
from tests.click_runner import make_runner
from tests.live_page.models import classifier


def test_a_page_is_written_and_its_size_is_told(tmp_path):
    elman.save(classifier(), tmp_path / "model")
    page = tmp_path / "page.html"
    done = make_runner().invoke(command, ["explain", str(tmp_path / "model"), "--half", "--out", str(page)])
    assert (done.exit_code, done.stdout) == (0, "")
    assert f"page: {page} (" in done.stderr
    assert "16 bits" in done.stderr
    assert "<!doctype html>" in page.read_text()


def test_a_folder_that_is_not_there_is_said_before_the_model_is_read(tmp_path):
    done = make_runner().invoke(command, ["explain", "no-model", "--out", str(tmp_path / "none" / "page.html")])
    assert isinstance(done.exception, ConfigError)
    assert f"there is no folder {tmp_path / 'none'}" in str(done.exception)
