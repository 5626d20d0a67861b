// A linear-chain conditional random field: the best sequence of tags, and the probability of each tag.
import { logSumExp } from "./units.js";

const FORBIDDEN = -Infinity;

export class CRF {
  // Scores of transitions (from, to), of the first tag and of the last, as `Constraints` allows them.
  constructor({ transitions, begin, end, allowed }) {
    const count = begin.data.length;
    this.count = count;
    const allow = (value, yes) => (yes ? value : FORBIDDEN);
    this.begin = begin.data.map((value, y) => allow(value, !allowed || allowed.begin[y]));
    this.end = end.data.map((value, y) => allow(value, !allowed || allowed.end[y]));
    this.steps = Array.from({ length: count }, (_, from) =>
      Array.from({ length: count }, (_, to) => allow(transitions.data[from * count + to], !allowed || allowed.step[from][to])),
    );
  }

  // The best tags for scores (T, Y).
  viterbi(scores) {
    if (!scores.length) return [];
    let best = Array.from(scores[0], (score, y) => score + this.begin[y]);
    const pointers = [];
    for (const row of scores.slice(1)) {
      const from = Array.from(row, (_, to) => greatest(best.map((score, y) => score + this.steps[y][to])));
      const before = best;
      best = Array.from(row, (score, to) => score + before[from[to]] + this.steps[from[to]][to]);
      pointers.unshift(from);
    }
    const path = [greatest(best.map((score, y) => score + this.end[y]))];
    for (const from of pointers) path.unshift(from[path[0]]);
    return path;
  }

  // p(y_i | x) at each position, where p ∝ exp(score / temperature).
  marginals(scores, temperature) {
    const cool = (row) => Array.from(row, (value) => value / temperature);
    const xs = scores.map(cool);
    const [begin, end, steps] = [cool(this.begin), cool(this.end), this.steps.map(cool)];
    const alphas = [];
    xs.forEach((row, t) => {
      const into = (to) => (t ? logSumExp(alphas[t - 1].map((a, y) => a + steps[y][to])) : begin[to]);
      alphas.push(row.map((score, to) => score + into(to)));
    });
    const betas = [];
    for (let t = xs.length - 1; t >= 0; t--) {
      const next = t + 1 < xs.length ? xs[t + 1].map((score, y) => score + betas[0][y]) : null;
      betas.unshift(end.map((value, y) => (next ? logSumExp(next.map((b, to) => b + steps[y][to])) : value)));
    }
    return alphas.map((row, t) => {
      const both = row.map((a, y) => a + betas[t][y]);
      const total = logSumExp(both);
      return both.map((value) => Math.exp(value - total));
    });
  }
}

function greatest(values) {
  let best = 0;
  for (let y = 1; y < values.length; y++) if (values[y] > values[best]) best = y;
  return best;
}
