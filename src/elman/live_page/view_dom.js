/** Elements of the page, made one way: a tag, its attributes, what is inside. */

const SPACES = { svg: "http://www.w3.org/2000/svg", math: "http://www.w3.org/1998/Math/MathML" };

export const make = (tag, attributes, ...inside) => fillElement(document.createElement(tag), attributes, inside);
export const makeSvg = (tag, attributes, ...inside) => fillElement(document.createElementNS(SPACES.svg, tag), attributes, inside);
export const makeMath = (tag, ...inside) => fillElement(document.createElementNS(SPACES.math, tag), {}, inside);

/** Attributes as they are written in HTML; functions listen (`onclick`); false and null are left out. Text is never HTML. */
function fillElement(element, attributes, inside) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...inside.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A part of the page: its name, a sentence of help, and what it shows. */
export function makePanel(id, title, help, ...inside) {
  const heading = make("h2", { id: `${id}-title` }, title);
  return make("section", { id, class: "panel", "aria-labelledby": heading.id }, heading, make("p", { class: "help" }, help), ...inside);
}

/** A number with a label before it and its value behind it. */
export function makeSlider(label, { min, max, step, value }, onChange) {
  const shown = make("output", {}, String(value));
  const input = make("input", { type: "range", min, max, step, value, oninput: () => show(Number(input.value)) });
  const show = (number) => {
    shown.textContent = String(number);
    onChange(number);
  };
  return make("label", { class: "slider" }, make("span", {}, label), input, shown);
}

/** Said to screen readers, shown to nobody. */
export function announce(text) {
  document.getElementById("spoken").textContent = text;
}

/** Calls `work` once things have been quiet for so many milliseconds. */
export function whenQuiet(milliseconds, work) {
  let timer = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}

/** A token that can be seen: blanks, ends of lines and tabs have signs of their own. */
export function showToken(token) {
  return token.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥") || "∅";
}

export const showShare = (p) => (p >= 0.0995 ? `${Math.round(100 * p)} %` : p >= 0.001 ? `${(100 * p).toFixed(1)} %` : "< 0.1 %");
