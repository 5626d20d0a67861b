/** Beam search as a tree: which hypotheses were kept at each step, which were pruned, and why. */

import { makeTree } from "./view_tree.js";
import { make, makePanel, makeSlider, whenQuiet } from "./view_dom.js";

const WHY = { width: "no place was left in the beam", factor: "too far behind the best", ended: "complete", "": "kept" };

const CLOSED = {
  completed: "The search ended because every place of the beam holds a complete hypothesis.",
  bound: "The search ended because nothing unfinished could become better than the best complete hypothesis.",
  limit: "The search ended at the greatest length.",
  forbidden: "The search ended because nothing could follow.",
};

export function makeBeamPanel(page) {
  const options = { width: 4, limit: page.own.info.task === "language_model" ? 12 : 40 };
  const note = make("p", { class: "summary", "aria-live": "polite" });
  const answers = make("ol", { class: "answers", "aria-label": "Complete hypotheses, the best first" });
  const tree = makeTree("Beam search: steps along, hypotheses down; arrow keys move", (node) => (note.textContent = describeHypothesis(node)));
  const search = () => {
    const found = page.engine.search(page.text, options);
    tree.show(found.tree);
    note.textContent = CLOSED[found.closed] ?? "";
    answers.replaceChildren(...found.answers.map(({ text, score }) => make("li", {}, make("q", {}, text.replaceAll("\n", "⏎")), ` ${score.toFixed(2)}`)));
  };
  const soon = whenQuiet(200, search);
  const set = (name) => (value) => {
    options[name] = value;
    soon();
  };
  const sliders = make(
    "div",
    { class: "sliders" },
    makeSlider("Width of the beam", { min: 1, max: 8, step: 1, value: options.width }, set("width")),
    makeSlider("Greatest length", { min: 2, max: 60, step: 1, value: options.limit }, set("limit")),
  );
  page.listen("reading", soon);
  const help =
    "At each step every kept hypothesis is continued, and the best continuations are kept: as many as the beam is wide. " +
    "The thick line leads to the best complete one; pale ones were pruned. Its score is log p divided by its length.";
  return makePanel("beam", "The beam as a tree", help, sliders, tree.element, note, answers);
}

function describeHypothesis({ text, logp, score, why, step }) {
  return `Step ${step}: “${text}”, this token has probability ${Math.exp(logp).toPrecision(2)}, log p in all ${score.toFixed(2)}: ${WHY[why]}.`;
}
