/** Items as plain text (`c' = f ⊙ c + i ⊙ z`) and as Python (`c = f * s.c + i * z`). */

import { OPERATIONS, VOCABULARY } from "./operations.js";

/** How the pieces are written; `call` gets the operands as text. */
const UNICODE = {
  letter: {
    ...{ value: "{0}", new: "{0}'", old: "{0}", unit: "p_{0}", mask: "m_{0}" },
    ...{ loss: "∂L/∂{0}'", total: "δ_{0}'", delta: "δ_{0}", recurrent: "δ^U_{0}", before: "∂L/∂{0}", ofUnit: "∂L/∂p_{0}" },
  },
  input: "W_{0} x",
  bias: "b_{0}",
  matrix: "U_{0} {1}",
  times: " ⊙ ",
  number: (value) => formatNumber(value),
  call: (op, operands) => fillTemplate(OPERATIONS[op].text, operands),
};

const PYTHON = {
  letter: { value: "{0}", new: "{0}", old: "s.{0}", unit: "p.{0}", mask: "m.{0}" },
  input: "x.{0}",
  bias: null, // it is part of the input
  matrix: "U.{0}({1})",
  times: " * ",
  number: String,
  call: (op, operands) => fillTemplate({ div: "{0} / {1}", pow: "{0} ** {1}" }[op] ?? `${op}(${operands.join(", ")})`, operands),
};

export const itemText = (item) => write(item, UNICODE);

/** A line of Python; brackets that only text needs are left out. */
export const itemPython = (item) => write(item, PYTHON);

/** A name that a value may have in Python beside `x`, `U`, `s`, `p`, `m` and the functions. */
export const pythonName = (name) => (["x", "U", "s", "p", "m", "abs", ...VOCABULARY].includes(name) ? `${name}_` : name);

function write(item, how) {
  switch (item.is) {
    case "letter": {
      const named = how === PYTHON && ["value", "new"].includes(item.role) ? pythonName(item.name) : item.name;
      return fillTemplate(how.letter[item.role], [named]);
    }
    case "number":
      return how.number(item.value);
    case "input":
    case "bias":
      return fillTemplate(how[item.is], [item.name]);
    case "matrix": {
      const operand = how === PYTHON ? unwrapGroup(item.operand) : item.operand;
      return fillTemplate(item.back ? "U_{0}ᵀ {1}" : how.matrix, [item.name, write(operand, how)]);
    }
    case "group": {
      const inside = shown(item.item, how);
      return inside.is === "input" || inside.is === "letter" ? write(inside, how) : `(${write(inside, how)})`;
    }
    case "sum":
      return writeSum(shown(item, how), how);
    case "times":
      return item.factors.map((factor, i) => writeFactor(factor, how, i)).join(how.times);
    default:
      return how.call(item.op, item.operands.map((operand) => write(operand, how)));
  }
}

function writeSum(item, how) {
  if (item.is !== "sum") return write(item, how);
  return item.terms
    .map(({ minus, item: term }, i) => (i ? (minus ? " - " : " + ") : minus ? "-" : "") + write(term, how))
    .join("");
}

/** Python multiplies from the left: what is multiplied first on the right stands in brackets. */
function writeFactor(factor, how, place) {
  const text = write(factor, how);
  return how === PYTHON && place > 0 && factor.is === "times" ? `(${text})` : text;
}

/** A sum without the terms that this notation does not write. */
function shown(item, how) {
  if (item.is !== "sum" || how.bias !== null) return item;
  const terms = item.terms.filter((term) => term.item.is !== "bias");
  return terms.length === 1 && !terms[0].minus ? terms[0].item : { ...item, terms };
}

export const unwrapGroup = (item) => (item.is === "group" ? item.item : item);
const fillTemplate = (template, parts) => template.replace(/\{(\d)\}/g, (_, i) => parts[Number(i)]);

/** Six digits at most, as Python's `:g`. */
export function formatNumber(value) {
  const short = Number(value.toPrecision(6));
  const size = Math.abs(short);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return short.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return String(short);
}
