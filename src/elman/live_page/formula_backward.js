/** The backward pass of one step, as equations: re-derived from the formula, whatever it is. */

import { differentiate } from "./derivative.js";
import { nameShared, writeEquations } from "./formula_equations.js";
import { ItemWriter } from "./formula_items.js";
import { isInput, operandsOf } from "./graph.js";
import { topological } from "./trace.js";

/**
 * First the whole gradient of each new state and of each gate before its activation (δ), from the last computed to the
 * first; then what the step before receives; then per-unit parameters.
 */
export function writeBackward(trace, { bias = true } = {}) {
  const found = differentiate(trace);
  const forward = { ...trace.values, ...nameShared(trace, trace.nodes, Object.values(trace.values), "v") };
  const letters = new Map(writeEquations(trace, { bias }).map(({ left }) => [forward[left.name], left]));
  const back = (name) => letter(name, found.x[name] === found.r[name] || !(name in found.x) ? "delta" : "recurrent");
  const targets = orderTargets(trace, found, back);
  const nodes = topological([...letters.keys(), ...targets.map(({ node }) => node)]);
  const named = [...letters.keys(), ...targets.map(({ node }) => node)];
  const shared = new Map(Object.entries(nameShared(trace, nodes, named, "u")).map(([name, a]) => [a, letter(name, "value")]));
  const lines = [];
  const write = (left, a) => {
    for (const b of findUnwritten(a, letters)) if (b !== a && shared.has(b)) write(shared.get(b), b);
    lines.push({ left, right: new ItemWriter(trace, letters, bias, back).sum(a) });
    if (a.op !== "input" && a.op !== "constant") letters.set(a, left);
  };
  for (const { left, node } of targets) write(left, node);
  return lines;
}

/** What `a` is made of, operands first, down to what has a letter. */
function findUnwritten(a, letters, found = new Set()) {
  if (letters.has(a) || found.has(a)) return found;
  for (const operand of operandsOf(a)) findUnwritten(operand, letters, found);
  return found.add(a);
}

const letter = (name, role) => ({ is: "letter", name, role });

/** What gets an equation, in an order in which nothing is used before it is known. */
function orderTargets(trace, { gradient, x, r, s, p }, back) {
  const place = new Map(trace.nodes.map((a, i) => [a, i]));
  const totals = Object.entries(trace.new).map(([name, a]) => ({
    at: place.get(a),
    lines: isInput(gradient.get(a), "d") ? [] : [{ left: letter(name, "total"), node: gradient.get(a) }],
  }));
  const results = trace.products.map(({ names }) => ({
    at: Math.min(...names.map((n) => place.get(trace.graph.input("r", n)))) - 0.5,
    lines: names.map((n) => ({ left: back(n), node: r[n] })),
  }));
  const apart = trace.gates.filter((g) => x[g] !== r[g]);
  const inputs = apart.map((g) => ({
    at: place.get(trace.graph.input("x", g)) - 0.5,
    lines: [{ left: letter(g, "delta"), node: x[g] }],
  }));
  const steps = [...totals, ...results, ...inputs].sort((a, b) => b.at - a.at).flatMap(({ lines }) => lines);
  const before = Object.entries(s).map(([name, node]) => ({ left: letter(name, "before"), node }));
  const units = Object.entries(p).map(([name, node]) => ({ left: letter(name, "ofUnit"), node }));
  return [...steps, ...before, ...units];
}
