// Rows times a matrix that was laid out once: panels of V vectors of LANES columns, depth after depth.
#pragma once
#include "lanes.hpp"

#if LANES == 8 || (LANES == 4 && !defined(__aarch64__))
#define REGISTERS 12  // that may hold sums: of 16
#else
#define REGISTERS 24  // of 32
#endif

typedef float four __attribute__((vector_size(16)));
typedef float loose_four __attribute__((vector_size(16), aligned(4), may_alias));
#if defined(__clang__)
#define PICK_FOUR(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int32_t four_ints __attribute__((vector_size(16)));
#define PICK_FOUR(a, b, ...) __builtin_shuffle(a, b, (four_ints){__VA_ARGS__})
#endif

// to[k][m] = from[m][k] for four k.
static inline void transpose_four(const float* from, long row, int count, long step, float* to) {
  int m = 0;
  for (; m + 4 <= count; m += 4) {
    const float* at = from + m * row;
    four a = *(const loose_four*)at, b = *(const loose_four*)(at + row);
    four c = *(const loose_four*)(at + 2 * row), d = *(const loose_four*)(at + 3 * row);
    four low = PICK_FOUR(a, b, 0, 4, 1, 5), high = PICK_FOUR(a, b, 2, 6, 3, 7);
    four next_low = PICK_FOUR(c, d, 0, 4, 1, 5), next_high = PICK_FOUR(c, d, 2, 6, 3, 7);
    *(loose_four*)(to + m) = PICK_FOUR(low, next_low, 0, 1, 4, 5);
    *(loose_four*)(to + step + m) = PICK_FOUR(low, next_low, 2, 3, 6, 7);
    *(loose_four*)(to + 2 * step + m) = PICK_FOUR(high, next_high, 0, 1, 4, 5);
    *(loose_four*)(to + 3 * step + m) = PICK_FOUR(high, next_high, 2, 3, 6, 7);
  }
  for (; m < count; m++)
    for (int k = 0; k < 4; k++) to[k * step + m] = from[m * row + k];
}

// to[k * step + m] = from[m * row + k * col] for `count` of `room` m, zeros after them.
static inline void lay_out(const float* from, long row, long col, int count, int room, int depth, long step, float* to) {
  if (row == 1) {
    for (int k = 0; k < depth; k++, to += step, from += col)
      for (int m = 0; m < room; m += LANES) {
        __builtin_prefetch(from + m + 2 * LANES);  // what is laid out next stands beside it, a page from the row after
        store_up_to(to + m, m < count ? load_up_to(from + m, count - m) : spread(0.f), room - m);
      }
    return;
  }
  int k = 0;
  if (col == 1)
    for (; k + 4 <= depth; k += 4) transpose_four(from + k, row, count, step, to + k * step);
  for (; k < depth; k++)
    for (int m = 0; m < count; m++) to[k * step + m] = from[m * row + k * col];
  for (int m = count; m < room; m++)
    for (k = 0; k < depth; k++) to[k * step + m] = 0.f;
}

// out[M][V] (+)= a[M][depth] * panel[depth][V]; rows of `out` lie side by side.
template <int V, int M>
static void multiply_tile(int depth, const float* a, long stride, const float* panel, float* out, bool add) {
  lanes c[M][V];
#pragma GCC unroll 24
  for (int m = 0; m < M; m++)
#pragma GCC unroll 8
    for (int v = 0; v < V; v++) c[m][v] = add ? load(out + (m * V + v) * LANES) : spread(0.f);
  for (int k = 0; k < depth; k++, panel += V * LANES) {
    lanes b[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; v++) b[v] = load(panel + v * LANES);
#pragma GCC unroll 24
    for (int m = 0; m < M; m++) {
      lanes x = spread(a[m * stride + k]);
#pragma GCC unroll 8
      for (int v = 0; v < V; v++) c[m][v] += x * b[v];
    }
  }
#pragma GCC unroll 24
  for (int m = 0; m < M; m++)
#pragma GCC unroll 8
    for (int v = 0; v < V; v++) store(out + (m * V + v) * LANES, c[m][v]);
}

template <int V, int M>
struct Tiles {
  static void run(int rows, int depth, const float* a, long stride, const float* panel, float* out, bool add) {
    if (rows == M) multiply_tile<V, M>(depth, a, stride, panel, out, add);
    else Tiles<V, M - 1>::run(rows, depth, a, stride, panel, out, add);
  }
};
template <int V>
struct Tiles<V, 0> {
  static void run(int, int, const float*, long, const float*, float*, bool) {}
};

// All rows times one panel: out[rows][V][LANES]. A part of the depth at a time stays in the nearest cache.
template <int V>
static void multiply_panel(int rows, int depth, const float* a, long stride, const float* panel, float* out, bool add) {
  const int most = REGISTERS / V ? REGISTERS / V : 1, blocks = (rows + most - 1) / most;
  const int part = 24576 / (V * LANES * 4);
  for (int begin = 0; begin < depth || begin == 0; begin += part) {
    int here = depth - begin < part ? depth - begin : part;
    for (int i = 0, block = 0; block < blocks; block++) {
      int m = (rows - i + blocks - block - 1) / (blocks - block);
      Tiles<V, REGISTERS / V ? REGISTERS / V : 1>::run(m, here, a + i * stride + begin, stride,
                                                       panel + (long)begin * V * LANES,
                                                       out + (long)i * V * LANES, add || begin > 0);
      i += m;
    }
  }
}

// The last panel of a matrix has fewer vectors of each part where the columns end.
static inline int count_blocks(int width, int begin, int blocks) {
  int left = (width - begin + LANES - 1) / LANES;
  return left < blocks ? left : blocks;
}
template <int PARTS, int BLOCKS>
struct Panels {
  static void multiply(int blocks, int rows, int depth, const float* a, long stride, const float* panel, float* out) {
    if (blocks == BLOCKS) multiply_panel<PARTS * BLOCKS>(rows, depth, a, stride, panel, out, false);
    else Panels<PARTS, BLOCKS - 1>::multiply(blocks, rows, depth, a, stride, panel, out);
  }
};
template <int PARTS>
struct Panels<PARTS, 0> {
  static void multiply(int, int, int, const float*, long, const float*, float*) {}
};

// Panels of a matrix: `parts` results of `width` columns each, which begin at the rows `first` of the matrix;
// `blocks` vectors of each part stand in one panel. matrix[n * across + k * along].
static inline long count_packed(int width, int parts, int depth) {
  return (long)((width + LANES - 1) / LANES) * LANES * depth * parts;
}
static inline void pack_panels(int width, int parts, int blocks, int depth, const float* const* first, long across, long along, float* out) {
  for (int begin = 0; begin < width; begin += blocks * LANES) {
    int here = count_blocks(width, begin, blocks), step = here * parts * LANES;
    for (int u = 0; u < here; u++)
      for (int g = 0; g < parts; g++) {
        int at = begin + u * LANES, count = width - at < LANES ? width - at : LANES;
        lay_out(first[g] + at * across, across, along, count, LANES, depth, step, out + (u * parts + g) * LANES);
      }
    out += (long)depth * step;
  }
}
