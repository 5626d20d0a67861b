// Functions that the printed formulas call: of all units of a vector at once, and what Math does not have.

export function sumUnits(a) {
  let total = 0;
  for (let k = 0; k < a.length; k++) total += a[k];
  return total;
}

export function meanUnits(a) {
  return sumUnits(a) / a.length;
}

// Writes softmax(a) into y, which may be a itself.
export function softmaxUnits(a, y) {
  let most = -Infinity;
  for (let k = 0; k < a.length; k++) most = Math.max(most, a[k]);
  let total = 0;
  for (let k = 0; k < a.length; k++) total += y[k] = Math.exp(a[k] - most);
  for (let k = 0; k < a.length; k++) y[k] /= total;
}

// log Σ exp(a), and a minus it.
export function logSumExp(a) {
  let most = -Infinity;
  for (let k = 0; k < a.length; k++) most = Math.max(most, a[k]);
  if (most === -Infinity) return most;
  let total = 0;
  for (let k = 0; k < a.length; k++) total += Math.exp(a[k] - most);
  return most + Math.log(total);
}

export function logSoftmax(a) {
  const total = logSumExp(a);
  return a.map((value) => value - total);
}

// The error function: its series near 0, its continued fraction beyond (Abramowitz & Stegun 7.1.6, 7.1.14).
export function erf(a) {
  const z = Math.abs(a);
  if (z > 6) return Math.sign(a);
  let value = 0;
  if (z < 2.5) {
    let term = z;
    for (let n = 0; Math.abs(term) > 1e-17; n++) {
      value += term;
      term *= (2 * z * z) / (2 * n + 3);
    }
    value *= (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z);
  } else {
    let fraction = 0;
    for (let n = 60; n > 0; n--) fraction = n / 2 / (z + fraction);
    value = 1 - Math.exp(-z * z) / (Math.sqrt(Math.PI) * (z + fraction));
  }
  return Math.sign(a) * value;
}
