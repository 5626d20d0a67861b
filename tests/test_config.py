from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.config import apply_override, build_config, read_toml, to_plain
from elman.errors import ConfigError


@dataclass(frozen=True)
class Words:
    kind: Literal["words"] = "words"
    lower: bool = False


@dataclass(frozen=True)
class Subwords:
    kind: Literal["subwords"] = "subwords"
    size: int = 8000


@dataclass(frozen=True)
class Model:
    hidden: int
    cell: Literal["lstm", "gru"] = "lstm"
    dropout: float = 0.0
    sizes: tuple[int, ...] = ()
    window: tuple[int, float] = (1, 0.5)

    def __post_init__(self) -> None:
        if self.hidden < 1:
            raise ConfigError(f"hidden is {self.hidden}; it must be at least 1")


@dataclass(frozen=True)
class Recipe:
    model: Model
    tokens: Words | Subwords = field(default_factory=Words)
    other: Words | Subwords | None = None
    seed: int | None = None
    limit: float | Literal["all"] = "all"
    name: str = "x"
    data: Path | None = None
    weights: dict[str, float] = field(default_factory=dict)


whole = st.integers(-(2**60), 2**60)
real = st.floats(allow_nan=False)
tokens = st.builds(Words, lower=st.booleans()) | st.builds(Subwords, size=whole)
recipes = st.builds(
    Recipe,
    model=st.builds(
        Model,
        hidden=st.integers(1),
        cell=st.sampled_from(["lstm", "gru"]),
        dropout=real,
        sizes=st.lists(whole).map(tuple),
        window=st.tuples(whole, real),
    ),
    tokens=tokens,
    other=st.none() | tokens,
    seed=st.none() | whole,
    limit=real | st.just("all"),
    name=st.text(),
    data=st.none() | st.text("abc/.", min_size=1).map(Path),
    weights=st.dictionaries(st.text(), real),
)


@given(recipes)
def test_a_configuration_survives_plain_json(config: Recipe) -> None:
    assert build_config(Recipe, to_plain(config)) == config
    assert build_config(Recipe, json.loads(json.dumps(to_plain(config)))) == config


@given(st.recursive(st.none() | st.booleans() | whole | real | st.text(), lambda x: st.lists(x)))
def test_any_value_is_taken_or_refused_in_one_line(value: object) -> None:
    for key in ("model", "tokens", "other", "seed", "limit", "name", "data", "weights"):
        try:
            message = ""
            build_config(Recipe, {"model": {"hidden": 1}, key: value})
        except ConfigError as error:
            message = str(error)
        assert message == "" or (message.startswith(key) and "; " in message)


def refusal(data: dict[str, object]) -> str:
    with pytest.raises(ConfigError) as caught:
        build_config(Recipe, {"model": {"hidden": 2}, **data})
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"model": {"hiden": 3}}, "unknown key 'model.hiden'; did you mean 'hidden'?"),
        ({"cell": "gru"}, "unknown key 'cell'; did you mean 'model.cell'?"),
        ({"model": {}}, "missing key 'model.hidden'; expected a whole number"),
        ({"model": 3}, "model is 3; expected a table"),
        ({"model": {"hidden": True}}, "model.hidden is True; expected a whole number"),
        ({"model": {"hidden": 2.0}}, "model.hidden is 2.0; expected a whole number"),
        ({"model": {"hidden": 0}}, "model.hidden is 0; it must be at least 1"),
        ({"model": {"hidden": 1, "cell": "rnn"}}, "model.cell is 'rnn'; it may be 'lstm' or 'gru'"),
        ({"model": {"hidden": 1, "dropout": "a"}}, "model.dropout is 'a'; expected a number"),
        ({"model": {"hidden": 1, "sizes": [1, "b"]}}, "model.sizes[1] is 'b'; expected a whole number"),
        (
            {"model": {"hidden": 1, "window": [1]}},
            "model.window is [1]; expected a list of 2: a whole number, a number",
        ),
        ({"tokens": {"size": 3}}, "tokens.kind is missing; it may be 'words' or 'subwords'"),
        ({"tokens": {"kind": []}}, "tokens.kind is []; it may be 'words' or 'subwords'"),
        ({"tokens": "bpe"}, "tokens is 'bpe'; expected 'words' or 'subwords'"),
        ({"tokens": {"kind": "words", "size": 3}}, "unknown key 'tokens.size'; it may be 'kind' or 'lower'"),
        ({"tokens": {"kind": "words", "lower": 1}}, "tokens.lower is 1; expected true or false"),
        ({"seed": "a"}, "seed is 'a'; expected a whole number"),
        ({"limit": "some"}, "limit is 'some'; expected a number or 'all'"),
        ({"weights": {"a": "b"}}, "weights.a is 'b'; expected a number"),
        ({"weights": 3}, "weights is 3; expected a table"),
        ({"name": {"a": 1}}, "name is {'a': 1}; expected a text"),
        ({"other": 3}, "other is 3; expected 'words', 'subwords' or none"),
    ],
)
def test_a_refusal_says_what_where_and_what_is_right(data: dict[str, object], message: str) -> None:
    assert refusal(data) == message


