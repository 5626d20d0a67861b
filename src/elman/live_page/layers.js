// Recurrent layers over a text, each reading what the one below gave.
import { Cell } from "./cell.js";
import { Direction } from "./direction.js";
import { addInto, dot, Matrix } from "./matrix.js";

// Layers on layers; each has one direction or two, which are concatenated.
export class LayerStack {
  // `formulaOf(index, spec)` says which formula each cell runs: its own, or one that was edited.
  constructor(specs, formulaOf, chunk = 0) {
    let index = 0;
    this.layers = specs.map(({ cells, residual }) => ({
      residual,
      directions: cells.map((spec) => new Direction(new Cell(spec, formulaOf(index++, spec)), spec.reverse, chunk)),
    }));
    this.incremental = this.directions.every((direction) => !direction.reverse);
  }

  get directions() {
    return this.layers.flatMap((layer) => layer.directions);
  }

  get outputs() {
    return this.joined.at(-1);
  }

  read(inputs, from = 0, keys = null) {
    const start = this.incremental ? from : 0;
    this.joined = [inputs];
    this.layers.forEach(({ directions, residual }, k) => {
      const below = this.joined.at(-1);
      directions.forEach((direction) => direction.read(below, start, k === 0 ? keys : null));
      const wide = directions.length > 1 || residual;
      this.joined.push(wide ? joinDirections(directions, residual ? below : null) : directions[0].outputs);
    });
    return this.outputs;
  }

  // ‖∂h_{t,unit}/∂x_k‖ for each position k: exactly, backwards through this layer and all below it.
  connect(index, position, unit) {
    const layer = this.layers.findIndex(({ directions }) => directions.includes(this.directions[index]));
    const direction = this.directions[index];
    const given = new Matrix(direction.cell.outputSize, this.outputs.rows);
    given.row(position)[unit] = 1;
    let back = direction.pullBack(given, position, position);
    const all = [0, back.rows - 1];
    for (const { directions, residual } of this.layers.slice(0, layer).reverse()) {
      const parts = directions.map((each, k) => each.pullBack(pickColumns(back, directions, k), ...all));
      const below = parts.reduce(addMatrices);
      back = residual ? addMatrices(below, back) : below;
    }
    return Float32Array.from({ length: back.rows }, (_, t) => Math.sqrt(dot(back.row(t), back.row(t))));
  }
}

function joinDirections(directions, added) {
  const columns = directions.reduce((total, { outputs }) => total + outputs.columns, 0);
  const joined = new Matrix(columns, directions[0].outputs.rows);
  for (let t = 0; t < joined.rows; t++) {
    let at = 0;
    for (const { outputs } of directions) {
      joined.row(t).set(outputs.row(t), at);
      at += outputs.columns;
    }
    if (added) addInto(joined.row(t), added.row(t));
  }
  return joined;
}

function pickColumns(matrix, directions, k) {
  const before = directions.slice(0, k).reduce((total, { outputs }) => total + outputs.columns, 0);
  const columns = directions[k].outputs.columns;
  const rows = Array.from({ length: matrix.rows }, (_, t) => matrix.row(t).subarray(before, before + columns));
  return Matrix.from(rows, columns);
}

function addMatrices(a, b) {
  for (let t = 0; t < a.rows; t++) addInto(a.row(t), b.row(t));
  return a;
}
