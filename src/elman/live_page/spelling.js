// How words are spelled: their characters, their casing, their beginnings and endings, as in text/spelling.py.
import { SPECIALS, UNK } from "./tokenizer.js";

const LONGEST = 32; // characters of a word that are seen: of a longer one its beginning and its end
// Python's digits: decimal ones, and those that are written raised, lowered or in circles.
const DIGIT =
  "\\p{Nd}\\u{b2}-\\u{b3}\\u{b9}\\u{1369}-\\u{1371}\\u{19da}\\u{2070}\\u{2074}-\\u{2079}\\u{2080}-\\u{2089}\\u{2460}-\\u{2468}" +
  "\\u{2474}-\\u{247c}\\u{2488}-\\u{2490}\\u{24ea}\\u{24f5}-\\u{24fd}\\u{24ff}\\u{2776}-\\u{277e}\\u{2780}-\\u{2788}" +
  "\\u{278a}-\\u{2792}\\u{10a40}-\\u{10a43}\\u{10e60}-\\u{10e68}\\u{11052}-\\u{1105a}\\u{1f100}-\\u{1f10a}";
const SOME_DIGIT = new RegExp(`[${DIGIT}]`, "u");
const ALL_DIGITS = new RegExp(`^[${DIGIT}]+$`, "u");

export class Spelling {
  constructor({ alphabet, prefixes, suffixes, casing }) {
    this.alphabet = numberItems(alphabet);
    this.prefixes = prefixes.map(numberItems);
    this.suffixes = suffixes.map(numberItems);
    this.casing = casing;
  }

  characters(word) {
    const all = [...word];
    const seen = all.length <= LONGEST ? all : [...all.slice(0, LONGEST / 2), ...all.slice(-LONGEST / 2)];
    return seen.map((character) => this.alphabet.get(character) ?? UNK);
  }

  // Its prefixes, its suffixes and, where it is asked for, its casing.
  features(word) {
    const all = [...word];
    const prefixes = this.prefixes.map((known, n) => known.get(all.slice(0, n + 1).join("")) ?? UNK);
    const suffixes = this.suffixes.map((known, n) => known.get(all.slice(-n - 1).join("")) ?? UNK);
    return [...prefixes, ...suffixes, ...(this.casing ? [numberCasing(word)] : [])];
  }
}

function numberItems(items) {
  return new Map(items.map((item, i) => [item, i]).slice(SPECIALS));
}

// 1 lower, 2 UPPER, 3 Title, 4 miXed, 5 digits alone, 6 digits and more, 7 letters without case, 8 none.
export function numberCasing(word) {
  if (SOME_DIGIT.test(word)) return ALL_DIGITS.test(word) ? 5 : 6;
  if (!/\p{L}/u.test(word)) return 8;
  const [small, large, title] = [/\p{Lowercase}/u, /\p{Uppercase}/u, /\p{Lt}/u].map((kind) => kind.test(word));
  if (small && !large && !title) return 1;
  if (large && !small && !title) return [...word].length === 1 ? 3 : 2;
  if (word.toLowerCase() === word.toUpperCase()) return 7;
  return isTitle(word) || isCapitalized(word) ? 3 : 4;
}

// Every capital begins a run of letters with case, and nothing else does.
function isTitle(word) {
  let inside = false;
  let found = false;
  for (const character of word) {
    const large = /[\p{Uppercase}\p{Lt}]/u.test(character);
    const small = /\p{Lowercase}/u.test(character);
    if ((large && inside) || (small && !inside)) return false;
    inside = large || small;
    found ||= inside;
  }
  return found;
}

function isCapitalized(word) {
  const [first, ...rest] = word;
  return word === first.toUpperCase() + rest.join("").toLowerCase();
}
