#include "few_rows.hpp"
#include "parallel.hpp"

struct Product {
  int rows, width, depth, pieces;
  const float* x;
  long x_stride;
  const float* W;
  long w_stride;
  const float* b;
  float* y;
};

// Some rows of the matrix; whole blocks of them, so that a piece computes what one thread alone would.
static void multiply_piece(void* work, int piece) {
  const Product& p = *(const Product*)work;
  long blocks = (p.width + 3) / 4, first = blocks * piece / p.pieces * 4, last = blocks * (piece + 1) / p.pieces * 4;
  if (last > p.width) last = p.width;
  if (first < last)
    multiply_rows(p.rows, (int)(last - first), p.depth, p.x, p.x_stride, p.W + first * p.w_stride, p.w_stride, p.b ? p.b + first : p.b, p.y + first, p.width, false);
}

extern "C" void elman_multiply_rows(int rows, int width, int depth, const float* x, long x_stride, const float* W, long w_stride, const float* b, float* y, int pieces, Parallel parallel) {
  Product product = {rows, width, depth, pieces, x, x_stride, W, w_stride, b, y};
  if (pieces == 1) multiply_piece(&product, 0);
  else compute_pieces(parallel, pieces, multiply_piece, &product);
}
