// Text to the numbers of its tokens, and back.
import { encodePiece, pieceBytes } from "./subwords.js";
import { normalizeText, splitPieces, SPLITTERS } from "./split_text.js";

export const [PAD, UNK, BOS, EOS] = [0, 1, 2, 3];
export const SPECIALS = 4; // tokens that no text yields

export class Tokenizer {
  constructor(spec) {
    this.spec = spec;
    this.items = spec.items;
    this.numbers = new Map(spec.items.map((item, i) => [item, i]).slice(SPECIALS));
    this.level = { words: "word", whitespace: "word", chars: "char", bytes: "byte" }[spec.kind] ?? "subword";
    this.separator = this.level === "word" ? " " : "";
    this.merges = new Map((spec.merges ?? []).map(([a, b], rank) => [`${a} ${b}`, rank]));
  }

  // The tokens of a text as it is written; pieces of words are normalized.
  split(text) {
    return this.level === "subword" ? this.pieces(text) : SPLITTERS[this.spec.kind](text);
  }

  // The same, normalized.
  tokens(text) {
    return this.level === "subword" ? this.pieces(text) : SPLITTERS[this.spec.kind](normalizeText(text, this.spec));
  }

  pieces(text) {
    return splitPieces(text, this.spec).flatMap((word) => encodePiece(word, this));
  }

  encode(text) {
    return this.tokens(text).map((token) => this.numbers.get(token) ?? UNK);
  }

  // The number of a token that `split` gave.
  encodeToken(token) {
    const known = this.level === "subword" ? token : normalizeText(token, this.spec);
    return this.numbers.get(known) ?? UNK;
  }

  bytesOf(id) {
    if (id < SPECIALS) return [];
    if (this.level === "byte") return [parseInt(this.items[id], 16)];
    return this.level === "subword" ? pieceBytes(this.items[id]) : [...new TextEncoder().encode(this.items[id])];
  }

  // A token for people: as it is spelled, special ones by their name.
  show(id) {
    if (id < SPECIALS || this.level === "word" || this.level === "char") return this.items[id];
    return decodeBytes(this.bytesOf(id));
  }

  // The tokens of one line for people.
  display(text) {
    const exact = this.level === "word" || this.level === "char";
    return exact ? this.tokens(text) : this.encode(text).map((id) => this.show(id));
  }

  // The text of ids; padding, <s> and </s> are left out.
  decode(ids) {
    const kept = ids.filter((id) => id !== PAD && id !== BOS && id !== EOS);
    if (this.level === "word" || this.level === "char") return kept.map((id) => this.items[id]).join(this.separator);
    const unknown = [0xef, 0xbf, 0xbd];
    const bytes = kept.flatMap((id) => (id === UNK && this.level === "byte" ? unknown : this.bytesOf(id)));
    return new TextDecoder().decode(Uint8Array.from(bytes));
  }
}

// As UTF-8; bytes that are none are written \xff.
function decodeBytes(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return bytes.map((b) => (b > 31 && b < 127 ? String.fromCharCode(b) : `\\x${b.toString(16).padStart(2, "0")}`)).join("");
  }
}
