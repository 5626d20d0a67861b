/** Which earlier tokens a unit still holds: how far its state would move if their embeddings moved. */

import { make, makePanel, showToken } from "./view_dom.js";
import { makeTokenStrip } from "./view_tokens.js";

const NAMED = 3;
const [FAST, PAUSE] = [12, 250]; // milliseconds

export function makeConnectivityPanel(page) {
  const strip = makeTokenStrip("What the unit still holds", (position) => page.look({ position }));
  const summary = make("p", { class: "summary", "aria-live": "polite" });
  let [timer, cost] = [null, 0];
  const show = () => {
    const began = performance.now();
    const { layer, unit, position } = page.cell;
    if (!page.reading.tokens.length) return strip.show([], -1);
    const found = page.engine.connectivity({ layer, position, unit });
    cost = performance.now() - began;
    if (!found) {
      strip.show([], -1);
      summary.textContent = "For layers of the decoder this is not computed: look at the attention instead.";
      return undefined;
    }
    const weights = [...found.weights];
    const most = Math.max(...weights, 1e-30);
    strip.show(page.reading.tokens.map((text, i) => describeWeight(text, weights[i], weights[i] / most)), position);
    summary.textContent = summarizeWeights(page, weights, most);
    return undefined;
  };
  page.listen("cell", () => {
    clearTimeout(timer);
    timer = setTimeout(show, cost < FAST ? 0 : PAUSE); // a long text waits until the pointer or the keys rest
  });
  const help =
    "The unit chosen above, at the place chosen above. The stronger a token's colour, the more the unit's state there still depends on it: " +
    "the length of ∂h/∂x, computed exactly by the derivative of the formula.";
  return makePanel("connectivity", "What a unit still holds", help, summary, strip.element);
}

function describeWeight(text, weight, share) {
  return { text, share, title: `‘${text}’: ${weight.toPrecision(2)}` };
}

function summarizeWeights({ cell, reading }, weights, most) {
  const ranked = weights.map((w, i) => [w, i]).filter(([w]) => w > 0.02 * most).sort(([a], [b]) => b - a);
  const named = ranked.slice(0, NAMED).map(([, i]) => `‘${showToken(reading.tokens[i])}’ (${describeDistance(cell.position - i)})`);
  return `Unit ${cell.unit + 1} after token ${cell.position + 1} depends most on ${named.join(", ") || "nothing"}.`;
}

function describeDistance(steps) {
  if (steps === 0) return "this token";
  return steps > 0 ? `${steps} back` : `${-steps} ahead`;
}