def test_whole_numbers_are_numbers_but_truth_is_not() -> None:
    built = build_config(Model, {"hidden": 1, "dropout": 1})
    assert isinstance(built.dropout, float)
    with pytest.raises(ConfigError, match="expected a number"):
        build_config(Model, {"hidden": 1, "dropout": True})
    largest = int(sys.float_info.max)
    assert build_config(Model, {"hidden": 1, "dropout": -largest}).dropout == -largest
    for too_large in (largest + 1, 10**400):
        with pytest.raises(ConfigError, match="expected a number"):
            build_config(Model, {"hidden": 1, "dropout": too_large})


def test_a_kind_alone_stands_for_its_defaults() -> None:
    recipe = build_config(Recipe, {"model": {"hidden": 1}, "tokens": "subwords", "other": "words"})
    assert recipe.tokens == Subwords()
    assert recipe.other == Words()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1e-3", 1e-3),
        (".5", 0.5),
        ("true", True),
        ("lstm", "lstm"),
        ('"1"', "1"),
        ("[1, 2]", [1, 2]),
        ("{x = 1}", {"x": 1}),
        ("2024-01-01", "2024-01-01"),
        ("a=b", "a=b"),
        ("1\ny = 2", "1\ny = 2"),
        ("", ""),
    ],
)
def test_an_override_is_read_as_toml_or_else_as_text(text: str, value: object) -> None:
    data = {"a": {"c": 0}}
    assert apply_override(data, f"a.b={text}") == {"a": {"c": 0, "b": value}}
    assert data == {"a": {"c": 0}}


@pytest.mark.parametrize("text", ["a", "=1", "a..b=1", "a.b.=1"])
def test_an_override_must_set_a_key(text: str) -> None:
    with pytest.raises(ConfigError, match="does not set a key"):
        apply_override({}, text)


def test_an_override_cannot_enter_a_value() -> None:
    with pytest.raises(ConfigError, match="'a' is 1, not a table"):
        apply_override({"a": 1}, "a.b=2")


read_recipe = partial(read_toml, partial(build_config, Recipe))


