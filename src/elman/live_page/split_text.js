// Text cut into words, characters or bytes: the rules of pre_tokenizer.py.

// Python's blanks: those of JavaScript without U+FEFF, and five control characters.
const BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const EMOJI_PARTS = "\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}";
const LETTER = "[\\p{L}\\p{N}_\\p{M}\\u00ad\\u200c\\u200d]";
const EXTEND = `[\\p{M}${EMOJI_PARTS}]`;
const WORD = `${LETTER}+(?:(?:['’‐‑-]|(?<=\\p{Nd})[.,:](?=\\p{Nd}))${LETTER}+)*`;
const SYMBOL = `(?:[\\u{1f1e6}-\\u{1f1ff}]{2}|[^${BLANK}])${EXTEND}*(?:\\u200d[^${BLANK}]${EXTEND}*)*`;
const WORDS = new RegExp(`${WORD}|${SYMBOL}`, "gu");
const HAN = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]\p{M}*/gu;
const BLANKS = new RegExp(`[${BLANK}]+`, "u");
// How subwords are kept within words: the pattern of GPT-2.
const PIECES = new RegExp(
  `'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+`.replaceAll("\\S", `[^${BLANK}]`).replaceAll("\\s+", `[${BLANK}]+`).replaceAll("[^\\s", `[^${BLANK}`),
  "gu",
);

export const SPLITTERS = {
  words: (text) => text.replace(HAN, " $& ").match(WORDS) ?? [],
  whitespace: (text) => text.split(BLANKS).filter((word) => word),
  chars: (text) => [...text],
  bytes: (text) => [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")),
};

// Letters become small one by one: at the end of a word Σ is σ here, while Python's words have ς.
export function splitPieces(text, { lower, digits }) {
  const small = lower ? [...text].map((letter) => letter.toLowerCase()).join("") : text;
  return normalizeText(small, { lower: false, digits }).match(PIECES) ?? [];
}

export function normalizeText(text, { lower, digits }) {
  const small = lower ? text.toLowerCase() : text;
  return digits ? small.replace(/\p{Nd}/gu, "0") : small;
}
