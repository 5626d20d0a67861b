// A few rows times a matrix as it lies in memory: y = x Wᵀ + b. Nothing is laid out first and nothing can be stale.
// A matrix of bfloat16 is the exception: `pack_row` makes it.
#pragma once
#include "bfloat16.hpp"

#if LANES == 8 || (LANES == 4 && !defined(__aarch64__))
#define FEW_SUMS 12  // registers that may hold sums: of 16
#else
#define FEW_SUMS 24  // of 32
#endif
#define FEW_ROWS 6  // that are multiplied at a time

#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ints){__VA_ARGS__})
#endif
#if LANES == 16
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#elif LANES == 8
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#else
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#endif

// Sums of neighbours: those of a, then those of b.
INLINE lanes fold_lanes(lanes a, lanes b) { return SHUFFLE(a, b, EVEN) + SHUFFLE(a, b, ODD); }

// The first four lanes are the sums of four vectors.
INLINE lanes sum_four(lanes a, lanes b, lanes c, lanes d) {
  lanes all = fold_lanes(fold_lanes(a, b), fold_lanes(c, d));
  for (int left = LANES / 4; left > 1; left /= 2) all = fold_lanes(all, all);
  return all;
}

INLINE float sum_units(const float* a, int width) {
  lanes total = spread(0.f);
  for (int j = 0; j < width; j += LANES) total += load_up_to(a + j, width - j);
  return sum_up(total);
}

// sums += the products of R rows with C rows of the matrix, which begin at w.
template <int R, int C>
INLINE void add_products(lanes (&sums)[R][C], int depth, const float* x, long x_stride, const float* w, long w_stride) {
  for (int k = 0; k < depth; k += LANES) {
    lanes v[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; c++) {
      v[c] = load_up_to(w + c * w_stride + k, depth - k);
      __builtin_prefetch(w + (C + c) * w_stride + k);  // the rows that come next
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) {
      lanes u = load_up_to(x + r * x_stride + k, depth - k);
#pragma GCC unroll 4
      for (int c = 0; c < C; c++) sums[r][c] += u * v[c];
    }
  }
}
// The same for one row, which waits for memory alone: each row of the matrix is read to its end before the next, as
// memory lies, and asked for this many bytes before. Two rows and more are computed faster side by side.
static const int AHEAD = 8192;
template <int C>
INLINE void add_products(lanes (&sums)[1][C], int depth, const float* x, long, const float* w, long w_stride) {
#pragma GCC unroll 4
  for (int c = 0; c < C; c++, w += w_stride) {
    int k = 0;
#pragma GCC unroll 4
    for (; k + LANES <= depth; k += LANES) {
      __builtin_prefetch((const char*)(w + k) + AHEAD);
      sums[0][c] += load(x + k) * load(w + k);
    }
    if (k < depth) sums[0][c] += load_some(x + k, depth - k) * load_some(w + k, depth - k);
  }
}
template <int R, int C>
INLINE void add_products(lanes (&sums)[R][C], int depth, const float* x, long x_stride, const bfloat16* w, long w_stride) {
  for (int k = 0; k < depth; k += 2 * LANES) {
    ints pairs[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; c++) {
      pairs[c] = load_pairs(w + c * w_stride + k);
      __builtin_prefetch(w + (C + c) * w_stride + k);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) {
      const float* at = x + r * x_stride + k;
      lanes u = load_up_to(at, depth - k), v = load_rest(at + LANES, depth - k - LANES);
#pragma GCC unroll 4
      for (int c = 0; c < C; c++) sums[r][c] += u * take_first(pairs[c]);
#pragma GCC unroll 4
      for (int c = 0; c < C; c++) sums[r][c] += v * take_second(pairs[c]);
    }
  }
}

template <int R, int C, typename W>
INLINE void multiply_block(int depth, const float* x, long x_stride, const W* w, long w_stride, const float* b, float* y, long y_stride, bool add) {
  lanes sums[R][C];
#pragma GCC unroll 8
  for (int r = 0; r < R; r++)
#pragma GCC unroll 4
    for (int c = 0; c < C; c++) sums[r][c] = spread(0.f);
  add_products(sums, depth, x, x_stride, w, w_stride);
  const lanes none = spread(0.f);
#pragma GCC unroll 8
  for (int r = 0; r < R; r++) {
    lanes found = sum_four(sums[r][0], C > 1 ? sums[r][C > 1] : none, C > 2 ? sums[r][C > 2 ? 2 : 0] : none, C > 3 ? sums[r][C > 3 ? 3 : 0] : none);
    float* to = y + r * y_stride;
    if (b) found += load_some(b, C);
    if (add) found += load_some(to, C);
    store_some(to, found, C);
  }
}

// All rows times C rows of the matrix, which are read from afar once.
template <int C, typename W>
INLINE void multiply_column(int rows, int depth, const float* x, long x_stride, const W* w, long w_stride, const float* b, float* y, long y_stride, bool add) {
  for (int blocks = (rows + FEW_ROWS - 1) / FEW_ROWS; blocks; blocks--) {
    int here = (rows + blocks - 1) / blocks;
    switch (here) {
      case 1: multiply_block<1, C>(depth, x, x_stride, w, w_stride, b, y, y_stride, add); break;
      case 2: multiply_block<2, C>(depth, x, x_stride, w, w_stride, b, y, y_stride, add); break;
      case 3: multiply_block<3, C>(depth, x, x_stride, w, w_stride, b, y, y_stride, add); break;
      case 4: multiply_block<4, C>(depth, x, x_stride, w, w_stride, b, y, y_stride, add); break;
      case 5: multiply_block<5, C>(depth, x, x_stride, w, w_stride, b, y, y_stride, add); break;
      default: multiply_block<6, C>(depth, x, x_stride, w, w_stride, b, y, y_stride, add);
    }
    rows -= here, x += here * x_stride, y += here * y_stride;
  }
}
template <int C, typename T>
static void multiply_columns(int rows, int width, int depth, const float* x, long x_stride, const T* W, long w_stride, const float* b, float* y, long y_stride, bool add) {
  int n = 0;
  for (; n + C <= width; n += C)
    multiply_column<C>(rows, depth, x, x_stride, W + n * w_stride, w_stride, b ? b + n : b, y + n, y_stride, add);
  for (; n < width; n++)
    multiply_column<1>(rows, depth, x, x_stride, W + n * w_stride, w_stride, b ? b + n : b, y + n, y_stride, add);
}

// y[rows][width] (+)= x[rows][depth] W[width][depth]ᵀ + b. What a row is does not depend on how many there are.
template <typename T>
static void multiply_rows(int rows, int width, int depth, const float* x, long x_stride, const T* W, long w_stride, const float* b, float* y, long y_stride, bool add) {
  bool wide = 4 * (rows < FEW_ROWS ? rows : FEW_ROWS) <= FEW_SUMS;
  (wide ? multiply_columns<4, T> : multiply_columns<2, T>)(rows, width, depth, x, x_stride, W, w_stride, b, y, y_stride, add);
}
