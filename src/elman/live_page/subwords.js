// Pieces of words over bytes: byte-pair encoding, or the likeliest pieces of a unigram model.

// The character that stands for each byte: printable Latin-1 is itself, the rest follows after U+00FF.
const CHARACTERS = (() => {
  const plain = (b) => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
  let further = 256;
  return Array.from({ length: 256 }, (_, b) => String.fromCharCode(plain(b) ? b : further++));
})();
const BYTES = new Map(CHARACTERS.map((character, byte) => [character, byte]));

export function pieceBytes(piece) {
  return [...piece].map((character) => BYTES.get(character));
}

export function encodePiece(word, tokenizer) {
  const characters = [...new TextEncoder().encode(word)].map((byte) => CHARACTERS[byte]);
  return tokenizer.spec.scores ? chooseLikeliest(characters, tokenizer) : mergePairs(characters, tokenizer.merges);
}

// The pair of the lowest rank is joined, wherever it stands, until no pair has one.
function mergePairs(parts, ranks) {
  let pieces = parts;
  for (;;) {
    let best = Infinity;
    for (let i = 0; i + 1 < pieces.length; i++) best = Math.min(best, ranks.get(`${pieces[i]} ${pieces[i + 1]}`) ?? Infinity);
    if (best === Infinity) return pieces;
    const joined = [];
    for (let i = 0; i < pieces.length; i++) {
      const fits = i + 1 < pieces.length && ranks.get(`${pieces[i]} ${pieces[i + 1]}`) === best;
      joined.push(fits ? pieces[i] + pieces[++i] : pieces[i]);
    }
    pieces = joined;
  }
}

// The cut whose pieces have the greatest sum of log-probabilities (Viterbi).
function chooseLikeliest(characters, { numbers, spec }) {
  const best = [{ score: 0, from: 0 }];
  for (let end = 1; end <= characters.length; end++) {
    best[end] = { score: -Infinity, from: end - 1 };
    let piece = "";
    for (let from = end - 1; from >= 0; from--) {
      piece = characters[from] + piece;
      const id = numbers.get(piece);
      if (id === undefined) continue;
      const score = best[from].score + spec.scores[id];
      if (score > best[end].score) best[end] = { score, from };
    }
  }
  const pieces = [];
  for (let end = characters.length; end > 0; end = best[end].from) {
    pieces.unshift(characters.slice(best[end].from, end).join(""));
  }
  return pieces;
}
