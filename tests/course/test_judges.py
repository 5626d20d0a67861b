"""Judges say what is wrong with an answer, and a mistake that is known by its name."""

import math
from importlib import import_module

import pytest
import torch

from elman.course.exercise import NOTEBOOKS, find_exercise
from elman.course.grading import _judge
from elman.course.judges import differs, expect_number, expect_word
from elman.formula import State, formula, relu, sigmoid
from tests.course import answers_07, answers_08, answers_09, answers_10, answers_11
from tests.course.sentences import SAID


def test_a_number_is_right_within_its_tolerance_or_its_mistake_is_named():
    judge = expect_number(0.5, {2.0: "Upside down."}, tolerance=0.01)
    assert judge(0.509) is None
    assert judge(2.005) == "Upside down."
    assert judge(0.52) == "0.52 is too large."
    assert judge(0.4) == "0.4 is too small."


def test_a_word_is_right_in_any_letters_and_a_part_of_it_is_not():
    judge = expect_word("explodes", {"stays": "It moves."})
    assert judge(" Explodes ") is None
    assert judge("stays") == "It moves."
    assert judge("explode") == "'explode' is none of these: explodes, stays."
    assert judge(1) == "The answer is a word in quotes, not int."


def test_a_tensor_is_judged_by_kind_then_shape_then_values():
    right = torch.ones(2, 3)
    assert differs(right + 1e-7, right) is None
    assert differs(0 * right + 9e-6, 0 * right) is differs(1e3 * right + 9e-3, 1e3 * right) is None
    assert differs([1.0], right) == "A tensor is expected, and this is list."
    assert differs(torch.ones(3), right) == "The shape should be (2, 3), and it is (3,)."
    assert differs(right * 2, right) == "The shape is right, the values are not."


WRONG = [
    (number, answer, said)
    for notebook in NOTEBOOKS
    for number, answers in import_module(f"tests.course.answers_{notebook}").WRONG.items()
    for answer, said in zip(answers, SAID[number], strict=True)
]


@formula(gates="r z n")
def gru_with_relu(x, U, s):
    r, z = sigmoid(x.r + U.r(s.h)), sigmoid(x.z + U.z(s.h))
    return State(h=z * s.h + (1 - z) * relu(x.n + U.n(r * s.h)))


def keep_two(chances, p):
    kept = chances * (chances >= chances.sort().values[-2])
    return kept / kept.sum()


def keep_others(chances, p):
    kept = chances * (chances < chances.max())
    return kept / kept.sum()


def by_the_last_word(beam, next_log_probs, width):
    new = [((*words, word), p + q, q) for words, p in beam for word, q in next_log_probs(words).items()]
    return [(words, p) for words, p, _ in sorted(new, key=lambda one: -one[2])[:width]]


def without_old_words(beam, next_log_probs, width):
    return [(words[-1:], p) for words, p in answers_11.beam_step(beam, next_log_probs, width)]


def only_of_several(emissions, transitions, path):
    return answers_08.RIGHT["08.2"](emissions, transitions, path) if len(path) > 1 else 0.0


