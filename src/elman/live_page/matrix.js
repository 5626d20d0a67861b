// Tables of numbers, and the products that take nearly all of the time.

// Rows of numbers that can grow: {rows, columns, data}, row by row.
export class Matrix {
  constructor(columns, rows = 0) {
    this.columns = columns;
    this.store = new Float32Array(Math.max(rows, 16) * columns);
    this.rows = rows;
  }

  get data() {
    return this.store.subarray(0, this.rows * this.columns);
  }

  row(t) {
    return this.store.subarray(t * this.columns, (t + 1) * this.columns);
  }

  // As many rows as said: further ones are zero, or what a longer text left there.
  resize(rows) {
    if (rows * this.columns > this.store.length) {
      const larger = new Float32Array(2 * rows * this.columns);
      larger.set(this.store);
      this.store = larger;
    }
    this.rows = rows;
  }

  static from(rows, columns) {
    const made = new Matrix(columns, rows.length);
    rows.forEach((row, t) => made.row(t).set(row));
    return made;
  }
}

// y = W v + b, where W has y.length rows: eight at a time, so that v is read once for all of them.
export function multiply(W, v, y, b = null) {
  const [rows, columns] = [y.length, v.length];
  let r = 0;
  for (; r + 7 < rows; r += 8) {
    let [s0, s1, s2, s3, s4, s5, s6, s7] = [0, 0, 0, 0, 0, 0, 0, 0];
    const o0 = r * columns;
    const o1 = o0 + columns;
    const o2 = o1 + columns;
    const o3 = o2 + columns;
    const o4 = o3 + columns;
    const o5 = o4 + columns;
    const o6 = o5 + columns;
    const o7 = o6 + columns;
    for (let k = 0; k < columns; k++) {
      const a = v[k];
      s0 += W[o0 + k] * a;
      s1 += W[o1 + k] * a;
      s2 += W[o2 + k] * a;
      s3 += W[o3 + k] * a;
      s4 += W[o4 + k] * a;
      s5 += W[o5 + k] * a;
      s6 += W[o6 + k] * a;
      s7 += W[o7 + k] * a;
    }
    y[r] = s0;
    y[r + 1] = s1;
    y[r + 2] = s2;
    y[r + 3] = s3;
    y[r + 4] = s4;
    y[r + 5] = s5;
    y[r + 6] = s6;
    y[r + 7] = s7;
  }
  for (; r < rows; r++) {
    let sum = 0;
    for (let k = 0, o = r * columns; k < columns; k++) sum += W[o + k] * v[k];
    y[r] = sum;
  }
  if (b) for (let k = 0; k < rows; k++) y[k] += b[k];
  return y;
}

// y += Wᵀ g, what a product gives back to its operand: four rows at a time, so that y is written once for all of them.
export function addTransposed(W, g, y) {
  const columns = y.length;
  let r = 0;
  for (; r + 3 < g.length; r += 4) {
    const [g0, g1, g2, g3] = [g[r], g[r + 1], g[r + 2], g[r + 3]];
    const o0 = r * columns;
    const o1 = o0 + columns;
    const o2 = o1 + columns;
    const o3 = o2 + columns;
    for (let k = 0; k < columns; k++) y[k] += W[o0 + k] * g0 + W[o1 + k] * g1 + W[o2 + k] * g2 + W[o3 + k] * g3;
  }
  for (; r < g.length; r++) for (let k = 0, o = r * columns; k < columns; k++) y[k] += W[o + k] * g[r];
  return y;
}

// W v + b of a linear layer {W, b}.
export function applyLinear({ W, b }, v) {
  return multiply(W.data, v, new Float64Array(W.shape[0]), b?.data);
}

export function concatenate(parts) {
  const joined = new Float64Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}

export function addInto(y, a) {
  for (let k = 0; k < y.length; k++) y[k] += a[k];
}

// The places of the greatest values, greatest first; of equal ones the earlier place.
export function rankGreatest(values, count) {
  const places = Array.from(values, (_, i) => i);
  places.sort((i, j) => values[j] - values[i] || i - j);
  return places.slice(0, count);
}
