// A decoder, one token at a time: states are values, so that a beam can go on from any of them.
import { Attention } from "./attention.js";
import { Cell } from "./cell.js";
import { applyLinear, concatenate } from "./matrix.js";

export class Decoder {
  constructor(spec, formulaOf, first) {
    this.spec = spec;
    this.cells = spec.cells.map((cell, k) => new Cell(cell, formulaOf(first + k, cell)));
    this.attention = spec.attention && new Attention(spec.attention);
  }

  // What lasts as long as one source is written about, and the state before the first token.
  begin(source) {
    const memory = this.attention ? this.attention.remember(source.ys) : null;
    const summary = this.spec.summary ? source.summaries[this.spec.summary] : null;
    const states = this.firstStates(source);
    const fed = this.spec.feedsBack ? new Float64Array(this.spec.readout.W.shape[0]) : null;
    return { memory, summary, ys: source.ys, state: { states, fed, top: this.firstOutput(states), place: 0 } };
  }

  // What the top layer gave before the first step: its state, but nothing of what it adds to.
  firstOutput(states) {
    if (!this.cells.length) return null;
    const given = states.at(-1)[this.cells.at(-1).formula.output];
    return this.spec.residual.at(-1) ? new Float64Array(given.length) : given;
  }

  firstStates({ summaries, final }) {
    const { kind, of, W } = this.spec.start;
    if (kind === "copied") return final.map((states, k) => meanOfStates(states, this.cells[k]));
    if (kind === "mean") return this.cells.map((cell) => fillOutput(cell, summaries.mean));
    if (kind === "transformed") return cutIntoStates(applyLinear(W, summaries[of]).map(Math.tanh), this.cells);
    return this.cells.map((cell) => cell.emptyState);
  }

  // {state, output, weights, values}: what the softmax reads after a token, where was looked, every gate.
  step({ memory, summary, ys }, { states, fed, top, place }, x) {
    if (!this.cells.length) return this.repeatSource(ys, place);
    const { cells, spec } = this;
    const reads = spec.attentionLayer;
    let h = top;
    let below = fed ? concatenate([x, fed]) : x;
    if (summary) below = concatenate([x, summary]);
    let looked = null;
    const after = cells.map((cell, k) => {
      if (k === reads) {
        looked = this.attention.look(h, memory);
        below = concatenate([below, looked.context]);
      }
      const { output, state } = cell.stepFrom(states[k], below);
      h = spec.residual[k] ? output.map((value, i) => value + below[i]) : output;
      below = h;
      return state;
    });
    if (this.attention && reads === cells.length) looked = this.attention.look(h, memory);
    const output = this.readOut(h, looked?.context ?? summary);
    const state = { states: after, fed: fed && output, top: h, place: place + 1 };
    return { state, output, weights: looked?.weights ?? null };
  }

  readOut(h, context) {
    return this.spec.readout ? applyLinear(this.spec.readout, concatenate([h, context])).map(Math.tanh) : h;
  }

  // A transducer says what the encoder said; beyond the end of a source, what it said last.
  repeatSource(ys, place) {
    const output = ys.row(Math.min(place, ys.rows - 1));
    return { state: { states: [], fed: null, place: place + 1 }, output, weights: null };
  }

  // Every gate of the last step, by layer.
  get lastValues() {
    return this.cells.map((cell) => {
      const { values } = cell.formula;
      const pick = (name, id) => (name in cell.buffers.s ? cell.buffers.s[name] : cell.valueOf(id)).slice();
      return Object.fromEntries(Object.entries(values).map(([name, id]) => [name, pick(name, id)]));
    });
  }
}

// The mean of the last states of both directions; of one, that one.
function meanOfStates(directions, cell) {
  const sum = (name, k) => directions.reduce((total, states) => total + states[name][k], 0);
  const mean = (name) => cell.emptyState[name].map((_, k) => sum(name, k) / directions.length);
  return Object.fromEntries(cell.formula.states.map((name) => [name, mean(name)]));
}

// The mean of the encoder's outputs, of two directions of both, in the state that is given out.
function fillOutput(cell, summary) {
  const state = cell.emptyState;
  const width = cell.outputSize;
  const parts = summary.length / width;
  state[cell.formula.output] = state[cell.formula.output].map((_, k) => {
    let sum = 0;
    for (let part = 0; part < parts; part++) sum += summary[part * width + k];
    return sum / parts;
  });
  return state;
}

function cutIntoStates(values, cells) {
  let at = 0;
  return cells.map((cell) =>
    Object.fromEntries(
      Object.entries(cell.emptyState).map(([name, empty]) => {
        at += empty.length;
        return [name, values.slice(at - empty.length, at)];
      }),
    ),
  );
}
