// A text as a bag of its n-grams, and what a linear model says of it: as layers/ngrams.py, with the same keys.

const PAIR = 2n ** 31n; // the key of a pair u v is (u + 1) 2³¹ + v; an end of the text is 0
const BASE = 4097; // of the keys of pieces, which are below 0
const [SHORTEST, LONGEST_PIECE] = [2, 5]; // characters of a piece, the ends of a word among them

// z = W v + b, where v are the n-grams of a text, each (1 + log count) · idf.
export class NGramModel {
  constructor({ keys, idf, W, b }) {
    Object.assign(this, { keys, idf: idf.data, W: W.data, b: b.data });
    this.spells = keys.length > 0 && keys[0] < 0n;
  }

  // {logits, bag} of words {id, characters}; words and pairs are a vector of length 1, and so are pieces.
  read(words) {
    const bag = [...this.weigh(listWords(words)), ...(this.spells ? this.weigh(listPieces(words)) : [])];
    const logits = Float64Array.from(this.b);
    for (const { column, value } of bag) logits.forEach((_, y) => (logits[y] += value * this.weightOf(column, y)));
    return { logits, bag };
  }

  weightOf(column, y) {
    return this.W[column * this.b.length + y];
  }

  // How much each of `count` words adds to a score, where the weight of an n-gram is `weigh(column)`: an n-gram
  // belongs to the words that it stands at, in equal parts.
  share(bag, weigh, count) {
    const shares = new Float64Array(count);
    for (const { column, value, places } of bag) {
      const each = (value * weigh(column)) / places.length;
      for (const place of places) for (const i of place) shares[i] += each / place.length;
    }
    return shares;
  }

  // Of n-grams {key, place} those that are known, none twice: {column, value, places}.
  weigh(found) {
    const places = new Map();
    for (const { key, place } of found) {
      const column = this.find(key);
      if (this.keys[column] !== key) continue;
      if (!places.has(column)) places.set(column, []);
      places.get(column).push(place);
    }
    const bag = [...places].map(([column, all]) => ({ column, value: (1 + Math.log(all.length)) * this.idf[column], places: all }));
    const length = Math.sqrt(bag.reduce((sum, { value }) => sum + value ** 2, 0));
    return bag.map((one) => ({ ...one, value: one.value / length }));
  }

  // The first place whose key is not below this one: keys are in order.
  find(key) {
    let [from, to] = [0, this.keys.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.keys[middle] < key) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

// Each word, and each pair of neighbours; the ends of a text are neighbours, too.
function listWords(words) {
  const ids = [0n, ...words.map(({ id }) => BigInt(id)), 0n];
  const single = words.map((_, i) => ({ key: ids[i + 1], place: [i] }));
  const pairs = ids.slice(1).map((right, i) => ({ key: (ids[i] + 1n) * PAIR + right, place: [i - 1, i].filter((k) => words[k]) }));
  return words.length ? [...single, ...pairs] : [];
}

// -Σ dᵢ 4097ⁱ for each piece of each word; the digit of an end of the word is 1, that of a character its id + 2.
function listPieces(words) {
  return words.flatMap(({ characters }, i) => {
    const digits = characters.length ? [1, ...characters.map((id) => Math.min(id, BASE - 3) + 2), 1] : [];
    const keys = digits.flatMap((_, start) => listKeys(digits.slice(start, start + LONGEST_PIECE)));
    return keys.map((key) => ({ key, place: [i] }));
  });
}

// The keys of the pieces that begin where these digits do.
function listKeys(digits) {
  const keys = [];
  let [key, scale] = [0n, 1n];
  digits.forEach((digit, k) => {
    key -= BigInt(digit) * scale;
    scale *= BigInt(BASE);
    if (k + 1 >= SHORTEST) keys.push(key);
  });
  return keys;
}
