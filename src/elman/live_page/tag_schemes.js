// Spans read from tags and written as tags in another scheme, as in text/spans.py.

function parseTag(tag) {
  if (tag === "O") return { letter: "O", label: null };
  const [letter, ...label] = tag.split("-");
  return { letter, label: label.join("-") };
}

// Spans {label, start, end} as conlleval counts them.
export function tagsToSpans(tags) {
  const spans = [];
  let before = parseTag("O");
  tags.map(parseTag).forEach((tag, place) => {
    if (tag.label !== null) {
      const begins = "BSU".includes(tag.letter) || "OESLU".includes(before.letter) || before.label !== tag.label;
      if (begins) spans.push({ label: tag.label, start: place, end: place + 1 });
      else spans.at(-1).end = place + 1;
    }
    before = tag;
  });
  return spans;
}

const markEnd = (length, end, single) => (length === 1 ? single : `B${"I".repeat(length - 2)}${end}`);
const SPELL = {
  BIO: (length) => `B${"I".repeat(length - 1)}`,
  IOB1: (length, close) => `${close ? "B" : "I"}${"I".repeat(length - 1)}`,
  BIOES: (length) => markEnd(length, "E", "S"),
  BILOU: (length) => markEnd(length, "L", "U"),
};

export function convertTags(tags, scheme) {
  const written = tags.map(() => "O");
  let last = null;
  for (const span of tagsToSpans(tags)) {
    const close = last !== null && last.label === span.label && last.end === span.start;
    [...SPELL[scheme](span.end - span.start, close)].forEach((letter, k) => {
      written[span.start + k] = span.label ? `${letter}-${span.label}` : letter;
    });
    last = span;
  }
  return written;
}

const LETTERS = { BIO: { S: "B", U: "B", E: "I", L: "I" }, IOB1: { B: "I", S: "I", U: "I", E: "I", L: "I" } };

// A trained tag by itself as files have it: schemes that mark no ends write S as B and E as I.
export function nameAsWritten(tag, { written, trained }) {
  const letters = written === trained ? {} : (LETTERS[written] ?? {});
  return tag === "O" || !written ? tag : (letters[tag[0]] ?? tag[0]) + tag.slice(1);
}
