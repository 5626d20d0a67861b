"""A real browser, where there is one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from elman.live_page import write_page
from elman.tasks.base import Task

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FOUND = next(filter(None, map(shutil.which, BROWSERS)), None)
_MISSING = "needs playwright" if find_spec("playwright") is None else "needs Chromium or Chrome"
needs_browser = pytest.mark.skipif(FOUND is None or find_spec("playwright") is None, reason=_MISSING)


@contextmanager
def start_browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=FOUND)
        yield browser
        browser.close()


class OpenPage:
    """A page in the browser; what it complains of and what it asks of the network is written down."""

    def __init__(self, browser: Any, path: Path, *, width: int = 1280, scheme: str = "light") -> None:
        size = {"width": width, "height": 900}
        self.view = browser.new_page(viewport=size, color_scheme=scheme)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.view.on("pageerror", lambda error: self.errors.append(str(error)))
        self.view.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        self.view.on("request", lambda request: self.requests.append(request.url))
        self.view.goto(path.as_uri())
        self.view.wait_for_selector("#unit figure")  # the last panel

    def text(self, selector: str) -> str:
        return str(self.view.locator(selector).first.text_content())

    def wait(self, selector: str, content: str) -> None:
        """Until an element says this, or time is up."""
        self.view.locator(selector, has_text=content).first.wait_for(timeout=5000)


def write_task(task: Task, folder: Path, text: str) -> Path:
    path = folder / "page.html"
    write_page(task, path, text=text)
    return path
