"""Long documents: read in chunks, or at both ends only."""

import pytest
import torch

from elman.errors import ConfigError
from elman.tasks.classifier.task import ClassifierDataConfig
from tests.tasks.topics import examples, fresh

LONG = "was in the town of a river in a month when the city of the river is a year"


def say(model, text):
    return torch.tensor([*model.classify([text])[0].probabilities.values()])


def with_weights_of(model, **options):
    other = fresh(**options)
    other.net.load_state_dict(model.net.state_dict())
    return other


@pytest.mark.parametrize("pool", ["mean", "max", "mean+max", "attention"])
def test_chunks_of_one_token_see_nothing_of_its_neighbours(pool):
    model = fresh(pool=pool, chunk=1)
    turned = " ".join(reversed(LONG.split()))
    torch.testing.assert_close(say(model, LONG), say(model, turned), atol=1e-6, rtol=0)
    whole = with_weights_of(model, pool=pool)
    assert not torch.allclose(say(whole, LONG), say(whole, turned), atol=1e-6)


def test_a_text_that_is_no_longer_than_a_chunk_is_read_as_ever():
    whole = fresh()
    chunked = with_weights_of(whole, chunk=len(LONG.split()))
    assert torch.equal(say(whole, LONG), say(chunked, LONG))


def test_of_a_long_text_only_the_beginning_and_the_end_decide():
    model = fresh(max_tokens=5)
    words = LONG.split()
    ends = " ".join(words[:3] + words[-2:])
    torch.testing.assert_close(say(model, LONG), say(model, ends), atol=1e-6, rtol=0)
    torch.testing.assert_close(
        say(model, LONG), say(model, f"{' '.join(words[:3])} river {' '.join(words[-2:])}")
    )


def test_a_batch_of_texts_that_are_cut_holds_as_many_tokens_as_are_read():
    model = fresh(max_tokens=2)
    data = model.encode(examples(30))
    plain = fresh().build_batches(data, ClassifierDataConfig(batch_tokens=12), 0)
    with pytest.warns(UserWarning, match=r"of 30 texts are longer than 2 tokens"):
        cut = model.build_batches(data, ClassifierDataConfig(batch_tokens=12), 0)
    assert {len(batch) for batch in cut(0, 0)} == {6}
    assert plain.count(0) > cut.count(0)


@pytest.mark.parametrize("options", [{"pool": "last"}, {"pool": "ends"}, {"encoder": "bag"}])
def test_chunks_need_a_pool_over_all_tokens(options):
    with pytest.raises(ConfigError, match="chunk needs cells"):
        fresh(chunk=4, **options)
