// From the outputs at all positions to one vector: {vector, weights}, weights where it attends.
import { applyLinear, concatenate, dot } from "./matrix.js";
import { softmaxUnits } from "./units.js";

export function poolOutputs(spec, ys) {
  const found = POOLS[spec.kind](ys, spec);
  return found.vector ? found : { vector: found, weights: null };
}

const POOLS = {
  last: (ys) => (ys.rows ? ys.row(ys.rows - 1) : new Float64Array(ys.columns)),
  ends: poolEnds,
  mean: poolMean,
  max: poolMax,
  concat: (ys, { parts }) => concatenate(parts.map((part) => poolOutputs(part, ys).vector)),
  attention: poolByAttention,
  window: poolWindow,
};

function poolEnds(ys) {
  if (!ys.rows) return new Float64Array(ys.columns);
  const half = ys.columns / 2;
  return concatenate([ys.row(ys.rows - 1).subarray(0, half), ys.row(0).subarray(half)]);
}

function poolMean(ys) {
  const total = new Float64Array(ys.columns);
  for (let t = 0; t < ys.rows; t++) ys.row(t).forEach((value, k) => (total[k] += value));
  return total.map((value) => value / Math.max(1, ys.rows));
}

function poolMax(ys) {
  const best = new Float64Array(ys.columns).fill(ys.rows ? -Infinity : 0);
  for (let t = 0; t < ys.rows; t++) ys.row(t).forEach((value, k) => (best[k] = Math.max(best[k], value)));
  return best;
}

// Σ α_i y_i with α = softmax(v · tanh(W y + b)).
function poolByAttention(ys, { W, v }) {
  const weights = new Float64Array(ys.rows);
  for (let t = 0; t < ys.rows; t++) weights[t] = dot(v.W.data, applyLinear(W, ys.row(t)).map(Math.tanh));
  softmaxUnits(weights, weights);
  const vector = new Float64Array(ys.columns);
  for (let t = 0; t < ys.rows; t++) ys.row(t).forEach((value, k) => (vector[k] += weights[t] * value));
  return { vector, weights };
}

// The first so many positions side by side, zeros where there are fewer.
function poolWindow(ys, { width }) {
  const vector = new Float64Array(width * ys.columns);
  for (let t = 0; t < Math.min(width, ys.rows); t++) vector.set(ys.row(t), t * ys.columns);
  return vector;
}
