// x_i of a word: its embedding, and beside it what its characters say.
import { Cell } from "./cell.js";
import { Direction } from "./direction.js";
import { applyLinear, concatenate, Matrix } from "./matrix.js";
import { Spelling } from "./spelling.js";
import { Tokenizer, UNK } from "./tokenizer.js";

export class WordReader {
  // Of a text of more than `most` words its beginning and its end are read; 0: all of it.
  constructor(spec, most = 0) {
    this.spec = spec;
    this.most = most;
    this.tokenizer = new Tokenizer(spec.tokenizer);
    this.spelling = spec.spelling && new Spelling(spec.spelling);
    this.characters = spec.characters && new CHARACTER_READERS[spec.characters.kind](spec.characters);
    this.size = this.vector({ id: UNK, features: spec.features.map(() => UNK), characters: [] }).length;
  }

  // {tokens, unknown, xs}: what is read of a text; `whole` has the tokens and forms of all of it.
  read(text) {
    const whole = { forms: this.forms(text), tokens: this.spelling ? this.tokenizer.split(text) : this.tokenizer.display(text) };
    const [forms, tokens] = [whole.forms, whole.tokens].map((all) => keepEnds(all, this.most));
    const xs = Matrix.from(forms.map((form) => this.vector(form)), this.size);
    return { tokens, unknown: forms.map(({ id }) => id === UNK), xs, whole };
  }

  forms(text) {
    if (!this.spelling) return this.tokenizer.encode(text).map((id) => ({ id, features: [], characters: [] }));
    return this.tokenizer.split(text).map((word) => ({
      id: this.tokenizer.encodeToken(word),
      features: this.spelling.features(word),
      characters: this.spelling.characters(word),
    }));
  }

  vector({ id, features, characters }) {
    const parts = this.spec.embeddings.map((embedding) => rowOf(embedding, id));
    if (this.characters) parts.push(this.characters.read(characters));
    return concatenate([...parts, ...this.spec.features.map((embedding, i) => rowOf(embedding, features[i]))]);
  }
}

function keepEnds(all, most) {
  if (!most || all.length <= most) return all;
  const last = Math.floor(most / 2);
  return [...all.slice(0, most - last), ...all.slice(all.length - last)];
}

// Words that only a file of vectors has are unknown to an embedding that is trained.
export function rowOf(embedding, id) {
  if (embedding.oneHot) {
    const row = new Float64Array(embedding.oneHot);
    row[id] = 1;
    return row;
  }
  const [rows, width] = embedding.shape;
  const known = id < rows ? id : UNK;
  return embedding.data.subarray(known * width, (known + 1) * width);
}

// max_i (W c_{i-1:i+1} + b) over the positions of a word.
class CharacterCNN {
  constructor(spec) {
    this.spec = spec;
  }

  read(characters) {
    const { embed, W } = this.spec;
    const padding = new Float32Array(embed.shape[1]);
    const rows = [padding, ...characters.map((id) => rowOf(embed, id)), padding];
    const best = new Float64Array(W.W.shape[0]).fill(characters.length ? -Infinity : 0);
    characters.forEach((_, i) => {
      const found = applyLinear(W, interleave(rows.slice(i, i + 3)));
      for (let k = 0; k < best.length; k++) best[k] = Math.max(best[k], found[k]);
    });
    return best;
  }
}

// The first feature of all, the second of all, …: so W was trained.
function interleave(rows) {
  return Float64Array.from({ length: rows.length * rows[0].length }, (_, k) => rows[k % rows.length][Math.floor(k / rows.length)]);
}

// y_n of a forward and y_1 of a backward cell over the characters of a word.
class CharacterRNN {
  constructor(spec) {
    this.spec = spec;
    this.directions = spec.layers[0].cells.map((cell) => new Direction(new Cell(cell, cell.formula), cell.reverse));
  }

  read(characters) {
    const { embed } = this.spec;
    const xs = Matrix.from(characters.map((id) => rowOf(embed, id)), embed.shape[1]);
    const ends = this.directions.map((direction) => {
      direction.read(xs);
      const last = direction.reverse ? 0 : xs.rows - 1;
      return xs.rows ? direction.outputs.row(last).slice() : new Float64Array(direction.outputs.columns);
    });
    return concatenate(ends);
  }
}

const CHARACTER_READERS = { cnn: CharacterCNN, rnn: CharacterRNN };
