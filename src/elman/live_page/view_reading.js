/** The text as the model reads it: its tokens, and how surprised a language model is by each. */

import { make, makePanel } from "./view_dom.js";
import { makeTokenStrip } from "./view_tokens.js";

const MOST_NATS = 7; // a colour as strong as colours get

const HELP = {
  language_model:
    "Each token as the network reads it. The stronger its colour, the more it surprised the model: −log p, in nats. " +
    "Choose a token with a click or the arrow keys; the other panels then look at that place.",
  other: "Each token as the network reads it. Choose one with a click or the arrow keys; the other panels then look at that place.",
};

export function makeReadingPanel(page) {
  const strip = makeTokenStrip("Tokens of the text", (position) => page.look({ position }));
  const summary = make("p", { class: "summary", "aria-live": "polite" });
  page.listen("reading", ({ reading, cell }) => {
    strip.show(reading.tokens.map((text, i) => describeToken(reading, text, i)), page.readsText ? cell.position : -1);
    summary.textContent = summarizeReading(reading);
  });
  page.listen("cell", ({ cell, readsText }) => strip.mark(readsText ? cell.position : -1));
  const help = HELP[page.own.info.task] ?? HELP.other;
  return makePanel("reading", "What the model reads", help, strip.element, summary);
}

function describeToken({ surprise, unknown }, text, at) {
  const muted = Boolean(unknown?.[at]);
  const known = muted ? " It is not in the vocabulary, and read as the unknown token." : "";
  const entry = at > 0 ? surprise?.[at - 1] : null;
  if (!entry) return { text, muted, title: `‘${text}’.${known}` };
  const { nats, rank } = entry;
  const title = `‘${text}’: probability ${Math.exp(-nats).toPrecision(2)}, ${nats.toFixed(2)} nats, choice number ${rank} of the model.${known}`;
  return { text, muted, title, share: nats / MOST_NATS };
}

function summarizeReading({ tokens, surprise, left }) {
  const count = surprise ? surprise.length : tokens.length;
  const cut = left ? ` of ${count + left}: the network reads the beginning and the end of a text` : "";
  const words = `${count} token${count === 1 ? "" : "s"}${cut}`;
  if (!surprise?.length) return words;
  const mean = surprise.reduce((sum, { nats }) => sum + nats, 0) / surprise.length;
  return `${words}; ${mean.toFixed(2)} nats a token (${(mean / Math.LN2).toFixed(2)} bits), perplexity ${Math.exp(mean).toPrecision(3)}`;
}
