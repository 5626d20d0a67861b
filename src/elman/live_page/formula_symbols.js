/** Values while a formula is traced: nodes of a graph, all gates at once, and the products that were asked for. */

import { FormulaError, Graph, isNode } from "./graph.js";
import { isRowless } from "./formula_declaration.js";

/** Values by name: `x`, `s`, `p`, `m`, the results of U(v), and what a formula returns. */
export class Gates {
  constructor(parts) {
    this.parts = parts; // Map of name to value
  }
}

/** What operations on values give, or one sentence that says what is wrong at which line. */
export class SymbolTracer {
  constructor(declared) {
    this.declared = declared;
    this.graph = new Graph();
    this.operands = new Map(); // which vector each matrix multiplies
  }

  /** The result of a product, as a symbol; its operand is written down. */
  multiply(name, values, line) {
    const { gates, states, matrices } = this.declared;
    const allowed = [...new Set([...gates, ...states, ...matrices])];
    if (!allowed.includes(name)) throw new FormulaError(`U.${name} is asked for; there are ${allowed.join(", ")}`, line);
    const operand = values.length === 1 ? values[0] : null;
    if (!isNode(operand)) throw new FormulaError(`U.${name}(…) multiplies one vector`, line);
    if (isRowless(operand)) throw new FormulaError(`U.${name} multiplies what is the same at every step`, line);
    if ((this.operands.get(name) ?? operand) !== operand) {
      throw new FormulaError(`U.${name} multiplies twice; it may do so once`, line);
    }
    this.operands.set(name, operand);
    return this.graph.input("r", name);
  }

  operate(op, operands, line) {
    try {
      return this.graph.operate(op, ...operands.map((o) => this.node(o, line)));
    } catch (error) {
      throw error.line ? error : new FormulaError(error.message, line);
    }
  }

  node(value, line) {
    if (isNode(value)) return value;
    if (typeof value === "number") return this.graph.constant(value);
    const what = value instanceof Gates ? "all gates at once" : Array.isArray(value) ? "several values" : "a function";
    throw new FormulaError(`a value is expected here, not ${what}`, line);
  }

  addGates(op, [a, b], line) {
    const alike = a instanceof Gates && b instanceof Gates && [...a.parts.keys()].join() === [...b.parts.keys()].join();
    if (op !== "+" || !alike) throw new FormulaError("gates can only be added to like gates: x + U(s.h)", line);
    const sum = (name) => this.operate("add", [a.parts.get(name), b.parts.get(name)], line);
    return new Gates(new Map([...a.parts.keys()].map((name) => [name, sum(name)])));
  }

  /** Matrices that multiply the same vector are one product; names in the order declared. */
  groupProducts() {
    const { gates, states, matrices } = this.declared;
    const order = [...gates, ...states, ...matrices];
    const groups = new Map();
    for (const [name, operand] of this.operands) groups.set(operand, [...(groups.get(operand) ?? []), name]);
    const place = (name) => order.indexOf(name);
    return [...groups].map(([operand, names]) => ({ operand, names: names.sort((a, b) => place(a) - place(b)) }));
  }
}
