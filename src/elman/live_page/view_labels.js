/** The labels of a classified text, and where the network looked to give them. */

import { makeBars } from "./view_bars.js";
import { make, makePanel } from "./view_dom.js";
import { makeTokenStrip } from "./view_tokens.js";

const SHOWN_LABELS = 12;

export function makeLabelsPanel(page) {
  const bars = makeBars("Labels and their probabilities");
  const answer = make("p", { class: "answer", "aria-live": "polite" });
  page.listen("reading", ({ reading }) => {
    const labels = reading.labels ?? [];
    const chosen = labels.filter((row) => row.chosen).map((row) => row.label);
    answer.textContent = chosen.length ? chosen.join(", ") : "no label is likely enough";
    bars.show(labels.slice(0, SHOWN_LABELS).map(({ label, probability, chosen }) => ({ name: label, probability, chosen })));
  });
  const help = "The label that the model gives to the text, and how likely it holds each. Change a word and see what moves.";
  return makePanel("labels", "Labels", help, answer, bars.element);
}

/** How a text is summed up by attention, where the network does that: a weight for each token. */
export function makePoolingPanel(page) {
  const strips = make("div", {});
  const help = "The network sums up the text by attention. The stronger a token's colour, the more of it goes into the sum.";
  const panel = makePanel("pooling", "What it attends to", help, strips);
  page.listen("reading", ({ reading }) => {
    panel.hidden = !reading.attention?.length;
    strips.replaceChildren(...(reading.attention ?? []).map((head) => showWeights(reading.tokens, head)));
  });
  return panel;
}

function showWeights(tokens, { name, weights }) {
  const strip = makeTokenStrip(`Attention of ${name}`, null);
  const most = Math.max(...weights);
  strip.show(tokens.map((text, i) => ({ text, share: weights[i] / most, title: `‘${text}’: weight ${weights[i].toFixed(3)}` })), -1);
  return strip.element;
}
