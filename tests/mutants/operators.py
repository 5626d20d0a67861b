"""What can go wrong in one place of a program: each operator yields other versions of one syntax node."""

import ast
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

SWAPPED_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
SWAPPED_NAMES = {"min": "max", "any": "all", "argmin": "argmax", "amin": "amax", "minimum": "maximum"}
SWAPPED_NAMES |= {there: here for here, there in SWAPPED_NAMES.items()}
# Where a tensor lies cannot be seen without a GPU; `strict` is an assertion about our own code.
UNSEEN_KEYWORDS = ("device", "non_blocking", "strict")


def change(node: Any, **fields: Any) -> Any:
    """A copy of the node in which these fields differ."""
    other = copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def mutate_compare(node: ast.Compare) -> Iterator[ast.AST]:
    for i, operator in enumerate(node.ops):
        swapped = SWAPPED_OPERATORS[type(operator)]()
        yield change(node, ops=[*node.ops[:i], swapped, *node.ops[i + 1 :]])


def mutate_binary(node: ast.BinOp) -> Iterator[ast.AST]:
    if swapped := SWAPPED_OPERATORS.get(type(node.op)):
        yield change(node, op=swapped())
    yield from (node.left, node.right)


def mutate_unary(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.op, ast.Not | ast.USub):
        yield node.operand


def mutate_boolean(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield change(node, op=SWAPPED_OPERATORS[type(node.op)]())
    for i in range(len(node.values)):
        rest = [*node.values[:i], *node.values[i + 1 :]]
        yield rest[0] if len(rest) == 1 else change(node, values=rest)


def mutate_constant(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def mutate_call(node: ast.Call) -> Iterator[ast.AST]:
    for i, keyword in enumerate(node.keywords):
        if keyword.arg and keyword.arg not in UNSEEN_KEYWORDS:
            yield change(node, keywords=[*node.keywords[:i], *node.keywords[i + 1 :]])
    if isinstance(node.func, ast.Name) and node.func.id in SWAPPED_NAMES:
        yield change(node, func=ast.Name(SWAPPED_NAMES[node.func.id]))
    if isinstance(node.func, ast.Attribute) and node.func.attr in SWAPPED_NAMES:
        yield change(node, func=change(node.func, attr=SWAPPED_NAMES[node.func.attr]))


def mutate_subscript(node: ast.Subscript) -> Iterator[ast.AST]:
    """Bounds that are not numbers, or not written; numbers change as numbers do."""
    if not isinstance(node.slice, ast.Slice):
        return
    for name, absent in (("lower", 1), ("upper", -1)):
        bound = getattr(node.slice, name)
        if bound is None:
            yield change(node, slice=change(node.slice, **{name: ast.Constant(absent)}))
        elif not isinstance(bound, ast.Constant):
            moved = ast.BinOp(bound, ast.Add(), ast.Constant(1))
            yield change(node, slice=change(node.slice, **{name: moved}))


def mutate_condition(node: ast.If | ast.While | ast.IfExp) -> Iterator[ast.AST]:
    yield change(node, test=negate(node.test))


def mutate_comprehension(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
) -> Iterator[ast.AST]:
    """Each filter negated, and left out."""
    for i, loop in enumerate(node.generators):
        for j, test in enumerate(loop.ifs):
            for kept in ([negate(test)], []):
                other = change(loop, ifs=[*loop.ifs[:j], *kept, *loop.ifs[j + 1 :]])
                yield change(node, generators=[*node.generators[:i], other, *node.generators[i + 1 :]])


def negate(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def mutate_augmented(node: ast.AugAssign) -> Iterator[ast.AST]:
    if swapped := SWAPPED_OPERATORS.get(type(node.op)):
        yield change(node, op=swapped())
    yield ast.Pass()


def mutate_return(node: ast.Return) -> Iterator[ast.AST]:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield ast.Return(None)


def drop_statement(node: ast.stmt) -> Iterator[ast.AST]:
    yield ast.Pass()


def swap_jump(node: ast.Break | ast.Continue) -> Iterator[ast.AST]:
    yield ast.Break() if isinstance(node, ast.Continue) else ast.Continue()


OPERATORS: dict[type[ast.AST], Callable[[Any], Iterator[ast.AST]]] = {
    ast.Compare: mutate_compare,
    ast.BinOp: mutate_binary,
    ast.UnaryOp: mutate_unary,
    ast.BoolOp: mutate_boolean,
    ast.Constant: mutate_constant,
    ast.Call: mutate_call,
    ast.Subscript: mutate_subscript,
    ast.If: mutate_condition,
    ast.While: mutate_condition,
    ast.IfExp: mutate_condition,
    ast.ListComp: mutate_comprehension,
    ast.SetComp: mutate_comprehension,
    ast.DictComp: mutate_comprehension,
    ast.GeneratorExp: mutate_comprehension,
    ast.AugAssign: mutate_augmented,
    ast.Return: mutate_return,
    ast.Expr: drop_statement,
    ast.Raise: drop_statement,
    ast.Break: swap_jump,
    ast.Continue: swap_jump,
}


def mutate(node: ast.AST) -> Iterator[ast.AST]:
    """Every other version of this node that an operator makes."""
    operator = OPERATORS.get(type(node))
    return operator(node) if operator else iter(())
