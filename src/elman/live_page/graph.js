/** The values a formula is made of, written down. Equal expressions are the same object, as in elman.formula.symbols. */

import { OPERATIONS } from "./operations.js";

export class FormulaError extends Error {
  constructor(message, line = null) {
    super(line === null ? message : `line ${line}: ${message}`);
    this.line = line;
  }
}

export const operandsOf = (a) => (a.op === "input" || a.op === "constant" ? [] : a.args);
export const isInput = (a, kinds) => a.op === "input" && kinds.includes(a.args[0]);
export const valueOf = (a) => (a.op === "constant" ? a.args[0] : null);
export const isNode = (value) => value instanceof Node;

/** An input (args: its kind and name), a constant (its value), or an operation on other nodes. */
class Node {
  constructor(op, args, number) {
    Object.assign(this, { op, args, number });
  }
}

/** Makes nodes, each expression once, and simplifies what it makes. */
export class Graph {
  #known = new Map();

  node(op, ...args) {
    const key = [op, ...args.map((a) => (isNode(a) ? `#${a.number}` : JSON.stringify(a)))].join(" ");
    if (!this.#known.has(key)) this.#known.set(key, new Node(op, args, this.#known.size));
    return this.#known.get(key);
  }

  input(kind, name) {
    return this.node("input", kind, name);
  }

  constant(value) {
    if (!Number.isFinite(value)) throw new FormulaError("a formula cannot use a number that is not finite");
    return this.node("constant", value === 0 ? 0 : value); // -0 and 0 are one number
  }

  operate(op, ...operands) {
    const nodes = operands.map((a) => (isNode(a) ? a : this.constant(a)));
    if (op in SIMPLIFY) return SIMPLIFY[op](this, ...nodes);
    const numbers = nodes.map(valueOf);
    if (op === "softmax" && numbers[0] !== null) throw new FormulaError("a formula cannot use softmax of a number");
    if (numbers.every((x) => x !== null)) return this.constant(OPERATIONS[op].compute?.(...numbers) ?? numbers[0]);
    return OPERATIONS[op].traits.includes("commutative") ? this.commutative(op, ...nodes) : this.node(op, ...nodes);
  }

  commutative(op, a, b) {
    return a.number <= b.number ? this.node(op, a, b) : this.node(op, b, a);
  }
}

/** What arithmetic makes simpler: 0 + a is a, a - -b is a + b. */
const SIMPLIFY = {
  add(g, a, b) {
    const [x, y] = [valueOf(a), valueOf(b)];
    if (x !== null && y !== null) return g.constant(x + y);
    if (x === 0) return b;
    if (y === 0) return a;
    if (a === b) return SIMPLIFY.mul(g, g.constant(2), a);
    if (b.op === "neg") return SIMPLIFY.sub(g, a, b.args[0]);
    if (a.op === "neg") return SIMPLIFY.sub(g, b, a.args[0]);
    return g.commutative("add", a, b);
  },

  sub(g, a, b) {
    const [x, y] = [valueOf(a), valueOf(b)];
    if (x !== null && y !== null) return g.constant(x - y);
    if (a === b) return g.constant(0);
    if (y === 0) return a;
    if (x === 0) return SIMPLIFY.neg(g, b);
    if (b.op === "neg") return SIMPLIFY.add(g, a, b.args[0]);
    return g.node("sub", a, b);
  },

  mul(g, a, b) {
    if (valueOf(a) !== null) [a, b] = [b, a];
    const [x, y] = [valueOf(a), valueOf(b)];
    if (x !== null && y !== null) return g.constant(x * y);
    if (y === 0) return g.constant(0);
    if (y === 1) return a;
    if (y === -1) return SIMPLIFY.neg(g, a);
    if (a.op === "neg") return SIMPLIFY.neg(g, SIMPLIFY.mul(g, a.args[0], b));
    if (b.op === "neg") return SIMPLIFY.neg(g, SIMPLIFY.mul(g, a, b.args[0]));
    return g.commutative("mul", a, b);
  },

  neg(g, a) {
    if (valueOf(a) !== null) return g.constant(-valueOf(a));
    if (a.op === "sub") return SIMPLIFY.sub(g, a.args[1], a.args[0]);
    return a.op === "neg" ? a.args[0] : g.node("neg", a);
  },

  div(g, a, b) {
    if (valueOf(b) === 0) throw new FormulaError("a formula cannot use division by zero");
    if (valueOf(b) !== null) return SIMPLIFY.mul(g, a, g.constant(1 / valueOf(b)));
    return valueOf(a) === 0 ? a : g.node("div", a, b);
  },

  pow(g, a, n) {
    const [x, y] = [valueOf(a), valueOf(n)];
    if (y === null) throw new FormulaError("a formula cannot use a power by a value");
    if (x !== null) return g.constant(x ** y);
    if (y === 0) return g.constant(1);
    if (y === 1) return a;
    return y === 2 ? SIMPLIFY.mul(g, a, a) : g.node("pow", a, n);
  },
};
