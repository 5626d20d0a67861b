"""A recurrence that is linear in the state as two CUDA kernels: the tokens of a row are computed together.

A block has some units of one row and CHUNKS · SPAN of its tokens at a time. Each thread computes what its SPAN
tokens make of any state, a ⊙ state + b; the threads of a unit exchange these and know where each begins. What
one tile ends with is what the next begins with. The way back is linear as well, from the last token on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elman.formula import Node
from elman.formula.structure import split_linear
from elman.formula.symbols import is_input, symbol
from elman.formula.traversal import order_values
from elman.scan.executors.parallel.kernel_text import (
    KernelShape,
    KernelSource,
    KernelText,
    declare,
    indent,
    unroll,
)
from elman.scan.executors.parallel.unit_plan import UnitPlan

Forms = Mapping[str, tuple[Node, Node]]  # state -> factor and term of what it is after a token
_PREFIX = {"s": "old_{}[i]", "x": "x_{}[i]", "m": "m_{}[i]", "p": "p_{}", "d": "d_{}[i]"}


def list_levels(plan: UnitPlan) -> list[Forms]:
    """The states that some state reads, in the order of solving: they are scanned. The others are read off."""
    read = {b.args[1] for a in plan.trace.new.values() for b in order_values([a]) if is_input(b, "s")}
    each = [
        {one.name: (one.factor, one.term) for one in level if one.name in read}
        for level in plan.structure.levels
    ]
    return [level for level in each if level]


def print_forward_scan(plan: UnitPlan, shape: KernelShape) -> KernelSource:
    text, formula = KernelText(plan, shape, backward=False), plan.formula
    levels = list_levels(plan)
    scanned = [name for level in levels for name in level]
    loads = text.load_token()
    body = [
        declare(loads),
        *unroll([*text.place_token("first"), *(f"{n}[i] = {v};" for n, v in loads.items())]),
    ]
    body += [declare(f"old_{name}" for name in scanned)]
    for level in levels:
        body += _print_level(text, level)
    rest = {f"new_{n}": plan.trace.new[n] for n in formula.states}
    last = [f"{text.argument(f'final {n}', 'float*')}[place] = new_{n};" for n in formula.states]
    step = [*text.compute(rest, _name_input), *text.store_states(lambda n: f"new_{n}")]
    step += ["if (number == length - 1) {", *indent(last), "}"]
    body += unroll([*text.place_token("first"), "if (there) {", *indent(step), "}"])
    begin = [f"float carry_{n} = inside ? {text.argument(f's0 {n}')}[place] : 0.f;" for n in scanned]
    none = [
        f"{text.argument(f'final {n}')}[place] = {text.argument(f's0 {n}')}[place];" for n in formula.states
    ]
    end = ["if (length == 0 && inside && chunk == 0) {", *indent(none), "}"]
    return text.finish("read_units", [*_share(levels), *begin, *_over_tiles(body), *end])


def print_backward_scan(plan: UnitPlan, shape: KernelShape) -> KernelSource:
    """The gradient of an old state is factor ⊙ (the gradient of the new one) + what other new states give."""
    text, formula = KernelText(plan, shape, backward=True), plan.formula
    levels = [{name: _split_gradient(plan, name) for name in level} for level in reversed(list_levels(plan))]
    scanned = [name for level in levels for name in level]
    unread = [name for name in formula.states if name not in scanned]
    loads = text.load_token()
    body = [
        declare(loads),
        *unroll([*text.place_token("first"), *(f"{n}[i] = {v};" for n, v in loads.items())]),
    ]
    body += [declare(f"d_{name}" for name in formula.states)]
    ends = [f"d_{n}[i] = {_direct(text, n)};" for n in unread]
    body += unroll([*text.place_token("first"), *ends]) if unread else []
    for level in levels:
        body += _print_level(text, level)
    body += unroll(
        [*text.place_token("first"), "if (there) {", *indent(text.store_gradients(_name_input)), "}"]
    )
    begin = [f"float carry_{n} = inside ? {text.argument(f'd {n}')}[place] : 0.f;" for n in scanned]
    begin += [f"float sum_{n} = 0.f;" for n in formula.parameters]
    end = [f"{text.argument(f'd0 {n}', 'float*')}[place] = carry_{n};" for n in scanned]
    end += [
        f"{text.argument(f'd0 {n}', 'float*')}[place] = length ? 0.f : {text.argument(f'd {n}')}[place];"
        for n in unread
    ]
    end = ["if (inside && chunk == 0) {", *indent(end), "}"]
    for n in formula.parameters:
        end += _print_sum(f"sum_{n}", text.argument(f"dp {n}", "float*"))
    return text.finish("return_units", [*_share(levels), *begin, *_over_tiles(body), *end])


def _split_gradient(plan: UnitPlan, name: str) -> tuple[Node, Node]:
    found = split_linear(plan.gradient("s", name), symbol("d", name))
    assert not isinstance(found, str), "a derivative is linear in the gradients that it is given"
    return found


def _direct(text: KernelText, name: str) -> str:
    """The gradient that an unread state gets: from the output, and at the end."""
    given = "dy[i]" if name == text.plan.formula.output else "0.f"
    return f"{given} + (there && number == length - 1 ? {text.argument(f'd {name}')}[place] : 0.f)"


def _print_level(text: KernelText, level: Forms) -> list[str]:
    """The states of one level at each of the thread's tokens: ``old_`` going forward, ``d_`` going back."""
    values = {f"factor_{n}": factor for n, (factor, _) in level.items()}
    values |= {f"term_{n}": term for n, (_, term) in level.items()}
    gets_dy = {n for n in level if text.backward and n == text.plan.formula.output}
    step = text.compute(values, _name_input)
    step += [f"term_{n} += factor_{n} * dy[i];" for n in gets_dy]
    step += [f"a_{n}[i] = there ? factor_{n} : 1.f, b_{n}[i] = there ? term_{n} : 0.f;" for n in level]
    step += [f"made_{n} = a_{n}[i] * made_{n} + b_{n}[i], share_{n} *= a_{n}[i];" for n in level]
    lines = [declare(f"{letter}_{n}" for n in level for letter in "ab")]
    lines += [f"float made_{n} = 0.f, share_{n} = 1.f;" for n in level]
    lines += [*unroll([*text.place_token("first"), *step]), *_exchange(level)]
    follow: list[str] = []
    for n in level:
        old = f"d_{n}[i] = state_{n}{' + dy[i]' if n in gets_dy else ''};"
        follow += [old if text.backward else f"old_{n}[i] = state_{n};"]
        follow += [f"state_{n} = a_{n}[i] * state_{n} + b_{n}[i];"]
    return ["{", *indent([*lines, *unroll(follow)]), "}"]


