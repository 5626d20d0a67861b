// Sums of the rows of a small matrix, each with weights of its own: out = A B where B lies in rows.
#pragma once
#include "few_rows.hpp"

struct Weighing {
  const float* at;  // weight k of sum m is at[m * sum + k * row]
  long sum, row;
};

template <int R>
INLINE void sum_some_rows(int count, int width, Weighing a, const float* b, long b_row, float* out, long out_row) {
  for (int i = 0; i < width; i += 4 * LANES) {
    lanes sums[R][4];
#pragma GCC unroll 8
    for (int r = 0; r < R; r++)
#pragma GCC unroll 4
      for (int v = 0; v < 4; v++) sums[r][v] = spread(0.f);
    const bool whole = i + 4 * LANES <= width;
    for (int k = 0; k < count; k++) {
      const float* at = b + k * b_row + i;
      lanes row[4];
#pragma GCC unroll 4
      for (int v = 0; v < 4; v++) {
        int left = width - i - v * LANES;
        row[v] = whole ? load(at + v * LANES) : left > 0 ? load_up_to(at + v * LANES, left) : spread(0.f);
      }
#pragma GCC unroll 8
      for (int r = 0; r < R; r++)
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++) sums[r][v] += a.at[r * a.sum + k * a.row] * row[v];
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; r++)
#pragma GCC unroll 4
      for (int v = 0; v < 4; v++)
        if (i + v * LANES < width) store_up_to(out + r * out_row + i + v * LANES, sums[r][v], width - i - v * LANES);
  }
}

// out[sums][width] = Σ_k a[..][k] b[k][width]. What a sum is does not depend on how many there are.
static void sum_rows(int sums, int count, int width, Weighing a, const float* b, long b_row, float* out, long out_row) {
  const int most = FEW_SUMS / 4;
  for (int here; sums > 0; sums -= here, a.at += here * a.sum, out += here * out_row) {
    here = sums < most ? sums : most;
    switch (here) {
      case 1: sum_some_rows<1>(count, width, a, b, b_row, out, out_row); break;
      case 2: sum_some_rows<2>(count, width, a, b, b_row, out, out_row); break;
      case 3: sum_some_rows<3>(count, width, a, b, b_row, out, out_row); break;
      case 4: sum_some_rows<4>(count, width, a, b, b_row, out, out_row); break;
      case 5: sum_some_rows<5>(count, width, a, b, b_row, out, out_row); break;
      default: sum_some_rows<6>(count, width, a, b, b_row, out, out_row);
    }
  }
}
