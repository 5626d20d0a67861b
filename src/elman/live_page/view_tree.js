/** A tree of tokens: steps along, the hypotheses of a step down, the best first. */

import { makeSvg, make, showToken } from "./view_dom.js";

const [ACROSS, DOWN, WIDE, HIGH] = [92, 30, 68, 22]; // pixels: from column to column, row to row; of a token
const SHOWN_LETTERS = 8; // letters of a token

/** `show(nodes)`: {id, parent, step, token, state, best, …}, in order of score at each step; `onLook(node)`. */
export function makeTree(label, onLook) {
  const box = make("div", { class: "tree", tabindex: "0", role: "application", "aria-roledescription": "tree", "aria-label": label });
  let placed = new Map();
  let at = null;
  const look = (node) => {
    if (!node) return;
    box.querySelector(".looked")?.classList.remove("looked");
    box.querySelector(`[data-id="${node.id}"]`).classList.add("looked");
    at = node;
    onLook({ ...node, text: textTo(node, placed) });
  };
  box.addEventListener("click", (event) => look(nodeUnder(event, placed)));
  box.addEventListener("pointerover", (event) => look(nodeUnder(event, placed)));
  box.addEventListener("keydown", (event) => {
    const next = at ? neighbour(event.key, at, placed) : placed.values().next().value;
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    look(next);
    box.querySelector(".looked")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  const show = (nodes) => {
    placed = placeNodes(nodes);
    at = null;
    box.replaceChildren(drawTree(placed));
  };
  return { element: box, show };
}

const nodeUnder = (event, placed) => placed.get(Number(event.target.closest("[data-id]")?.dataset.id));

/** Each node with its row: kept ones above, pruned ones below them. */
function placeNodes(nodes) {
  const steps = new Map();
  for (const node of nodes) steps.set(node.step, [...(steps.get(node.step) ?? []), node]);
  const placed = new Map();
  for (const column of steps.values()) {
    const ordered = [...column.filter((n) => n.state !== "pruned"), ...column.filter((n) => n.state === "pruned")];
    ordered.forEach((node, row) => placed.set(node.id, { ...node, row }));
  }
  return placed;
}

function textTo(node, placed) {
  const tokens = [];
  for (let n = node; n; n = placed.get(n.parent)) tokens.unshift(showToken(n.token));
  return tokens.join(tokens.some((token) => [...token].length > 1) ? " " : "");
}

/** Left to the parent, right to the best child, up and down within the step. */
function neighbour(key, at, placed) {
  const all = [...placed.values()];
  const beside = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (beside) return all.find((n) => n.step === at.step && n.row === at.row + beside);
  if (key === "ArrowLeft") return placed.get(at.parent);
  return all.filter((n) => n.parent === at.id).sort((a, b) => a.row - b.row)[0];
}

function drawTree(placed) {
  const nodes = [...placed.values()];
  const rows = Math.max(...nodes.map((n) => n.row), 0) + 1;
  const steps = Math.max(...nodes.map((n) => n.step), 0);
  const [width, height] = [(steps + 1) * ACROSS, rows * DOWN + 8];
  const svg = makeSvg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const root = { step: 0, row: 0 };
  const ordered = nodes.sort((a, b) => Number(a.best) - Number(b.best)); // the best line lies above the others
  svg.append(...ordered.map((node) => drawEdge(placed.get(node.parent) ?? root, node)));
  svg.append(drawToken({ ...root, token: "start", state: "kept", id: -1 }), ...ordered.map(drawToken));
  return svg;
}

const left = ({ step }) => step * ACROSS + 4;
const middle = ({ row }) => row * DOWN + HIGH / 2 + 4;
const kindOf = ({ state, best }) => `${state}${best ? " best" : ""}`;

function drawEdge(from, to) {
  const [x1, x2] = [left(from) + WIDE, left(to)];
  const bend = (x1 + x2) / 2;
  const d = `M ${x1} ${middle(from)} C ${bend} ${middle(from)}, ${bend} ${middle(to)}, ${x2} ${middle(to)}`;
  return makeSvg("path", { d, class: `edge ${kindOf(to)}` });
}

function drawToken(node) {
  const letters = [...showToken(node.token)];
  const text = letters.length > SHOWN_LETTERS ? `${letters.slice(0, SHOWN_LETTERS - 1).join("")}…` : letters.join("");
  const rect = makeSvg("rect", { x: left(node), y: middle(node) - HIGH / 2, width: WIDE, height: HIGH, rx: 4 });
  const share = node.logp === undefined ? "" : ` ${Math.round(100 * Math.exp(node.logp))}%`;
  const label = makeSvg("text", { x: left(node) + WIDE / 2, y: middle(node) }, text, makeSvg("tspan", { class: "figure" }, text.length < 6 ? share : ""));
  return makeSvg("g", { class: `hypothesis ${kindOf(node)}`, "data-id": node.id < 0 ? null : node.id }, rect, label);
}
