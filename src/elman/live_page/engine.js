// A model that runs in the page: `openModel` makes it of the data that Python wrote.
import { Classifier } from "./classifier.js";
import { LanguageModel } from "./language_model.js";
import { Seq2Seq } from "./seq2seq.js";
import { Tagger } from "./tagger.js";
import { unpackWeights } from "./weights.js";

const MODELS = { language_model: LanguageModel, classifier: Classifier, tagger: Tagger, seq2seq: Seq2Seq };

export async function openModel(data) {
  const weights = await unpackWeights(data.weights);
  const spec = placeTensors(data.network, weights, data.formulas);
  return new Engine(data, spec, new Map());
}

// The same tree with tensors and formulas in place of their numbers; matrices by name know their part of a tensor.
function placeTensors(part, weights, formulas) {
  if (Array.isArray(part)) return part.map((one) => placeTensors(one, weights, formulas));
  if (part === null || typeof part !== "object") return part;
  if ("$tensor" in part) return pickRows(weights.tensors[part.$tensor], part.rows);
  if ("$integers" in part) return weights.integers[part.$integers];
  if ("$formula" in part) return formulas[part.$formula];
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, placeTensors(value, weights, formulas)]));
}

function pickRows(tensor, rows) {
  if (!rows) return tensor;
  const width = tensor.shape[1] ?? 1;
  const data = tensor.data.subarray(rows[0] * width, rows[1] * width);
  return { shape: [rows[1] - rows[0], ...tensor.shape.slice(1)], data };
}

class Engine {
  // `edited` maps the numbers of layers to the formulas that they run instead of their own.
  constructor(data, spec, edited) {
    Object.assign(this, { data, spec, edited });
    this.model = new MODELS[spec.kind](spec, (index, cell) => edited.get(index) ?? cell.formula);
    this.info = { ...data.info, layers: describeLayers(this.model.stacks) };
  }

  read(text) {
    const nothing = { left: 0, surprise: null, next: null, labels: null, attention: null, ngrams: null, tags: null, answer: null };
    return { ...nothing, ...this.model.read(text) };
  }

  search(text, options = {}) {
    if (!this.model.search) throw new Error("this model writes nothing: there is no search to show");
    return this.model.search(text, options);
  }

  // ‖∂h_{t,unit}/∂x_k‖ for each token k of the last text; null where a layer reads what the model wrote.
  connectivity({ layer, position, unit }) {
    const { stacks } = this.model;
    const { part } = this.info.layers[layer];
    if (part === "decoder") return null;
    return { weights: stacks[0].stack.connect(layer, position, unit) };
  }

  // A model that runs a formula of yours in one layer, or in all that had the same one.
  withFormula(index, formula) {
    const asked = index === null ? this.info.layers[0].formula.name : null;
    const edited = new Map(this.edited);
    this.info.layers.forEach((layer, k) => {
      if (k === index || (index === null && layer.formula.name === asked)) edited.set(k, formula);
    });
    return new Engine(this.data, this.spec, edited);
  }
}

function describeLayers(stacks) {
  let index = 0;
  return stacks.flatMap(({ part, stack }) =>
    stack.layers.flatMap(({ directions }, k) =>
      directions.map(({ name, cell }) => ({
        index: index++,
        name: `${part}${part && " "}layer ${k + 1} ${name}`,
        part,
        layer: k + 1,
        direction: name,
        cell: cell.spec.name,
        units: cell.outputSize,
        formula: cell.formula,
        bias: Object.values(cell.spec.gates).some(({ b }) => b !== null),
        equations: cell.printed ? cell.spec.equations : [],
      })),
    ),
  );
}
