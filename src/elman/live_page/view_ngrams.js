/** What the n-grams beside a network say: a figure for each word of the text. */

import { make, makePanel } from "./view_dom.js";
import { makeTokenStrip } from "./view_tokens.js";

export function makeNGramsPanel(page) {
  const strip = makeTokenStrip("What the n-grams at each token add", null);
  const summary = make("p", { class: "summary", "aria-live": "polite" });
  const help =
    "Beside the network stands a linear model of words, and where the data asked for it of pairs and pieces of words; the label comes from both. " +
    "The figures are exact: what the n-grams at a token add to the logit. A pair counts half for each of its words. What the network makes of a token is not in them.";
  const panel = makePanel("ngrams", "What its n-grams say", help, summary, strip.element);
  page.listen("reading", ({ reading }) => {
    panel.hidden = !reading.ngrams;
    if (!reading.ngrams) return;
    const { label, other, tokens, shares } = reading.ngrams;
    const most = Math.max(...shares, 1e-30);
    strip.show(tokens.map((text, i) => describeShare(text, shares[i], most)), -1);
    const total = shares.reduce((sum, share) => sum + share, 0);
    summary.textContent = `For ‘${label}’${other === null ? "" : ` against ‘${other}’`}: ${showSigned(total)} in all.`;
  });
  return panel;
}

function describeShare(text, share, most) {
  return { text, share: Math.max(0, share) / most, below: showSigned(share), title: `‘${text}’: ${showSigned(share)}` };
}

const showSigned = (number) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(2)}`;
