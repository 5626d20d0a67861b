/** Python text of a formula to a tree: a decorator, a function of assignments, small functions inside it, a return. */

import { FormulaError } from "./graph.js";
import { ExpressionParser } from "./formula_expressions.js";
import { splitWords } from "./formula_lexer.js";

/**
 * {options: {gates: …}, name, takes, body}; statements: assign {targets, unpack, value}, return {value}, define {name, takes, body}.
 */
export function parseFormula(source) {
  const parser = new Parser(splitWords(source));
  const found = parser.module();
  if (!found) throw new FormulaError("there is no formula here: begin with @formula(gates=\"…\") and def NAME(x, U, s):");
  return found;
}

class Parser extends ExpressionParser {
  /** The one formula of the text; imports before it are read over. */
  module() {
    let found = null;
    while (this.word.kind !== "end") {
      if (this.is("import", "from")) this.skipLine();
      else if (this.word.kind === "string") this.skipLine();
      else if (this.is("@")) {
        if (found) this.fail("there are two formulas here: keep one");
        found = this.decorated();
      } else this.fail('expected @formula(gates="…")');
    }
    return found;
  }

  skipLine() {
    while (this.word.kind !== "newline") this.at += 1;
    this.at += 1;
  }

  decorated() {
    const { line } = this.take("@");
    this.take("formula");
    const { named, operands } = this.operands();
    if (operands.length) throw new FormulaError('name what you declare: gates="i f z o"', line);
    this.takeKind("newline", "the end of the line");
    return { ...this.definition(), options: named, line };
  }

  definition() {
    const { line } = this.take("def");
    const name = this.takeKind("name", "the name of the formula").text;
    this.take("(");
    const takes = [];
    while (!this.is(")")) {
      takes.push(this.takeKind("name", "a name").text);
      if (this.is(":")) this.annotation();
      if (!this.is(")")) this.take(",");
    }
    this.take(")");
    if (this.is("->")) this.annotation();
    this.take(":");
    return { is: "define", name, takes, body: this.block(), line };
  }

  annotation() {
    this.at += 1;
    this.postfix();
  }

  block() {
    if (this.word.kind !== "newline") return [this.statement()];
    this.at += 1;
    this.takeKind("indent", "an indented line");
    const body = [];
    while (this.word.kind !== "dedent") body.push(this.statement());
    this.at += 1;
    return body.filter(Boolean);
  }

  statement() {
    const { line } = this.word;
    if (this.is("def")) return this.definition();
    if (this.word.kind === "string") return this.skipLine();
    if (this.is("return")) {
      this.at += 1;
      const value = this.tuple();
      this.takeKind("newline", "the end of the line");
      return { is: "return", value, line };
    }
    const left = this.tuple();
    if (!this.is("=")) this.fail("a line of a formula is NAME = … or return State(…)");
    this.at += 1;
    const value = this.tuple();
    this.takeKind("newline", "the end of the line");
    const targets = left.is === "tuple" ? left.items : [left];
    if (targets.some((t) => t.is !== "name")) throw new FormulaError("only names can stand to the left of =", line);
    return { is: "assign", targets: targets.map((t) => t.name), unpack: left.is === "tuple", value, line };
  }
}
