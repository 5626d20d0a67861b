// Where a few queries look in the sources that they write about, and what they find there.
#pragma once
#include "few_rows.hpp"

struct Sources {
  const float* keys;       // (sources, positions, depth)
  const float* values[2];  // (sources, positions, widths): two readers make different things of what is found
  const uint8_t* mask;     // (sources, positions), zero at the padding
  int32_t positions, depth, widths[2];
};

// v · tanh(q + k) for each position.
INLINE void score_additively(const Sources& all, const float* query, const float* keys, const float* v, float* scores) {
  for (int j = 0; j < all.positions; j++) {
    lanes total = spread(0.f);
    for (int k = 0; k < all.depth; k += LANES) {
      int count = all.depth - k;
      total += load_up_to(v + k, count) * tanh_lanes(load_up_to(query + k, count) + load_up_to(keys + (long)j * all.depth + k, count));
    }
    scores[j] = sum_up(total);
  }
}

// Zero at the padding, and everywhere if there is nothing else.
static void weigh_positions(int count, const uint8_t* mask, float* scores) {
  float most = -__builtin_inff(), total = 0;
  for (int j = 0; j < count; j++)
    if (mask[j] && !(scores[j] <= most)) most = scores[j];
  for (int j = 0; j < count; j += LANES) store_up_to(scores + j, exp_lanes(load_up_to(scores + j, count - j) - most), count - j);
  for (int j = 0; j < count; j++) {
    if (!mask[j]) scores[j] = 0;
    total += scores[j];
  }
  if (total == 0) return;
  for (int j = 0; j < count; j++) scores[j] /= total;
}

static void sum_values(int count, int width, const float* weights, const float* values, float* found) {
  for (int i = 0; i < width; i += 4 * LANES) {
    lanes sums[4] = {spread(0.f), spread(0.f), spread(0.f), spread(0.f)};
    for (int j = 0; j < count; j++) {
      const float* at = values + (long)j * width + i;
      for (int v = 0; v < 4; v++)
        if (i + v * LANES < width) sums[v] += weights[j] * load_up_to(at + v * LANES, width - i - v * LANES);
    }
    for (int v = 0; v < 4; v++)
      if (i + v * LANES < width) store_up_to(found + i + v * LANES, sums[v], width - i - v * LANES);
  }
}

// `which` is the source of each query. Scores are dot products, or additive with a v; weights come out.
static void weigh_sources(const Sources& all, int rows, const int64_t* which, const float* queries, float scale, const float* v, float* weights) {
  for (int r = 0; r < rows; r++) {
    long place = which[r] * all.positions;
    float* own = weights + (long)r * all.positions;
    const float *query = queries + (long)r * all.depth, *keys = all.keys + place * all.depth;
    if (v) score_additively(all, query, keys, v, own);
    else multiply_rows(1, all.positions, all.depth, query, all.depth, keys, all.depth, 0, own, all.positions, false);
    for (int j = 0; j < all.positions; j++) own[j] *= scale;
    weigh_positions(all.positions, all.mask + place, own);
  }
}
static void find_contexts(const Sources& all, int reader, int rows, const int64_t* which, const float* weights, float* found) {
  const int width = all.widths[reader];
  for (int r = 0; r < rows; r++)
    sum_values(all.positions, width, weights + (long)r * all.positions, all.values[reader] + which[r] * all.positions * width, found + (long)r * width);
}
