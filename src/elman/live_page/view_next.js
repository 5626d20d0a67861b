/** What a language model expects after the chosen token. */

import { makeBars } from "./view_bars.js";
import { make, makePanel, showToken } from "./view_dom.js";

const SHOWN_NEXT = 10;
const BEFORE = 12; // tokens of context in the heading

export function makeNextPanel(page) {
  const bars = makeBars("Next tokens and their probabilities");
  const place = make("p", { class: "summary", "aria-live": "polite" });
  const actual = make("p", { class: "summary" });
  page.listen("cell", ({ reading, cell }) => {
    const { tokens, surprise } = reading;
    bars.show(reading.next(cell.position, SHOWN_NEXT).map(({ token, probability }) => ({ name: token, probability, chosen: token === tokens[cell.position + 1] })));
    const shown = tokens.slice(Math.max(0, cell.position + 1 - BEFORE), cell.position + 1).map(showToken);
    place.textContent = `After “${shown.join(reading.separator ?? "")}”`;
    const came = surprise?.[cell.position];
    actual.textContent = came ? `What came: ‘${showToken(came.token)}’, choice number ${came.rank}.` : "Nothing came yet: type on.";
  });
  const help = "The ten tokens that the model holds most likely after the chosen one. A language model is nothing more than this list at each place.";
  return makePanel("next", "What comes next", help, place, bars.element, actual);
}
