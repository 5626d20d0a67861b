"""What the sentences of errors are made of: values shown on one short line."""

import pytest

from elman.errors import (
    ConfigError,
    ElmanError,
    check_option,
    printable,
    quote,
    quote_list,
    shorten,
    show_value,
)


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_a_value_is_shown_on_one_line_whatever_it_is():
    assert show_value("a\nb") == repr("a\nb")
    assert show_value(Unshowable()) == "a Unshowable"
    assert show_value("x" * 58) == repr("x" * 58)
    assert show_value("x" * 59) == "'" + "x" * 59 + "…"


def test_what_is_long_is_cut():
    assert shorten("a  b\n c") == "a b c"
    assert shorten("x" * 200) == "x" * 200
    assert shorten("x" * 201) == "x" * 200 + "…"
    assert quote("x" * 60) == "'" + "x" * 60 + "'"
    assert quote("x" * 61) == "'" + "x" * 60 + "'…"


def test_of_a_long_list_it_is_said_how_many_more_there_are():
    assert quote_list("ab", 2) == "'a', 'b'"
    assert quote_list("abcde", 2) == "'a', 'b' and 3 more"
    assert quote_list([str(i) for i in range(30)]).endswith("'28', '29'")
    assert quote_list([str(i) for i in range(31)]).endswith("'28', '29' and 1 more")


def test_an_error_is_one_line_and_a_name_of_bytes_is_escaped():
    assert str(ElmanError("a\nb")) == "a\\nb"
    assert printable("ä\udcff") == "ä\\udcff"


def test_an_option_is_refused_with_its_value_cut_and_what_is_right():
    check_option("width", 1, True, "at least 1")
    with pytest.raises(ConfigError, match=r"^width is 0; it must be at least 1$"):
        check_option("width", 0, False, "at least 1")
    with pytest.raises(ConfigError, match=r"^width is x{200}…; it must be at least 1$"):
        check_option("width", "x" * 300, False, "at least 1")
