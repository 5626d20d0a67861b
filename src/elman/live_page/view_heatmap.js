/** A grid of values in colours; only what is in sight is drawn, so that it may be large. */

import { make, showToken } from "./view_dom.js";
import { paintMap } from "./view_heatmap_paint.js";

const ROW = 9; // pixels
const GAP = 30; // for the names of rows
const WIDEST = 34; // a column, where there are few

/**
 * `show({at(row, column), rows, columns, signed, scale, rowName})` and `mark(row, column)`. `onLook(row, column)` is called when the
 * pointer or the arrow keys come to a cell.
 */
export function makeHeatmap({ label, onLook, row = ROW, gap = GAP, widest = WIDEST }) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const space = make("div", { class: "space" }, canvas);
  const box = make("div", { class: "heatmap", tabindex: "0", role: "application", "aria-roledescription": "heat map", "aria-label": label }, space);
  const map = { box, canvas, space, row, gap, widest, grid: null, at: [0, 0], frame: null };
  const redraw = () => {
    map.frame ??= requestAnimationFrame(() => {
      map.frame = null;
      paintMap(map);
    });
  };
  box.addEventListener("scroll", redraw);
  new ResizeObserver(() => {
    layOut(map);
    redraw();
  }).observe(box);
  canvas.addEventListener("pointermove", (event) => look(cellUnder(map, event)));
  canvas.addEventListener("click", (event) => look(cellUnder(map, event)));
  box.addEventListener("keydown", (event) => {
    const step = moveBy(event.key, map);
    if (!step) return;
    event.preventDefault();
    look([map.at[0] + step[0], map.at[1] + step[1]], true);
  });
  const look = (cell, byKey = false) => {
    if (!map.grid || !cell) return;
    const { rows, columns } = map.grid;
    const [r, c] = [Math.min(Math.max(cell[0], 0), rows - 1), Math.min(Math.max(cell[1], 0), columns.length - 1)];
    if (byKey) reveal(map, r, c);
    if (byKey || r !== map.at[0] || c !== map.at[1]) onLook(r, c);
  };
  return {
    element: box,
    redraw,
    show: (grid) => {
      map.grid = grid;
      layOut(map);
      redraw();
    },
    mark: (r, c) => {
      map.at = [r, c];
      redraw();
    },
    reveal: (r, c) => reveal(map, r, c),
  };
}

/** Columns as wide as the box lets them be; what does not fit is scrolled to. */
function layOut(map) {
  const { grid, box, space, gap, row, widest } = map;
  if (!grid) return;
  const count = grid.columns.length;
  map.head = headHeight(grid.columns);
  const least = map.head > 20 ? 20 : 13;
  map.column = Math.min(Math.max(Math.floor((box.clientWidth - gap - 2) / count), least), widest);
  space.style.inlineSize = `${gap + count * map.column + 1}px`;
  space.style.blockSize = `${map.head + grid.rows * row + 1}px`;
}

function moveBy(key, { grid }) {
  const far = grid ? Math.max(grid.rows, grid.columns.length) : 0;
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  return { ...moves, PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -far], End: [0, far] }[key];
}

/** Short names of columns lie, long ones stand. */
function headHeight(columns) {
  const longest = Math.max(...columns.map((name) => [...showToken(name)].length), 0);
  return longest > 1 ? Math.min(12 + longest * 6, 72) : 16;
}

function cellUnder({ canvas, box, grid, head, row, column, gap }, event) {
  const frame = canvas.getBoundingClientRect();
  const x = event.clientX - frame.left - gap;
  const y = event.clientY - frame.top - head;
  if (!grid || x < 0 || y < 0) return null;
  return [Math.floor((y + box.scrollTop) / row), Math.floor((x + box.scrollLeft) / column)];
}

/** Scroll by as little as it takes to see the cell. */
function reveal({ box, head, row, column, gap }, r, c) {
  const [left, top] = [c * column, r * row];
  const [wide, high] = [box.clientWidth - gap - column, box.clientHeight - head - row];
  box.scrollLeft = Math.min(Math.max(box.scrollLeft, left - wide), left);
  box.scrollTop = Math.min(Math.max(box.scrollTop, top - high), top);
}
