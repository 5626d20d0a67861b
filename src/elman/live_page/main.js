/** The page: the model is opened, its text is read at every key, and each panel shows one side of it. */

import { openModel } from "./engine.js";
import { PageState } from "./page_state.js";
import { makeAnswerPanel } from "./view_answer.js";
import { makeAttentionPanel } from "./view_attention.js";
import { makeBeamPanel } from "./view_beam.js";
import { makeConnectivityPanel } from "./view_connectivity.js";
import { make } from "./view_dom.js";
import { makeFormulaPanels } from "./view_formula.js";
import { makeGatesPanel } from "./view_gates.js";
import { makeLabelsPanel, makePoolingPanel } from "./view_labels.js";
import { makeNGramsPanel } from "./view_ngrams.js";
import { makeNextPanel } from "./view_next.js";
import { makeReadingPanel } from "./view_reading.js";
import { makeTagsPanel } from "./view_tags.js";
import { makeThemeSwitch } from "./view_theme.js";

const ANSWERS = {
  language_model: [makeNextPanel],
  classifier: [makeLabelsPanel, makeNGramsPanel, makePoolingPanel],
  tagger: [makeTagsPanel],
  seq2seq: [makeAnswerPanel, makeAttentionPanel],
};

const INVITATIONS = {
  language_model: "Type a beginning, and see what the model expects after each token",
  classifier: "Type a text like those that the model was trained on, and see its label",
  tagger: "Type a sentence, and see the tag of each word",
  seq2seq: "Type what is to be translated, and see the answer",
};

/** Panels for what this model gives, in the order of reading. */
function makePanels(page) {
  const { task, layers } = page.own.info;
  const answers = ANSWERS[task].map((makeAnswer) => makeAnswer(page));
  const writes = ["language_model", "seq2seq"].includes(task);
  const inside = layers.length ? [makeGatesPanel(page), makeConnectivityPanel(page)] : [];
  const formula = layers.length ? makeFormulaPanels(page) : [];
  return [makeReadingPanel(page), ...answers, ...inside, ...(writes ? [makeBeamPanel(page)] : []), ...formula];
}

/** Fill the page; an error is a sentence in it. */
async function startPage() {
  const main = document.querySelector("main");
  try {
    const data = JSON.parse(document.getElementById("model").textContent);
    const engine = await openModel(data);
    const field = document.getElementById("text");
    field.value = data.text;
    field.placeholder = INVITATIONS[engine.info.task];
    const page = new PageState(engine, data.text);
    main.append(...makePanels(page));
    field.addEventListener("input", () => page.setText(field.value));
    document.getElementById("facts").append(...engine.info.facts.map((fact) => make("li", {}, fact)));
    document.getElementById("theme").replaceWith(makeThemeSwitch(() => page.readAgain()));
  } catch (error) {
    main.append(make("p", { class: "message wrong", role: "alert" }, `This page cannot run: ${error.message}`));
    throw error;
  }
}

startPage();
