/** The words of a formula's Python text: names, numbers, strings, operators, and where lines and blocks begin and end. */

import { FormulaError } from "./graph.js";

const WORD_KINDS = [
  ["blank", /[ \t]+/y],
  ["comment", /#[^\n]*/y],
  ["string", /"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n]*"|'[^'\n]*'/y],
  ["number", /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y],
  ["name", /[\p{L}_][\p{L}\p{N}_]*/uy],
  ["operator", /\*\*|->|[-+*/(){}[\],.:=@|]/y],
];

/** A list of {kind, text, line}; kinds besides the above: newline, indent, dedent, end. */
export function splitWords(source) {
  const words = [];
  const depths = [0]; // the indentation of every open block
  let open = 0; // brackets: inside them a line goes on
  let [at, line] = [0, 1];
  const push = (kind, text = "") => words.push({ kind, text, line });
  const indent = () => {
    const blank = /[ \t]*/y;
    blank.lastIndex = at;
    const width = blank.exec(source)[0].replaceAll("\t", "        ").length;
    if (/[ \t]*(#[^\n]*)?(\n|$)/y.test(source.slice(at).split("\n")[0])) return; // an empty line
    if (width > depths.at(-1)) {
      depths.push(width);
      push("indent");
    }
    while (width < depths.at(-1)) {
      depths.pop();
      push("dedent");
    }
    if (width !== depths.at(-1)) throw new FormulaError("this line is indented by less than the block it ends", line);
  };
  indent();
  while (at < source.length) {
    if (source[at] === "\n" || source.startsWith("\r\n", at)) {
      if (!open && words.length && !["newline", "indent", "dedent"].includes(words.at(-1).kind)) push("newline");
      at += source[at] === "\n" ? 1 : 2;
      line += 1;
      if (!open) indent();
      continue;
    }
    const { kind, text } = nextWord(source, at, line);
    if (kind !== "blank" && kind !== "comment") push(kind, text);
    if (kind === "operator") open += "([{".includes(text) ? 1 : ")]}".includes(text) ? -1 : 0;
    line += text.split("\n").length - 1;
    at += text.length;
  }
  if (!["newline", "dedent"].includes(words.at(-1)?.kind)) push("newline");
  while (depths.pop() > 0) push("dedent");
  push("end");
  return words;
}

function nextWord(source, at, line) {
  for (const [kind, pattern] of WORD_KINDS) {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found) return { kind, text: found[0] };
  }
  throw new FormulaError(`a formula cannot use ${JSON.stringify(String.fromCodePoint(source.codePointAt(at)))}`, line);
}
