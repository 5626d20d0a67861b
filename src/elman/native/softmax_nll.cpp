// The weighted mean of what targets cost under the softmax of their rows of logits, with labels smoothed by ε:
//
//   l = Σ w_i l_i / Σ w      l_i = log Σ e^z - (1 - ε) z[y] - ε mean z      ∂l/∂z = w_i (p - (1 - ε) [y] - ε / V) / Σ w
//
// A target of -100 costs nothing, as by torch.
#include "log_sum.hpp"
#include "parallel.hpp"

struct Targets {
  long rows;
  int count, pieces;
  const float* z;
  const int64_t* targets;
  const float* weights;  // or null: all count alike
  float smoothing;
  float* gradient;       // or null
  double total;          // Σ w
  double* costs;         // w_i l_i
};
static const int64_t IGNORED = -100;

static double find_weight(const Targets& t, long i) { return t.weights ? t.weights[i] : 1.0; }

static void add_row(const Targets& t, long i) {
  const float* z = t.z + i * t.count;
  float* d = t.gradient ? t.gradient + i * t.count : 0;
  const int64_t y = t.targets[i];
  t.costs[i] = 0;
  if (y == IGNORED) {
    if (d) memset(d, 0, 4 * (long)t.count);
    return;
  }
  const float most = find_most(z, t.count), total = sum_exponentials(z, t.count, most, d), share = t.smoothing / t.count;
  lanes sum = spread(0.f);
  for (int j = 0; t.smoothing && j < t.count; j += LANES) sum += load_up_to(z + j, t.count - j);  // a logit may be -∞
  t.costs[i] = find_weight(t, i) * ((double)most + __builtin_logf(total) - (1 - t.smoothing) * z[y] - share * sum_up(sum));
  if (!d) return;
  const float scale = (float)(find_weight(t, i) / t.total);
  for (int j = 0; j < t.count; j += LANES) store_up_to(d + j, (load_up_to(d + j, t.count - j) / total - share) * scale, t.count - j);
  d[y] -= (1 - t.smoothing) * scale;
}

static void add_piece(void* work, int piece) {
  const Targets& t = *(const Targets*)work;
  for (long i = t.rows * piece / t.pieces; i < t.rows * (piece + 1) / t.pieces; i++) add_row(t, i);
}

// The first row whose target is no column; -1 where all are, and then the mean is written.
extern "C" long elman_softmax_nll(Targets* t, float* mean, Parallel parallel) {
  t->total = 0;
  for (long i = 0; i < t->rows; i++) {
    if (t->targets[i] != IGNORED && (t->targets[i] < 0 || t->targets[i] >= t->count)) return i;
    t->total += find_weight(*t, i);
  }
  compute_pieces(parallel, t->pieces, add_piece, t);
  double sum = 0;
  for (long i = 0; i < t->rows; i++) sum += t->costs[i];
  *mean = (float)(sum / t->total);
  return -1;
}
