"""Formulas on the page: read, written as equations and as Python, and drawn, by node."""

import inspect
import json
from dataclasses import dataclass

import pytest
import torch

from elman import formula as vocabulary
from elman.cells import LSTM
from elman.errors import FormulaError
from elman.formula import Formula, State, equations
from elman.formula.symbols import VOCABULARY
from elman.live_page.formula_json import formula_to_json
from elman.live_page.operation_script import print_operations
from tests.live_page.runtime import needs_node, run_script
from tests.zoo import FORMULAS, MOGRIFIED, cell_of

pytestmark = needs_node

NAMES = [*FORMULAS, *MOGRIFIED]
ENTRY = """
import { writeBackward } from "./formula_backward.js";
import { gradientCurves, memoryCurves, restingInputs } from "./formula_curves.js";
import { equationText, writeEquations, writePython } from "./formula_equations.js";
import { traceFormula } from "./formula_tracer.js";
import { Graph } from "./graph.js";
import { readTrace } from "./trace.js";
"""
BAD = {
    "h = torch.roll(x.h + U.h(s.h), 1)": "cannot use roll()",
    "h = x.h + U.h(U.h(s.h))": "line 3: U.h multiplies twice",
    "h = x.h / 0": "line 3: a formula cannot use division by zero",
    "h = x.h + s.c": "line 3: a formula asks for 'c'; declared are h",
    "h = x.h ** x.h": "a power by a value",
    "h = x.h * softmax(mean(s.h))": "softmax of what is the same at every unit",
    "h = sigmoid(s.h)": "declares 'h' but never uses x.h",
    "h = x.h + U.k(s.h)": "U.k is asked for; there are h",
    "h = x.h < 1": 'line 3: a formula cannot use "<"',
}


