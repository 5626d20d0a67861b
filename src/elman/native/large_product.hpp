// Products of large matrices: C = A Bᵀ, both laid out in blocks that fit the caches (Goto and van de Geijn 2008).
//
// A[m][k] = a[m * a_row + k * a_col] and B[n][k] = b[n * b_row + k * b_col], so whatever is transposed is only read
// otherwise. B is laid out first, as a whole; then threads take neighbouring rows of A. Sums run over k in an order
// that depends on the depth alone: a row is computed alike whatever stands beside it.
#pragma once
#include "product.hpp"

#define TILE_ROWS (REGISTERS / 2)
#define TILE_COLUMNS (2 * LANES)
#define DEPTH 256         // of a block: a panel of B stays in the nearest cache while rows of A pass by
#define BLOCK_TILES 16    // of rows of A, which stay in the second cache
#define SCRATCH (BLOCK_TILES * TILE_ROWS * DEPTH)

struct Matrix {
  const float* at;
  long row, col;
};

// c[M][V * LANES] (+)= a * panel[depth][V * LANES of TILE_COLUMNS]; `count` columns are there. Rows of A that are read
// along the depth stay where they lie, `a_row` apart; others were laid out as [depth][M].
template <int M, int V, bool LAID>
static void multiply_laid(int depth, const float* a, long a_row, const float* panel, const float* bias, float* c, long stride, int count, bool add) {
  lanes sums[M][V], start[V];
#pragma GCC unroll 24
  for (int m = 0; m < M; m++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) sums[m][v] = spread(0.f);
  for (int k = 0; k < depth; k++, a += LAID ? M : 1, panel += TILE_COLUMNS) {
    lanes b[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) b[v] = load(panel + v * LANES);
#pragma GCC unroll 24
    for (int m = 0; m < M; m++)
#pragma GCC unroll 2
      for (int v = 0; v < V; v++) sums[m][v] += spread(a[LAID ? m : m * a_row]) * b[v];
  }
#pragma GCC unroll 2
  for (int v = 0; v < V; v++) start[v] = bias ? load_up_to(bias + v * LANES, count - v * LANES) : spread(0.f);
#pragma GCC unroll 24
  for (int m = 0; m < M; m++)
#pragma GCC unroll 2
    for (int v = 0; v < V; v++) {
      float* to = c + m * stride + v * LANES;
      int here = count - v * LANES;
      store_up_to(to, sums[m][v] + (add ? load_up_to(to, here) : start[v]), here);
    }
}
template <int M, bool LAID>
struct LaidTiles {
  static void run(int rows, int depth, const float* a, long a_row, const float* panel, const float* bias, float* c, long stride, int count, bool add) {
    if (rows < M) LaidTiles<M - 1, LAID>::run(rows, depth, a, a_row, panel, bias, c, stride, count, add);
    else if (count > LANES) multiply_laid<M, 2, LAID>(depth, a, a_row, panel, bias, c, stride, count, add);
    else multiply_laid<M, 1, LAID>(depth, a, a_row, panel, bias, c, stride, count, add);
  }
};
template <bool LAID>
struct LaidTiles<0, LAID> {
  static void run(int, int, const float*, long, const float*, const float*, float*, long, int, bool) {}
};

static inline int count_parts(int whole, int most) { return (whole + most - 1) / most; }
static inline int find_part(int whole, int parts, int part) { return (int)((long)whole * part / parts); }

// Some panels of B. Block after block of the depth, panels side by side.
static void lay_out_panels(const Matrix& b, int width, int depth, int first, int last, float* to) {
  int blocks = count_parts(depth, DEPTH), panels = count_parts(width, TILE_COLUMNS);
  for (int block = 0; block < blocks; block++) {
    int begin = find_part(depth, blocks, block), deep = find_part(depth, blocks, block + 1) - begin;
    for (int panel = first; panel < last; panel++) {
      int n = panel * TILE_COLUMNS, count = width - n < TILE_COLUMNS ? width - n : TILE_COLUMNS;
      float* at = to + ((long)begin * panels + (long)panel * deep) * TILE_COLUMNS;
      lay_out(b.at + n * b.row + begin * b.col, b.row, b.col, count, TILE_COLUMNS, deep, TILE_COLUMNS, at);
    }
  }
}

struct Range {
  int begin, end;
};

// Some rows of C, and some panels of its columns; `scratch` holds BLOCK_TILES tiles of rows of A that are laid out.
template <bool LAID>
static void multiply_range(const Matrix& a, const float* laid, const float* bias, Range rows, Range columns, int width, int depth, float* c, long stride, bool add, float* scratch) {
  int blocks = count_parts(depth, DEPTH), panels = count_parts(width, TILE_COLUMNS), all = rows.end - rows.begin;
  int tiles = count_parts(all, TILE_ROWS), groups = count_parts(tiles, BLOCK_TILES);
  for (int block = 0; block < blocks; block++) {
    int begin = find_part(depth, blocks, block), deep = find_part(depth, blocks, block + 1) - begin;
    const float* first = a.at + rows.begin * a.row + begin * a.col;
    for (int group = 0; group < groups; group++) {
      int from = find_part(tiles, groups, group), to = find_part(tiles, groups, group + 1);
      for (int tile = from; LAID && tile < to; tile++) {
        int m = find_part(all, tiles, tile), here = find_part(all, tiles, tile + 1) - m;
        lay_out(first + m * a.row, a.row, a.col, here, here, deep, here, scratch + (long)(tile - from) * TILE_ROWS * DEPTH);
      }
      for (int panel = columns.begin; panel < columns.end; panel++) {
        int n = panel * TILE_COLUMNS, count = width - n < TILE_COLUMNS ? width - n : TILE_COLUMNS;
        const float* b = laid + ((long)begin * panels + (long)panel * deep) * TILE_COLUMNS;
        const float* start = bias && !block ? bias + n : 0;
        for (int tile = from; tile < to; tile++) {
          int m = find_part(all, tiles, tile), here = find_part(all, tiles, tile + 1) - m;
          const float* rows_of_a = LAID ? scratch + (long)(tile - from) * TILE_ROWS * DEPTH : first + m * a.row;
          float* at = c + (rows.begin + m) * stride + n;
          LaidTiles<TILE_ROWS, LAID>::run(here, deep, rows_of_a, a.row, b, start, at, stride, count, add || block);
        }
      }
    }
  }
}
