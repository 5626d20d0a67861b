// A tagger: a tag for each word, how sure it is of each, and every gate.
import { LayerStack } from "./layers.js";
import { rankGreatest } from "./matrix.js";
import { readingLayers } from "./reading.js";
import { tagOutputs } from "./tag_heads.js";
import { convertTags, nameAsWritten } from "./tag_schemes.js";
import { WordReader } from "./word_reader.js";

const MOST = 5; // of other tags that are told

export class Tagger {
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
    const ys = this.stack.read(xs);
    const columns = this.spec.heads.map((head) => ({ name: head.column, ...this.decide(head, ys) }));
    const [{ tags, best, marginals }] = columns;
    const names = this.spec.heads[0].labels.map((label) => nameAsWritten(label, this.spec.heads[0]));
    const told = tags.map((tag, t) => ({
      word: tokens[t],
      tag,
      probability: Math.min(1, marginals[t][best[t]]),
      others: rankTags(marginals[t], names),
    }));
    const named = columns.map(({ name, tags: all }) => ({ name, tags: all }));
    return { tokens, unknown, layers: readingLayers(this.stack), tags: told, columns: named };
  }

  // Tags as the files have them; probabilities are those of the tags that are trained.
  decide(head, ys) {
    const { best, marginals } = tagOutputs(head, ys);
    const trained = best.map((y) => head.labels[y]);
    const tags = head.written === head.trained ? trained : convertTags(trained, head.written);
    return { tags, best, marginals };
  }
}

// The likeliest names with their probabilities; tags that are written alike count together.
function rankTags(marginals, names) {
  const chances = new Map();
  marginals.forEach((chance, y) => chances.set(names[y], (chances.get(names[y]) ?? 0) + chance));
  const all = [...chances].map(([tag, probability]) => ({ tag, probability }));
  const order = rankGreatest(all.map(({ probability }) => probability), MOST);
  return order.map((i) => all[i]);
}
