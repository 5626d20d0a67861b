"""Texts that a model writes: by every policy, from every prompt, within the rules."""

import inspect
import itertools
import math
from dataclasses import replace

import pytest
import torch

from elman.decoding import Beam, Greedy
from elman.decoding.stopping import check_strings
from elman.errors import ConfigError
from elman.generation import GenerationConfig, Sampling, generate, generate_iter, score, trace_beam
from elman.generation.token_bytes import token_bytes
from elman.text.vocab import SPECIALS
from tests.tasks.toy_lm import KINDS, LINES, real, toy

PROMPTS = ["", "Once upo", "Once ", "Once upon xyz", "a\nthe u"]
SHORT = GenerationConfig(max_tokens=8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_is_a_beam_of_one(kind, prompt):
    lm = real(kind)
    [greedy] = generate(lm, prompt, Greedy(), config=SHORT)
    [beam] = generate(lm, prompt, Beam(width=1), config=SHORT)
    assert greedy.text == beam.text
    assert greedy.log_probs == pytest.approx(beam.log_probs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [Sampling(seed=1), Greedy(), Beam(width=3)])
def test_a_text_begins_with_its_prompt(kind, how):
    for prompt in PROMPTS:
        [text] = generate(toy(kind), prompt, how, config=SHORT)
        assert text.text == prompt + text.continuation
        assert str(text) == text.text


def test_the_same_seed_writes_the_same_text():
    lm = toy("chars")
    first, again, other = (
        [str(text) for text in generate(lm, "a", Sampling(seed=seed), n=3)] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert len(set(first)) == 3
    assert len({str(generate(lm)[0]) for _ in range(5)}) > 1  # without a seed each call draws anew


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("passage", [False, True])
def test_several_texts_begin_with_those_of_fewer(kind, passage):
    lm, rules = toy(kind), GenerationConfig(max_tokens=15, passage=passage)
    for seed in range(2):
        one, three, five = (
            [str(text) for text in generate(lm, "Once ", Sampling(seed=seed), n=n, config=rules)]
            for n in (1, 3, 5)
        )
        assert three[:1] == one
        assert five[:3] == three
    beams = [[str(t) for t in generate(lm, "Once ", Beam(width=4), n=n, config=SHORT)] for n in (1, 3)]
    assert beams[1][:1] == beams[0]


def test_texts_of_neighbouring_seeds_have_nothing_in_common():
    lm, rules = toy("chars"), GenerationConfig(max_tokens=20, passage=True)
    written = [str(t) for seed in range(4) for t in generate(lm, "", Sampling(seed=seed), n=4, config=rules)]
    assert len(set(written)) == 16


@pytest.mark.parametrize("kind", ["words", "chars"])
def test_the_penalty_is_on_what_was_read_and_written(kind):
    """Greedy choice by hand: the logits of all that was read divided or multiplied, and the largest taken."""
    lm, rules = toy(kind), GenerationConfig(max_tokens=6, repetition_penalty=1.7)
    [text] = generate(lm, "Once up a\n", Greedy(), config=rules)
    ids = [*lm.tokenizer.encode("Once up a"), lm.end]
    state, read = lm.net.begin(1), len(ids)
    for token in (lm.end, *ids[:-1]):
        state, _ = lm.net.step(state, torch.tensor([token]))
    while len(ids) < read + 6 and (len(ids) == read or ids[-1] != lm.end):
        state, logits = lm.net.step(state, torch.tensor(ids[-1:]))
        scaled = [
            x if i not in ids else x / 1.7 if x > 0 else x * 1.7 for i, x in enumerate(logits[0].tolist())
        ]
        ids.append(max((i for i in range(len(scaled)) if i == lm.end or i >= 4), key=scaled.__getitem__))
    assert text.continuation == lm.tokenizer.decode([i for i in ids[read:] if i != lm.end])
    [free] = generate(lm, "Once up a\n", Greedy(), config=SHORT)
    assert not free.continuation.startswith(text.continuation)


@pytest.mark.parametrize("how", [Sampling(seed=3), Beam(width=4)])
def test_each_of_several_texts_has_the_log_probabilities_that_it_has_alone(how):
    lm = toy("whitespace")
    lm.net.output.b.data[lm.end] += 1
    texts = generate(lm, strategy=how, n=4, config=GenerationConfig(max_tokens=1000))
    assert len(texts) == 4
    for text in texts:
        assert text.ended
        assert text.log_probs == pytest.approx(score(lm, text.text).log_probs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prompt", ["", "Once upo"])
def test_what_comes_piece_by_piece_is_what_comes_at_once(kind, prompt):
    lm, rules = toy(kind), GenerationConfig(max_tokens=30, stop=("ti", "up "))
    for seed in range(5):
        [text] = generate(lm, prompt, Sampling(seed=seed), config=rules)
        assert "".join(generate_iter(lm, prompt, Sampling(seed=seed), config=rules)) == text.continuation


@pytest.mark.parametrize("kind", ["words", "whitespace"])
def test_an_unfinished_word_of_the_prompt_becomes_a_known_one(kind):
    lm = toy(kind)
    for seed in range(10):
        [text] = generate(lm, "Once upp", Sampling(seed=seed), config=SHORT)
        assert text.text.split()[1] == "upper"
        [text] = generate(lm, "Once up", Sampling(seed=seed), config=SHORT)
        assert text.text.split()[1] in ("up", "upper", "upon")


def test_a_word_that_no_known_one_begins_with_is_read_as_it_stands():
    lm = toy("words")
    [text] = generate(lm, "Once xyz", Greedy(), config=SHORT)
    [after] = generate(lm, "Once xyz ", Greedy(), config=SHORT)
    assert text.continuation == " " + after.continuation
    [text] = generate(lm, "Once xyz,", Greedy(), config=SHORT)
    [after] = generate(lm, "Once xyz, ", Greedy(), config=SHORT)
    assert text.continuation == " " + after.continuation


def test_subwords_of_the_prompt_are_cut_as_its_continuation_needs():
    lm = toy("bpe")
    lm.net.output.b.data[lm.tokenizer.encode(" upon")[-1]] += 50
    assert lm.tokenizer.encode("Once upon")[-1:] == lm.tokenizer.encode(" upon")  # one piece
    [text] = generate(lm, "Once upo", Greedy(), config=GenerationConfig(max_tokens=1))
    assert text.text == "Once upon"


def test_nothing_is_written_that_is_no_text():
    for kind, seed in itertools.product(KINDS, range(5)):
        lm = toy(kind)
        lm.net.output.b.data[:3] += 50
        [text] = generate(lm, strategy=Sampling(seed=seed), config=SHORT)
        assert not any(special in text.text for special in SPECIALS)  # a byte may be "<"


@pytest.mark.parametrize("how", [Sampling(seed=0), Greedy(), Beam(width=3)])
def test_banned_words_are_not_written(how):
    lm = toy("words")
    for _ in range(4):
        [text] = generate(lm, strategy=how, config=SHORT)
        word = text.text.split()[0]
        [without] = generate(
            lm, strategy=how, config=GenerationConfig(max_tokens=8, banned=(word, "unknown word"))
        )
        assert word not in without.text.split()
    pair = " ".join(generate(lm, strategy=how, config=GenerationConfig(min_tokens=3))[0].text.split()[:2])
    [without] = generate(lm, strategy=how, config=GenerationConfig(banned=(pair,)))
    assert f" {pair} " not in f" {without.text} "


@pytest.mark.parametrize("kind", ["chars", "bytes", "bpe", "unigram"])
def test_banned_text_is_not_written_however_it_is_cut_into_tokens(kind):
    lm, banned = toy(kind, ["upon up on", "upon"]), ("up", "on", "oo")
    lm.net.output.own.data /= 4
    for i, token in enumerate(token_bytes(lm.tokenizer).tokens):
        lm.net.output.b.data[i] = 9.0 if token and set(token) <= set(b"upon ") else 0.0
    plain = generate(lm, strategy=Sampling(seed=0), n=50, config=GenerationConfig(max_tokens=20))
    assert all(any(word in text.text for text in plain) for word in banned)
    texts = generate(lm, strategy=Sampling(seed=0), n=50, config=GenerationConfig(max_tokens=20, banned=banned))
    assert not any(word in text.text for text in texts for word in banned)


@pytest.mark.parametrize("how", [Sampling(seed=0), Greedy(), Beam(width=3)])
@pytest.mark.parametrize("kind", ["words", "chars", "bpe"])
def test_a_text_ends_before_a_string_where_it_is_to_stop(how, kind):
    lm = toy(kind)
    [free] = generate(lm, "Once ", how, config=GenerationConfig(max_tokens=40, min_tokens=20))
    stop = free.continuation[4:6]
    [text] = generate(
        lm, "Once ", how, config=GenerationConfig(max_tokens=40, min_tokens=20, stop=(stop, "zz"))
    )
    if not isinstance(how, Beam):  # whose best text is another when it may stop
        assert text.continuation == free.continuation[: free.continuation.index(stop)]
    assert stop not in text.continuation
    assert not text.ended


@pytest.mark.parametrize("prompt", ["Once upon", "Once upon ", "Once upon xyz"])
def test_where_the_text_ends_at_once_not_even_a_blank_is_added(prompt):
    lm = toy("words")
    lm.net.output.b.data[lm.end] += 60
    [text] = generate(lm, prompt, Greedy(), config=SHORT)
    assert text.ended
    assert text.text == prompt


def test_texts_keep_to_lengths_and_times():
    lm = toy("words")
    lm.net.output.b.data[lm.end] += 3
    assert (
        len(generate(lm, strategy=Greedy(), config=GenerationConfig(max_tokens=4, min_tokens=4))[0].log_probs)
        == 4
    )
    at_once = GenerationConfig(max_seconds=0, min_tokens=12)
    assert len(generate(lm, strategy=Greedy(), config=at_once)[0].log_probs) == 1
    [text] = generate(lm, strategy=Sampling(seed=0), config=GenerationConfig(min_tokens=12, no_repeat=1))
    words = text.text.split()
    assert len(words) == len(set(words)) >= 12
    assert len(text.log_probs) == len(words) + 1


def test_the_best_text_of_a_wide_beam_is_the_likeliest_of_all():
    lm = toy("whitespace", ["a b"])
    [best] = generate(
        lm, strategy=Beam(width=500, length_penalty=0.0, n_best=1), config=GenerationConfig(max_tokens=5)
    )
    every = [" ".join(t) for n in range(5) for t in itertools.product("ab", repeat=n)]
    likeliest = max(every, key=lambda text: float(score(lm, text)))
    if best.ended:
        assert best.text == likeliest
    assert best.score >= float(score(lm, likeliest)) - 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_tells_of_texts_and_returns_what_the_search_does(kind):
    lm, beam = toy(kind), Beam(width=3, n_best=2)
    search, told = trace_beam(lm, "Once upo", beam, config=SHORT), []
    while True:
        try:
            told.append(next(search))
        except StopIteration as over:
            found = over.value
            break
    assert found == generate(lm, "Once upo", beam, config=SHORT)
    assert all(len(event.kept) == len(texts) for event, texts in told)
    assert all(text.startswith("Once upo") for _, texts in told for text in texts)
    assert told[-1][0].closed


def test_writing_leaves_gradients_and_training_as_they_were_between_pieces():
    lm = real("chars")
    lm.net.train()
    for _ in generate_iter(lm, "a", Sampling(seed=0), config=SHORT):
        assert torch.is_grad_enabled()
        assert lm.net.training


def test_temperature_near_zero_is_greedy():
    lm = toy("words")
    [cold] = generate(lm, strategy=Sampling(temperature=1e-4, seed=0), config=SHORT)
    assert cold.text == generate(lm, strategy=Greedy(), config=SHORT)[0].text


def test_wishes_that_cannot_be_granted_are_refused():
    lm = toy("words")
    with pytest.raises(ConfigError, match="n is 2; it must be 1, as there is but one greedy text"):
        generate(lm, strategy=Greedy(), n=2)
    with pytest.raises(ConfigError, match="n_best is 5; it must be from 1 to the width, 2"):
        generate(lm, strategy=Beam(width=2), n=5)
    with pytest.raises(ConfigError, match="stop has an empty string in it"):
        GenerationConfig(stop=("",))
    with pytest.raises(ConfigError, match="banned is 'war'; it must be a tuple of strings"):
        inspect.unwrap(check_strings)("banned", "war")  # what types would refuse in a test
    for wrong in ({"max_tokens": 20, "min_tokens": 50}, {"min_tokens": 101}):
        with pytest.raises(ConfigError, match=r"^min_tokens is .*; it must be at most (20|100), max_tokens$"):
            GenerationConfig(**wrong)
    with pytest.raises(ConfigError, match="max_tokens is 0"):
        GenerationConfig(max_tokens=0)


def test_log_probabilities_are_the_models_whatever_was_forbidden():
    lm = toy("whitespace", LINES)
    [text] = generate(lm, strategy=Greedy(), config=GenerationConfig(min_tokens=5, no_repeat=1, banned=("a",)))
    assert math.fsum(text.log_probs) == pytest.approx(float(score(lm, text.text)))


PASSAGE = GenerationConfig(max_tokens=60, passage=True, no_repeat=2)


@pytest.mark.parametrize("kind", ["words", "whitespace", "chars", "bytes"])
@pytest.mark.parametrize("prompt", ["", "a\nthe ", "Once upo"])
@pytest.mark.parametrize("how", [Sampling(seed=1), Greedy(), Beam(width=3)])
def test_a_passage_read_back_costs_what_writing_it_cost(kind, prompt, how):
    lm = eager_to_end(kind)
    [text] = generate(lm, prompt, how, config=PASSAGE)
    assert len(text.log_probs) == 60
    assert text.continuation.count("\n") > 3
    *read, _ = score(lm, text.text).log_probs  # which ends the last line, too
    assert read[-60:] == pytest.approx(text.log_probs)
    assert not text.ended


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_line_of_a_passage_is_the_text_without_it(kind):
    lm, lines = eager_to_end(kind), 0
    for prompt, seed in itertools.product(PROMPTS, range(4)):
        rules = GenerationConfig(max_tokens=60)
        [line] = generate(lm, prompt, Sampling(seed=seed), config=rules)
        [passage] = generate(lm, prompt, Sampling(seed=seed), passage=True, config=rules)
        assert passage.continuation.startswith(line.continuation)
        others = passage.continuation[len(line.continuation) :]
        assert not others or others.startswith("\n")
        assert passage.log_probs[: len(line.log_probs)] == pytest.approx(line.log_probs)
        lines += others.count("\n")
    assert lines > 20


@pytest.mark.parametrize("kind", KINDS)
def test_a_passage_comes_piece_by_piece_as_at_once_and_stops_at_strings_over_lines(kind):
    lm = eager_to_end(kind)
    for seed in range(5):
        how, rules = Sampling(seed=seed), GenerationConfig(max_tokens=60, passage=True)
        [whole] = generate(lm, "Once upo", how, config=rules)
        assert "".join(generate_iter(lm, "Once upo", how, config=rules)) == whole.continuation
        stop = whole.continuation[whole.continuation.index("\n") - 1 :][:3]
        [text] = generate(lm, "Once upo", how, config=replace(rules, stop=(stop,)))
        assert text.continuation == whole.continuation[: whole.continuation.index(stop)]


def test_a_passage_is_as_long_as_a_page_and_has_no_least_length():
    assert len(generate(eager_to_end("chars"), strategy=Sampling(seed=1), passage=True)[0].log_probs) == 1000
    with pytest.raises(ConfigError, match="min_tokens is for a text that ends with its line"):
        GenerationConfig(passage=True, min_tokens=3)


def eager_to_end(kind):
    """A model of short lines; of bytes it writes ASCII alone, as broken characters cannot be read back."""
    lm = toy(kind)
    foreign = [i for i, token in enumerate(token_bytes(lm.tokenizer).tokens) if not token.isascii()]
    lm.net.output.b.data[foreign] -= 50
    lm.net.output.b.data[lm.end] += 2 if len(lm.tokenizer.items) < 100 else 4
    return lm


@pytest.mark.parametrize("seed", [0, 3, 2**63 - 1])
def test_each_text_has_dice_of_its_own_that_follow_from_the_seed(seed):
    logits = torch.zeros(3, 1000)
    draws = [Sampling(seed=one).policy(3)(0, logits).tolist() for one in (seed, seed, seed // 2 + 1)]
    assert draws[0] == draws[1] != draws[2]
    assert len({*draws[0]}) == 3
