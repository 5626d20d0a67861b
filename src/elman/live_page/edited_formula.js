// A formula that was edited on the page: does it fit the weights of a layer, and how it runs.
import { evaluateNode, orderNodes } from "./evaluate.js";
import { operandsOf } from "./graph.js";

// The step of a formula that was not printed, in the form of a printed one.
export function interpretFormula(formula) {
  const order = orderNodes(formula);
  const productOf = new Map(formula.products.flatMap((product, k) => product.names.map((name) => [name, k])));
  const run = (x, r, s, p, m, t, multiplyBy) => {
    const inputs = { x, r, s, p, m };
    const done = new Set();
    const input = (kind, name) => {
      const k = productOf.get(name);
      if (kind === "r" && !done.has(k)) {
        done.add(k);
        multiplyBy(k, t[formula.products[k].operand]);
      }
      return inputs[kind][name];
    };
    for (const id of order) t[id] = evaluateNode(formula.nodes[id].op, formula.nodes[id].args, t, input);
  };
  return { stored: {}, run };
}

// Refuses a formula that asks for weights which the layer does not have.
export function checkFit(spec, formula) {
  for (const gate of formula.gates) requireName(spec.gates, gate, "gate ", "");
  for (const name of formula.parameters) requireName(spec.parameters, name, "per-unit parameter ", "p.");
  for (const name of formula.masks) requireName(spec.masks, name, "mask ", "m.");
  const states = Object.fromEntries(spec.formula.states.map((name) => [name, true]));
  for (const name of formula.states) requireName(states, name, "state ", "s.");
  const widths = checkWidths(spec, formula);
  for (const { names, operand } of formula.products) {
    for (const name of names) {
      const { shape } = requireName(spec.matrices, name, "matrix ", "U.");
      if (shape[1] !== widths[operand]) throw new Error(`U.${name} multiplies ${shape[1]} units, not ${widths[operand] ?? 1}`);
    }
  }
  for (const [name, id] of Object.entries(formula.new)) {
    if ((widths[id] ?? spec.widths[name]) !== spec.widths[name]) throw new Error(`the state ${name} has ${spec.widths[name]} units, not ${widths[id]}`);
  }
  const [given, wanted] = [formula.output, spec.formula.output];
  if (given !== wanted) throw new Error(`what is read further on is the state ${wanted}, not ${given}`);
}

function requireName(known, name, what, prefix) {
  if (Object.hasOwn(known, name)) return known[name];
  const names = Object.keys(known).map((other) => prefix + other);
  const there = names.length ? `it has ${names.join(", ")}` : "it has none";
  throw new Error(`the trained layer has no ${what}${prefix}${name}: ${there}`);
}

// How many units each value has; null where it is one number.
function checkWidths(spec, formula) {
  const widths = [];
  for (const id of orderNodes(formula)) {
    const { op, args } = formula.nodes[id];
    if (op === "input") widths[id] = args[0] === "p" ? spec.parameters[args[1]].data.length : spec.widths[args[1]];
    else widths[id] = meetWidths(op, operandsOf(formula.nodes[id]).map((operand) => widths[operand]));
  }
  return widths;
}

function meetWidths(op, operands) {
  const wide = operands.filter((width) => width !== null);
  if (new Set(wide).size > 1) throw new Error(`${op} cannot join values of ${wide[0]} and of ${wide[1]} units`);
  return op === "mean" || op === "sum" || !wide.length ? null : wide[0];
}