def _share(levels: Sequence[Forms]) -> list[str]:
    """Memory of the block: two of each, so that a tile may write while another thread reads the one before."""
    names = [name for level in levels for name in level]
    each = (f"{kind}s_{name}[2][CHUNKS][UNITS]" for name in names for kind in ("made", "share"))
    return [*([f"__shared__ float {', '.join(each)};"] if names else []), "int turn = 0;"]


def _exchange(level: Forms) -> list[str]:
    """Where the thread's tokens begin, ``state_``, and what the tile ends with, ``carry_``."""
    lines = []
    for n in level:
        lines += [f"mades_{n}[turn][chunk][lane] = made_{n}, shares_{n}[turn][chunk][lane] = share_{n};"]
    lines += ["__syncthreads();"]
    for n in level:
        after = f"shares_{n}[turn][c][lane] * carry_{n} + mades_{n}[turn][c][lane]"
        lines += [f"float state_{n} = carry_{n};", "#pragma unroll 4", "for (int c = 0; c < CHUNKS; c++) {"]
        lines += [f"  if (c == chunk) state_{n} = carry_{n};", f"  carry_{n} = {after};", "}"]
    return lines


def _over_tiles(body: Sequence[str]) -> list[str]:
    first = "const long long first = tile + chunk * SPAN;"
    head = "for (long long tile = 0; tile < length; tile += CHUNKS * SPAN, turn ^= 1) {"
    return [head, *indent([first, *body]), "}"]


def _print_sum(value: str, target: str) -> list[str]:
    """A value added up over the threads of each unit."""
    add = f"for (int c = 0; c < CHUNKS; c++) total += {value}s[c][lane];"
    return [
        f"__shared__ float {value}s[CHUNKS][UNITS];",
        f"{value}s[chunk][lane] = {value};",
        "__syncthreads();",
        "if (inside && chunk == 0) {",
        *indent(["float total = 0.f;", add, f"{target}[place] = total;"]),
        "}",
    ]


def _name_input(a: Node) -> str:
    kind, name = a.args
    return _PREFIX[kind].format(name)
