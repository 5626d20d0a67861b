// Where a decoder looks: weights over the encoder's outputs, and the sum that they weigh.
import { addTransposed, applyLinear, dot } from "./matrix.js";
import { softmaxUnits } from "./units.js";

export class Attention {
  constructor(spec) {
    this.spec = spec;
    this.score = SCORES[spec.kind](spec);
  }

  // What is known of a source before anything is written: its outputs, and a key for each.
  remember(ys) {
    const values = Array.from({ length: ys.rows }, (_, j) => ys.row(j));
    return { values, keys: values.map((value) => this.score.key(value)), width: ys.columns };
  }

  // {context, weights} of a query.
  look(query, { values, keys, width }) {
    const asked = this.score.query(query);
    const weights = Float64Array.from(keys, (key) => this.score.compare(asked, key));
    softmaxUnits(weights, weights);
    const context = new Float64Array(width);
    values.forEach((value, j) => addTransposed(value, [weights[j]], context));
    return { context, weights };
  }
}

const same = (vector) => vector;
const SCORES = {
  dot: () => ({ key: same, query: same, compare: dot }),
  scaled: () => ({ key: same, query: same, compare: (h, key) => dot(h, key) / Math.sqrt(h.length) }),
  bilinear: ({ W_s }) => ({ key: (value) => applyLinear(W_s, value), query: same, compare: dot }),
  additive: ({ W, U, v }) => ({
    key: (value) => applyLinear(U, value),
    query: (h) => applyLinear(W, h),
    compare: (h, key) => v.data.reduce((sum, weight, k) => sum + weight * Math.tanh(h[k] + key[k]), 0),
  }),
};
