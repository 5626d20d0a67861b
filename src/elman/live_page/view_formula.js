/** The formula of the cell: edited here, it is typeset, differentiated and drawn again, and the model can run it. */

import { writeBackward } from "./formula_backward.js";
import { writeEquations, writePython } from "./formula_equations.js";
import { traceFormula } from "./formula_tracer.js";
import { Graph } from "./graph.js";
import { readTrace, writeTrace } from "./trace.js";
import { makeCurvePanels } from "./view_curves.js";
import { make, makePanel, whenQuiet } from "./view_dom.js";
import { typesetEquations } from "./view_equations.js";

export function makeFormulaPanels(page) {
  const { layers } = page.own.info;
  const curves = makeCurvePanels();
  const equations = make("div", {});
  const backward = make("div", {});
  const message = make("p", { class: "message", role: "status" });
  const which = makeLayerChoice(layers);
  const editor = make("textarea", { id: "formula-text", class: "code", spellcheck: "false", autocapitalize: "off", "aria-describedby": "formula-message" });
  message.id = "formula-message";
  const original = () => writePython(readTrace(new Graph(), layers[layerOf(which)].formula));
  let trace = null;
  const derive = () => {
    trace = tryWith(message, () => traceFormula(editor.value));
    run.disabled = trace === null;
    if (!trace) return; // what was drawn last stays
    const { bias } = layers[layerOf(which)];
    equations.replaceChildren(typesetEquations(writeEquations(trace, { bias })));
    backward.replaceChildren(typesetEquations(writeBackward(trace, { bias })));
    curves.show(trace);
  };
  const runEdited = () => {
    const engine = tryWith(message, () => page.own.withFormula(which.value === "" ? null : Number(which.value), writeTrace(trace)));
    if (!engine) return;
    page.setEngine(engine);
    message.textContent = "The panels above now show the trained weights under your formula. They were not trained for it.";
  };
  const reset = () => {
    editor.value = original();
    editor.rows = Math.min(editor.value.split("\n").length + 1, 24);
    derive();
    if (page.engine !== page.own) page.setEngine(page.own);
    message.textContent = "";
  };
  const run = make("button", { type: "button", onclick: runEdited }, "Run the model with this formula");
  const again = make("button", { type: "button", class: "quiet", onclick: reset }, "Back to the model's own");
  which.addEventListener("change", reset);
  editor.addEventListener("input", whenQuiet(120, derive));
  keepTabs(editor);
  reset();
  return [makeEditorPanel({ which, editor, message, run, again, equations }), makeBackwardPanel(backward), ...curves.elements];
}

function makeEditorPanel({ which, editor, message, run, again, equations }) {
  const help =
    "This is the whole cell. x.i is what the input gives to gate i, U.i(v) is v times the recurrent matrix of gate i, s.h is the old state. " +
    "Change a sign, a function, a gate: the equations follow. Functions: sigmoid, tanh, relu, exp, softplus, silu, gelu, log, sqrt, maximum, minimum, clamp, mean, softmax.";
  const head = make("p", {}, make("label", { for: which.id }, "Formula of "), which);
  const label = make("label", { for: editor.id, class: "unseen" }, "The formula, as Python");
  const left = make("div", {}, label, editor, message, make("p", { class: "buttons" }, run, again));
  return makePanel("formula", "The formula", help, head, make("div", { class: "columns" }, left, equations));
}

function makeBackwardPanel(backward) {
  const help =
    "The backward pass of one step, derived from the formula above. L is the loss; δ is the gradient of a gate before its activation. " +
    "What stands at ∂L/∂ of the old states goes on to the step before.";
  return makePanel("derivative", "Its derivative", help, backward);
}

function makeLayerChoice(layers) {
  const alike = new Set(layers.map(({ formula }) => JSON.stringify(formula))).size === 1;
  const choice = make("select", { id: "formula-layer" });
  if (alike) choice.append(make("option", { value: "" }, layers.length > 1 ? `all ${layers.length} layers` : "the layer"));
  layers.forEach(({ name }, i) => {
    if (layers.length > 1 || !alike) choice.append(make("option", { value: i }, name));
  });
  return choice;
}

const layerOf = (choice) => (choice.value === "" ? 0 : Number(choice.value));

/** What `work` gives, or null and its complaint in words. */
function tryWith(message, work) {
  try {
    const made = work();
    message.textContent = "";
    message.classList.remove("wrong");
    return made;
  } catch (error) {
    message.textContent = error.message;
    message.classList.add("wrong");
    return null;
  }
}

/** Enter keeps the indentation. Tab leaves the field, as everywhere: who uses keys alone must get out. */
function keepTabs(editor) {
  editor.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const line = editor.value.slice(0, editor.selectionStart).split("\n").at(-1);
    const deeper = line.trimEnd().endsWith(":") ? "    " : "";
    editor.setRangeText(`\n${line.match(/^ */)[0]}${deeper}`, editor.selectionStart, editor.selectionEnd, "end");
    editor.dispatchEvent(new Event("input"));
  });
}
