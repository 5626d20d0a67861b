// From the outputs of an encoder to tags: every position by itself, the whole sequence, or tag after tag.
import { searchBeam } from "./beam.js";
import { Cell } from "./cell.js";
import { CRF } from "./crf.js";
import { applyLinear, concatenate, rankGreatest } from "./matrix.js";
import { logSoftmax } from "./units.js";
import { rowOf } from "./word_reader.js";

// {best: ids, marginals: rows of probabilities} of outputs (T rows).
export function tagOutputs(spec, ys) {
  const rows = Array.from({ length: ys.rows }, (_, t) => ys.row(t));
  return HEADS[spec.kind](spec, rows);
}

const HEADS = { softmax: tagBySoftmax, crf: tagByCRF, autoregressive: tagByBeam };

function tagBySoftmax({ emit, temperature }, rows) {
  const scores = rows.map((y) => applyLinear(emit, y));
  const marginals = scores.map((row) => logSoftmax(row.map((z) => z / temperature)).map(Math.exp));
  return { best: scores.map((row) => rankGreatest(row, 1)[0]), marginals };
}

function tagByCRF({ emit, crf, temperature }, rows) {
  const field = new CRF(crf);
  const scores = rows.map((y) => applyLinear(emit, y));
  return { best: field.viterbi(scores), marginals: field.marginals(scores, temperature) };
}

// s_i = R(s_{i-1}, [y_i ; T t_{i-1}]); marginals are those of the beam's hypotheses.
function tagByBeam(spec, rows) {
  if (!rows.length) return { best: [], marginals: [] };
  const cell = new Cell(spec.cell, spec.cell.formula);
  const tags = spec.emit.W.shape[0];
  const step = ({ state, place }, tag) => {
    const x = concatenate([rows[place], rowOf(spec.embed, tag)]);
    const after = cell.stepFrom(state, x);
    const log = logSoftmax(applyLinear(spec.emit, after.output));
    forbid(log, spec.allowed, { tag, first: place === 0, last: place + 1 === rows.length, count: tags });
    return { state: after.state, place: place + 1, log };
  };
  const begin = step({ state: cell.emptyState, place: 0 }, tags);
  const options = { width: spec.beam, nBest: spec.beam, lengthPenalty: 0, narrow: false, limit: rows.length };
  const names = { show: String, decode: String, ends: () => false };
  const { answers } = searchBeam({ begin, step, ...names, ...options });
  const weights = logSoftmax(answers.slice(0, spec.beam).map(({ score }) => score)).map(Math.exp);
  const marginals = rows.map(() => new Array(tags).fill(0));
  weights.forEach((weight, k) => answers[k].ids.forEach((tag, t) => (marginals[t][tag] += weight)));
  return { best: answers[0].ids, marginals };
}

function forbid(log, allowed, { tag, first, last, count }) {
  if (!allowed) return;
  for (let y = 0; y < count; y++) {
    const follows = first ? allowed.begin[y] : allowed.step[tag][y];
    if (!follows || (last && !allowed.end[y])) log[y] = -Infinity;
  }
}
