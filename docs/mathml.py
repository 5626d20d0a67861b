"""Formulas of the pages as MathML, which browsers draw by themselves: the site fetches nothing."""

import re
from html import escape

WORD = r"\\(?:text|textit|mathit|mathrm|operatorname)\s*{[^}]*}"
TOKEN = re.compile(WORD + r"|\\[A-Za-z]+|\\.|\s+|\d+(?:\.\d+)?|.")
PROSE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<![\w$])\$(?=\S)([^$]+?)(?<=\S)\$(?![\w$])")
DISPLAY = re.compile(r"^```math\n(.*?)^```$|^\$\$(.*?)\$\$$", re.MULTILINE | re.DOTALL)
SIGNS = "odot⊙ cdot· mid| propto∝ sum∑ prod∏ partial∂ le≤ ge≥ leq≤ geq≥ ne≠ approx≈ in∈ to→ pm± times× otimes⊗ "
SIGNS += (
    "oplus⊕ dots… ldots… cdots⋯ infty∞ |‖ lVert‖ rVert‖ {{ }} top⊤ nabla∇ prime′ sigmaσ alphaα betaβ gammaγ "
)
SIGNS += "deltaδ epsilonε thetaθ lambdaλ muμ phiφ tauτ ellℓ DeltaΔ"
SIGN = {pair[:-1]: pair[-1] for pair in SIGNS.split()}
SIGN |= {",": "\u2009", ";": "\u2004", " ": "\u2004", "quad": "\u2003", "qquad": "\u2003\u2003"}
SIGN |= dict.fromkeys(("left", "right", "big", "Big", "mathbb"), "")  # sizes and letters that a browser chooses
NAMES = ("tanh", "log", "exp", "max", "min", "ln", "sin", "cos", "arg")
ACCENTS = {"hat": "^", "tilde": "~", "bar": "¯", "vec": "→"}
LARGE = ("∑", "∏")


def set_formulas(markdown: str) -> str:
    """A page with its formulas as MathML: $…$ in a line, and blocks of math or $$…$$."""
    page = DISPLAY.sub(lambda found: f"{to_mathml(found[1] or found[2], display=True)}\n", markdown)
    pieces = PROSE.split(page)  # every second one is code
    # A line that begins with <math> would be a block of its own; one that begins with <span> goes on.
    pieces[::2] = [
        INLINE.sub(lambda found: f"<span>{to_mathml(found[1])}</span>", piece) for piece in pieces[::2]
    ]
    return "".join(pieces)


def to_mathml(formula: str, *, display: bool = False) -> str:
    """A formula in the part of LaTeX that the pages use; anything else is an error."""
    kind = ' display="block"' if display else ""
    rows = re.fullmatch(r"\s*\\begin{aligned}(.*)\\end{aligned}\s*", formula, re.DOTALL)
    content = _table(rows[1]) if rows else _row(formula)
    return f"<math{kind}>{content}</math>"


def _table(lines: str) -> str:
    """Lines that are aligned at &."""
    cells = [[_row(cell) for cell in line.split("&")] for line in lines.split(r"\\")]
    styles = [f"padding: 0.1em; text-align: {side}" for side in ("right", "left")]
    drawn = [[f'<mtd style="{styles[i > 0]}">{cell}</mtd>' for i, cell in enumerate(line)] for line in cells]
    rows = "".join(f"<mtr>{''.join(line)}</mtr>" for line in drawn)
    return f"<mtable>{rows}</mtable>"


def _row(formula: str) -> str:
    tokens = [token for token in TOKEN.findall(formula) if not token.isspace()]
    drawn = []
    while tokens:
        drawn.append(_scripted(tokens))
    return f"<mrow>{''.join(drawn)}</mrow>"


def _scripted(tokens: list[str]) -> str:
    """The next thing, with what stands below and above it."""
    base, scripts = _atom(tokens), {}
    if tokens and tokens[0] == "'":
        tokens.pop(0)
        scripts["^"] = "<mo>′</mo>"
    while tokens and tokens[0] in "_^":
        mark = tokens.pop(0)
        scripts[mark] = _atom(tokens)
    if not scripts:
        return base
    below, above = ("under", "over") if any(sign in base for sign in LARGE) else ("sub", "sup")
    tag = "m" + below * ("_" in scripts) + above * ("^" in scripts)
    return f"<{tag}>{base}{''.join(scripts[mark] for mark in '_^' if mark in scripts)}</{tag}>"


def _atom(tokens: list[str]) -> str:
    token = tokens.pop(0)
    name = token[1:]
    if token == "{":
        return _group(tokens)
    if not token.startswith("\\"):
        tag = "mi" if token.isalpha() else "mn" if token[0].isdigit() else "mo"
        return f"<{tag}>{escape(token).replace('-', '−')}</{tag}>"
    if name == "frac":
        return f"<mfrac>{_atom(tokens)}{_atom(tokens)}</mfrac>"
    if name == "sqrt":
        return f"<msqrt>{_atom(tokens)}</msqrt>"
    if name in ACCENTS:
        return f"<mover>{_atom(tokens)}<mo>{ACCENTS[name]}</mo></mover>"
    if token.endswith("}") and token != "\\}":
        return f"<mtext>{escape(token.partition('{')[2][:-1])}</mtext>"
    if name in NAMES:
        return f'<mi mathvariant="normal">{name}</mi>'
    if name not in SIGN:
        raise ValueError(f"{token} is not in docs/mathml.py: add it there, or write the formula without it")
    tag = "mi" if SIGN[name].isalpha() else "mo"
    return f"<{tag}>{SIGN[name]}</{tag}>"


def _group(tokens: list[str]) -> str:
    drawn = []
    while tokens[0] != "}":
        drawn.append(_scripted(tokens))
    tokens.pop(0)
    return f"<mrow>{''.join(drawn)}</mrow>"
