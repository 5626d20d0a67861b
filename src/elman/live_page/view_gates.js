/** Every gate and state of a layer: a heat map each, units down, positions along. */

import { announce, make, makePanel, showToken } from "./view_dom.js";
import { makeHeatmap } from "./view_heatmap.js";

export function makeGatesPanel(page) {
  const choice = make("select", { id: "layer", onchange: () => page.look({ layer: Number(choice.value), unit: 0 }) });
  page.own.info.layers.forEach(({ name, cell, units }, i) => {
    choice.append(make("option", { value: i }, `${name}: ${cell}, ${units} units`));
  });
  const readout = make("p", { class: "summary", "aria-live": "polite" });
  const maps = make("div", { class: "maps" });
  let shown = { key: null, gates: [] };
  const show = () => {
    const run = findRun(page);
    const key = run ? `${page.cell.layer} ${Object.keys(run.values).join(" ")}` : null;
    if (key !== shown.key) shown = { key, gates: run ? makeMaps(page, run, maps) : [] };
    if (!run) maps.replaceChildren();
    choice.value = String(page.cell.layer);
    for (const { name, map } of shown.gates) map.show(makeGrid(run, name, tokensOf(page, run)));
    look();
  };
  const look = () => {
    const run = findRun(page);
    if (`${page.cell.layer}` !== choice.value) return show();
    if (!run) return void (readout.textContent = "This layer has read nothing yet.");
    const { unit, position } = page.cell;
    for (const { map } of shown.gates) map.mark(unit, position);
    readout.textContent = describeCell(page, run);
    return undefined;
  };
  page.listen("reading", () => {
    show();
    if (page.cell.position === page.last) shown.gates[0]?.map.reveal(page.cell.unit, page.cell.position);
  });
  page.listen("cell", look);
  const help =
    "How open each gate stands, what would be written (the candidate), and what each state holds: a row for each unit, a column for each token. " +
    "Move over a cell, or use the arrow keys in a map, to read its value and to see below what that unit still holds.";
  const legend = make("p", { class: "legend" }, make("span", { class: "scale share" }), "0 to 1", make("span", { class: "scale signed" }), "negative, zero, positive");
  const pick = make("label", { for: "layer" }, "Layer ");
  return makePanel("gates", "Gates and states", help, make("p", {}, pick, choice), legend, maps, readout);
}

/** What the chosen layer did, if it has read anything. */
const findRun = (page) => page.reading.layers.find(({ index, values }) => index === page.cell.layer && Object.values(values)[0]?.rows);
const tokensOf = (page, run) => run.tokens ?? page.reading.tokens;

/** A map for each gate; they scroll together. */
function makeMaps(page, run, figures) {
  const gates = Object.keys(run.values).map((name) => {
    const kind = nameKind(page.engine.info.layers[run.index].formula, name);
    const look = (unit, position) => {
      page.look({ unit, position });
      announce(describeValue(page, findRun(page), name));
    };
    const map = makeHeatmap({ label: `${kind} ${name}: units down, tokens along; arrow keys move`, onLook: look });
    const title = make("figcaption", {}, `${kind} `, make("b", {}, name));
    return { name, map, figure: make("figure", {}, title, map.element) };
  });
  const place = { left: 0, top: 0 };
  for (const { map } of gates) map.element.addEventListener("scroll", () => follow(map.element, gates, place));
  figures.replaceChildren(...gates.map(({ figure }) => figure));
  return gates;
}

/** What the field calls a value: states, gates, and the candidates that gates let in. */
function nameKind({ states, nodes, values }, name) {
  if (states.includes(name)) return "state";
  const { op } = nodes[values[name]];
  return ["tanh", "relu", "silu", "gelu", "input"].includes(op) ? "candidate" : "gate";
}

/** `place` is where all maps stand: who stands there already has been moved, and moves nobody. */
function follow({ scrollLeft, scrollTop }, gates, place) {
  if (scrollLeft === place.left && scrollTop === place.top) return;
  Object.assign(place, { left: scrollLeft, top: scrollTop });
  for (const { map } of gates) map.element.scrollTo(scrollLeft, scrollTop);
}

function makeGrid(run, name, tokens) {
  const { rows, columns, data } = run.values[name];
  let [least, most] = [0, 0];
  for (const value of data) [least, most] = [Math.min(least, value), Math.max(most, value)];
  return {
    rows: columns,
    columns: tokens.slice(0, rows),
    at: (unit, position) => data[position * columns + unit],
    signed: least < 0,
    scale: Math.max(-least, most, run.states.includes(name) ? 1e-9 : 1), // the colour is full at 1, or beyond it
    rowName: (unit) => String(unit + 1),
  };
}

function describeCell(page, run) {
  const values = Object.keys(run.values).map((name) => `${name} = ${valueAt(page, run, name)}`);
  const token = tokensOf(page, run)[page.cell.position] ?? "";
  return `Unit ${page.cell.unit + 1} at ‘${showToken(token)}’ (token ${page.cell.position + 1}): ${values.join(", ")}`;
}

function describeValue(page, run, name) {
  return `${name}, unit ${page.cell.unit + 1}, token ${page.cell.position + 1}: ${valueAt(page, run, name)}`;
}

function valueAt({ cell }, run, name) {
  const { columns, data } = run.values[name];
  const value = cell.unit < columns ? data[cell.position * columns + cell.unit] : undefined;
  return value === undefined ? "–" : value.toFixed(3);
}
