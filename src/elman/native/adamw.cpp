// One update of AdamW (Loshchilov and Hutter 2019) of many weights at once:
//
//   m' = β₁ m + (1 - β₁) g    v' = β₂ v + (1 - β₂) g²    p' = (1 - lr λ) p - lr (m' / c₁) / (√(v' / c₂) + ε)
//
// with cᵢ = 1 - βᵢᵗ. A gradient may have some rows only, in rising order: it is zero in the others.
#include "lanes.hpp"
#include "parallel.hpp"

struct Weights {
  long rows, width, given;    // rows of the weights, and of the gradient; -1: it has all
  float *p, *m, *v;
  const float* g;
  const int64_t* at;          // which rows the gradient has
  float decay, rate, root;    // 1 - lr λ, lr / c₁, 1 / √c₂
};
struct Update {
  int count, pieces;
  float beta1, beta2, epsilon;
  const Weights* weights;
};

// `count` numbers; where there is no g it is zero.
template <bool GIVEN>
INLINE void change(const Update& u, const Weights& w, long from, long count, const float* g) {
  float *p = w.p + from, *m = w.m + from, *v = w.v + from;
  for (long i = 0; i < count; i += LANES) {
    int left = count - i < LANES ? (int)(count - i) : LANES;
    lanes a = load_up_to(m + i, left) * u.beta1, b = load_up_to(v + i, left) * u.beta2;
    if (GIVEN) {
      lanes d = load_up_to(g + i, left);
      a += d * (1.f - u.beta1), b += d * d * (1.f - u.beta2);
    }
    lanes change = a * w.rate / (sqrt_lanes(b) * w.root + u.epsilon);
    store_up_to(m + i, a, left);
    store_up_to(v + i, b, left);
    store_up_to(p + i, load_up_to(p + i, left) * w.decay - change, left);
  }
}

static void change_rows(const Update& u, const Weights& w, long first, long last) {
  if (w.given < 0) return change<true>(u, w, first * w.width, (last - first) * w.width, w.g + first * w.width);
  long next = 0;
  while (next < w.given && w.at[next] < first) next++;
  for (long row = first; row < last; next++) {
    long until = next < w.given && w.at[next] < last ? w.at[next] : last;
    if (until > row) change<false>(u, w, row * w.width, (until - row) * w.width, 0);
    if (until < last) change<true>(u, w, until * w.width, w.width, w.g + next * w.width);
    row = until + 1;
  }
}

static void update_piece(void* work, int piece) {
  const Update& u = *(const Update*)work;
  for (int i = 0; i < u.count; i++) {
    long rows = u.weights[i].rows;
    change_rows(u, u.weights[i], rows * piece / u.pieces, rows * (piece + 1) / u.pieces);
  }
}

extern "C" void elman_update(const Update* update, Parallel parallel) {
  compute_pieces(parallel, update->pieces, update_piece, (void*)update);
}
