"""How answers are written: searches against all strings, batches, ensembles, stops, odd sources."""

import itertools
import math
import time
from dataclasses import replace

import pytest
import torch

from elman import artifact
from elman.config import to_plain
from elman.decoding import AnyOf, AtLengths, AtTokens, Beam
from elman.errors import ConfigError
from elman.pipeline.recipe import recipe_class
from elman.tasks.seq2seq.loss import decoder_step, nll
from elman.tasks.seq2seq.search import DecodingConfig, chunks
from elman.tasks.seq2seq.task import Seq2Seq, Translation
from elman.text.vocab import BOS, EOS
from tests.model_folder import store_model
from tests.tasks.toy_pairs import ALIGNED, CHARS, JOINT, SINGLE, WORDS, made, pairs

ONE_LETTER = pairs(("ab", "x"), ("b", "xx"))
KINDS = {
    "context": {"decoder": "context"},
    "gnmt": {},
    "input-feeding": {"decoder": "input-feeding"},
    "transducer": ALIGNED,
    "single": SINGLE,
    "copying": {"decoder": "luong", "copying": True},
}
EVERY = pytest.mark.parametrize("kind", KINDS)
SOURCES = ["ab", "b", "abz", "aabbaa"]


def model(kind: str, seed: int = 0) -> Seq2Seq:
    return made(JOINT if kind == "single" else CHARS, ONE_LETTER, seed, **KINDS[kind])


def close(found: list[list[Translation]], expected: list[list[Translation]]) -> None:
    assert [[one.tokens for one in some] for some in found] == [
        [one.tokens for one in some] for some in expected
    ]
    for one, other in zip(itertools.chain(*found), itertools.chain(*expected), strict=True):
        assert one.log_probs == pytest.approx(other.log_probs, abs=1e-9)
        assert one.score == pytest.approx(other.score, abs=1e-9)


def all_answers(one: Seq2Seq, source: str, longest: int) -> list[tuple[float, list[int]]]:
    """Every string up to a length with log p / length, best first: costs are those of teacher forcing."""
    ids = range(len(one.tokenizers.target.items) + len(one.encode_pair(source).unknown))
    ended = [[*some, EOS] for n in range(longest) for some in itertools.product(set(ids) - {EOS}, repeat=n)]
    cut = [[*some] for some in itertools.product(set(ids) - {EOS}, repeat=longest)]
    rows = [one.encode_pair(source)._replace(target=tokens) for tokens in ended + cut]
    with torch.no_grad():
        batch = one.collate(rows)
        costs = (nll(one.net, batch) * batch.target_mask).sum(1).tolist()
    scored = [(-cost / len(row.target), row.target) for cost, row in zip(costs, rows, strict=True)]
    return sorted(scored, reverse=True)


@EVERY
def test_a_wide_beam_finds_the_best_of_all_strings(kind):
    one = model(kind)
    found = one.translations(["ab"], n_best=9, config=DecodingConfig(beam=400, narrow=False, max_tokens=3))[0]
    best = all_answers(one, "ab", 3)[:9]
    assert [t.score for t in found] == pytest.approx([score for score, _ in best])
    items = [*one.tokenizers.target.items, *one.encode_pair("ab").unknown]
    assert [t.tokens for t in found] == [[items[i] for i in ids if i != EOS] for _, ids in best]


@EVERY
def test_a_beam_of_one_is_greedy(kind):
    one = model(kind)
    rows = [one.encode_pair(source) for source in SOURCES]
    batch = one.collate(rows)
    step, state = decoder_step(one.net, batch)
    limits = (2 * batch.mask.sum(1) + 10).clamp(max=one.config.max_tokens)
    stop = AnyOf((AtTokens((EOS,)), AtLengths(limits)))
    with torch.no_grad():
        searched = Beam(width=1)(
            step, state, start=torch.full((len(rows),), BOS), stop=stop, limit=int(limits.max())
        )
    greedy = one.translations(SOURCES, beam=1)
    for (hypothesis,), (answer,), row in zip(searched, greedy, rows, strict=True):
        written = [i for i in hypothesis.tokens if i != EOS]
        assert one.tokenizers.decode(written, row) == answer.tokens
        assert hypothesis.log_probs == pytest.approx(answer.log_probs)
        assert hypothesis.score == pytest.approx(answer.score)


