/** Lines over an axis, each with its own colour and dashes. */

import { make, makeSvg } from "./view_dom.js";

const [WIDTH, HEIGHT] = [320, 190];
const EDGE = { left: 40, right: 8, top: 8, bottom: 30 };
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 4", "12 4"];

/** A figure of `lines` [{name, points: [[x, y], …]}] with a title and the names of both axes. */
export function makePlot({ title, lines, across, up }) {
  const finite = lines.flatMap(({ points }) => points).filter(([, y]) => Number.isFinite(y));
  const range = { x: findRange(finite.map(([x]) => x)), y: pad(findRange([0, ...finite.map(([, y]) => y)])) };
  const svg = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${lines.map(({ name }) => name).join(", ")}` });
  svg.append(...drawAxes(range, across, up), ...lines.map((line, i) => drawLine(line.points, range, i)));
  const legend = make("p", { class: "legend" }, lines.map(({ name }, i) => makeKey(name, i)));
  return make("figure", { class: "plot" }, make("figcaption", {}, title), svg, legend);
}

const findRange = (numbers) => (numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [0, 1]);

function pad([low, high]) {
  const room = Math.max(high - low, 1e-3) * 0.06;
  return [low - room, high + room];
}

const placeX = ([low, high], x) => EDGE.left + ((x - low) / (high - low || 1)) * (WIDTH - EDGE.left - EDGE.right);
const placeY = ([low, high], y) => HEIGHT - EDGE.bottom - ((y - low) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom);

function drawLine(points, range, number) {
  let pen = "M";
  const steps = points.flatMap(([x, y]) => {
    if (!Number.isFinite(y)) return [];
    const step = `${pen} ${placeX(range.x, x).toFixed(1)} ${placeY(range.y, y).toFixed(1)}`;
    pen = "L";
    return [step];
  });
  return makeSvg("path", { d: steps.join(" ") || "M 0 0", class: `line line-${number % 6}`, "stroke-dasharray": DASHES[number % 6] });
}

function makeKey(name, number) {
  const sample = makeSvg("path", { d: "M 0 5 H 22", class: `line line-${number % 6}`, "stroke-dasharray": DASHES[number % 6] });
  return make("span", { class: "key" }, makeSvg("svg", { width: 22, height: 10, "aria-hidden": "true" }, sample), name);
}

function drawAxes(range, across, up) {
  const [bottom, left] = [HEIGHT - EDGE.bottom, EDGE.left];
  const marks = [];
  for (const x of pickTicks(range.x)) {
    const at = placeX(range.x, x);
    marks.push(makeSvg("path", { d: `M ${at} ${EDGE.top} V ${bottom}`, class: "grid" }));
    marks.push(makeSvg("text", { x: at, y: bottom + 12, class: "tick" }, String(x)));
  }
  for (const y of pickTicks(range.y)) {
    const at = placeY(range.y, y);
    marks.push(makeSvg("path", { d: `M ${left} ${at} H ${WIDTH - EDGE.right}`, class: y === 0 ? "grid zero" : "grid" }));
    marks.push(makeSvg("text", { x: left - 4, y: at + 3, class: "tick up" }, String(y)));
  }
  marks.push(makeSvg("text", { x: (left + WIDTH) / 2, y: HEIGHT - 4, class: "tick" }, across));
  const turn = `rotate(-90 10 ${(bottom + EDGE.top) / 2})`;
  marks.push(makeSvg("text", { x: 10, y: (bottom + EDGE.top) / 2, class: "tick", transform: turn }, up));
  return marks;
}

/** Four or five round numbers. */
function pickTicks([low, high]) {
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough) ?? power;
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-12; k++) ticks.push(Number((k * step).toPrecision(4)));
  return ticks;
}
