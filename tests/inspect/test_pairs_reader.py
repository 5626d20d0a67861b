"""What is seen of a model of pairs while it reads two texts."""

import numpy as np
import pytest
import torch

from elman.inspect.text_explanation import explain
from tests.tasks.meetings import fresh

FIRST, SECOND = "the city of the river", "in the town"


@pytest.mark.parametrize("attention", ["none", "soft"])
def test_the_gates_of_both_texts_are_those_of_the_network(attention):
    model = fresh(attention=attention)
    seen = model.trace(f"{FIRST}\t{SECOND}", None)
    gates = explain(model, f"{FIRST}\t{SECOND}").gates
    parts = ["first text", "second text"]
    parts += [f"{part}, compared" for part in parts] if attention == "soft" else []
    assert [*dict.fromkeys(g.part for g in gates)] == parts
    for one in seen.passes:
        with torch.no_grad():
            expected = one.layers(one.xs)[0][0].numpy()
        ways = [g for g in gates if g.part == one.part and g.layer == len(one.layers.stack)]
        found = np.concatenate([g.values[g.output] for g in ways], -1)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert one.tokens == [*ways[0].tokens] == (FIRST if "first" in one.part else SECOND).split()


def test_what_is_compared_is_what_the_second_network_reads():
    model = fresh(attention="soft")
    read = []
    hook = model.net.compare.compose.register_forward_pre_hook(lambda _module, given: read.append(given[0]))
    try:
        model.classify([(FIRST, SECOND)])
    finally:
        hook.remove()
    passes = [one for one in model.trace(f"{FIRST}\t{SECOND}", None).passes if "compared" in one.part]
    for row, one in zip(read[0], passes, strict=True):
        torch.testing.assert_close(one.xs[0], row[: len(one.tokens)], rtol=0, atol=1e-5)
