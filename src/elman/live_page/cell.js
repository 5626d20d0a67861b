// One cell: its weights, and its step, printed by Python or interpreted where it was edited on the page.
import { derive } from "./derivative.js";
import { checkFit, interpretFormula } from "./edited_formula.js";
import { evaluateNode } from "./evaluate.js";
import { addTransposed, multiply } from "./matrix.js";
import { STEPS } from "./steps.js";

// `spec` is what Python says of a cell; its tensors are in place already.
export class Cell {
  constructor(spec, formula) {
    Object.assign(this, { spec, formula });
    this.printed = formula === spec.formula;
    if (!this.printed) checkFit(spec, formula);
    this.program = this.printed ? STEPS[spec.step] : interpretFormula(formula);
    this.inputSize = spec.inputSize;
    this.outputSize = this.widthOf(formula.output);
    this.buffers = this.makeBuffers();
  }

  widthOf(name) {
    return this.spec.widths[name];
  }

  makeBuffers() {
    const { gates, states, parameters, masks, products } = this.formula;
    const empty = (names) => Object.fromEntries(names.map((n) => [n, new Float64Array(this.widthOf(n))]));
    const p = Object.fromEntries(parameters.map((n) => [n, Float64Array.from(this.spec.parameters[n].data)]));
    const m = empty(masks);
    masks.forEach((name) => m[name].fill(this.spec.masks[name]));
    const t = [];
    for (const [id, width] of Object.entries(this.program.stored)) t[id] = new Float64Array(width);
    return { x: empty(gates), r: empty(products.flatMap((k) => k.names)), s: empty(states), p, m, t };
  }

  get projectedSize() {
    return this.formula.gates.reduce((total, gate) => total + this.widthOf(gate), 0);
  }

  get resultSize() {
    return Object.values(this.buffers.r).reduce((total, result) => total + result.length, 0);
  }

  // What the gates get of an input, side by side: W x + b; where the cell multiplies within the step, b and x.
  project(x, projected) {
    let at = 0;
    for (const gate of this.formula.gates) {
      const part = projected.subarray(at, at + this.widthOf(gate));
      const { W, b } = this.spec.gates[gate];
      if (W) multiply(W.data, x, part, b?.data);
      else if (b) part.set(b.data);
      else part.set(this.spec.raw === gate ? x : part.fill(0));
      at += part.length;
    }
    return projected;
  }

  // s' from s, both by name in buffers.s; every gate is then in `valueOf`.
  step(projected) {
    const { x, r, s, p, m, t } = this.buffers;
    loadParts(projected, x);
    this.program.run(x, r, s, p, m, t, (k, operand) => this.multiplyBy(k, operand));
    const fresh = Object.entries(this.formula.new).map(([name, id]) => [name, this.freshValue(id)]);
    for (const [name, value] of fresh) typeof value === "number" ? s[name].fill(value) : s[name].set(value);
  }

  // One step by itself: what the cell gives, and the states after it.
  stepFrom(states, x) {
    const { s } = this.buffers;
    for (const name of Object.keys(s)) s[name].set(states[name]);
    this.step(this.project(x, new Float64Array(this.projectedSize)));
    const state = Object.fromEntries(Object.entries(s).map(([name, value]) => [name, value.slice()]));
    return { output: state[this.formula.output], state };
  }

  get emptyState() {
    return Object.fromEntries(this.formula.states.map((name) => [name, new Float64Array(this.widthOf(name))]));
  }

  multiplyBy(k, operand) {
    for (const name of this.formula.products[k].names) {
      multiply(this.spec.matrices[name].data, operand, this.buffers.r[name]);
    }
  }

  // A value of the last step; of a state that is an input itself, that input.
  valueOf(id) {
    const node = this.formula.nodes[id];
    return node.op === "input" ? this.buffers[node.args[0]][node.args[1]] : this.buffers.t[id];
  }

  // A copy where it is an old state: that is overwritten.
  freshValue(id) {
    const { op, args } = this.formula.nodes[id];
    return op === "input" && args[0] === "s" ? this.valueOf(id).slice() : this.valueOf(id);
  }

  reset() {
    for (const state of Object.values(this.buffers.s)) state.fill(0);
  }

  get gradient() {
    this.derived ??= derive(this.formula);
    return this.derived;
  }

  // From the gradients of the new states those of the old ones and of the projected input, where x, r and s
  // are what one step read: {s: by name, x: side by side}.
  stepBack(x, r, s, d) {
    const { nodes, ...found } = this.gradient;
    const { p, m } = this.buffers;
    const values = [];
    const backwards = new Map();
    const giveBack = (k) => {
      if (!backwards.has(k)) backwards.set(k, this.giveBack(k, (name) => evaluate(found.r[name])));
      return backwards.get(k);
    };
    const inputs = { x, r, s, p, m, d };
    const input = (kind, name) => (kind === "q" ? giveBack(Number(name)) : inputs[kind][name]);
    const evaluate = (id) => {
      const { op, args } = nodes[id];
      if (op !== "input" && op !== "constant") args.forEach((arg) => values[arg] ?? evaluate(arg));
      values[id] ??= evaluateNode(op, args, values, input);
      return values[id];
    };
    const named = (part) => Object.fromEntries(Object.entries(part).map(([n, id]) => [n, evaluate(id)]));
    return { s: named(found.s), x: named(found.x) };
  }

  giveBack(k, gradientOf) {
    const { operand, names } = this.formula.products[k];
    const total = new Float64Array(this.spec.matrices[names[0]].shape[1]);
    for (const name of names) {
      const g = gradientOf(name);
      const rows = this.widthOf(name);
      addTransposed(this.spec.matrices[name].data, typeof g === "number" ? new Float64Array(rows).fill(g) : g, total);
    }
    return total;
  }
}

export function loadParts(row, parts) {
  let at = 0;
  for (const part of Object.values(parts)) {
    part.set(row.subarray(at, at + part.length));
    at += part.length;
  }
}