@EVERY
@pytest.mark.parametrize("manner", [{"beam": 1}, {"beam": 4, "n_best": 3, "max_tokens": 8}])
def test_a_source_is_answered_in_company_as_alone(kind, manner):
    one = model(kind)
    close(one.translations(SOURCES, **manner), [one.translations([s], **manner)[0] for s in SOURCES])


@EVERY
def test_many_sources_are_answered_by_several_threads_as_few_by_one(kind, monkeypatch):
    one, many = model(kind), 35 * SOURCES
    few = one.translations(SOURCES, beam=3, max_tokens=8)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    close(one.translations(many, beam=3, max_tokens=8), 35 * few)


@EVERY
def test_the_best_answers_are_sorted_distinct_and_cost_what_teacher_forcing_says(kind):
    one = model(kind)
    for source, some in zip(SOURCES, one.translations(SOURCES, beam=5, n_best=5, max_tokens=6), strict=True):
        scores = [answer.score for answer in some]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(answer.tokens) for answer in some}) == len(some)
        for answer in some:
            row = one.encode_pair(source)
            items = [*one.tokenizers.target.items, *row.unknown]
            ids = [items.index(token) for token in answer.tokens]
            ids += [EOS] * (len(answer.log_probs) - len(ids))
            with torch.no_grad():
                costs = nll(one.net, one.collate([row._replace(target=ids)]))[0]
            assert answer.log_probs == pytest.approx((-costs).tolist(), abs=1e-9)
            total = sum(answer.log_probs) / len(answer.log_probs)
            assert answer.score == pytest.approx(total)


def test_models_that_write_together_write_by_the_mean_of_their_probabilities():
    one, other = model("input-feeding"), model("context", seed=1)
    (answer,) = one.translations(["ab"], others=[other], beam=1)[0]
    items = one.tokenizers.target.items
    ids = [*(items.index(token) for token in answer.tokens)]
    ids += [EOS] * (len(answer.log_probs) - len(ids))
    with torch.no_grad():
        batch = one.collate([one.encode_pair("ab")._replace(target=ids)])
        p, q = ((-nll(some.net, batch)[0]).exp() for some in (one, other))
    assert answer.log_probs == pytest.approx(((p + q) / 2).log().tolist())
    expected = one.translations(SOURCES, others=[other], beam=3, n_best=3, max_tokens=6)
    close(other.translations(SOURCES, others=[one], beam=3, n_best=3, max_tokens=6), expected)


@EVERY
def test_a_model_with_its_twin_is_the_model(kind):
    one, twin = model(kind), model(kind)
    manner = {"beam": 3, "max_tokens": 6}
    close(one.translations(SOURCES, others=[twin], **manner), one.translations(SOURCES, **manner))


def test_models_with_other_tokens_cannot_write_together():
    stranger = made(CHARS, pairs(("q", "w")))
    with pytest.raises(ConfigError, match="same tokens"):
        model("context").translations(["ab"], others=[stranger])
    with pytest.raises(ConfigError, match="same tokens"):
        model("context").translations(["ab"], others=[model("copying")])


@EVERY
def test_what_was_saved_answers_and_costs_the_same(kind, tmp_path):
    one = model(kind)
    one.net.float()
    tokens = JOINT if kind == "single" else CHARS
    config = to_plain(recipe_class("seq2seq")(model=one.config, tokens=tokens))
    store_model(one, tmp_path, config=config, metrics={}, card="")
    found = artifact.load(tmp_path)
    assert found.config == one.config
    assert found.tokenizers.matches(one.tokenizers)
    assert found.translations(SOURCES, n_best=2) == one.translations(SOURCES, n_best=2)
    data = one.encode(ONE_LETTER)
    assert found.loss(data, 0.0).item() == one.loss(data, 0.0).item()


def test_bfloat16_writes_close_to_what_it_would_and_changes_no_weight():
    for kind in KINDS:
        one = made(JOINT if kind == "single" else CHARS, ONE_LETTER, **KINDS[kind])
        one.net.float()
        before = {name: weight.clone() for name, weight in one.net.state_dict().items()}
        rounded = one.translations(SOURCES, max_tokens=4, config=DecodingConfig(precision="bfloat16"))
        for source, (best, *_) in zip(SOURCES, rounded, strict=True):
            every = one.translations([source], max_tokens=4, beam=300, n_best=300)[0]
            exact = next(other for other in every if other.tokens == best.tokens)
            assert best.log_probs == pytest.approx(exact.log_probs, abs=0.15), kind
            assert exact.score > every[0].score - 0.15, "nearly the best there is"
        after = one.net.state_dict()
        assert all(torch.equal(weight, after[name]) for name, weight in before.items())


