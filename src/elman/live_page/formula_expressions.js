/** Expressions of Python, as far as formulas have them. */

import { FormulaError } from "./graph.js";

const LEVELS = [["+", "-"], ["*", "/"]];

/**
 * Reads words. Expressions: number, string, name, attribute {of, name}, call {of, operands, named}, operation {op, operands},
 * tuple {items}, dictionary {entries}; each knows its line.
 */
export class ExpressionParser {
  constructor(words) {
    this.words = words;
    this.at = 0;
  }

  get word() {
    return this.words[this.at];
  }

  is(...texts) {
    return this.word.kind !== "string" && texts.includes(this.word.text);
  }

  take(text) {
    if (!this.is(text)) this.fail(`expected ${JSON.stringify(text)}`);
    return this.words[this.at++];
  }

  takeKind(kind, what) {
    if (this.word.kind !== kind) this.fail(`expected ${what}`);
    return this.words[this.at++];
  }

  fail(message) {
    const { kind, text } = this.word;
    const found = text ? JSON.stringify(text) : { newline: "the end of the line", end: "the end" }[kind] ?? `an ${kind}`;
    throw new FormulaError(`${message}, found ${found}`, this.word.line);
  }

  tuple() {
    const items = [this.binary(0)];
    const { line } = this.word;
    while (this.is(",")) {
      this.at += 1;
      if (this.word.kind === "newline" || this.is("=")) break;
      items.push(this.binary(0));
    }
    return items.length === 1 ? items[0] : { is: "tuple", items, line };
  }

  binary(level) {
    if (level === LEVELS.length) return this.unary();
    let left = this.binary(level + 1);
    while (this.is(...LEVELS[level])) {
      const { text, line } = this.words[this.at++];
      left = { is: "operation", op: text, operands: [left, this.binary(level + 1)], line };
    }
    return left;
  }

  unary() {
    const { line } = this.word;
    if (this.is("+", "-")) {
      const op = this.words[this.at++].text;
      return { is: "operation", op, operands: [this.unary()], line };
    }
    const base = this.postfix();
    if (!this.is("**")) return base;
    this.at += 1;
    return { is: "operation", op: "**", operands: [base, this.unary()], line };
  }

  postfix() {
    let left = this.atom();
    for (;;) {
      const { line } = this.word;
      if (this.is(".")) {
        this.at += 1;
        left = { is: "attribute", of: left, name: this.takeKind("name", "a name after the dot").text, line };
      } else if (this.is("(")) left = { is: "call", of: left, ...this.operands(), line };
      else return left;
    }
  }

  operands() {
    this.take("(");
    const operands = [];
    const named = {};
    while (!this.is(")")) {
      const next = this.words[this.at + 1];
      if (this.word.kind === "name" && next.text === "=" && next.kind === "operator") {
        const name = this.word.text;
        this.at += 2;
        named[name] = this.binary(0);
      } else operands.push(this.binary(0));
      if (!this.is(")")) this.take(",");
    }
    this.take(")");
    return { operands, named };
  }

  atom() {
    const { kind, text, line } = this.word;
    if (kind === "number" || kind === "name" || kind === "string") {
      this.at += 1;
      if (kind === "number") return { is: "number", value: Number(text), line };
      return kind === "name" ? { is: "name", name: text, line } : { is: "string", text: text.replace(/^("""|'''|"|')|("""|'''|"|')$/g, ""), line };
    }
    if (this.is("(")) {
      this.at += 1;
      const inner = this.tuple();
      this.take(")");
      return inner;
    }
    if (this.is("{")) return this.dictionary();
    return this.fail("expected a value");
  }

  dictionary() {
    const { line } = this.take("{");
    const entries = {};
    while (!this.is("}")) {
      const key = this.takeKind("string", "a name in quotes").text.slice(1, -1);
      this.take(":");
      entries[key] = this.binary(0);
      if (!this.is("}")) this.take(",");
    }
    this.take("}");
    return { is: "dictionary", entries, line };
  }
}
