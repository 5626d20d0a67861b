// From a state to the next token: log-probabilities of all of them.
import { applyLinear, multiply } from "./matrix.js";
import { logSoftmax, logSumExp } from "./units.js";

export function makeOutput(spec) {
  return spec.kind === "mixture" ? new MixtureOutput(spec) : new SoftmaxOutput(spec);
}

// log softmax(W h + b), with P before W where the sizes differ.
class SoftmaxOutput {
  constructor({ W, b, P }) {
    Object.assign(this, { W, b, P });
  }

  logits(h) {
    const seen = this.P ? multiply(this.P.data, h, new Float64Array(this.P.shape[0])) : h;
    return multiply(this.W.data, seen, new Float64Array(this.W.shape[0]), this.b.data);
  }

  logProbabilities(h) {
    return logSoftmax(this.logits(h));
  }
}

// log Σ_k π_k softmax(W v_k + b), v = tanh(V h + c), π = softmax(M h).
class MixtureOutput {
  constructor({ softmax, V, M }) {
    Object.assign(this, { softmax: new SoftmaxOutput(softmax), V, M });
  }

  logProbabilities(h) {
    const shares = logSoftmax(applyLinear(this.M, h));
    const vectors = applyLinear(this.V, h).map(Math.tanh);
    const width = vectors.length / shares.length;
    const each = Array.from(shares, (share, k) => {
      const log = this.softmax.logProbabilities(vectors.subarray(k * width, (k + 1) * width));
      return log.map((value) => value + share);
    });
    return each[0].map((_, token) => logSumExp(each.map((log) => log[token])));
  }
}
