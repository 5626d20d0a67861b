// A sequence-to-sequence model: its answer to a text, where it looked, how it searched, and every gate.
import { searchBeam } from "./beam.js";
import { Decoder } from "./decoder.js";
import { LayerStack } from "./layers.js";
import { Matrix } from "./matrix.js";
import { makeOutput } from "./output_layer.js";
import { poolOutputs } from "./pooling.js";
import { readingLayers } from "./reading.js";
import { BOS, EOS, Tokenizer, UNK } from "./tokenizer.js";
import { rowOf } from "./word_reader.js";

export class Seq2Seq {
  constructor(spec, formulaOf) {
    this.spec = spec;
    this.source = new Tokenizer(spec.sourceTokenizer);
    this.target = spec.targetTokenizer ? new Tokenizer(spec.targetTokenizer) : this.source;
    this.stack = new LayerStack(spec.encoder, formulaOf);
    this.decoder = new Decoder(spec.decoder, formulaOf, this.stack.directions.length);
    this.output = makeOutput(spec.output);
  }

  get stacks() {
    const layers = this.decoder.cells.map((cell) => ({ directions: [{ name: "forward", cell }] }));
    const decoder = layers.length ? [{ part: "decoder", stack: { layers } }] : [];
    return [{ part: "encoder", stack: this.stack }, ...decoder];
  }

  read(text) {
    const ids = this.source.encode(text);
    const tokens = this.source.display(text).map(bareToken);
    const session = this.encode(ids);
    const layers = readingLayers(this.stack);
    const unknown = ids.map((id) => id === UNK);
    if (!ids.length) return { tokens, unknown, layers, answer: null };
    const [best] = this.searchFrom(session, ids, {}).answers;
    const written = this.forceAnswer(session, best.ids);
    const shown = best.ids.map((id) => this.showTarget(id));
    const { nats, alignment } = written;
    const answer = { text: best.text, tokens: shown, nats, source: tokens, alignment };
    const before = ["<s>", ...shown.slice(0, -1)]; // what the decoder has read at each step
    return { tokens, unknown, layers: [...layers, ...written.layers.map((layer) => ({ ...layer, tokens: before }))], answer };
  }

  // The source as it was read; a transducer gets room to write beyond its end.
  encode(ids) {
    const room = this.spec.aligned ? new Array(ids.length + 5).fill(BOS) : [];
    const read = [...ids, ...room].map((id) => rowOf(this.spec.sourceEmbed, id));
    const ys = this.stack.read(Matrix.from(read, this.spec.sourceEmbed.shape[1]));
    const top = this.stack.layers.at(-1).directions;
    const last = poolOutputs({ kind: top.length > 1 ? "ends" : "last" }, ys).vector;
    const summaries = { last, mean: poolOutputs({ kind: "mean" }, ys).vector };
    const ends = (direction) => direction.saveStates(direction.reverse ? 0 : ys.rows - 1);
    const final = ys.rows ? this.stack.layers.map(({ directions }) => directions.map(ends)) : [];
    return ys.rows ? this.decoder.begin({ ys, summaries, final }) : null;
  }

  stepOn(session, { state }, id) {
    const { state: after, output, weights } = this.decoder.step(session, state, rowOf(this.spec.targetEmbed, id));
    return { state: after, weights, log: this.output.logProbabilities(output) };
  }

  search(text, options) {
    const ids = this.source.encode(text);
    if (!ids.length) return { tree: [], answers: [], closed: "" };
    return this.searchFrom(this.encode(ids), ids, options);
  }

  searchFrom(session, ids, options) {
    const { beam, lengthPenalty, maxTokens } = this.spec.search;
    return searchBeam({
      begin: this.stepOn(session, { state: session.state }, BOS),
      step: (state, id) => this.stepOn(session, state, id),
      ends: (id) => id === EOS,
      show: (id) => this.showTarget(id),
      decode: (written) => this.target.decode(written),
      width: beam,
      lengthPenalty,
      ...options,
      limit: Math.min(2 * ids.length + 10, options.limit ?? maxTokens),
    });
  }

  // What each token of an answer costs, where the decoder looked for it, and every gate.
  forceAnswer(session, written) {
    let state = { state: session.state };
    const [rows, values, nats] = [[], [], []];
    [BOS, ...written.slice(0, -1)].forEach((id, i) => {
      state = this.stepOn(session, state, id);
      nats.push(-state.log[written[i]]);
      rows.push(state.weights);
      values.push(this.decoder.lastValues);
    });
    const alignment = rows[0] && Matrix.from(rows, rows[0].length);
    return { nats, alignment, layers: this.decoder.cells.map((cell, k) => this.gatherGates(cell, k, values)) };
  }

  gatherGates(cell, k, values) {
    const { states, output } = cell.formula;
    const gather = (name) => Matrix.from(values.map((layers) => layers[k][name]), values[0][k][name].length);
    const named = Object.fromEntries(Object.keys(values[0][k]).map((name) => [name, gather(name)]));
    return { index: this.stack.directions.length + k, values: named, states, output };
  }

  showTarget(id) {
    return bareToken(this.target.show(id));
  }
}

// Without the blank that begins a word, unless it is all there is.
function bareToken(token) {
  return token.trim() || token;
}
