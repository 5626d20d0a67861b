"""The page in a real browser: what is typed, shown, chosen by keys, and edited."""

import pytest

from tests.live_page import models
from tests.live_page.browser import OpenPage, needs_browser, start_browser, write_task

pytestmark = needs_browser
TASKS = {
    "lm": models.language_model,
    "classifier": models.classifier,
    "tagger": models.tagger,
    "seq2seq": models.seq2seq,
}
TEXT = "The cat sleeps: more mice!"
EDITOR, RUN, RESET = "#formula-text", "#formula button >> nth=0", "#formula button >> nth=1"


@pytest.fixture(scope="module")
def browser():
    with start_browser() as started:
        yield started


@pytest.fixture(scope="module")
def tasks():
    return {name: make() for name, make in TASKS.items()}


@pytest.fixture(scope="module")
def paths(tasks, tmp_path_factory):
    return {name: write_task(task, tmp_path_factory.mktemp(name), TEXT) for name, task in tasks.items()}


@pytest.fixture(scope="module")
def page(browser, paths):
    """A language model's page, which every test leaves as it was."""
    return OpenPage(browser, paths["lm"])


@pytest.mark.parametrize("name", TASKS)
def test_a_page_opens_wide_and_narrow_in_light_and_dark_without_errors_or_network(name, browser, paths):
    for width, scheme in ((1280, "light"), (390, "dark")):
        page = OpenPage(browser, paths[name], width=width, scheme=scheme)
        whole = page.view.evaluate("document.documentElement.scrollWidth")
        assert whole <= width, "the page scrolls sideways"
        assert page.errors == []
        assert page.requests == [paths[name].as_uri()]
        page.view.close()


def test_no_address_of_another_machine_is_in_the_page(paths):
    for path in paths.values():
        text = path.read_text()
        allowed = text.replace("http://www.w3.org/2000/svg", "").replace(
            "http://www.w3.org/1998/Math/MathML", ""
        )
        assert "http" not in allowed.replace('http-equiv="Content-Security-Policy"', "")
        assert "eval(" not in text
        assert "new Function" not in text


def test_what_is_typed_is_read_at_once(page):
    page.view.fill("#text", "No cats")
    assert page.text("#reading .summary").startswith("7 tokens; ")
    words = page.view.locator("#reading .word").all_inner_texts()
    assert words == ["⏎", *"No␣cats"]
    page.view.fill("#text", TEXT)


def test_a_text_is_not_taken_for_html(page):
    page.view.fill("#text", "<b>x</b>")
    assert page.view.locator("#reading b").count() == 0
    assert "".join(page.view.locator("#reading .word").all_inner_texts()) == "⏎<b>x</b>"
    page.view.fill("#text", TEXT)


def test_arrow_keys_choose_a_token_and_the_next_tokens_follow(page):
    page.view.focus("#reading .tokens")
    page.view.keyboard.press("Home")
    page.view.keyboard.press("ArrowRight")
    page.wait("#next .summary", "After “⏎T”")
    assert page.text('#reading [aria-selected="true"]') == "T"
    shares = page.view.locator("#next .figure").all_inner_texts()
    assert len(shares) == 10
    page.view.keyboard.press("End")
    page.wait("#next", "Nothing came yet")


