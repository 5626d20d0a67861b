// The weights of the model, as they stand in the page: planes of bytes, deflated, in base 85.

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;.=>?@^_`{|}~";

// Tensors {shape, data} and arrays of integers, in the order in which the page numbers them.
export async function unpackWeights({ shapes, integers, bytes, half, packed }) {
  const planes = await inflate(decodeBase85(packed, bytes));
  const count = shapes.reduce((total, shape) => total + sizeOf(shape), 0);
  const numbers = half ? joinHalves(planes, count) : joinSingles(planes, count);
  let at = 0;
  const tensors = shapes.map((shape) => {
    const data = numbers.subarray(at, at + sizeOf(shape));
    at += sizeOf(shape);
    return { shape, data };
  });
  let rest = planes.subarray(count * (half ? 2 : 4));
  const arrays = integers.map((length) => {
    const data = sumSteps(rest, length);
    rest = rest.subarray(8 * length);
    return data;
  });
  return { tensors, integers: arrays };
}

function sizeOf(shape) {
  return shape.reduce((product, size) => product * size, 1);
}

function decodeBase85(text, bytes) {
  const digit = new Uint8Array(128);
  for (let i = 0; i < 85; i++) digit[ALPHABET.charCodeAt(i)] = i;
  const words = new DataView(new ArrayBuffer((text.length / 5) * 4));
  for (let i = 0, at = 0; i < text.length; i += 5, at += 4) {
    let word = 0;
    for (let k = 0; k < 5; k++) word = word * 85 + digit[text.charCodeAt(i + k)];
    words.setUint32(at, word);
  }
  return new Uint8Array(words.buffer, 0, bytes);
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function joinSingles(planes, count) {
  const bytes = new Uint8Array(4 * count);
  for (let k = 0; k < 4; k++) for (let i = 0; i < count; i++) bytes[4 * i + k] = planes[k * count + i];
  const view = new DataView(bytes.buffer);
  const numbers = new Float32Array(count);
  for (let i = 0; i < count; i++) numbers[i] = view.getFloat32(4 * i, true);
  return numbers;
}

// Integers of 64 bits, stored as the steps from each to the next.
function sumSteps(planes, count) {
  const bytes = new Uint8Array(8 * count);
  for (let k = 0; k < 8; k++) for (let i = 0; i < count; i++) bytes[8 * i + k] = planes[k * count + i];
  const view = new DataView(bytes.buffer);
  const numbers = new BigInt64Array(count);
  for (let i = 0, sum = 0n; i < count; i++) numbers[i] = sum += view.getBigInt64(8 * i, true);
  return numbers;
}

function joinHalves(planes, count) {
  const numbers = new Float32Array(count);
  for (let i = 0; i < count; i++) numbers[i] = halfToNumber(planes[i] + 256 * planes[count + i]);
  return numbers;
}

// A number of 16 bits: a sign, five bits of exponent, ten of fraction.
function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}
