"""Small changes of a module's text that a test should notice: `<` for `<=`, a lost warning."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

N = TypeVar("N", bound=ast.AST)

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {
    a: b
    for pair in (
        ("min", "max"),
        ("any", "all"),
        ("floor", "ceil"),
        ("minimum", "maximum"),
        ("argmin", "argmax"),
        ("lower", "upper"),
        ("low", "high"),
    )
    for a, b in (pair, pair[::-1])
}
"""What is one of two sides is taken from the other."""

LARGEST = 64
"""Numbers beyond this are limits and tunings, in which one more or less makes no difference."""


@dataclass(frozen=True, order=True)
class Change:
    """A piece of a module's text and what stands there instead."""

    module: str
    start: int
    end: int
    before: str
    after: str
    line: str
    """The line where the piece begins, without blanks around it."""
    number: int

    @property
    def shown(self) -> str:
        """The change in one line."""
        return f"{self.before} -> {self.after}"

    def applied(self, text: str) -> str:
        """Return the text of the module with this change."""
        assert _one_line(text[self.start : self.end]) == self.before
        return text[: self.start] + self.after + text[self.end :]


def changes_of(module: str, text: str) -> list[Change]:
    """Return every change of a module that its text allows, in order.

    >>> [change.shown for change in changes_of("m.py", "if a < b:\\n    warn(a)\\n")]
    ['a < b -> (a <= b)', 'a < b -> (a >= b)', 'warn(a) -> pass']
    """
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def place(row: int, column: int) -> int:
        # Columns are counted in bytes.
        return starts[row - 1] + len(lines[row - 1].encode()[:column].decode())

    found = set()
    for node, after in _walk(ast.parse(text)):
        start = place(node.lineno, node.col_offset)
        end = place(node.end_lineno or node.lineno, node.end_col_offset or 0)
        before = _one_line(text[start:end])
        line = lines[node.lineno - 1].strip()
        found.add(Change(module, start, end, before, after, line, node.lineno))
    return sorted(found)


def replacement(module: str, text: str, before: str, after: str) -> Change:
    """Return the change of a text that occurs once."""
    if text.count(before) != 1:
        raise ValueError(f"{module} has this {text.count(before)} times: {before}")
    start = text.index(before)
    number = text.count("\n", 0, start) + 1
    line = text.splitlines()[number - 1].strip()
    return Change(module, start, start + len(before), _one_line(before), after, line, number)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _walk(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield nodes and what to write instead, but for what only types and texts are made of."""
    if isinstance(node, ast.JoinedStr | ast.Assert):
        return
    if isinstance(node, ast.Raise):
        yield node, "pass"
        return
    if _is_about_types(node):
        return
    if isinstance(node, ast.expr):
        for other in _instead(node):
            yield node, f"({ast.unparse(other)})"
    elif isinstance(node, ast.stmt):
        if isinstance(node, ast.Continue | ast.Break | ast.AugAssign | ast.Delete) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            yield node, "pass"
        condition = getattr(node, "test", None)
        if isinstance(condition, ast.Name | ast.Attribute | ast.Call):
            yield condition, f"(not {ast.unparse(condition)})"
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _is_about_types(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(decorator_list=[ast.Name("overload")]):
            return True
        case ast.If(test=ast.Name("TYPE_CHECKING")) | ast.AnnAssign(
            ast.Name(), ast.Name("TypeAlias")
        ):
            return True
        case ast.BinOp(op=ast.BitOr(), right=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name[0].isupper()
    return False


def _instead(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what an expression might have been by mistake."""
    match node:
        case ast.Compare(ops=[op]):
            for other in COMPARISONS[type(op)]:
                yield _with(node, ops=[other()])
        case ast.BinOp(op=ast.FloorDiv()):
            # Rounded to the other side.
            top = ast.UnaryOp(ast.USub(), node.left)
            yield ast.UnaryOp(ast.USub(), _with(node, left=top))
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            yield _with(node, op=ARITHMETIC[type(op)]())
        case ast.BoolOp(op=op):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield _with(node, body=orelse, orelse=body)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)) if value <= LARGEST:
            yield ast.Constant(value + 1)
            if value:
                yield ast.Constant(value - 1)
        case ast.Constant(value=float(value)) if value:
            yield ast.Constant(value * 2)
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield ast.Name(NAMES[name])
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
            yield _with(node, attr=NAMES[name])
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            for at, part in enumerate(node.generators):
                if part.ifs:
                    kept = [*node.generators]
                    kept[at] = _with(part, ifs=[])
                    yield _with(node, generators=kept)


def _with(node: N, **fields: object) -> N:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other
