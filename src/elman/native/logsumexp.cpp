// Rows of logits, each beside one logit more: l = log(e^own + Σ e^z), and e^(z - l), the gradient of l, in the place of z.
// One logit of a row may be left out; a number that is no column leaves out none.
#include "log_sum.hpp"
#include "parallel.hpp"

struct Rows {
  long rows;
  int count, pieces;
  float* z;
  const float* own;
  const int64_t* without;
  float* l;
};

static void sum_row(const Rows& r, long i) {
  float* z = r.z + i * r.count;
  if (r.without[i] < r.count) z[r.without[i]] = -__builtin_inff();
  float most = find_most(z, r.count);
  most = r.own[i] > most ? r.own[i] : most;
  float total = sum_exponentials(z, r.count, most, z) + __builtin_expf(r.own[i] - most);
  for (int j = 0; j < r.count; j += LANES) store_up_to(z + j, load_up_to(z + j, r.count - j) * (1.f / total), r.count - j);
  r.l[i] = most + __builtin_logf(total);
}

static void sum_piece(void* work, int piece) {
  const Rows& r = *(const Rows*)work;
  for (long i = r.rows * piece / r.pieces; i < r.rows * (piece + 1) / r.pieces; i++) sum_row(r, i);
}

extern "C" void elman_logsumexp(const Rows* rows, Parallel parallel) { compute_pieces(parallel, rows->pieces, sum_piece, (void*)rows); }
