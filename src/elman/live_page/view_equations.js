/** Equations typeset in MathML, which browsers know by themselves. */

import { formatNumber, unwrapGroup } from "./formula_text.js";
import { make, makeMath } from "./view_dom.js";
import { OPERATIONS } from "./operations.js";

/** A block of equations {left, right}, aligned at the equals sign. */
export function typesetEquations(equations) {
  const rows = equations.map(({ left, right }) => {
    const cells = [makeMath("mtd", typeset(left)), makeMath("mtd", operator("=")), makeMath("mtd", typeset(right))];
    return makeMath("mtr", ...cells);
  });
  const table = makeMath("mtable", ...rows);
  table.setAttribute("displaystyle", "true");
  const math = makeMath("math", table);
  math.setAttribute("display", "block");
  return make("div", { class: "equations", tabindex: "0" }, math);
}

const letterOf = (name) => makeMath("mi", name);
const operator = (sign) => makeMath("mo", sign);
const row = (...inside) => makeMath("mrow", ...inside);
const sub = (base, below) => makeMath("msub", base, below);
const now = (name) => sub(letterOf(name), letterOf("t"));
const before = (name) => sub(letterOf(name), row(letterOf("t"), operator("−"), makeMath("mn", "1")));
const slope = (of) => makeMath("mfrac", row(operator("∂"), letterOf("L")), row(operator("∂"), of));

const LETTER_MARKS = {
  value: letterOf,
  new: now,
  old: before,
  unit: (name) => sub(letterOf("p"), letterOf(name)),
  mask: (name) => sub(letterOf("m"), letterOf(name)),
  loss: (name) => slope(now(name)),
  total: (name) => sub(letterOf("δ"), now(name)),
  delta: (name) => sub(letterOf("δ"), letterOf(name)),
  recurrent: (name) => makeMath("msubsup", letterOf("δ"), letterOf(name), letterOf("U")),
  before: (name) => slope(before(name)),
  ofUnit: (name) => slope(sub(letterOf("p"), letterOf(name))),
};

const MATRIX = {
  forward: (name) => sub(letterOf("U"), letterOf(name)),
  back: (name) => makeMath("msubsup", letterOf("U"), letterOf(name), letterOf("⊤")),
};

function typeset(item) {
  switch (item.is) {
    case "letter":
      return LETTER_MARKS[item.role](item.name);
    case "number":
      return makeMath("mn", formatNumber(item.value).replace("-", "−"));
    case "input":
      return row(sub(letterOf("W"), letterOf(item.name)), now("x"));
    case "bias":
      return sub(letterOf("b"), letterOf(item.name));
    case "matrix":
      return row(MATRIX[item.back ? "back" : "forward"](item.name), typeset(item.operand));
    case "group":
      return item.quotient ? typeset(item.item) : row(operator("("), typeset(item.item), operator(")"));
    case "sum":
      return row(...item.terms.flatMap(({ minus, item: term }, i) => [...signOf(minus, i), typeset(term)]));
    case "times":
      return typesetTimes(item);
    default:
      return typesetCall(item.op, item.operands);
  }
}

function signOf(minus, place) {
  if (minus) return [operator("−")];
  return place ? [operator("+")] : [];
}

/** A value times itself is its square; after a number stands a dot. */
function typesetTimes({ factors }) {
  const [a, b] = factors;
  if (factors.length === 2 && JSON.stringify(a) === JSON.stringify(b)) {
    const base = ["letter", "group"].includes(a.is) ? typeset(a) : row(operator("("), typeset(a), operator(")"));
    return makeMath("msup", base, makeMath("mn", "2"));
  }
  return row(...factors.flatMap((f, i) => (i ? [operator(factors[i - 1].is === "number" ? "·" : "⊙"), typeset(f)] : [typeset(f)])));
}

function typesetCall(op, operands) {
  if (op === "div") return makeMath("mfrac", ...operands.map((o) => typeset(unwrapGroup(o))));
  if (op === "pow") return makeMath("msup", ...operands.map(typeset));
  if (op === "sqrt") return makeMath("msqrt", typeset(operands[0]));
  if (op === "rsqrt") return makeMath("mfrac", makeMath("mn", "1"), makeMath("msqrt", typeset(operands[0])));
  const pieces = OPERATIONS[op].text.split(/(\{\d\}|[(),|])/).filter((piece) => piece.trim());
  const parts = pieces.map((piece) => {
    if (piece.startsWith("{")) return typeset(operands[Number(piece[1])]);
    return "(),|".includes(piece) ? operator(piece) : letterOf(piece.trim());
  });
  return row(...parts);
}
