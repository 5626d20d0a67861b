"""Recordings that are kept with a network write what its plain steps write; on a CPU they run step by step."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from threading import Barrier
from typing import Any

import pytest
import torch

from elman.cells import Zoneout
from elman.decoding import (
    AnyOf,
    AtLengths,
    AtTokens,
    BannedTokens,
    ForcedPrefix,
    Greedy,
    MinLength,
    Rollout,
    Sample,
    kept_recordings,
    rollout,
)
from elman.decoding.recorded_rollout import find_recording
from elman.decoding.rollout import replay_rollout
from elman.objectives.sample_sequences import FirstGreedy
from elman.state import leaves
from elman.tasks.language_model.config import LanguageModelConfig
from elman.tasks.language_model.network import LanguageModelNetwork

WORDS = 30


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


def make(seed: int = 0, **options: Any) -> LanguageModelNetwork:
    torch.manual_seed(seed)
    return LanguageModelNetwork(
        LanguageModelConfig(**{"embedding": 6, "hidden": 8, "layers": 1, **options}), WORDS
    ).eval()


def prepare(net: LanguageModelNetwork, policy: Any = None, rows: int = 2, limit: int = 9, **given: Any) -> Any:
    given = {"start": torch.arange(rows) + 8, "stop": AtTokens((7,)), "limit": limit, **given}
    recorded = find_recording(net.fixed_step(), policy or Greedy(), **given)
    assert not isinstance(recorded, str), recorded
    return recorded, given


def replay(net: LanguageModelNetwork, policy: Any, rows: int = 2, **given: Any) -> Rollout:
    recorded, given = prepare(net, policy, rows, **given)
    return replay_rollout(recorded, policy, net.begin(rows), **given)


def step(net: LanguageModelNetwork, policy: Any, rows: int = 2, **given: Any) -> Rollout:
    return rollout(net.step, net.begin(rows), policy, **prepare(net, policy, rows, **given)[1])


@contextmanager
def open_tape(net: LanguageModelNetwork, **given: Any):
    recorded, given = prepare(net, **given)
    with recorded.open_tape(net.begin(len(given["start"])), given["start"], given["limit"]) as tape:
        yield tape.recording


def find_recording_of(net: LanguageModelNetwork, **given: Any) -> Any:
    with open_tape(net, **given) as recording:
        return recording


def assert_same(found: Rollout, expected: Rollout) -> None:
    assert found.tokens.equal(expected.tokens)
    assert found.mask.equal(expected.mask)
    torch.testing.assert_close(found.log_probs, expected.log_probs)
    for (name, a), (_, b) in zip(leaves(found.state), leaves(expected.state), strict=True):
        torch.testing.assert_close(a, b, msg=name)


def draw(seed: int = 1, **options: Any) -> Sample:
    return Sample(generator=torch.Generator().manual_seed(seed), **options)


POLICIES = [
    lambda seed: Greedy(),
    draw,
    lambda seed: draw(seed, temperature=0.5, top_k=9),
    lambda seed: Sample(generator=[torch.Generator().manual_seed(seed + i) for i in range(2)]),
    lambda seed: FirstGreedy(2, draw(seed)),
]
CALLS: list[dict[str, Any]] = [
    {},
    {"start": torch.tensor([3, 4])},
    {"limit": 17},
    {"stop": AtTokens((9,))},
    {"stop": AnyOf((AtTokens((5,)), AtLengths(torch.tensor([3, 8]))))},
    {"limit": 7},
]


@pytest.mark.parametrize("make_policy", POLICIES)
def test_calls_that_differ_in_values_alone_have_one_recording_and_write_what_steps_write(make_policy):
    net = make()
    first = find_recording_of(net, policy=make_policy(0))
    for seed, given in enumerate(CALLS):
        assert_same(replay(net, make_policy(seed), **given), step(net, make_policy(seed), **given))
        assert find_recording_of(net, policy=make_policy(9), **given) is first


def test_constraints_of_one_kind_have_one_recording_and_each_call_obeys_its_own():
    net = make()

    def rules(token: int) -> list[Any]:
        prefix = ForcedPrefix(torch.tensor([[token, -1], [-1, token]]))
        return [BannedTokens(((token + 1,),)), MinLength(token % 6, (7,)), prefix]

    first = find_recording_of(net, constraints=rules(2))
    for token in (2, 11, 20):
        given = {"constraints": rules(token)}
        assert_same(replay(net, draw(), **given), step(net, draw(), **given))
        assert find_recording_of(net, **given) is first


@pytest.mark.parametrize(
    "other",
    [
        {"rows": 3},
        {"policy": Greedy()},
        {"policy": draw(temperature=0.5)},
        {"policy": draw(top_p=0.5)},
        {"policy": FirstGreedy(2, draw())},
        {"limit": 100},
        {"stop": AtTokens((7, 8))},
        {"constraints": [BannedTokens(((2,),))]},
    ],
    ids=["rows", "greedy", "temperature", "top_p", "first greedy", "limit", "stop", "constraints"],
)
def test_another_shape_kind_or_setting_is_another_recording(other):
    net, base = make(), {"policy": draw()}
    first = find_recording_of(net, **base)
    assert find_recording_of(net, **{**base, **other}) is not first
    assert find_recording_of(net, **base) is first


def test_a_text_stays_as_it_was_when_another_is_written():
    net = make()
    first = replay(net, draw(1))
    before = deepcopy(first)
    replay(net, draw(2), start=torch.tensor([20, 21]))
    assert_same(first, before)


def double(net: LanguageModelNetwork) -> None:
    for weight in net.parameters():
        weight.mul_(2)


def assign(net: LanguageModelNetwork) -> None:
    for weight in net.parameters():
        weight.data[:] = 3 * weight.data


def load(net: LanguageModelNetwork) -> None:
    net.load_state_dict(make(7).state_dict())


def load_in_place(net: LanguageModelNetwork) -> None:
    net.load_state_dict({k: v.clone() for k, v in make(7).state_dict().items()}, assign=True)


def replace_bias(net: LanguageModelNetwork) -> None:
    net.softmax.b = torch.nn.Parameter(torch.randn(WORDS))


def replace_data(net: LanguageModelNetwork) -> None:
    net.softmax.b.data = torch.randn(WORDS)


def round_weights(net: LanguageModelNetwork) -> None:
    net.bfloat16().float()


@pytest.mark.parametrize("change", [double, assign, load])
def test_a_recording_sees_what_became_of_the_weights_where_they_lie(change):
    net = make()
    first = find_recording_of(net)
    before = replay(net, Greedy())
    change(net)
    found = replay(net, Greedy())
    assert_same(found, step(net, Greedy()))
    assert not found.log_probs.equal(before.log_probs)
    assert find_recording_of(net) is first


@pytest.mark.parametrize("change", [load_in_place, replace_bias, replace_data, round_weights])
def test_other_weights_in_their_place_are_recorded_anew(change):
    net = make()
    first, before = find_recording_of(net), replay(net, Greedy())
    change(net)
    found = replay(net, Greedy())
    assert_same(found, step(net, Greedy()))
    assert not found.log_probs.equal(before.log_probs)
    assert find_recording_of(net) is not first


def test_another_setting_of_a_part_is_recorded_anew():
    net = make(zoneout=0.1)
    first = find_recording_of(net)
    for part in net.modules():
        if isinstance(part, Zoneout):
            part.p = dict.fromkeys(part.p, 0.9)
    assert find_recording_of(net) is not first
    assert_same(replay(net, Greedy()), step(net, Greedy()))


def test_inference_mode_and_what_is_outside_it_have_recordings_of_their_own():
    net = make()
    for _ in range(2):
        with torch.inference_mode():
            assert_same(replay(net, Greedy()), step(net, Greedy()))
        assert_same(replay(net, Greedy()), step(net, Greedy()))


def test_nothing_is_kept_where_a_hook_looks_at_what_a_part_does():
    net = make()
    first = find_recording_of(net)
    hook = net.embed.register_forward_hook(lambda *_: None)
    second = find_recording_of(net)
    assert second is not first
    assert find_recording_of(net) is not second
    hook.remove()
    assert find_recording_of(net) is first


def test_nothing_is_kept_under_autocast_which_forgets_what_it_has_converted():
    net = make()
    with torch.autocast("cpu", torch.bfloat16):
        assert find_recording_of(net) is not find_recording_of(net)


def test_a_recording_in_use_is_nobody_elses():
    net = make()
    with open_tape(net) as first, open_tape(net) as second:
        assert first is not second


def test_threads_write_what_one_writes():
    net, together = make(), Barrier(3)
    expected = [step(net, draw(seed)) for seed in range(3)]

    def write(seed: int) -> list[Rollout]:
        together.wait()
        with torch.no_grad():
            return [replay(net, draw(seed)) for _ in range(3)]

    with ThreadPoolExecutor(3) as pool:
        for found, one in zip(pool.map(write, range(3)), expected, strict=True):
            for each in found:
                assert_same(each, one)


def test_a_few_recordings_are_kept_those_that_were_used_last():
    net = make()
    found = [find_recording_of(net, rows=rows) for rows in range(1, 9)]
    assert find_recording_of(net, rows=1) is found[0]
    find_recording_of(net, rows=9)
    assert find_recording_of(net, rows=2) is not found[1]
    assert find_recording_of(net, rows=1) is found[0]


def test_the_last_recording_is_kept_however_much_it_holds(monkeypatch):
    net, found = make(), list[Any]()
    monkeypatch.setattr(kept_recordings, "_MOST_BYTES", 8000)
    for rows in (8, 1, 1, 8, 8):  # tokens, their log-probabilities and the mask of 64 places: 13 bytes each
        found.append(find_recording_of(net, rows=rows))
    assert found[1] is found[2]
    assert found[3] is found[4]
    assert found[0] is not found[3]


def test_what_failed_is_not_used_again():
    net = make()
    first = find_recording_of(net)
    with pytest.raises(KeyboardInterrupt), open_tape(net):
        raise KeyboardInterrupt
    assert find_recording_of(net) is not first
