/** Colours of values, from those of the style sheet, so that they follow light and dark. */

const STOPS = ["--low", "--high", "--negative", "--neutral", "--positive"];

/** {share(v): 0 to 1, signed(v): -1 to 1} to CSS colours, for the theme as it is now. */
export function readColors() {
  const style = getComputedStyle(document.documentElement);
  const [low, high, negative, neutral, positive] = STOPS.map((name) => parseColor(style.getPropertyValue(name)));
  return {
    share: (v) => mix(low, high, clip(v, 0, 1)),
    signed: (v) => (v < 0 ? mix(neutral, negative, clip(-v, 0, 1)) : mix(neutral, positive, clip(v, 0, 1))),
  };
}

const clip = (v, low, high) => (Number.isNaN(v) ? low : Math.min(Math.max(v, low), high));

function parseColor(text) {
  const digits = text.trim().slice(1);
  return [0, 2, 4].map((i) => parseInt(digits.slice(i, i + 2), 16));
}

function mix(from, to, share) {
  return `rgb(${from.map((c, i) => Math.round(c + (to[i] - c) * share)).join(" ")})`;
}
