// A graph computed node by node: how formulas run that were not printed, because they were edited on the page.
import { OPERATIONS } from "./operations.js";
import { operandsOf } from "./graph.js";
import { meanUnits, softmaxUnits, sumUnits } from "./units.js";

const WHOLE = { mean: meanUnits, sum: sumUnits };

// The numbers of a formula's nodes in an order of computing: a product's operand comes before its results.
export function orderNodes(formula) {
  const order = new Set();
  const operandOf = new Map();
  for (const product of formula.products) for (const name of product.names) operandOf.set(name, product.operand);
  const visit = (id) => {
    if (order.has(id)) return;
    const node = formula.nodes[id];
    if (node.op === "input" && node.args[0] === "r") visit(operandOf.get(node.args[1]));
    operandsOf(node).forEach(visit);
    order.add(id);
  };
  formula.products.forEach((product) => visit(product.operand));
  Object.values(formula.new).forEach(visit);
  return [...order];
}

// A node's value from those of its operands: a number, or a vector where one of them is.
export function evaluateNode(op, args, values, input) {
  if (op === "input") return input(...args);
  if (op === "constant") return args[0];
  const operands = args.map((arg) => values[arg]);
  if (op === "softmax") {
    const y = Float64Array.from(operands[0]);
    softmaxUnits(y, y);
    return y;
  }
  if (WHOLE[op]) return typeof operands[0] === "number" ? operands[0] : WHOLE[op](operands[0]);
  const { compute } = OPERATIONS[op];
  const wide = operands.find((operand) => typeof operand !== "number");
  if (wide === undefined) return compute(...operands);
  return operands.length === 1 ? wide.map((value) => compute(value)) : spread(compute, operands, wide.length);
}

function spread(compute, [a, b], width) {
  const y = new Float64Array(width);
  const at = (operand, k) => (typeof operand === "number" ? operand : operand[k]);
  for (let k = 0; k < width; k++) y[k] = compute(at(a, k), at(b, k));
  return y;
}
