#include "large_product.hpp"
#include "parallel.hpp"

struct LargeProduct {
  int rows, width, depth, add, pieces, wide;
  Matrix a, b;
  const float* bias;
  float* c;
  long stride;
  float *laid, *scratch;
};

static void lay_out_piece(void* work, int piece) {
  const LargeProduct& p = *(const LargeProduct*)work;
  int panels = count_parts(p.width, TILE_COLUMNS);
  lay_out_panels(p.b, p.width, p.depth, find_part(panels, p.pieces, piece), find_part(panels, p.pieces, piece + 1), p.laid);
}
// Whole tiles of rows, or whole panels of columns where there are more of them.
static void multiply_piece(void* work, int piece) {
  const LargeProduct& p = *(const LargeProduct*)work;
  int panels = count_parts(p.width, TILE_COLUMNS), tiles = count_parts(p.rows, TILE_ROWS);
  Range rows = {0, p.rows}, columns = {0, panels};
  if (p.wide) columns = {find_part(panels, p.pieces, piece), find_part(panels, p.pieces, piece + 1)};
  else rows = {find_part(tiles, p.pieces, piece) * TILE_ROWS, find_part(tiles, p.pieces, piece + 1) * TILE_ROWS};
  if (rows.end > p.rows) rows.end = p.rows;
  float* scratch = p.scratch + (long)piece * SCRATCH;
  if (rows.begin < rows.end) (p.a.col == 1 ? multiply_range<false> : multiply_range<true>)(p.a, p.laid, p.bias, rows, columns, p.width, p.depth, p.c, p.stride, p.add, scratch);
}

struct Numbers {
  long count;
  int pieces;
  float* at;
};
// The sums of `count` columns at `from`; a few rows are added up before they join the others.
static void sum_columns(int rows, int count, const float* from, long row, float* to) {
  for (int n = 0; n < count; n += 4 * LANES) {
    lanes all[4] = {};
    for (int begin = 0; begin < rows; begin += 64) {
      lanes some[4] = {};
      const int end = begin + 64 < rows ? begin + 64 : rows;
      for (int m = begin; m < end; m++)
        for (int v = 0; v < 4 && n + v * LANES < count; v++) some[v] += load_up_to(from + m * row + n + v * LANES, count - n - v * LANES);
      for (int v = 0; v < 4; v++) all[v] += some[v];
    }
    for (int v = 0; v < 4 && n + v * LANES < count; v++) store_up_to(to + n + v * LANES, all[v], count - n - v * LANES);
  }
}
static void tanh_piece(void* work, int piece) {
  const Numbers& n = *(const Numbers*)work;
  const long vectors = (n.count + LANES - 1) / LANES, last = vectors * (piece + 1) / n.pieces * LANES;
  for (long i = vectors * piece / n.pieces * LANES; i < last; i += LANES) {
    const int left = n.count - i < LANES ? (int)(n.count - i) : LANES;
    store_up_to(n.at + i, tanh_lanes(load_up_to(n.at + i, left)), left);
  }
}

extern "C" {
// tanh of numbers, where they lie.
void elman_tanh(long count, float* at, int pieces, Parallel parallel) {
  Numbers n = {count, pieces, at};
  compute_pieces(parallel, pieces, tanh_piece, &n);
}
// Numbers that `laid` and the `scratch` of each piece must have room for.
long elman_count_laid(int width, int depth) { return (long)count_parts(width, TILE_COLUMNS) * TILE_COLUMNS * depth; }
long elman_count_scratch() { return SCRATCH; }
// c[rows][width] (+)= a bᵀ + bias.
void elman_multiply(int rows, int width, int depth, const float* a, long a_row, long a_col, const float* b, long b_row, long b_col, const float* bias, float* c, long stride, int add, float* memory, int pieces, Parallel parallel) {
  LargeProduct p = {rows, width, depth, add, pieces, width > rows, {a, a_row, a_col}, {b, b_row, b_col}, bias, c, stride, memory, memory + elman_count_laid(width, depth)};
  compute_pieces(parallel, pieces, lay_out_piece, &p);
  compute_pieces(parallel, pieces, multiply_piece, &p);
}

// The way back of y = x Wᵀ + b: dx = g W, dW = gᵀ x and db = Σ g, each where there is a place for it; rows of g lie in
// one piece where db is wanted.
void elman_multiply_back(int rows, int width, int depth, const float* g, long g_row, long g_col, const float* x, long x_row, long x_col, const float* w, long w_row, long w_col, float* dx, float* dw, float* db, float* memory, int pieces, Parallel parallel) {
  if (db) sum_columns(rows, width, g, g_row, db);
  if (dx) elman_multiply(rows, depth, width, g, g_row, g_col, w, w_col, w_row, 0, dx, depth, 0, memory, pieces, parallel);
  if (dw) elman_multiply(width, depth, rows, g, g_col, g_row, x, x_col, x_row, 0, dw, depth, 0, memory, pieces, parallel);
}
}
