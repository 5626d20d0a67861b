/** The equations of a formula and of its derivative, and the formula as Python, all from its trace. */

import { ItemWriter } from "./formula_items.js";
import { itemPython, itemText, pythonName } from "./formula_text.js";
import { operandsOf } from "./graph.js";
import { topological } from "./trace.js";

const LARGE = 3; // operations; what is as large and used twice is written once, under a name of its own

/** One equation {left, right} a value: gates as declared, but nothing before what it needs. */
export function writeEquations(trace, { bias = true, large = LARGE } = {}) {
  const waiting = new Map(Object.entries({ ...trace.values, ...nameShared(trace, trace.nodes, Object.values(trace.values), "v", large) }));
  const needs = new Map([...waiting].map(([name, a]) => [name, findNeeds(trace, a)]));
  const letters = new Map();
  const lines = [];
  while (waiting.size) {
    const unwritten = new Set([...waiting.values()].filter((a) => !letters.has(a)));
    const ready = ([name, a]) => ![...unwritten].some((b) => b !== a && needs.get(name).has(b));
    const [name, a] = [...waiting].find(ready);
    waiting.delete(name);
    const left = { is: "letter", name, role: a === trace.new[name] ? "new" : "value" };
    lines.push({ left, right: new ItemWriter(trace, letters, bias).sum(a) });
    if (!letters.has(a)) letters.set(a, left);
  }
  return lines;
}

export const equationText = ({ left, right }) => `${itemText(left)} = ${itemText(right)}`;

/** Python that means this formula: what the student edits. */
export function writePython(trace) {
  const { gates, states, parameters, masks, matrices, output } = trace;
  const declared = [["gates", gates.join(" ")]];
  if (states.join(" ") !== "h") declared.push(["states", states.join(" ")]);
  if (parameters.length) declared.push(["parameters", parameters.join(" ")]);
  if (masks.length) declared.push(["masks", masks.join(" ")]);
  if (matrices.length) declared.push(["matrices", matrices.join(" ")]);
  if (output !== "h") declared.push(["output", output]);
  const takes = ["x", "U", "s", ...(parameters.length ? ["p"] : []), ...(masks.length ? ["m"] : [])];
  const body = writeEquations(trace).map(({ left, right }) => `    ${itemPython(left)} = ${itemPython(right)}`);
  const result = states.map((name) => `${name}=${pythonName(name)}`).join(", ");
  return [
    `@formula(${declared.map(([key, value]) => `${key}="${value}"`).join(", ")})`,
    `def ${trace.name}(${takes.join(", ")}):`,
    ...body,
    `    return State(${result})`,
  ].join("\n");
}

/** All values `a` is made of, through matrix products too. */
function findNeeds(trace, a) {
  const found = new Set(topological([a]));
  for (const { operand, names } of [...trace.products].reverse()) {
    if (names.some((name) => found.has(trace.graph.input("r", name)))) topological([operand]).forEach((b) => found.add(b));
  }
  return found;
}

/** Large values among `nodes` that are used more than once and have no name: v1, v2, … */
export function nameShared(trace, nodes, named, letter, large = LARGE) {
  const taken = new Set([...trace.gates, ...trace.states, ...trace.matrices]);
  const uses = new Map(nodes.map((a) => [a, 0]));
  for (const a of nodes) for (const o of new Set(operandsOf(a))) uses.set(o, uses.get(o) + 1);
  const size = new Map();
  const shared = {};
  let number = 0;
  for (const a of nodes) {
    const operations = operandsOf(a).reduce((sum, o) => sum + size.get(o), operandsOf(a).length ? 1 : 0);
    const repeated = operations >= large && uses.get(a) > 1 && !named.includes(a);
    size.set(a, repeated || named.includes(a) ? 0 : operations);
    if (!repeated) continue;
    do number += 1;
    while (taken.has(`${letter}${number}`));
    shared[`${letter}${number}`] = a;
  }
  return shared;
}
