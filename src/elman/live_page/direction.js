// One cell over a text in one direction, with everything that was computed on the way.
import { loadParts } from "./cell.js";
import { addInto, addTransposed, Matrix } from "./matrix.js";

export class Direction {
  // After every `chunk` positions it begins anew; 0: never.
  constructor(cell, reverse, chunk = 0) {
    Object.assign(this, { cell, reverse, chunk });
    this.projected = new Matrix(cell.projectedSize);
    this.results = new Matrix(cell.resultSize);
    const widths = Object.keys(cell.formula.values).map((name) => [name, cell.widthOf(name)]);
    this.values = Object.fromEntries(widths.map(([name, width]) => [name, new Matrix(width)]));
    this.projections = new Map(); // of inputs that have a key, such as tokens
  }

  get outputs() {
    return this.values[this.cell.formula.output];
  }

  get name() {
    return this.reverse ? "backward" : "forward";
  }

  // Reads the rows of a matrix from a position on; what came before it stays as it was read.
  read(inputs, from = 0, keys = null) {
    const count = inputs.rows;
    for (const table of [this.projected, this.results, ...Object.values(this.values)]) table.resize(count);
    for (let t = from; t < count; t++) this.project(inputs.row(t), t, keys?.[t]);
    this.restore(this.reverse ? count : from);
    for (let n = from; n < count; n++) this.step(this.reverse ? count - 1 - (n - from) : n);
  }

  project(x, t, key) {
    if (key === undefined) {
      this.cell.project(x, this.projected.row(t));
      return;
    }
    if (!this.projections.has(key)) {
      this.projections.set(key, this.cell.project(x, new Float32Array(this.cell.projectedSize)));
    }
    this.projected.row(t).set(this.projections.get(key));
  }

  step(t) {
    const { cell } = this;
    if (this.begins(t)) cell.reset();
    cell.step(this.projected.row(t));
    storeParts(cell.buffers.r, this.results.row(t));
    for (const [name, id] of Object.entries(cell.formula.values)) {
      const value = name in cell.buffers.s ? cell.buffers.s[name] : cell.valueOf(id);
      const row = this.values[name].row(t);
      typeof value === "number" ? row.fill(value) : row.set(value);
    }
  }

  // Whether a chunk begins at a position, in the order of reading.
  begins(t) {
    return this.chunk > 0 && (this.reverse ? t + 1 : t) % this.chunk === 0;
  }

  // The state before a position, in the order of reading.
  restore(t) {
    this.cell.reset();
    const before = this.reverse ? t + 1 : t - 1;
    if (before < 0 || before >= this.outputs.rows || this.begins(t)) return;
    for (const [name, state] of Object.entries(this.cell.buffers.s)) state.set(this.values[name].row(before));
  }

  // The states after a position, by name.
  saveStates(t) {
    return Object.fromEntries(this.cell.formula.states.map((name) => [name, this.values[name].row(t).slice()]));
  }

  // One step from such states: what the cell gives, and the states after it.
  stepFrom(states, x) {
    return this.cell.stepFrom(states, x);
  }

  // ∂/∂inputs of what has the gradients `given` (a matrix like outputs): a matrix of as many rows.
  pullBack(given, first, last) {
    const { cell } = this;
    const back = new Matrix(cell.inputSize, given.rows);
    let d = emptyParts(cell.buffers.s);
    const [x, r, s] = [cell.buffers.x, cell.buffers.r, cell.buffers.s].map(emptyParts);
    for (let n = 0; n < given.rows; n++) {
      const t = this.reverse ? n : given.rows - 1 - n;
      if (this.reverse ? t < first : t > last) continue; // nothing that counts was read after it
      this.restore(t);
      for (const name of Object.keys(s)) s[name].set(cell.buffers.s[name]);
      loadParts(this.projected.row(t), x);
      loadParts(this.results.row(t), r);
      addInto(d[cell.formula.output], given.row(t));
      const found = cell.stepBack(x, r, s, d);
      d = this.begins(t) ? emptyParts(s) : carryBack(found.s, s);
      this.spreadToInput(found.x, back.row(t));
    }
    return back;
  }

  spreadToInput(gradients, row) {
    const { spec } = this.cell;
    for (const [gate, g] of Object.entries(gradients)) {
      const wide = widen(g, this.cell.widthOf(gate));
      if (spec.gates[gate].W) addTransposed(spec.gates[gate].W.data, wide, row);
      else if (spec.raw === gate) addInto(row, wide);
    }
  }
}

function widen(value, width) {
  return typeof value === "number" ? new Float64Array(width).fill(value) : value ?? new Float64Array(width);
}

function carryBack(found, s) {
  return Object.fromEntries(Object.keys(s).map((name) => [name, widen(found[name], s[name].length).slice()]));
}

function emptyParts(parts) {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, new Float64Array(part.length)]));
}

function storeParts(parts, row) {
  let at = 0;
  for (const part of Object.values(parts)) {
    row.set(part, at);
    at += part.length;
  }
}
