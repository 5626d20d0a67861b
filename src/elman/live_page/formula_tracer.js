/** A parsed formula, called with symbols: its trace, or one sentence that says what a formula may not do. */

import { checkNames, checkTrace, readOptions } from "./formula_declaration.js";
import { parseFormula } from "./formula_parser.js";
import { Gates, SymbolTracer } from "./formula_symbols.js";
import { FormulaError } from "./graph.js";
import { OPERATIONS, VOCABULARY } from "./operations.js";
import { makeTrace } from "./trace.js";

const MOST_CALLS = 200; // of functions inside a formula
const OPERATORS = { "+": "add", "-": "sub", "*": "mul", "/": "div", "**": "pow" };

/** The trace of Python text. */
export function traceFormula(source) {
  const parsed = parseFormula(source);
  const declared = { name: parsed.name, ...readOptions(parsed) };
  checkNames(declared, parsed);
  return new Tracer(declared).trace(parsed);
}

class Tracer extends SymbolTracer {
  calls = 0; // of functions inside the formula

  trace(parsed) {
    const { gates, states, parameters, masks } = this.declared;
    const symbols = (kind, names) => new Gates(new Map(names.map((n) => [n, this.graph.input(kind, n)])));
    const known = new Map([["x", symbols("x", gates)], ["U", "U"], ["s", symbols("s", states)]]);
    if (parameters.length) known.set("p", symbols("p", parameters));
    if (masks.length) known.set("m", symbols("m", masks));
    const made = this.run(parsed, [known]);
    const wanted = states.join(", ");
    if (!(made instanceof Gates) || [...made.parts.keys()].sort().join(", ") !== [...states].sort().join(", ")) {
      throw new FormulaError(`${parsed.name} must return State(${wanted.replace(/\w+/g, "$&=…")})`, parsed.line);
    }
    const fresh = Object.fromEntries(states.map((n) => [n, this.node(made.parts.get(n), parsed.line)]));
    return checkTrace(makeTrace(this.graph, this.declared, this.groupProducts(), fresh), parsed.line);
  }

  /** What a function returns; `scopes` are the names known to it, the nearest last. */
  run({ body, name, line }, scopes) {
    const local = scopes.at(-1);
    for (const statement of body) {
      if (statement.is === "return") return this.value(statement.value, scopes);
      if (statement.is === "define") local.set(statement.name, { ...statement, scopes });
      else this.assign(statement, scopes);
    }
    throw new FormulaError(`${name} returns nothing: end it with return State(…)`, line);
  }

  assign({ targets, unpack, value, line }, scopes) {
    const made = this.value(value, scopes);
    const parts = made instanceof Gates ? [...made.parts.values()] : made;
    if (!unpack) return void scopes.at(-1).set(targets[0], made);
    if (!Array.isArray(parts) || parts.length !== targets.length) {
      const count = Array.isArray(parts) ? parts.length : 1;
      throw new FormulaError(`${targets.length} names on the left, but ${count} values on the right`, line);
    }
    targets.forEach((name, i) => scopes.at(-1).set(name, parts[i]));
  }

  value(tree, scopes) {
    switch (tree.is) {
      case "number":
        return tree.value;
      case "tuple":
        return tree.items.map((item) => this.value(item, scopes));
      case "name":
        return this.lookUp(tree, scopes);
      case "attribute":
        return this.attribute(tree, scopes);
      case "operation":
        return this.operation(tree, tree.operands.map((o) => this.value(o, scopes)));
      case "call":
        return this.call(tree, scopes);
      default:
        throw new FormulaError(`a formula cannot use a ${tree.is}`, tree.line);
    }
  }

  lookUp({ name, line }, scopes) {
    const scope = scopes.findLast((known) => known.has(name));
    if (scope) return scope.get(name);
    throw new FormulaError(`unknown name '${name}'; functions are ${VOCABULARY.join(", ")}, abs and clamp`, line);
  }

  attribute({ of, name, line }, scopes) {
    const whole = this.value(of, scopes);
    if (whole instanceof Gates && whole.parts.has(name)) return whole.parts.get(name);
    const declared = whole instanceof Gates ? `; declared are ${[...whole.parts.keys()].join(", ")}` : "";
    throw new FormulaError(`a formula asks for '${name}'${declared}`, line);
  }

  operation({ op, line }, operands) {
    if (operands.some((o) => o instanceof Gates)) return this.addGates(op, operands, line);
    const nodes = operands.map((o) => this.node(o, line));
    if (nodes.length === 1) return op === "-" ? this.operate("neg", nodes, line) : nodes[0];
    return this.operate(OPERATORS[op], nodes, line);
  }

  call({ of, operands, named, line }, scopes) {
    const name = of.is === "name" || (of.is === "attribute" && of.of.name === "torch") ? of.name : null;
    if (name === "State") {
      return new Gates(new Map(Object.entries(named).map(([key, tree]) => [key, this.value(tree, scopes)])));
    }
    const values = operands.map((o) => this.value(o, scopes));
    if (of.is === "attribute" && of.of.is === "name" && of.of.name === "U") return this.multiply(of.name, values, line);
    if (name === "U") return new Gates(new Map(this.declared.gates.map((g) => [g, this.multiply(g, values, line)])));
    const own = scopes.findLast((known) => known.has(name))?.get(name);
    if (own?.is === "define") return this.callOwn(own, values, line);
    if (name === "clamp" && values.length === 3) {
      return this.operate("clamp_max", [this.operate("clamp_min", values.slice(0, 2), line), values[2]], line);
    }
    if (name !== "abs" && !VOCABULARY.includes(name)) {
      throw new FormulaError(`a formula cannot use ${name ?? of.name}(); it may use ${VOCABULARY.join(", ")}, abs and clamp`, line);
    }
    if (values.length !== OPERATIONS[name].arity) {
      throw new FormulaError(`${name} takes ${OPERATIONS[name].arity} values, not ${values.length}`, line);
    }
    return this.operate(name, values, line);
  }

  callOwn(own, values, line) {
    if (values.length !== own.takes.length) {
      throw new FormulaError(`${own.name} takes ${own.takes.length} values, not ${values.length}`, line);
    }
    this.calls += 1;
    if (this.calls > MOST_CALLS) throw new FormulaError(`${own.name} calls itself without end`, line);
    return this.run(own, [...own.scopes, new Map(own.takes.map((name, i) => [name, values[i]]))]);
  }
}
