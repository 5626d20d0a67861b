/** Probabilities as bars, the likeliest first. */

import { make, showShare, showToken } from "./view_dom.js";

/** `show(rows)`: each row is {name, probability, chosen}. */
export function makeBars(label) {
  const list = make("ol", { class: "bars", "aria-label": label });
  const show = (rows) => list.replaceChildren(...rows.map(makeBar));
  return { element: list, show };
}

function makeBar({ name, probability, chosen }) {
  const width = `inline-size: ${(100 * probability).toFixed(2)}%`;
  return make(
    "li",
    { class: chosen ? "chosen" : null },
    make("span", { class: "name" }, showToken(name)),
    make("span", { class: "track", "aria-hidden": "true" }, make("span", { class: "bar", style: width })),
    make("span", { class: "figure" }, showShare(probability)),
  );
}
