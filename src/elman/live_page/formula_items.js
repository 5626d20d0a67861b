/** An expression as people write it: sums, products, brackets and letters, in the order of elman.formula.equations. */

import { isInput, operandsOf, valueOf } from "./graph.js";
import { OPERATIONS } from "./operations.js";
import { itemText } from "./formula_text.js";

/**
 * Items: letter {name, role}, number {value}, input and bias {name}, matrix {name, operand}, sum {terms: [{minus, item}]},
 * times {factors}, call {op, operands}, group {item}. Values in `letters` (Map of node to letter) are written as letters.
 */
export class ItemWriter {
  constructor(trace, letters, bias, back = delta) {
    Object.assign(this, { trace, letters, bias, back }); // back: the letter of a matrix product's gradient
  }

  /** Without brackets, where a sum may stand. */
  sum(a) {
    if (this.letters.has(a)) return this.letters.get(a);
    if (a.op === "sub") return join([[false, this.sum(a.args[0])], [true, this.factor(a.args[1])]]);
    if (a.op === "neg") return join([[true, this.factor(a.args[0])]]);
    const terms = sortBy(this.#terms(a), (term) => this.#placeInSum(term));
    const isPart = (term) => isInput(term, "x") && !this.letters.has(term);
    const written = terms.map((term) => [false, isPart(term) ? input(term.args[1]) : this.#term(term)]);
    const biases = this.bias ? terms.filter(isPart).map((term) => [false, { is: "bias", name: term.args[1] }]) : [];
    return join([...written, ...biases]);
  }

  /** With brackets if it is a sum. */
  factor(a) {
    if (this.letters.has(a)) return this.letters.get(a);
    if (a.op === "mul") {
      const factors = sortBy(a.args, (b) => this.#placeInProduct(b));
      return { is: "times", factors: factors.map((b) => this.#besideTimes(b)) };
    }
    if (a.op === "constant") return { is: "number", value: valueOf(a) };
    if (isInput(a, "x") && this.bias) return group(this.sum(a));
    if (a.op === "input") return this.#input(...a.args);
    if (["add", "sub", "neg"].includes(a.op)) return group(this.sum(a));
    const between = OPERATIONS[a.op].text.startsWith("{0}");
    const operands = operandsOf(a).map((o) => (between ? this.operand(o) : this.sum(o)));
    const either = OPERATIONS[a.op].traits.includes("commutative");
    return { is: "call", op: a.op, operands: either ? sortBy(operands, (o) => [itemText(o)]) : operands };
  }

  /** Beside an operator: a letter or a number as it is, anything else in brackets. */
  operand(a) {
    const item = this.factor(a);
    return this.letters.has(a) || ["input", "constant"].includes(a.op) ? item : group(item);
  }

  /** What a product gives back is itself a sum. */
  #term(a) {
    const item = this.factor(a);
    return isInput(a, "q") && item.is === "group" ? item.item : item;
  }

  #terms(a) {
    return a.op !== "add" || this.letters.has(a) ? [a] : a.args.flatMap((operand) => this.#terms(operand));
  }

  #besideTimes(a) {
    const quotient = a.op === "div" && !this.letters.has(a);
    return quotient ? { ...group(this.factor(a)), quotient } : this.factor(a);
  }

  #input(kind, name) {
    if (kind === "x") return input(name);
    if (kind === "s") return { is: "letter", name, role: "old" };
    if (kind === "p") return { is: "letter", name, role: "unit" };
    if (kind === "m") return { is: "letter", name, role: "mask" };
    if (kind === "d") return { is: "letter", name, role: "loss" };
    const product = kind === "r" && this.trace.products.find((p) => p.names.includes(name));
    if (product) return { is: "matrix", name, operand: this.operand(product.operand) };
    const results = this.trace.products[Number(name)].names; // what product number `name` gives back
    const back = results.map((n) => ({ is: "matrix", name: n, back: true, operand: this.back(n) }));
    return results.length > 1 ? group(join(back.map((item) => [false, item]))) : back[0];
  }

  /** Where a term stands: the input, the recurrence, what is kept of old states, the rest. */
  #placeInSum(a) {
    if (a.op === "input" && !this.letters.has(a)) return [{ x: 0, r: 1 }[a.args[0]] ?? 2, a.args[1]];
    const kept = operandsOf(a).some((o) => isInput(o, "s"));
    return [kept ? 2 : 3, itemText(this.factor(a))];
  }

  /** Where a factor stands: numbers, brackets, parameters, letters, the rest, old states. */
  #placeInProduct(a) {
    if (this.letters.has(a)) return [3, [...this.letters.keys()].indexOf(a), ""];
    if (a.op === "input") return [{ p: 2, m: 2, s: 5 }[a.args[0]] ?? 4, 0, a.args[1]];
    return [{ constant: 0, sub: 1, add: 1 }[a.op] ?? 4, 0, itemText(this.factor(a))];
  }
}

export const delta = (name) => ({ is: "letter", name, role: "delta" });

const input = (name) => ({ is: "input", name });
const group = (item) => (item.is === "group" ? item : { is: "group", item });

/** A sum of [minus, item] pairs; one item alone is itself. */
function join(pairs) {
  const terms = pairs.flatMap(([minus, item]) => (item.is === "sum" && !minus ? item.terms : [{ minus, item }]));
  return terms.length === 1 && !terms[0].minus ? terms[0].item : { is: "sum", terms };
}

/** Sorted by a list of numbers and texts, compared one after the other; texts by code point, as in Python. */
function sortBy(items, keyOf) {
  const keyed = items.map((item) => [keyOf(item), item]);
  return keyed.sort(([a], [b]) => compareKeys(a, b)).map(([, item]) => item);
}

function compareKeys(a, b) {
  const place = a.findIndex((part, i) => part !== b[i]);
  if (place < 0) return 0;
  return a[place] < b[place] ? -1 : 1;
}
