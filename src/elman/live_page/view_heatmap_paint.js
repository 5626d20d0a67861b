/** The drawing of a heat map: the cells in sight, the marked one, and the names of rows and columns. */

import { readColors } from "./view_colors.js";
import { showToken } from "./view_dom.js";

const TALL = 20; // pixels; a head of columns that is higher has names that stand

/** `map` is what `makeHeatmap` keeps: its box and canvas, its grid, the sizes of cells, the marked cell. */
export function paintMap(map) {
  const { box, grid, head, row, column, gap } = map;
  if (!grid || !box.clientWidth) return;
  const { clientWidth: width, clientHeight: height, scrollTop, scrollLeft } = box; // once: each reading may lay out the page
  const style = getComputedStyle(box);
  const [top, left] = [Math.floor(scrollTop / row), Math.floor(scrollLeft / column)];
  const sight = {
    first: [top, left],
    last: [Math.min(grid.rows, top + Math.ceil(height / row) + 1), Math.min(grid.columns.length, left + Math.ceil(width / column) + 1)],
    x: (c) => gap + c * column - scrollLeft,
    y: (r) => head + r * row - scrollTop,
  };
  const pen = preparePen(map.canvas, width, height);
  paintCells(pen, map, sight);
  pen.strokeStyle = style.color;
  pen.lineWidth = 1.5;
  pen.strokeRect(sight.x(map.at[1]) - 0.5, sight.y(map.at[0]) - 0.5, column + 0.5, row + 0.5);
  pen.fillStyle = style.backgroundColor; // names stand on a ground of their own, over what is scrolled away
  pen.fillRect(0, 0, width, head);
  pen.fillRect(0, 0, gap, height);
  pen.fillStyle = style.color;
  nameRows(pen, map, sight, style.fontFamily);
  nameColumns(pen, map, sight, style.fontFamily);
}

/** A clean canvas as fine as the screen is. */
function preparePen(canvas, width, height) {
  const density = window.devicePixelRatio || 1;
  canvas.width = width * density;
  canvas.height = height * density;
  canvas.style.inlineSize = `${width}px`;
  canvas.style.blockSize = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(density, density);
  return pen;
}

function paintCells(pen, { grid, row, column }, { first, last, x, y }) {
  const colors = readColors();
  const color = grid.signed ? colors.signed : colors.share;
  for (let r = first[0]; r < last[0]; r++) {
    for (let c = first[1]; c < last[1]; c++) {
      pen.fillStyle = color(grid.at(r, c) / grid.scale);
      pen.fillRect(x(c), y(r), column - 0.5, row - 0.5);
    }
  }
}

/** The marked row is named, and others where no name would stand upon another. */
function nameRows(pen, { grid, head, row, gap, at }, { first, last, y }, font) {
  const every = row >= 14 ? 1 : Math.ceil(24 / row);
  pen.font = `11px ${font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (let r = first[0]; r < last[0]; r++) {
    const named = r === at[0] || (r % every === 0 && Math.abs(r - at[0]) >= every);
    if (named && y(r) >= head - row / 2) pen.fillText(grid.rowName(r), gap - 4, y(r) + row / 2, gap - 6);
  }
}

function nameColumns(pen, { grid, head, column, gap, at }, { first, last, x }, font) {
  const stands = head > TALL;
  for (let c = first[1]; c < last[1]; c++) {
    if (x(c) < gap - column / 2) continue;
    pen.save();
    pen.translate(x(c) + column / 2, head - 4);
    pen.font = `${c === at[1] ? "bold " : ""}11px ${font}`;
    if (stands) pen.rotate(-Math.PI / 2);
    pen.textAlign = stands ? "left" : "center";
    pen.textBaseline = stands ? "middle" : "bottom";
    pen.fillText(showToken(grid.columns[c]), 0, 0, stands ? head - 6 : column + 4);
    pen.restore();
  }
}
