/** The curves of a formula: activations, responses, memory. All are drawn again when the formula changes. */

import { activationCurves, gradientCurves, memoryCurves, mixesUnits, responseCurves, restingInputs } from "./formula_curves.js";
import { make, makePanel, makeSlider } from "./view_dom.js";
import { makePlot } from "./view_plot.js";

const SHOWN_STEPS = 30;
const FIRST = 3; // what every gate reads at step 1

/** `show(trace)` draws both panels; sliders keep their values while the gates keep their names. */
export function makeCurvePanels() {
  const activations = make("div", { class: "plots" });
  const unit = make("div", { class: "plots" });
  const sliders = make("div", { class: "sliders" });
  const warning = make("p", { class: "summary" });
  const settings = { rest: {}, weight: 0, gates: "" };
  let trace = null;
  const draw = () => unit.replaceChildren(...drawUnit(trace, settings));
  const show = (made) => {
    trace = made;
    if (settings.gates !== trace.gates.join()) {
      Object.assign(settings, { rest: restingInputs(trace), gates: trace.gates.join() });
      sliders.replaceChildren(...makeSettings(trace, settings, draw));
    }
    const mixes = mixesUnits(trace);
    warning.textContent = mixes ? "This formula mixes the units of a layer (mean, softmax); the unit below is alone in its layer." : "";
    activations.replaceChildren(...activationCurves(trace).map(({ name, lines }) => makePlot({ title: name, lines, across: "a", up: "value" })));
    draw();
  };
  const shapes = makePanel(
    "activations",
    "The functions in the formula",
    "Each function that the formula uses, and its slope. Where the slope is near zero nothing is learnt.",
    activations,
  );
  const alone = makePanel(
    "unit",
    "One unit alone",
    "At step 1 every gate reads 3; after it, what the sliders say. First: how the new state answers to each gate. " +
      "Then: what the unit remembers, step by step, and how much of an early change arrives at the last step. " +
      "Where that curve falls to zero, the gradient vanishes.",
    sliders,
    warning,
    unit,
  );
  return { elements: [shapes, alone], show };
}

function makeSettings(trace, settings, draw) {
  const range = { min: -6, max: 6, step: 0.5 };
  const gates = trace.gates.map((gate) =>
    makeSlider(`input of ${gate}`, { ...range, value: settings.rest[gate] }, (value) => {
      settings.rest[gate] = value;
      draw();
    }),
  );
  if (!trace.products.length) return gates;
  const weight = makeSlider("recurrent weight", { min: -2, max: 2, step: 0.1, value: settings.weight }, (value) => {
    settings.weight = value;
    draw();
  });
  return [...gates, weight];
}

function drawUnit(trace, { rest, weight }) {
  const old = Object.fromEntries(trace.states.map((name) => [name, 0.5]));
  const first = Object.fromEntries(trace.gates.map((gate) => [gate, FIRST]));
  const run = { rest, first, weight, steps: SHOWN_STEPS };
  const response = { title: `New ${trace.output}, old states at 0.5`, lines: responseCurves(trace, trace.output, { rest, old, weight }) };
  const memory = { title: "What it remembers", lines: memoryCurves(trace, run) };
  const gradient = { title: `What of it arrives at step ${SHOWN_STEPS}`, lines: gradientCurves(trace, run) };
  return [
    makePlot({ ...response, across: "input of the gate", up: "value" }),
    makePlot({ ...memory, across: "step", up: "value" }),
    makePlot({ ...gradient, across: "step", up: "size" }),
  ];
}
