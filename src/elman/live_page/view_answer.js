/** What a sequence-to-sequence model writes, token by token. */

import { make, makePanel } from "./view_dom.js";
import { makeTokenStrip } from "./view_tokens.js";

const UNSURE_NATS = 5;

export function makeAnswerPanel(page) {
  const answer = make("p", { class: "answer", "aria-live": "polite" });
  const strip = makeTokenStrip("Tokens of the answer", null);
  page.listen("reading", ({ reading }) => {
    const { text, tokens, nats } = reading.answer ?? { text: "", tokens: [], nats: [] };
    answer.textContent = text || "(nothing)";
    strip.show(tokens.map((token, i) => describeWritten(token, nats[i])), -1);
  });
  const help = "The answer to the text, and its tokens. The stronger a token's colour, the less sure the model was when it wrote it.";
  return makePanel("answer", "Answer", help, answer, strip.element);
}

function describeWritten(text, nats) {
  const known = Number.isFinite(nats);
  return { text, share: known ? nats / UNSURE_NATS : 0, title: known ? `‘${text}’: probability ${Math.exp(-nats).toPrecision(2)}` : text };
}
