/** A tag under each word, and how sure it is. */

import { makeBars } from "./view_bars.js";
import { make, makePanel, showShare } from "./view_dom.js";
import { makeTokenStrip } from "./view_tokens.js";

const SHOWN_TAGS = 8;

export function makeTagsPanel(page) {
  let at = 0;
  const bars = makeBars("Tags of the word and their probabilities");
  const place = make("p", { class: "summary", "aria-live": "polite" });
  const strip = makeTokenStrip("Words and their tags", (position) => look(position));
  const look = (position) => {
    const tags = page.reading.tags ?? [];
    at = Math.max(Math.min(position, tags.length - 1), 0);
    strip.mark(at);
    const { word, tag, probability, others } = tags[at] ?? { word: "", others: [] };
    const rows = others.map((other) => ({ name: other.tag, probability: other.probability, chosen: other.tag === tag }));
    bars.show(rows.slice(0, SHOWN_TAGS));
    place.textContent = word ? `‘${word}’ is ${tag}${probability === null ? "" : `, probability ${showShare(probability)}`}` : "Type a sentence.";
  };
  page.listen("reading", ({ reading }) => {
    strip.show((reading.tags ?? []).map(describeTag), at);
    look(at);
  });
  const help = "The tag of each word. The stronger the colour, the less sure the model is. Choose a word to see the tags that it could have had.";
  return makePanel("tags", "Tags", help, strip.element, place, bars.element);
}

function describeTag({ word, tag, probability }) {
  const sure = probability === null ? "" : `, probability ${showShare(probability)}`;
  return { text: word, below: tag, share: probability === null ? 0 : 1 - probability, title: `‘${word}’: ${tag}${sure}` };
}