def test_a_precision_that_is_none_is_named():
    with pytest.raises(ConfigError, match="precision is 'int8'; it must be float32 or bfloat16"):
        model("context").translate(["ab"], config=DecodingConfig(precision="int8"))


def test_answers_stop_at_the_end_at_a_string_or_at_a_length():
    one = made(WORDS, pairs(("a b", "x y z"), ("b", "z y")), decoder="context")
    with torch.no_grad():  # whatever it reads, it writes x y z x y z …
        x, y, z = one.tokenizers.target.encode("x y z")
        one.net.softmax.logits = _cycle({BOS: x, x: y, y: z, z: x}, one)
    assert one.translate(["a"], beam=1) == [" ".join("xyz" * 4)], "2 n + 10 tokens"
    assert one.translate(["a b", "a"], beam=1, max_tokens=5) == ["x y z x y"] * 2
    for beam in (1, 2):
        config = DecodingConfig(beam=beam, stop=("z x",))
        assert one.translate(["a", "a b"], config=config) == ["x y "] * 2
        for (found,) in one.translations(["a", "a b"], config=config):
            assert len(found.log_probs) == 4, "the search ends there, not the text alone"
            assert found.tokens == ["x", "y", "z", "x"]
    with torch.no_grad():
        one.net.softmax.logits = _cycle({BOS: x, x: y, y: EOS, EOS: x, z: x}, one)
    assert one.translate(["a"], beam=1, config=DecodingConfig(stop=("q",))) == ["x y"]


@pytest.mark.parametrize("wrong", [("",), ("x", "")])
def test_an_empty_stop_string_is_refused(wrong):
    with pytest.raises(ConfigError, match=r"^stop has an empty string in it, which every text contains$"):
        DecodingConfig(stop=wrong)


def test_a_large_repetition_penalty_writes_other_words_first():
    one = made(WORDS, pairs(("a b", "x y z"), ("b", "z y")), decoder="context")
    one.net.softmax.b.data[EOS] = -50.0
    for beam in (1, 3):
        free = DecodingConfig(beam=beam, max_tokens=3)
        [[plain]] = one.translations(["a"], config=free)
        [[found]] = one.translations(["a"], config=replace(free, repetition_penalty=1e9))
        assert len({*plain.tokens}) < 3 == len({*found.tokens})


def _cycle(following: dict[int, int], one: Seq2Seq):
    """A softmax that is sure of what follows the token that was read last."""
    seen, read = [], one.net.read

    def watched(session, state, tokens):
        seen[:] = tokens[:, -1].tolist()
        return read(session, state, tokens)

    def logits(o):
        sure = o.new_full((len(o), len(one.tokenizers.target.items)), -30.0)
        for row, token in enumerate(seen):
            sure[row, following.get(token, EOS)] = 30.0
        return sure

    one.net.read = watched
    return logits


def test_a_stop_may_be_a_word_that_only_the_source_has():
    one = made(WORDS, pairs(("a b", "x b")), copying=True)
    one.net.pointer.gate.bias.data.fill_(-40.0)  # everything is copied
    (free,) = one.translate(["new a new"], beam=1, max_tokens=9)
    assert "new" in free.split()
    (stopped,) = one.translate(["new a new"], beam=1, max_tokens=9, config=DecodingConfig(stop=("new",)))
    assert stopped == free[: free.index("new")]


def test_no_source_is_answered_by_words_of_its_neighbours():
    one = model("copying")
    config = DecodingConfig(beam=60, n_best=60, narrow=False, max_tokens=2)
    together = one.translations(["b", "qrabz"], config=config)
    close(together, [one.translations([s], config=config)[0] for s in ("b", "qrabz")])
    assert {t for answer in together[0] for t in answer.tokens} <= {*one.tokenizers.target.items, "b"}


def test_padding_and_the_beginning_are_not_text():
    one = made(WORDS, pairs(("a", "x")))
    row = one.encode_pair("a")
    assert one.tokenizers.join_tokens(one.tokenizers.decode([0, 4, 2], row), [0, 4, 2]) == "x"


