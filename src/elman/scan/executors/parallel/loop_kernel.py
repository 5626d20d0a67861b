"""Any recurrence of single units as two CUDA kernels: each thread goes through the tokens of its row.

The loads of the next tokens are under way while those at hand are computed.
"""

from __future__ import annotations

from collections.abc import Sequence

from elman.formula import Node
from elman.scan.executors.parallel.kernel_text import (
    KernelShape,
    KernelSource,
    KernelText,
    declare,
    indent,
    unroll,
)
from elman.scan.executors.parallel.unit_plan import UnitPlan

_PREFIX = {"s": "s_{}", "x": "x_{}[i]", "m": "m_{}[i]", "p": "p_{}", "d": "d_{}"}


def print_forward_loop(plan: UnitPlan, shape: KernelShape) -> KernelSource:
    text, states = KernelText(plan, shape, backward=False), plan.formula.states
    step = text.compute({f"new_{n}": a for n, a in plan.trace.new.items()}, _name_input)
    step += [f"s_{n} = new_{n};" for n in states]
    step += text.store_states(lambda n: f"s_{n}")
    begin = [f"float s_{n} = inside ? {text.argument(f's0 {n}')}[place] : 0.f;" for n in states]
    end = [f"if (inside) {text.argument(f'final {n}', 'float*')}[place] = s_{n};" for n in states]
    return text.finish("read_units", [*begin, *_print_loop(text, step), *end])


def print_backward_loop(plan: UnitPlan, shape: KernelShape) -> KernelSource:
    text, formula = KernelText(plan, shape, backward=True), plan.formula
    step = [
        f"const float d_{n} = carry_{n}{' + dy[i]' if n == formula.output else ''};" for n in formula.states
    ]
    step += text.store_gradients(_name_old_input)
    step += text.compute({f"next_{n}": plan.gradient("s", n) for n in formula.states}, _name_old_input)
    step += [f"carry_{n} = next_{n};" for n in formula.states]
    begin = [f"float carry_{n} = inside ? {text.argument(f'd {n}')}[place] : 0.f;" for n in formula.states]
    begin += [f"float sum_{n} = 0.f;" for n in formula.parameters]
    end = [f"{text.argument(f'd0 {n}', 'float*')}[place] = carry_{n};" for n in formula.states]
    end += [f"{text.argument(f'dp {n}', 'float*')}[place] = sum_{n};" for n in formula.parameters]
    return text.finish("return_units", [*begin, *_print_loop(text, step), "if (inside) {", *indent(end), "}"])


def _print_loop(text: KernelText, step: Sequence[str]) -> list[str]:
    loads = text.load_token()
    now, later = ([f"{prefix}{name}" for name in loads] for prefix in ("", "next_"))
    take = [*text.place_token("first"), "if (there) {", *indent(step), "}"]
    body = [
        declare(later),
        *unroll([*text.place_token("first + SPAN"), *(f"next_{n}[i] = {v};" for n, v in loads.items())]),
        *unroll(take),
        *unroll([f"{a}[i] = {b}[i];" for a, b in zip(now, later, strict=True)]),
    ]
    first = unroll([*text.place_token("0"), *(f"{n}[i] = {v};" for n, v in loads.items())])
    loop = ["for (long long first = 0; first < length; first += SPAN) {", *indent(body), "}"]
    return [declare(now), *first, *loop]


def _name_input(a: Node) -> str:
    kind, name = a.args
    return _PREFIX[kind].format(name)


def _name_old_input(a: Node) -> str:
    return f"old_{a.args[1]}[i]" if a.args[0] == "s" else _name_input(a)
