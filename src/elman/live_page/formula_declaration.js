/** What a formula declares, held against what it may declare and what it uses. */

import { FormulaError, isInput } from "./graph.js";
import { OPERATIONS } from "./operations.js";
import { topological } from "./trace.js";

const MOST_NODES = 2000; // beyond it a page would stand still

const OPTIONS = ["gates", "states", "parameters", "masks", "output", "matrices"];

/** The names that the decorator declares. */
export function readOptions({ options, line }) {
  const read = { gates: [], states: ["h"], parameters: [], masks: [], output: "h", matrices: [] };
  for (const [key, value] of Object.entries(options)) {
    if (!OPTIONS.includes(key)) throw new FormulaError(`unknown option ${key}; there are ${OPTIONS.join(", ")}`, line);
    const names = value.is === "dictionary" && key === "parameters" ? Object.keys(value.entries) : null;
    if (names === null && value.is !== "string") throw new FormulaError(`${key} are names in quotes: ${key}="a b"`, line);
    read[key] = key === "output" ? value.text : names ?? value.text.split(/\s+/).filter(Boolean);
  }
  return read;
}

/** Refuse names declared twice, an unknown output, and a function that takes other things than a formula does. */
export function checkNames({ name, gates, states, parameters, masks, output }, { takes, line }) {
  for (const [kind, names] of [["gate", gates], ["state", states], ["mask", masks]]) {
    const twice = names.find((n, i) => names.indexOf(n) < i);
    if (twice) throw new FormulaError(`${name} declares the ${kind} '${twice}' twice`, line);
  }
  if (!states.includes(output)) throw new FormulaError(`the output '${output}' is not one of the states ${states.join(", ")}`, line);
  const wants = ["x", "U", "s", ...(parameters.length ? ["p"] : []), ...(masks.length ? ["m"] : [])];
  if (takes.join() !== wants.join()) {
    throw new FormulaError(`${name} takes (${takes.join(", ")}); a formula of its kind takes (${wants.join(", ")})`, line);
  }
}

/** The trace, if all that is declared is used and every new state depends on something. */
export function checkTrace(trace, line) {
  const { name, gates, parameters, masks } = trace;
  if (trace.nodes.length > MOST_NODES) throw new FormulaError(`${name} has more than ${MOST_NODES} operations`, line);
  for (const [state, a] of Object.entries(trace.new)) {
    if (isRowless(a)) throw new FormulaError(`${name}: the new state '${state}' depends on no input`, line);
  }
  if (trace.nodes.some((a) => a.op === "softmax" && isUniform(a.args[0]))) {
    throw new FormulaError(`${name}: softmax of what is the same at every unit`, line);
  }
  for (const [kind, names] of [["x", gates], ["p", parameters], ["m", masks]]) {
    const unused = names.find((n) => !trace.uses.has(trace.graph.input(kind, n)));
    if (unused) throw new FormulaError(`${name} declares '${unused}' but never uses ${kind}.${unused}`, line);
  }
  return trace;
}

/** Is it the same at every unit? */
function isUniform(a) {
  if (a.op === "input" || a.op === "constant") return a.op === "constant";
  return OPERATIONS[a.op].traits.includes("reduction") || a.args.every(isUniform);
}

/** Is it the same for every row and step: made of constants and per-unit parameters alone? */
export const isRowless = (a) => topological([a]).every((b) => b.op !== "input" || isInput(b, "p"));