def run(folder, data, code):
    entry = {"formulas.js": ENTRY.lstrip(), "operations.js": print_operations()}
    return run_script(folder, "formulas.js", entry, data, code)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Every formula of ours, and every source of one, as the page writes them: one run of node."""
    formulas = {name: cell_of(name).formula for name in NAMES}
    sources = {name: inspect.getsource(f.function) for name, f in formulas.items() if is_whole(f)}
    data = {"formulas": {name: formula_to_json(f) for name, f in formulas.items()}, "sources": sources}
    code = """
    const written = (trace) => writeEquations(trace, { large: Infinity }).map(equationText);
    const found = {};
    for (const [name, formula] of Object.entries(data.formulas)) {
      const trace = readTrace(new Graph(), formula);
      const [python, source] = [writePython(trace), data.sources[name]];
      found[name] = { equations: written(trace), python, again: written(traceFormula(python)) };
      if (source) found[name].parsed = written(traceFormula(source));
    }
    answer(found);
    """
    return run(tmp_path_factory.mktemp("written"), data, code)


def is_whole(formula):
    """Is the source of a formula all that it takes, without constants from around it?"""
    plain = inspect.isfunction(formula.function) and formula.function.__qualname__ == formula.name
    return (
        plain
        and "@formula" in inspect.getsource(formula.function)
        and formula.name not in ("rg_lru", "layer_norm_lstm")
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_page_writes_the_equations_that_python_writes(name, written):
    assert written[name]["equations"] == equations(cell_of(name).formula)


@pytest.mark.parametrize("name", NAMES)
def test_the_python_on_the_page_means_the_formula_in_the_page_and_in_python(name, written):
    formula, again = cell_of(name).formula, execute(written[name]["python"])
    assert equations(again) == written[name]["again"]
    for given, made in zip(step_once(formula), step_once(again), strict=True):
        assert given.allclose(made, atol=1e-12)


def step_once(formula: Formula) -> State:
    """The new state of four units; a recurrent matrix is a number that its name gives."""
    numbers = torch.Generator().manual_seed(1)
    names = (formula.gates, formula.states, tuple(formula.parameters), formula.masks)
    x, s, p, m = ([torch.randn(1, 4, generator=numbers, dtype=torch.float64) for _ in some] for some in names)
    multiply = lambda name, v: v * (1 + len(name) + ord(name[0]) % 7)  # noqa: E731
    return formula(x, multiply, State(**dict(zip(formula.states, s, strict=True))), p, m)


def test_the_page_reads_the_sources_of_our_own_formulas_as_python_does(written):
    parsed = {name: found for name, found in written.items() if "parsed" in found}
    assert len(parsed) >= 20
    for name, found in parsed.items():
        assert found["parsed"] == found["equations"], name


def execute(source: str) -> Formula:
    """The formula that this Python makes."""
    names = {name: getattr(vocabulary.ops, name) for name in VOCABULARY} | {
        "formula": vocabulary.formula,
        "State": State,
    }
    exec(source, names)
    return next(made for made in names.values() if isinstance(made, Formula))


def test_what_no_formula_may_do_is_refused_by_the_page_as_by_python_with_the_line(tmp_path):
    texts = [f'@formula(gates="h")\ndef f(x, U, s):\n    {line}\n    return State(h=h)' for line in BAD]
    code = """
    const complain = (text) => {
      try {
        traceFormula(text);
      } catch (error) {
        return error.message;
      }
    };
    answer(data.map(complain));
    """
    for text, sentence, message in zip(texts, BAD.values(), run(tmp_path, texts, code), strict=True):
        assert sentence in message
        with pytest.raises((FormulaError, NameError)):
            assert execute(text).trace


def test_the_backward_pass_of_the_lstm_is_that_of_the_textbook(tmp_path):
    code = "answer(writeBackward(readTrace(new Graph(), data)).map(equationText));"
    lines = run(tmp_path, formula_to_json(LSTM.formula), code)
    assert lines == [
        "δ_c' = ∂L/∂c' + (1 - tanh(c') ⊙ tanh(c')) ⊙ o ⊙ ∂L/∂h'",
        "δ_i = (1 - i) ⊙ i ⊙ z ⊙ δ_c'",
        "δ_f = (1 - f) ⊙ f ⊙ δ_c' ⊙ c",
        "δ_z = (1 - z ⊙ z) ⊙ i ⊙ δ_c'",
        "δ_o = (1 - o) ⊙ o ⊙ ∂L/∂h' ⊙ tanh(c')",
        "∂L/∂h = U_iᵀ δ_i + U_fᵀ δ_f + U_zᵀ δ_z + U_oᵀ δ_o",
        "∂L/∂c = f ⊙ δ_c'",
    ]


def test_the_curves_of_one_unit_are_its_states_and_their_derivatives_by_autograd(tmp_path):
    names, steps, weight = ["lstm", "gru", "sru", "reset-after-gru"], 6, 0.7
    formulas = [cell_of(name).formula for name in names]
    code = f"""
    answer(data.map((formula) => {{
      const trace = readTrace(new Graph(), formula);
      const first = Object.fromEntries(trace.gates.map((gate) => [gate, 3]));
      const run = {{ rest: restingInputs(trace), first, weight: {weight}, steps: {steps} }};
      return {{ rest: run.rest, memory: memoryCurves(trace, run), gradient: gradientCurves(trace, run) }};
    }}));
    """
    found = run(tmp_path, [formula_to_json(f) for f in formulas], code)
    for formula, curves in zip(formulas, found, strict=True):
        unit = Unit(formula, curves["rest"], weight)
        states = unit.run(State(**{name: unit.number(0) for name in formula.states}), 0, steps)
        slopes = [unit.slopes(state, step, steps) for step, state in enumerate(states[:-1], 1)]
        for number, (memory, gradient) in enumerate(zip(curves["memory"], curves["gradient"], strict=True)):
            expected = [state[number].item() for state in states]
            assert [y for _, y in memory["points"]] == pytest.approx(expected, abs=1e-9)
            assert [y for _, y in gradient["points"]] == pytest.approx([s[number] for s in slopes], abs=1e-9)


@dataclass(frozen=True)
class Unit:
    """One unit whose gates read 3 at the first step and ``rest`` afterwards."""

    formula: Formula
    rest: dict[str, float]
    weight: float

    @staticmethod
    def number(value: float) -> torch.Tensor:
        return torch.full((1, 1), float(value), dtype=torch.float64)

    def run(self, state: State, first: int, last: int) -> list[State]:
        states = []
        for step in range(first, last):
            x = [self.number(self.rest[gate] if step else 3) for gate in self.formula.gates]
            units = [self.number(1) for _ in self.formula.parameters]
            state = self.formula(x, lambda _, v: self.weight * v, state, units, [])
            states.append(state)
        return states

    def slopes(self, state: State, step: int, steps: int) -> list[float]:
        """Of the last output, by each state after ``step``."""
        leaves = [part.detach().requires_grad_() for part in state]
        last = self.run(State(**dict(zip(state.names, leaves, strict=True))), step, steps)[-1]
        output = getattr(last, self.formula.output).sum()
        found = torch.autograd.grad(output, leaves, allow_unused=True)
        return [0.0 if slope is None else abs(slope.item()) for slope in found]


def test_a_formula_that_would_write_itself_out_without_end_is_written_with_names(tmp_path):
    lines = "\n".join(
        ["    a = sigmoid(x.h + U.h(s.h)) * s.h", *["    a = a * tanh(a) + a" for _ in range(60)]]
    )
    text = f'@formula(gates="h")\ndef deep(x, U, s):\n{lines}\n    return State(h=a)'
    code = """
    const trace = traceFormula(data);
    answer([writePython(trace), writeBackward(trace).map(equationText)]);
    """
    found = run(tmp_path, text, code)
    assert len(json.dumps(found)) < 100_000