def test_none_is_written_as_a_word(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("seed = 3\nmodel = { hidden = 1 }")
    assert read_recipe(path).seed == 3
    assert read_recipe(path, ["seed=none", "name=none", "other=none"]) == Recipe(Model(hidden=1), name="none")


def test_the_file_is_named_for_its_own_faults_only(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("[model]\nhidden = 0\n")
    with pytest.raises(ConfigError, match=f"^{path}: model.hidden is 0"):
        read_recipe(path, ["model.cell=gru"])
    with pytest.raises(ConfigError, match=r"^unknown key 'model.cel'"):
        read_recipe(path, ["model.hidden=1", "model.cel=gru"])


@pytest.mark.parametrize(("text", "line"), [("a = 1\nb =\n", 2), ("a = 1\n\nb = [1,", 3)])
def test_broken_toml_is_refused_with_file_and_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"^{path}:{line}: "):
        read_recipe(path)


def test_what_is_no_text_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    for name in (path, tmp_path):
        with pytest.raises(ConfigError, match=f"^{name}: "):
            read_recipe(name)
    with pytest.raises(ConfigError, match=r"^'a\\x00b': no file can have this name$"):
        read_recipe("a\0b")
    path.write_bytes(b"a = '\xff'")
    with pytest.raises(ConfigError, match="byte 6 is not UTF-8"):
        read_recipe(path)


@given(st.binary())
def test_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "recipe.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError):
        read_recipe(path)


@dataclass(frozen=True)
class Inner:
    lr: float = 0.001
    epochs: int = 10


@dataclass(frozen=True)
class Outer:
    training: Inner = field(default_factory=lambda: Inner(lr=0.006))
    model: Model = field(default_factory=lambda: Model(hidden=3))
    further: Inner | None = None
    one: tuple[int] = (1,)
    derived: int = field(default=7, init=False)


def test_a_table_leaves_the_defaults_of_its_place_to_what_it_does_not_say():
    assert build_config(Outer, {"training": {"epochs": 3}}) == Outer(Inner(lr=0.006, epochs=3))
    assert build_config(Outer, {"model": {"cell": "gru"}}) == Outer(model=Model(hidden=3, cell="gru"))


def test_a_table_that_may_be_left_out_is_one_of_the_only_kind_there_is():
    assert build_config(Outer, {"further": {"lr": 1}}) == Outer(further=Inner(lr=1.0))


def test_what_is_derived_is_neither_written_nor_read():
    assert "derived" not in to_plain(Outer())
    with pytest.raises(ConfigError, match="unknown key 'derived'"):
        build_config(Outer, {"derived": 7})


def test_a_list_of_one_has_one():
    assert build_config(Outer, {"one": [2]}).one == (2,)
    with pytest.raises(ConfigError, match=r"^one is \[2, 3\]; expected a list of 1: a whole number$"):
        build_config(Outer, {"one": [2, 3]})


@dataclass(frozen=True)
class Settling:
    layers: int = 2
    kind: str = "auto"
    sizes: tuple[int, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if self.kind == "auto":
            object.__setattr__(self, "kind", "deep" if self.layers > 1 else "flat")


@dataclass(frozen=True)
class WithSettling:
    model: Settling = field(default_factory=Settling)


def test_an_option_that_another_settles_is_settled_by_what_the_table_says():
    assert build_config(WithSettling, {"model": {"layers": 1}}).model.kind == "flat"


def test_a_number_is_a_text_too_as_columns_are_named_or_numbered():
    assert build_config(Column, apply_override({}, "column=3")) == Column("3")


@dataclass(frozen=True)
class Column:
    column: str = ""


@dataclass(frozen=True)
class Touchy:
    cell: str = "lstm"

    def __post_init__(self) -> None:
        raise ConfigError("unknown cell" if self.cell == "foo" else "cell is odd")


@dataclass(frozen=True)
class WithTouchy:
    model: Touchy


def test_what_a_section_refuses_as_a_whole_is_said_after_its_name():
    with pytest.raises(ConfigError, match=r"^model: unknown cell$"):
        build_config(WithTouchy, {"model": {"cell": "foo"}})
    with pytest.raises(ConfigError, match=r"^model\.cell is odd$"):
        build_config(WithTouchy, {"model": {"cell": "bar"}})


def test_a_number_of_too_many_digits_is_refused_in_a_short_sentence(tmp_path: Path) -> None:
    digits = "9" * 5000
    with pytest.raises(ConfigError, match=r"^model\.hidden is '9+…; expected a whole number") as error:
        build_config(Recipe, apply_override({"model": {"hidden": 1}}, f"model.hidden={digits}"))
    assert len(str(error.value)) < 300
    (tmp_path / "a.toml").write_text(f"[model]\nhidden = {digits}\n")
    with pytest.raises(ConfigError, match=r"a\.toml: .*digits.* \(TOML\)$"):
        read_toml(partial(build_config, Recipe), tmp_path / "a.toml")