def test_arrow_keys_move_in_a_heat_map_and_the_value_is_said(page):
    page.view.focus("#gates .heatmap >> nth=1")
    for key in ("Home", "PageUp", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.view.keyboard.press(key)
    page.wait("#spoken", "unit 3, token 2")
    said = page.text("#spoken").split(": ")[1]
    assert f"{page.text('#gates figcaption b >> nth=1')} = {said}" in page.text("#gates .summary")
    page.wait("#connectivity .summary", "Unit 3 after token 2 depends most on")


def test_the_pointer_chooses_a_unit_and_what_it_holds_is_shown(page):
    page.view.hover("#gates canvas >> nth=0", position={"x": 60, "y": 60})
    page.wait("#gates .summary", "Unit 5 at")
    page.wait("#connectivity .summary", "Unit 5 after")
    marked = page.view.locator("#connectivity .token").evaluate_all(
        "all => all.map((token) => Number(token.style.getPropertyValue('--share')))"
    )
    assert max(marked) == pytest.approx(1)
    chosen = int(page.view.get_attribute('#connectivity [aria-selected="true"]', "data-at"))
    assert not any(marked[chosen + 1 :]), "a unit that reads forward holds nothing of what comes"


def test_every_part_that_does_something_is_reached_by_the_tab_key(page):
    page.view.evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(60):
        page.view.keyboard.press("Tab")
        at = "document.activeElement"
        reached.add(page.view.evaluate(f"{at}.id || {at}.className || {at}.textContent"))
    assert {"text", "tokens", "heatmap", "tree", "layer", "formula-text", "equations", "quiet"} <= reached


def test_the_beam_has_as_many_kept_hypotheses_at_a_step_as_it_is_wide(page):
    page.view.wait_for_selector("#beam .hypothesis.best")
    page.view.locator("#beam input").first.fill("2")
    steps = """() => {
      const kept = [...document.querySelectorAll("#beam .hypothesis:not(.pruned)[data-id] rect")];
      const count = {};
      for (const { x } of kept) count[x.baseVal.value] = (count[x.baseVal.value] ?? 0) + 1;
      return Math.max(...Object.values(count)) === 2;
    }"""
    page.view.wait_for_function(steps)
    page.view.focus("#beam .tree")
    page.view.keyboard.press("ArrowRight")
    page.wait("#beam .summary", "Step 1: ")


def test_an_edited_formula_is_derived_again_runs_and_is_undone(page):
    read, own = page.text("#reading .summary"), page.view.input_value(EDITOR)
    derivative = page.text("#derivative math")
    page.view.fill(EDITOR, own.replace("o * tanh(c)", "o * c"))
    page.view.wait_for_function(
        f"() => document.querySelector('#derivative math').textContent !== {derivative!r}"
    )
    assert "tanh" not in page.text("#derivative math")
    page.view.click(RUN)
    assert page.text("#reading .summary") != read
    page.view.click(RESET)
    assert page.text("#reading .summary") == read
    assert page.view.input_value(EDITOR) == own
    assert page.text("#derivative math") == derivative


def test_a_formula_that_is_none_is_refused_with_its_line_and_the_last_one_stays(page):
    own, typeset = page.view.input_value(EDITOR), page.text("#formula math")
    page.view.fill(EDITOR, own.replace("o * tanh(c)", "o * roll(c)"))
    page.wait("#formula-message", "line 8: a formula cannot use roll()")
    assert page.view.is_disabled(RUN)
    assert page.text("#formula math") == typeset
    assert page.errors == []
    page.view.click(RESET)
    assert not page.view.is_disabled(RUN)


def test_a_formula_that_needs_weights_that_are_not_there_says_which(page):
    own = page.view.input_value(EDITOR)
    page.view.fill(
        EDITOR, own.replace('gates="i f z o"', 'gates="i f z o k"').replace("o * tanh(c)", "o * x.k")
    )
    page.view.wait_for_function("() => document.querySelector('#formula math').textContent.includes('k')")
    page.view.click(RUN)
    page.wait("#formula-message.wrong", "gate k")
    page.view.click(RESET)


def test_the_switch_turns_the_colours_and_back(page):
    back = "getComputedStyle(document.body).backgroundColor"
    light = page.view.evaluate(back)
    page.view.click("text=Dark colours")
    assert page.view.evaluate(back) != light
    page.view.click("text=Light colours")
    assert page.view.evaluate(back) == light


def test_labels_and_tags_are_those_of_the_model(browser, tasks, paths):
    classifier, tagger = OpenPage(browser, paths["classifier"]), OpenPage(browser, paths["tagger"])
    assert classifier.text("#labels .answer") == tasks["classifier"].classify([TEXT])[0].label
    shown = tagger.view.locator("#tags small").all_inner_texts()
    assert shown == tasks["tagger"].tag([TEXT])[0]


def test_an_answer_its_attention_and_the_gates_of_the_decoder_are_those_of_the_model(browser, tasks, paths):
    page = OpenPage(browser, paths["seq2seq"])
    assert page.text("#answer .answer") == tasks["seq2seq"].translate([TEXT])[0]
    assert page.text("#attention .summary").startswith("For ‘")
    last = page.view.locator("#layer option").last.inner_text()
    assert last.startswith("decoder")
    page.view.select_option("#layer", label=last)
    page.wait("#connectivity .summary", "For layers of the decoder this is not computed")
    read = page.view.locator("#answer .token").count()
    page.wait("#gates .summary", f"(token {read})")


@pytest.mark.parametrize("name", TASKS)
def test_a_text_may_be_empty_at_first_and_become_so_again(name, browser, tasks, tmp_path):
    page = OpenPage(browser, write_task(tasks[name], tmp_path, ""))
    page.view.fill("#text", "No cats")
    page.view.fill("#text", "")
    page.view.fill("#text", "more mice")
    page.view.locator("#reading .token >> nth=1").click()
    assert page.errors == []
    page.view.close()