def test_an_empty_source_has_an_empty_answer_wherever_it_stands():
    one = made(WORDS, pairs(("a b", "x"), ("b", "y")))
    nothing = [Translation("", 0.0, [], [])]
    found = one.translations(["", "a", "  "])
    assert found[0] == found[2] == nothing
    close(found[1:2], one.translations(["a"]))
    assert one.translate([]) == []


@EVERY
def test_unknown_characters_are_read_as_unknown_and_answered(kind):
    one = model(kind)
    for answer in one.translate(["中文☃", "\u0301\x00", "<s></s>"]):
        assert isinstance(answer, str)
    if kind != "copying":
        close(one.translations(["a☃"]), one.translations(["a中"]))


@pytest.mark.parametrize(
    "options",
    [*KINDS.values(), {"decoder": "bahdanau", "score": "additive"}, {"encoder": "convolutional"}],
    ids=lambda o: "-".join(map(str, o.values())) or "gnmt",
)
def test_ten_thousand_tokens_are_answered_in_bounded_time(options):
    one = made(JOINT if options.get("decoder_only") else CHARS, ONE_LETTER, **options)
    one.net.float()
    began = time.process_time()
    (best, *_) = one.translations(["ab" * 5000, "b"], max_tokens=8)[0]
    assert len(best.tokens) <= 8
    assert math.isfinite(best.score)
    assert time.process_time() - began < 20


def test_chunks_hold_every_source_once_and_a_bounded_number_of_tokens():
    lengths = [5, 10_000, 3, *range(1, 300), 8192, 8193]
    found = [*chunks(lengths)]
    assert sorted(i for some in found for i in some) == [*range(len(lengths))]
    for some in found:
        assert len(some) <= 128
        assert len(some) == 1 or len(some) * max(lengths[i] for i in some) <= 8192
    assert [*chunks([])] == []


@pytest.mark.parametrize(("sources", "sizes"), [(128, [128]), (140, [70, 70]), (300, [75, 75, 75, 75])])
def test_chunks_are_even_where_there_are_several(sources, sizes):
    assert [len(some) for some in chunks([9] * sources)] == sizes


@pytest.mark.parametrize("manner", [{"beam": 2, "n_best": 3}, {"max_tokens": 0}, {"no_repeat": -1}])
def test_options_out_of_range_are_refused(manner):
    with pytest.raises(ConfigError, match="must be"):
        DecodingConfig(**manner)


def test_an_option_by_name_is_stronger_than_the_config_and_an_unknown_one_a_type_error():
    one, config = model("context"), DecodingConfig(beam=4, n_best=2, max_tokens=3)
    assert one.translations(SOURCES, config=config) == one.translations(SOURCES, beam=4, n_best=2, max_tokens=3)
    assert one.translations(SOURCES, beam=1, n_best=1, config=config) == one.translations(
        SOURCES, beam=1, max_tokens=3
    )
    with pytest.raises(TypeError, match="beem"):
        one.translate(SOURCES, beem=3)


def test_answers_leave_the_mode_of_training_as_it_was():
    one = model("context")
    one.net.train()
    one.net.drop.eval()
    before = [part.training for part in one.net.modules()]
    one.translate(SOURCES)
    one.evaluate_dataset(one.encode(ONE_LETTER))
    assert [part.training for part in one.net.modules()] == before


def test_no_tokens_come_twice_where_that_is_asked_for():
    one = model("input-feeding")
    for beam in (1, 4):
        for answer in one.translations(SOURCES, beam=beam, config=DecodingConfig(no_repeat=2)):
            steps = [*itertools.pairwise(answer[0].tokens)]
            assert len(steps) == len(set(steps))


def test_an_alignment_has_a_row_for_each_token_and_for_the_end():
    one = model("gnmt")
    found = one.align("abz", "xx")
    assert (found.source, found.target) == (["a", "b", "z"], ["x", "x", "</s>"])
    assert found.weights.shape == (3, 3)
    torch.testing.assert_close(found.weights.sum(1), torch.ones(3))
    with pytest.raises(ConfigError, match="no attention to show"):
        model("context").align("ab", "x")


def test_a_transducer_has_as_much_room_in_company_as_alone():
    """After n tokens, n + 5 of <s> to write at."""
    one = made(CHARS, pairs(("abca", "x"), ("b", "y")), **ALIGNED)
    batch = one.collate([one.encode_pair("abca"), one.encode_pair("b")])
    with torch.no_grad():
        mask = one.net.encode(batch.source, batch.mask).mask
    assert mask.sum(1).tolist() == [13, 7]
