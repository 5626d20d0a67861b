"""The engine in a real browser: the numbers of Python, at the speed of typing."""

import json

import pytest

from elman.inspect.text_explanation import explain
from elman.live_page import page_file
from elman.live_page.join_scripts import join_scripts
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import LanguageModel, LanguageModelConfig
from tests.live_page.browser import needs_browser, start_browser
from tests.live_page.models import LINES
from tests.live_page.runtime import SCRIPTS

pytestmark = needs_browser
TEXT = " ".join(LINES)
READ = """(text) => {
  const start = performance.now();
  const nats = engine.read(text).surprise.map((one) => one.nats);
  return { nats, seconds: (performance.now() - start) / 1000 };
}"""


@pytest.fixture(scope="module")
def task():
    """A character model of the sizes that ``elman train lm --tokens chars`` has."""
    made = LanguageModel.from_examples(LanguageModelConfig(), TokenizerConfig(kind="chars"), LINES)
    made.net.eval()
    return made


@pytest.fixture(scope="module")
def readings(task, tmp_path_factory):
    """What the engine says of the text, and in how many seconds, when it is read anew a few times."""
    data, printed = page_file.describe_model(task)
    script = join_scripts(SCRIPTS, "engine.js", printed)
    script += f"\nglobalThis.engine = await openModel({json.dumps(data)});"
    path = tmp_path_factory.mktemp("engine") / "engine.html"
    path.write_text(f'<meta charset="utf-8"><script type="module">{script}</script>')
    with start_browser() as browser:
        page = browser.new_page()
        page.goto(path.as_uri())
        page.wait_for_function("() => globalThis.engine")
        return [page.evaluate(READ, f"{n}{TEXT}")["seconds"] for n in range(4)], page.evaluate(READ, TEXT)[
            "nats"
        ]


def test_a_browser_computes_what_python_computes(task, readings):
    assert readings[1] == pytest.approx(explain(task, TEXT).surprisal.nats[:-1], abs=1e-5)


def test_the_default_character_model_keeps_up_with_anyone_who_types(readings):
    # On a quiet core more than 1,000 characters a second; a machine that does much else gets a fifth of that.
    assert len(TEXT) / min(readings[0]) > 200
