/** One unit alone, by its formula: its activations, how it responds to each gate, how long it remembers. */

import { differentiate } from "./derivative.js";
import { isInput } from "./graph.js";
import { OPERATIONS } from "./operations.js";
import { topological } from "./trace.js";

const REACH = 6; // of a gate's input, to both sides
const POINTS = 97;
const OPEN = 3; // the input of a gate that stands open

const axis = () => Array.from({ length: POINTS }, (_, i) => -REACH + (2 * REACH * i) / (POINTS - 1));

/** Every function of one value in the formula, with its slope: [{name, lines}]. */
export function activationCurves(trace) {
  const used = [...new Set(trace.nodes.map((a) => a.op))].filter(isFunction);
  return used.map((op) => {
    const { compute, slopes, text } = OPERATIONS[op];
    const slopeAt = (a) => evaluateTree(slopes[0], { g: 1, a, y: compute(a) });
    const lines = [
      { name: text.replace("{0}", "a"), points: axis().map((a) => [a, compute(a)]) },
      { name: "its slope", points: axis().map((a) => [a, slopeAt(a)]) },
    ];
    return { name: text.replace("{0}", "a"), lines };
  });
}

function isFunction(op) {
  const known = OPERATIONS[op];
  return known?.compute && known.arity === 1 && known.slopes && op !== "neg";
}

function evaluateTree(tree, known) {
  if (typeof tree === "number") return tree;
  if (typeof tree === "string") return known[tree];
  return OPERATIONS[tree[0]].compute(...tree.slice(1).map((part) => evaluateTree(part, known)));
}

/** Whether the formula mixes the units of a layer (mean, softmax): then one unit alone is not the whole story. */
export const mixesUnits = (trace) => trace.nodes.some(({ op }) => op === "softmax" || OPERATIONS[op]?.traits.includes("reduction"));

/** What each gate's input is where nothing happens: a gate that multiplies an old state stands open, the others at 0. */
export function restingInputs(trace) {
  const keeps = new Set();
  for (const { op, args } of trace.nodes) {
    if (op !== "mul" || !args.some((a) => isInput(a, "s"))) continue;
    for (const [name, value] of Object.entries(trace.values)) if (args.includes(value)) keeps.add(name);
  }
  return Object.fromEntries(trace.gates.map((gate) => [gate, keeps.has(gate) ? OPEN : 0]));
}

/** The new `state` as the input of one gate goes from low to high and the others rest: a line for each gate. */
export function responseCurves(trace, state, { rest, old, weight }) {
  return trace.gates.map((gate) => ({
    name: `input of ${gate}`,
    points: axis().map((a) => [a, stepUnit(trace, { ...rest, [gate]: a }, old, weight).state[state]]),
  }));
}

/** The states of a unit that reads something at step 1 and nothing after it: a line for each state. */
export function memoryCurves(trace, { rest, first, weight, steps }) {
  const run = runUnit(trace, { rest, first, weight, steps });
  return trace.states.map((name) => ({ name, points: run.map(({ state }, t) => [t + 1, state[name]]) }));
}

/** |∂h at the last step / ∂state after step t|, for all t before it: how much of an early change arrives at the end. */
export function gradientCurves(trace, { rest, first, weight, steps }) {
  const run = runUnit(trace, { rest, first, weight, steps });
  const found = differentiate(trace);
  const order = topological([...Object.values(found.s), ...Object.values(found.r)]);
  let given = Object.fromEntries(trace.states.map((name) => [name, name === trace.output ? 1 : 0]));
  const lines = trace.states.map((name) => ({ name: `∂${trace.output} / ∂${name}`, points: [] }));
  for (let t = steps - 1; t > 0; t--) {
    const value = evaluateUnit(order, backInputs(trace, found, run[t], given, weight));
    given = Object.fromEntries(trace.states.map((name) => [name, name in found.s ? value(found.s[name]) : 0]));
    lines.forEach(({ points }, i) => points.unshift([t, Math.abs(given[trace.states[i]])]));
  }
  return lines;
}

/** The inputs of the derivative at one step; a product gives back its results' gradients times the weight. */
function backInputs(trace, found, { known }, given, weight) {
  const inputs = (kind, name, value) => {
    if (kind === "d") return given[name];
    if (kind === "q") return trace.products[Number(name)].names.reduce((sum, n) => sum + weight * value(found.r[n]), 0);
    return known(trace.graph.input(kind, name));
  };
  return inputs;
}

function runUnit(trace, { rest, first, weight, steps }) {
  let old = Object.fromEntries(trace.states.map((name) => [name, 0]));
  return Array.from({ length: steps }, (_, t) => {
    const step = stepUnit(trace, t ? rest : first, old, weight);
    old = step.state;
    return step;
  });
}

/** One step of one unit: {state, known(node)}. Its recurrent matrices are all the one number `weight`. */
function stepUnit(trace, inputs, old, weight) {
  const operandOf = (name) => trace.products.find(({ names }) => names.includes(name)).operand;
  const known = evaluateUnit(trace.nodes, (kind, name, value) => {
    if (kind === "r") return weight * value(operandOf(name));
    return { x: inputs, s: old }[kind]?.[name] ?? 1; // parameters and masks are 1
  });
  return { known, state: Object.fromEntries(Object.entries(trace.new).map(([name, a]) => [name, known(a)])) };
}

/** A function from nodes to numbers; mean, sum and softmax see this unit alone. */
function evaluateUnit(nodes, input) {
  const known = new Map();
  const value = (a) => {
    if (!known.has(a)) known.set(a, compute(a));
    return known.get(a);
  };
  const compute = ({ op, args }) => {
    if (op === "input") return input(...args, value);
    if (op === "constant") return args[0];
    if (op === "softmax") return 1;
    return OPERATIONS[op].compute ? OPERATIONS[op].compute(...args.map(value)) : value(args[0]);
  };
  nodes.forEach(value);
  return value;
}
