"""Models that write, run by the page: answers, searches and attention are those of Python."""

import numpy as np
import pytest

from elman.decoding import Beam
from elman.generation import GenerationConfig, generate
from elman.inspect.text_explanation import explain
from tests.live_page.models import language_model, seq2seq
from tests.live_page.runtime import needs_node, run_model

pytestmark = needs_node
NEAR = {"abs": 1e-5, "rel": 1e-5}
TEXT = "cats sleep"
DECODERS = {
    "gnmt, two layers": {},
    "luong, dot": {
        "decoder": "luong",
        "score": "dot",
        "encoder_hidden": 4,
        "hidden": 8,
        "decoder_init": "zero",
    },
    "bahdanau, additive, residual": {"decoder": "bahdanau", "score": "additive", "layers": 2, "residual": True},
    "input feeding, scaled": {"decoder": "input-feeding", "score": "scaled", "encoder_hidden": 4, "hidden": 8},
    "context": {"decoder": "context", "summary": "mean", "decoder_init": "copied", "cell": "gru"},
    "plain, copied": {"decoder": "plain", "decoder_init": "copied", "tied": False},
    "transducer": {"decoder": "transducer", "bidirectional": False},
    "one network": {
        "decoder": "plain",
        "bidirectional": False,
        "decoder_only": True,
        "shared": True,
        "decoder_init": "copied",
    },
}
READ = """
const { answer: best, layers } = engine.read(text);
const search = engine.search(text, { width: 3, nBest: 3 });
answer({ best, search, looked: best.alignment && best.alignment.data, layers: layers.length });
"""


@pytest.mark.parametrize("kind", DECODERS)
def test_answers_and_their_search_are_those_of_python(kind, tmp_path):
    task = seq2seq(**DECODERS[kind])
    found = run_model(tmp_path, task, f"const text = {TEXT!r};\n{READ}")
    best, *_ = task.translations([TEXT], beam=3, n_best=3)
    assert [one["text"] for one in found["search"]["answers"]][:3] == [one.text for one in best]
    scores = [one["score"] for one in found["search"]["answers"]][:3]
    assert scores == pytest.approx([one.score for one in best], **NEAR)
    ((plain,),) = task.translations([TEXT])
    assert found["best"]["text"] == plain.text
    assert [-nats for nats in found["best"]["nats"]] == pytest.approx(plain.log_probs, **NEAR)
    seen = explain(task, TEXT)
    if seen.alignment is not None and len(found["best"]["tokens"]) == len(seen.alignment.target):
        looked = np.reshape(
            list(found["best"]["alignment"]["store"].values()), (-1, len(seen.alignment.source))
        )
        assert np.allclose(looked[: len(seen.alignment.target)], seen.alignment.weights, atol=1e-5)


def test_the_tree_of_a_search_leads_from_the_root_to_its_best_answer(tmp_path):
    search = run_model(tmp_path, seq2seq(), f"answer(engine.search({TEXT!r}, {{ width: 2 }}))")
    tree = search["tree"]
    best = [node["token"] for node in tree if node["best"]]
    assert best == search["answers"][0]["tokens"]
    assert {node["state"] for node in tree} == {"kept", "completed", "pruned"}
    assert all(node["parent"] < node["id"] and (node["state"] != "pruned" or node["why"]) for node in tree)


def test_a_language_model_writes_on_as_python_does(tmp_path):
    task = language_model()
    found = run_model(
        tmp_path, task, 'answer(engine.search("The c", { width: 4, limit: 6, lengthPenalty: 0 }))'
    )

    (best,) = generate(task, "The c", Beam(width=4, length_penalty=0), config=GenerationConfig(max_tokens=6))
    assert found["answers"][0]["text"] == best.text.removeprefix("The c")
    assert found["answers"][0]["score"] == pytest.approx(best.score, **NEAR)
