// A classifier: the labels of a text, how sure it is of each, and every gate.
import { readingLayers } from "./reading.js";
import { LayerStack } from "./layers.js";
import { applyLinear, rankGreatest } from "./matrix.js";
import { NGramModel } from "./ngrams.js";
import { poolOutputs } from "./pooling.js";
import { logSoftmax } from "./units.js";
import { WordReader } from "./word_reader.js";

export class Classifier {
  constructor(spec, formulaOf) {
    this.spec = spec;
    this.words = new WordReader(spec.words, spec.maxTokens);
    this.stack = new LayerStack(spec.layers, formulaOf, spec.chunk);
    this.ngrams = spec.ngrams && new NGramModel(spec.ngrams);
  }

  get stacks() {
    return [{ part: "", stack: this.stack }];
  }

  read(text) {
    const { tokens, unknown, xs, whole } = this.words.read(text);
    const { vector, weights } = poolOutputs(this.spec.pool, this.stack.read(xs));
    const attention = weights && [{ name: "attention", weights }];
    const beside = this.ngrams && this.ngrams.read(whole.forms);
    const logits = this.mix(this.score(vector), beside);
    const ngrams = beside && this.explain(logits, beside.bag, whole.tokens);
    const left = whole.tokens.length - tokens.length;
    return { tokens, unknown, left, layers: readingLayers(this.stack), labels: this.decide(logits), attention, ngrams };
  }

  // What the network says.
  score(vector) {
    const [last, ...before] = [...this.spec.decide].reverse();
    const hidden = before.reverse().reduce((v, linear) => applyLinear(linear, v).map((z) => Math.max(z, 0)), vector);
    return applyLinear(last, hidden);
  }

  // z = α z_rnn + β z_ngrams
  mix(logits, beside) {
    if (!beside) return logits;
    const [network, ngrams] = this.spec.mix.data;
    return logits.map((z, y) => network * z + ngrams * beside.logits[y]);
  }

  decide(logits) {
    const { kind, temperature, thresholds } = this.spec.decision;
    const scaled = logits.map((z) => z / temperature);
    const chances = kind === "softmax" ? logSoftmax(scaled).map(Math.exp) : scaled.map((z) => 1 / (1 + Math.exp(-z)));
    const order = rankGreatest(logits, logits.length);
    return order.map((y, rank) => ({
      label: this.spec.labels[y],
      probability: chances[y],
      chosen: kind === "softmax" ? rank === 0 : chances[y] >= thresholds[y],
    }));
  }

  // What the n-grams at each word add to the likeliest label's z: less that of the next one, where there is one label a text.
  explain(logits, bag, tokens) {
    const [best, next] = rankGreatest(logits, 2);
    const other = this.spec.decision.kind === "softmax" ? next : undefined;
    const weigh = (column) => this.ngrams.weightOf(column, best) - (other === undefined ? 0 : this.ngrams.weightOf(column, other));
    const shares = this.ngrams.share(bag, weigh, tokens.length).map((share) => share * this.spec.mix.data[1]);
    return { label: this.spec.labels[best], other: this.spec.labels[other] ?? null, tokens, shares };
  }
}
