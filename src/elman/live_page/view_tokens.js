/** A strip of tokens in colours: one of them is looked at; arrow keys and clicks move. */

import { make, showToken } from "./view_dom.js";

/** `show(tokens, at)`: each token is {text, share (0 to 1, how strong its colour is), title, below}. */
export function makeTokenStrip(label, onPick) {
  const strip = make("div", { class: "tokens", role: "listbox", "aria-label": label, tabindex: "0" });
  let [count, at] = [0, -1];
  const mark = (position) => {
    strip.children[at]?.removeAttribute("aria-selected");
    at = position;
    const item = strip.children[at];
    item?.setAttribute("aria-selected", "true");
    if (item) strip.setAttribute("aria-activedescendant", item.id);
    if (item && document.activeElement === strip) item.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  strip.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 };
    if (!onPick || !(event.key in moves)) return;
    event.preventDefault();
    onPick(Math.min(Math.max(moves[event.key], 0), count - 1));
  });
  strip.addEventListener("click", (event) => {
    const item = event.target.closest(".token");
    if (onPick && item) onPick(Number(item.dataset.at));
  });
  const show = (tokens, position) => {
    count = tokens.length;
    strip.replaceChildren(...tokens.map((token, i) => makeToken(token, i, label)));
    mark(position);
  };
  return { element: strip, show, mark };
}

function makeToken({ text, share, title, below, muted }, at, label) {
  const attributes = {
    class: muted ? "token muted" : "token",
    role: "option",
    id: `${label.replace(/\W+/g, "-")}-${at}`,
    title,
    "aria-label": title ?? text,
    "data-at": at,
    style: `--share: ${(share ?? 0).toFixed(3)}`,
  };
  return make("span", attributes, make("span", { class: "word" }, showToken(text)), below ? make("small", {}, below) : null);
}
