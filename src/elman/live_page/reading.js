// What a stack of layers did while it read, as views draw it.

export function readingLayers(stack, first = 0) {
  return stack.directions.map((direction, k) => describeDirection(direction, first + k));
}

export function describeDirection({ values, cell }, index) {
  const { states, output } = cell.formula;
  return { index, values, states, output };
}