FURTHER = [
    ("01.2", lambda h, x, W, U, b: torch.tanh(W @ x + U.T @ h + b), "U must multiply h from the left"),
    ("01.3", 100, "That is U alone."),
    ("01.3", 260, "That is W alone."),
    ("02.2", 100 * 0.9**50, "That is in percent; a share lies between 0 and 1."),
    ("02.2", 0.9**50 - 0.00011, "0.005044 is too small."),
    ("03.1", [6, 6, 7, 12], "That adds x to s; where x is written, s is gone."),
    ("03.1", [1, 6, 0, 0], "Look at number 3 of the list again."),
    ("03.3", lambda x, h, W, U, b: (W @ x + U @ h + b > 0).float(), "That is a hard gate."),
    ("04.1", lambda i, f, z, o, c: (o, f * c + (1 - f) * z), "That is a coupled gate"),
    ("04.1", lambda i, f, z, o, c: (o, c + i * z), "Nothing is forgotten."),
    ("04.1", lambda i, f, z, o, c: (o, f * c + i * z), "The new h: The shape is right, the values are not."),
    ("04.1", lambda i, f, z, o, c: (o, c, c), "Two values are expected: return h, c."),
    ("04.1", lambda i, f, z, o, c: torch.stack([o, c]), "Two values are expected: return h, c."),
    ("04.2", 11, "That would be so if 0.05 of the first value were lost at each step."),
    ("04.2", 19, "That many steps leave much less than half."),
    ("04.3", 15150, "The matrices of the recurrence are missing."),
    ("04.4", "gru", "The answer is the formula itself, made by @formula."),
    ("04.4", gru_with_relu, "That has ReLU; here the candidate has tanh."),
    ("05.1", lambda ahead, back, xs: None, "A tensor is expected, and this is NoneType."),
    ("05.2", {"x"}, "The answer is a set of the letters a to e."),
    ("05.3", (128, 100), "At least one of the two numbers is not right."),
    ("05.3", (32, 64), "The second layer reads the output of the first one, with both of its directions."),
    ("05.4", lambda ys, mask: ys, "The shape should be"),
    ("06.1", lambda log_probs: -sum(log_probs) / len(log_probs) / math.log(2), "This is the mean in bits"),
    ("06.1", lambda log_probs: 5.0, "For the probabilities 1/2, 1/8 and 1/4 it should be 4, and it is 5."),
    ("06.2", lambda logits, t: torch.tensor([0.2, 0.3, 0.5]), "The shape is right, the values are not."),
    ("06.3", keep_others, "Other words are kept than the most probable ones that reach p together."),
    ("06.3", keep_two, "The shape is right, the values are not."),
    ("06.3", lambda ps, p: [1.0], "A tensor is expected, and this is list."),
    ("07.1", lambda chances, typed, k: answers_07._complete(chances, "pri", k), "With nothing typed yet"),
    (
        "07.1",
        lambda chances, typed, k: answers_07._complete(chances, typed, 3),
        "Two completions were asked for, and there are 3.",
    ),
    (
        "07.2",
        lambda *given: 0.5,
        "For 'queen' after 'the qu' it should be 0.252 in our example, and it is 0.5.",
    ),
    ("07.2", lambda *given: 0.252, "With 'q' typed and 'queens' wanted it is wrong."),
    ("08.2", lambda *given: 8 * 41, "Scores are logarithms: they are added."),
    ("08.2", only_of_several, "A sentence of one word has no transition; its score is that of the word."),
    ("08.2", lambda *given: 1, "The path [0, 2, 1] should have the score 49 in our example, not 1."),
    ("08.3", lambda *given: [0, 0], "A sentence of five words has five tags, and the path has 2."),
    ("08.4", {"x"}, "The answer is a set of the letters a to e."),
    ("09.1", "eighty one", "The answer is a list of some of the six numbers in words."),
    ("09.1", ["eleven"], "'eleven' is none of the six numbers."),
    ("09.1", ["eighty one"], "What you named is right, but there are more."),
    ("09.2", lambda *given: None, "The function returns nothing: end it with return."),
    (
        "09.2",
        lambda *given: answers_09.write(*given) or [1],
        "Where the first token that is written is the end",
    ),
    ("09.2", lambda *given: [3], "A small decoder should write 4 tokens here, and your function gives 1."),
    (
        "10.1",
        lambda query, states: answers_10.attend(query, states)[::-1],
        "The weights: The shape should be (3,)",
    ),
    ("10.3", 48, "The answer is a pair of numbers: (rows, columns)."),
    ("10.3", (1, 2), "The sizes are those of a state of the decoder and of the encoder."),
    ("11.1", 0.3, "The answer is two numbers: (greedy, best)."),
    ("11.2", without_old_words, "Each new hypothesis has the old words and one more, in a tuple."),
    ("11.2", by_the_last_word, "Not the best continuations are kept."),
    ("11.3", "red", "The answer is a list of words."),
    ("11.3", ["blue"], "Some words are none of the four, or the best is missing."),
    ("11.4", 0.49, "0.49 is too small."),
    ("12.2", 0.59, "0.59 is too small."),
    ("12.3", lambda log_p, costs, alpha: (alpha * log_p.exp() * costs).sum(), "alpha is an exponent"),
    ("12.3", lambda log_p, costs, alpha: ((alpha * log_p).exp() * costs).mean(), "Q must have the sum 1 over"),
    ("12.3", lambda log_p, costs, alpha: 7.0, "The number is not right for three candidates."),
    ("12.4", 7, "The answer is a list of letters."),
]


@pytest.mark.parametrize(("number", "answer", "said"), WRONG + FURTHER)
def test_a_wrong_answer_is_told_how_it_is_wrong(number, answer, said):
    assert (_judge(find_exercise(number), answer) or "").startswith(said)


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        ("02.2", 0.9**50 + 0.00009),
        ("05.2", "a, c, e"),
        ("08.4", ["d", "b"]),
        ("09.1", ("Eighty one ", "two hundred sixty", "nine hundred thirty three")),
        ("10.3", [48, 40]),
        ("11.3", (" Red", "blue")),
        ("11.4", 0.504),
        ("12.2", 0.608),
        ("12.4", "a"),
    ],
)
def test_an_answer_may_be_rounded_and_of_another_kind(number, answer):
    assert _judge(find_exercise(number), answer) is None
