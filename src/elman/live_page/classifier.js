// A classifier: the labels of a text, how sure it is of each, and every gate.
import { readingLayers } from "./reading.js";
import { LayerStack } from "./layers.js";
import { applyLinear, rankGreatest } from "./matrix.js";
import { poolOutputs } from "./pooling.js";
import { logSoftmax } from "./units.js";
import { WordReader } from "./word_reader.js";

export class Classifier {
  constructor(spec, formulaOf) {
    this.spec = spec;
    this.words = new WordReader(spec.words);
    this.stack = new LayerStack(spec.layers, formulaOf);
  }

  get stacks() {
    return [{ part: "", stack: this.stack }];
  }

  read(text) {
    const { tokens, unknown, xs } = this.words.read(text);
    const { vector, weights } = poolOutputs(this.spec.pool, this.stack.read(xs));
    const attention = weights && [{ name: "attention", weights }];
    return { tokens, unknown, layers: readingLayers(this.stack), labels: this.decide(vector), attention };
  }

  decide(vector) {
    const [last, ...before] = [...this.spec.decide].reverse();
    const hidden = before.reverse().reduce((v, linear) => applyLinear(linear, v).map((z) => Math.max(z, 0)), vector);
    const logits = applyLinear(last, hidden);
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
}
