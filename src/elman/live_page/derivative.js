/** Reverse-mode differentiation of a trace, by the slopes of the table of operations (elman.formula.derivative). */

import { Graph, isInput, operandsOf } from "./graph.js";
import { OPERATIONS } from "./operations.js";
import { numberNodes, readTrace, topological } from "./trace.js";

/**
 * The gradient of every value of a step from the gradients `d` of its new states, by node; and by the names of inputs.
 *
 * `q` is the gradient that a product gives back to its operand: the gradients of its results times its matrix.
 */
export function differentiate(trace) {
  const { graph } = trace;
  const gradient = new Map();
  const give = (a, g) => gradient.set(a, gradient.has(a) ? graph.operate("add", gradient.get(a), g) : g);
  for (const [name, a] of Object.entries(trace.new)) give(a, graph.input("d", name));
  const results = new Map();
  trace.products.forEach((p, k) => p.names.forEach((n) => results.set(graph.input("r", n), k)));
  const waiting = trace.products.map((p) => p.names.length);
  for (const a of [...trace.nodes].reverse()) {
    if (results.has(a)) {
      const k = results.get(a);
      waiting[k] -= 1;
      if (waiting[k] === 0) give(trace.products[k].operand, graph.input("q", String(k)));
    } else if (gradient.has(a) && operandsOf(a).length) {
      operandGradients(graph, a, gradient.get(a)).forEach((g, i) => give(a.args[i], g));
    }
  }
  const byName = (kind) =>
    Object.fromEntries(
      trace.nodes.filter((a) => isInput(a, kind)).map((a) => [a.args[1], gradient.get(a) ?? graph.constant(0)]),
    );
  return { gradient, x: byName("x"), r: byName("r"), s: byName("s"), p: byName("p") };
}

/** Of each operand of `y`, from its gradient `g`. */
function operandGradients(graph, y, g) {
  const leaves = { g, y, a: y.args[0], b: y.args[1] };
  const grow = (tree) => {
    if (typeof tree === "number") return graph.constant(tree);
    if (typeof tree === "string") return leaves[tree];
    return graph.operate(tree[0], ...tree.slice(1).map(grow));
  };
  return OPERATIONS[y.op].slopes.map(grow);
}

/** The gradients of a formula that is data, as data: {nodes, x, r, s, p} of numbers of nodes, operands first. */
export function derive(formula) {
  const parts = differentiate(readTrace(new Graph(), formula));
  const kinds = ["x", "r", "s", "p"];
  const found = topological(kinds.flatMap((kind) => Object.values(parts[kind])));
  const place = new Map(found.map((a, i) => [a, i]));
  const number = (named) => Object.fromEntries(Object.entries(named).map(([name, a]) => [name, place.get(a)]));
  return { nodes: numberNodes(found, place), ...Object.fromEntries(kinds.map((kind) => [kind, number(parts[kind])])) };
}
