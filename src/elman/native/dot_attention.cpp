// Attention of many queries to the source of their row, scored by dot products, and its way back:
//
//   α = softmax(λ Q Kᵀ) over the positions that are no padding      C = α V
//   dS = α ⊙ (dα - Σ_j α dα) λ with dα = dC Vᵀ + what the weights have of their own
//   dQ = dS K      dK = dSᵀ Q      dV = αᵀ dC
//
// Rows are computed one by one, so what a row finds depends on nobody else.
#include <stdlib.h>

#include "attention.hpp"
#include "parallel.hpp"
#include "weighted_rows.hpp"

// (rows, steps or positions, units); units lie side by side.
struct Block {
  float* at;
  long row, step;
};

struct Looks {
  int32_t rows, steps, positions, depth, width, pieces;
  float scale;
  const uint8_t* mask;  // (rows, positions)
  float* weights;       // (rows, steps, positions)
  Block query, keys, values, context;
  const float* weights_gradient;  // as the weights, or null
  Block query_gradient, keys_gradient, values_gradient;
};

static void look(const Looks& all, long row) {
  const Block &q = all.query, &k = all.keys, &v = all.values, &c = all.context;
  const uint8_t* mask = all.mask + row * all.positions;
  float* weights = all.weights + row * all.steps * all.positions;
  multiply_rows(all.steps, all.positions, all.depth, q.at + row * q.row, q.step, k.at + row * k.row, k.step, (const float*)0, weights, all.positions, false);
  for (int t = 0; t < all.steps; t++) {
    float* own = weights + (long)t * all.positions;
    for (int j = 0; j < all.positions; j++) own[j] *= all.scale;
    weigh_positions(all.positions, mask, own);
  }
  sum_rows(all.steps, all.positions, all.width, {weights, all.positions, 1}, v.at + row * v.row, v.step, c.at + row * c.row, c.step);
}

// The gradients of the scores from those of the weights, in their place.
static void return_softmax(int count, const uint8_t* mask, const float* weights, float scale, float* d) {
  float mean = 0;
  for (int j = 0; j < count; j++)
    if (mask[j]) mean += weights[j] * d[j];
  for (int j = 0; j < count; j++) d[j] = mask[j] ? weights[j] * (d[j] - mean) * scale : 0.f;
}

static void look_back(const Looks& all, long row, float* d) {
  const Block &q = all.query, &k = all.keys, &v = all.values, &c = all.context;
  const Block &dq = all.query_gradient, &dk = all.keys_gradient, &dv = all.values_gradient;
  const long positions = all.positions, size = all.steps * positions;
  const float *weights = all.weights + row * size, *dc = c.at + row * c.row;
  if (all.weights_gradient) memcpy(d, all.weights_gradient + row * size, 4 * size);
  multiply_rows(all.steps, all.positions, all.width, dc, c.step, v.at + row * v.row, v.step, (const float*)0, d, positions, all.weights_gradient != 0);
  for (int t = 0; t < all.steps; t++) return_softmax(all.positions, all.mask + row * positions, weights + t * positions, all.scale, d + t * positions);
  sum_rows(all.steps, all.positions, all.depth, {d, positions, 1}, k.at + row * k.row, k.step, dq.at + row * dq.row, dq.step);
  sum_rows(all.positions, all.steps, all.depth, {d, 1, positions}, q.at + row * q.row, q.step, dk.at + row * dk.row, dk.step);
  sum_rows(all.positions, all.steps, all.width, {weights, 1, positions}, dc, c.step, dv.at + row * dv.row, dv.step);
}

static void look_piece(void* work, int piece) {
  const Looks& all = *(const Looks*)work;
  for (long row = (long)all.rows * piece / all.pieces; row < (long)all.rows * (piece + 1) / all.pieces; row++) look(all, row);
}
static void look_back_piece(void* work, int piece) {
  const Looks& all = *(const Looks*)work;
  float* scratch = (float*)malloc(4 * (long)all.steps * all.positions + 64);
  for (long row = (long)all.rows * piece / all.pieces; row < (long)all.rows * (piece + 1) / all.pieces; row++) look_back(all, row, scratch);
  free(scratch);
}

extern "C" {
void elman_look(const Looks* all, Parallel parallel) { compute_pieces(parallel, all->pieces, look_piece, (void*)all); }
void elman_look_back(const Looks* all, Parallel parallel) { compute_pieces(parallel, all->pieces, look_back_piece, (void*)all); }
}
