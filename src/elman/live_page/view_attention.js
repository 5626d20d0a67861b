/** Where the decoder looked for each token that it wrote. */

import { make, makePanel, showToken } from "./view_dom.js";
import { makeHeatmap } from "./view_heatmap.js";

export function makeAttentionPanel(page) {
  const readout = make("p", { class: "summary", "aria-live": "polite" });
  const label = "Attention: tokens of the answer down, tokens of the text along; arrow keys move";
  const map = makeHeatmap({ label, onLook: (row, column) => look(row, column), row: 20, gap: 84, widest: 72 });
  const look = (row, column) => {
    const { tokens, source, alignment } = page.reading.answer;
    map.mark(row, column);
    const weight = alignment.data[row * alignment.columns + column];
    readout.textContent = `For ‘${showToken(tokens[row] ?? "end")}’ the decoder gave ${(100 * weight).toFixed(1)} % of its attention to ‘${showToken(source[column] ?? "")}’`;
  };
  const show = ({ reading }) => {
    panel.hidden = !reading.answer?.alignment; // a decoder without attention, or nothing to read
    if (panel.hidden) return;
    const { tokens, source, alignment } = reading.answer;
    const { rows, columns, data } = alignment;
    map.show({ rows, columns: source.slice(0, columns), at: (r, c) => data[r * columns + c], signed: false, scale: 1, rowName: (r) => showToken(tokens[r] ?? "end") });
    look(0, 0);
  };
  map.element.classList.add("attention");
  const help = "A row for each token of the answer, a column for each token of the text. The stronger a cell, the more the decoder looked there before it wrote the token.";
  const panel = makePanel("attention", "Attention", help, map.element, readout);
  page.listen("reading", show);
  return panel;
}
