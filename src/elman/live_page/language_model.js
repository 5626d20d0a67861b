// A language model that reads what is typed: what it expected, what it expects next, and every gate.
import { readingLayers } from "./reading.js";
import { LayerStack } from "./layers.js";
import { Matrix, rankGreatest } from "./matrix.js";
import { makeOutput } from "./output_layer.js";
import { searchBeam } from "./beam.js";
import { Tokenizer, UNK } from "./tokenizer.js";

export class LanguageModel {
  constructor(spec, formulaOf) {
    this.spec = spec;
    this.tokenizer = new Tokenizer(spec.tokenizer);
    this.stack = new LayerStack(spec.layers, formulaOf);
    this.output = makeOutput(spec.output);
    this.ids = [];
    this.expected = []; // log-probabilities after each token
  }

  get stacks() {
    return [{ part: "", stack: this.stack }];
  }

  read(text) {
    const ids = [this.spec.start, ...this.encodeLines(text)];
    const kept = countShared(this.ids, ids);
    this.expected.length = Math.min(this.expected.length, kept);
    this.ids = ids;
    this.stack.read(Matrix.from(ids.map((id) => this.embed(id)), this.spec.embed.shape[1]), kept, ids);
    const tokens = [this.showToken(this.spec.start), ...this.showLines(text)];
    return {
      tokens,
      unknown: ids.map((id) => id === UNK),
      layers: readingLayers(this.stack),
      surprise: ids.slice(1).map((id, t) => this.surprise(tokens[t + 1], id, t)),
      next: (position, count) => this.expect(position, count),
    };
  }

  // A line ends in the token that also stands before the first one.
  encodeLines(text) {
    return text.split("\n").flatMap((line, k) => [...(k ? [this.spec.start] : []), ...this.tokenizer.encode(line)]);
  }

  showLines(text) {
    const end = this.showToken(this.spec.start);
    return text.split("\n").flatMap((line, k) => [...(k ? [end] : []), ...this.tokenizer.display(line)]);
  }

  showToken(id) {
    const shown = this.tokenizer.show(id);
    return shown === "\n" ? "⏎" : shown;
  }

  embed(id) {
    const width = this.spec.embed.shape[1];
    return this.spec.embed.data.subarray(id * width, (id + 1) * width);
  }

  logProbabilities(t) {
    this.expected[t] ??= this.output.logProbabilities(this.stack.outputs.row(t));
    return this.expected[t];
  }

  surprise(token, id, t) {
    const log = this.logProbabilities(t);
    let rank = 1;
    for (const other of log) if (other > log[id]) rank++;
    return { token, nats: -log[id], rank };
  }

  expect(position, count) {
    const log = this.logProbabilities(position);
    const ids = rankGreatest(log, count);
    return ids.map((id) => ({ token: this.showToken(id), probability: Math.exp(log[id]) }));
  }

  // How the text goes on, by beam search; a line that ends is a completed hypothesis.
  search(text, options) {
    this.read(text);
    const last = this.ids.length - 1;
    const first = { states: this.stack.directions.map((d) => d.saveStates(last)), log: this.logProbabilities(last) };
    const found = searchBeam({
      begin: first,
      step: (state, id) => this.stepOn(state, id),
      ends: (id) => id === this.spec.start,
      show: (id) => this.showToken(id),
      decode: (ids) => this.tokenizer.decode(ids),
      ...options,
    });
    return found;
  }

  stepOn({ states }, id) {
    let h = this.embed(id);
    const after = this.stack.layers.map(({ directions: [direction], residual }, k) => {
      const { output, state } = direction.stepFrom(states[k], h);
      h = residual ? h.map((value, i) => value + output[i]) : output;
      return state;
    });
    return { states: after, log: this.output.logProbabilities(h) };
  }
}

function countShared(before, now) {
  let count = 0;
  while (count < before.length && count < now.length && before[count] === now[count]) count++;
  return count;
}
