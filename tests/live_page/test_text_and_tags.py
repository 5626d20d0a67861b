"""Tokens, casing, spans and the CRF in JavaScript, beside those of Python."""

import random

import pytest
import torch

from elman.layers.crf import CRF, Constraints
from elman.live_page.describe_tokenizer import describe_tokenizer
from elman.live_page.operation_script import print_operations, print_steps
from elman.text.spans import convert_tags, tags_to_spans
from elman.text.spelling import casing
from elman.text.tokenizer import build_tokenizer
from tests.live_page.runtime import needs_node, run_script

pytestmark = needs_node
TEXTS = [
    "",
    "  a  b\tc\n",
    "don't stop-it 3,14 at 10:30 x.y -- it's we'll",
    "🇩🇪🇫🇷 👩‍👩‍👧 👍🏽 ok",
    "İSTANBUL ΟΔΟΣ ǅungla Straße",
    "¼ ² ½ ٣٤ ①",
    "e\u0301a\u200db co\u00adop \u1100",
    "\x1c a \ufeff b\u3000c\x85d",
    "漢字かな 한국어 ไทย",
    "<s> </s> <unk>",
]
WORDS = [
    "lower",
    "UPPER",
    "Title",
    "miXed",
    "42",
    "4th",
    "漢",
    "...",
    "I",
    "O'Neil",
    "Don't",
    "iPhone",
    "²",
    "ǅ",
    "x²",
]
KINDS = {"chars": None, "words": None, "whitespace": None, "bytes": None, "bpe": 300, "unigram": 300}
TAGS = ["O", "B-a", "I-a", "E-a", "S-a", "B-b-c", "I-b-c", "E-b-c", "S-b-c"]


def run(folder, data, code):
    printed = {"operations.js": print_operations(), "steps.js": print_steps({})}
    return run_script(folder, "engine.js", printed, data, code)


def test_texts_are_cut_as_python_cuts_them(tmp_path):
    made = [
        build_tokenizer(
            TEXTS, kind=kind, lower=lower, digits=digits, size=300 if kind in ("bpe", "unigram") else None
        )
        for kind in ("chars", "words", "whitespace", "bytes", "bpe", "unigram")
        for lower, digits in ((False, False), (True, True))
    ]
    data = {"tokenizers": [describe_tokenizer(tokenizer) for tokenizer in made], "texts": TEXTS}
    code = """
    const tokenizers = data.tokenizers.map((spec) => new Tokenizer(spec));
    answer(tokenizers.map((t) => data.texts.map((text) => [t.encode(text), t.decode(t.encode(text))])));
    """
    for tokenizer, found in zip(made, run(tmp_path, data, code), strict=True):
        ids = [tokenizer.encode(text) for text in TEXTS]
        assert [one for one, _ in found] == ids, tokenizer.kind
        assert [text for _, text in found] == [tokenizer.decode(some) for some in ids], tokenizer.kind


def test_words_have_the_casing_that_python_sees(tmp_path):
    assert run(tmp_path, WORDS, "answer(data.map(numberCasing))") == [casing(word) for word in WORDS]


def test_spans_are_read_and_written_as_python_does(tmp_path):
    draw = random.Random(0)
    rows = [draw.choices(TAGS, k=draw.randrange(9)) for _ in range(60)]
    schemes = ["BIO", "IOB1", "BIOES", "BILOU"]
    code = "answer(data.rows.map((tags) => data.schemes.map((scheme) => convertTags(tags, scheme))))"
    found = run(tmp_path, {"rows": rows, "schemes": schemes}, code)
    assert found == [[convert_tags(tags, scheme) for scheme in schemes] for tags in rows]
    assert any(len(tags_to_spans(tags)) > 2 for tags in rows)


@pytest.mark.parametrize("constrained", [False, True])
def test_the_crf_is_that_of_python(constrained, tmp_path):
    tags, rows = 4, torch.randn(12, 3, 4)
    allowed = None
    if constrained:
        step = torch.rand(tags, tags) < 0.6
        allowed = Constraints(torch.tensor([True, True, False, True]), step.fill_diagonal_(True), step[0])
    crf = CRF(tags, allowed)
    with torch.no_grad():
        for weight in crf.parameters():
            weight.normal_()
    field = {name: {"data": getattr(crf, name).flatten().tolist()} for name in ("transitions", "begin", "end")}
    names = ("begin", "step", "end")
    field["allowed"] = {n: getattr(allowed, n).tolist() for n in names} if allowed else None
    code = """
    const crf = new CRF(data.field);
    answer(data.rows.map((scores) => [crf.viterbi(scores), crf.marginals(scores, 1.7)]));
    """
    found = run(tmp_path, {"field": field, "rows": rows.tolist()}, code)
    mask = torch.ones(rows.shape[:2], dtype=torch.bool)
    assert [path for path, _ in found] == crf.viterbi(rows, mask).tags.tolist()
    marginals = torch.tensor([chances for _, chances in found])
    assert marginals.allclose(crf.marginals(rows, mask, 1.7), atol=1e-5)
