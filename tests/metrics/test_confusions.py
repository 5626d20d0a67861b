"""Labels that are taken for each other, counted by hand."""

from elman.metrics.confusions import most_confused

GOLD = ["a", "b", "a", "c", "a", "b"]
GUESS = ["b", "a", "b", "c", "c", "a"]
TEXTS = ["1", "2", "3", "4", "5", "6"]


def test_pairs_come_by_their_number_then_as_in_the_data_each_with_its_first_example():
    found = [(p.gold, p.predicted, p.count, p.example) for p in most_confused(GOLD, GUESS, TEXTS)]
    assert found == [("a", "b", 2, "1"), ("b", "a", 2, "2"), ("a", "c", 1, "5")]


def test_no_more_pairs_are_told_than_asked_for_and_what_is_right_is_none():
    assert len(most_confused(GOLD, GUESS, TEXTS, most=2)) == 2
    assert most_confused(GOLD, GOLD, TEXTS) == []
