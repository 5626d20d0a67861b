"""Printers of traced values as statements. A printer is a table of templates and a name for each input."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from elman.errors import FormulaError
from elman.formula.graph import topological
from elman.formula.symbols import Node

Name = Callable[[str, str], str]

TORCH = {
    "declare": "{name} = {value}",
    "assign": "{name} = {value}",
    "constant": "{0!r}",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "neg": "-{0}",
    "sigmoid": "torch.sigmoid({0})",
    "tanh": "torch.tanh({0})",
    "relu": "torch.relu({0})",
    "exp": "torch.exp({0})",
    "rsqrt": "torch.rsqrt({0})",
    "mean": "{0}.mean(-1, keepdim=True)",
    "positive": "({0} > 0).to({0}.dtype)",
}

C = {
    "declare": "const real {name} = {value};",
    "assign": "{name} = {value};",
    "constant": "(real){0!r}",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "neg": "-{0}",
    "sigmoid": "1 / (1 + exp(-{0}))",
    "tanh": "tanh({0})",
    "relu": "({0} > 0 ? {0} : 0)",
    "exp": "exp({0})",
    "rsqrt": "1 / sqrt({0})",
    "positive": "({0} > 0 ? (real)1 : (real)0)",
}


def statements(outputs: Mapping[str, Node], name: Name, templates: Mapping[str, str]) -> list[str]:
    """One statement a value, operands first, then one for each output: ``outputs`` maps targets to nodes.

    ``name(kind, name)`` says how an input is written: ``lambda kind, name: f"{kind}_{name}"``.
    """
    written: dict[Node, str] = {}
    lines: list[str] = []
    for a in topological(outputs.values()):
        if a.op == "input":
            written[a] = name(*a.args)
            continue
        if a.op not in templates:
            raise FormulaError(f"{a.op} cannot be printed here: it is not pointwise")
        operands = [written[o] for o in a.operands] or a.args
        value = templates[a.op].format(*operands)
        if a.op == "constant":
            written[a] = value
            continue
        written[a] = f"v{len(lines)}"
        lines.append(templates["declare"].format(name=written[a], value=value))
    lines += [templates["assign"].format(name=t, value=written[a]) for t, a in outputs.items()]
    return lines
