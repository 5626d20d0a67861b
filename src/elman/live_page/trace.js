/** A formula as its trace: products and new states as nodes of a graph; read from the page's data and written again. */

import { isInput, operandsOf } from "./graph.js";
import { OPERATIONS } from "./operations.js";

/** Every node the outputs are made of, operands first. */
export function topological(outputs) {
  const order = new Set();
  const visit = (a) => {
    if (order.has(a)) return;
    operandsOf(a).forEach(visit);
    order.add(a);
  };
  outputs.forEach(visit);
  return [...order];
}

/** `declared` holds the names a formula uses; `products` and `new` are made of nodes. */
export function makeTrace(graph, declared, products, made) {
  const nodes = topological([...products.map((p) => p.operand), ...Object.values(made)]);
  const uses = new Map(nodes.map((a) => [a, []]));
  for (const a of nodes) for (const operand of new Set(operandsOf(a))) uses.get(operand).push(a);
  const trace = { ...declared, graph, products, new: made, nodes, uses };
  return { ...trace, values: nameValues(trace) };
}

/** The trace of a formula that is data: lists of nodes whose operands are numbers of earlier ones. */
export function readTrace(graph, formula) {
  const nodes = [];
  for (const { op, args } of formula.nodes) {
    const plain = op === "input" || op === "constant";
    nodes.push(plain ? graph.node(op, ...args) : graph.operate(op, ...args.map((i) => nodes[i])));
  }
  const products = formula.products.map((p) => ({ operand: nodes[p.operand], names: p.names }));
  const made = Object.fromEntries(Object.entries(formula.new).map(([name, i]) => [name, nodes[i]]));
  const { name, gates, states, parameters, masks, output, matrices } = formula;
  return makeTrace(graph, { name, gates, states, parameters, masks, output, matrices }, products, made);
}

/** The trace as data, in the form that `readTrace` reads. */
export function writeTrace(trace) {
  const { name, gates, states, parameters, masks, output, matrices } = trace;
  const named = topological([...trace.nodes, ...Object.values(trace.values)]);
  const place = new Map(named.map((a, i) => [a, i]));
  const number = (nodes) => Object.fromEntries(Object.entries(nodes).map(([n, a]) => [n, place.get(a)]));
  const products = trace.products.map((p) => ({ operand: place.get(p.operand), names: p.names }));
  const declared = { name, gates, states, parameters, masks, output, matrices };
  return { ...declared, nodes: numberNodes(named, place), products, new: number(trace.new), values: number(trace.values) };
}

/** Nodes as data: operands are numbers of nodes. */
export function numberNodes(nodes, place) {
  return nodes.map((a) => ({ op: a.op, args: operandsOf(a).length ? a.args.map((o) => place.get(o)) : a.args }));
}

/** The values people speak of, by name: each gate after its activation, each new state (elman.formula.values). */
function nameValues({ graph, gates, states, matrices, new: made, nodes, uses }) {
  const found = findActivations(nodes);
  const named = {};
  for (const gate of gates.filter((g) => !states.includes(g))) {
    const sum = graph.operate("add", graph.input("x", gate), graph.input("r", gate));
    named[gate] = found.get(gate) ?? (uses.has(sum) ? sum : graph.input("x", gate));
  }
  for (const matrix of matrices) {
    const alone = (uses.get(graph.input("r", matrix)) ?? []).find((a) => OPERATIONS[a.op].traits.includes("activation"));
    if (alone && !(matrix in named)) named[matrix] = alone;
  }
  return { ...named, ...made };
}

/** Of each gate, the first activation that takes it without mixing it with another gate's input. */
function findActivations(nodes) {
  const found = new Map();
  const raw = new Map(); // the gates whose inputs reach a value without an activation of their own
  for (const a of nodes) {
    const reach = isInput(a, "x") ? [a.args[1]] : operandsOf(a).flatMap((o) => [...raw.get(o)]);
    raw.set(a, new Set(reach));
    if (!operandsOf(a).length || raw.get(a).size !== 1 || !OPERATIONS[a.op].traits.includes("activation")) continue;
    const [gate] = raw.get(a);
    if (!found.has(gate)) found.set(gate, a);
    raw.set(a, new Set());
  }
  return found;
}
