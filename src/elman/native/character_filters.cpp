// max_i Σ_k P_k[c_{i+k-⌊K/2⌋}] + b over the characters of words: what filters of K characters find in each.
//
// A row of P has what a character gives to each of the K places of a filter, `filters` numbers a place. The
// padding is character 0: no filter stands on it, and beyond both ends of a word there is nothing.
#include "lanes.hpp"

struct Words {
  long count, length;
  int places, filters;
  const int64_t* characters;
};

INLINE lanes sum_places(const Words& w, const int64_t* word, long at, const float* P, int f) {
  lanes sum = spread(0.f);
  for (int k = 0; k < w.places; k++) {
    long i = at + k - w.places / 2;
    if (i >= 0 && i < w.length) sum += load_up_to(P + (word[i] * w.places + k) * w.filters + f, w.filters - f);
  }
  return sum;
}

extern "C" {
// best[count][filters], and at which position each was found: -1 in a word without characters, which has 0.
void elman_filter(const Words* words, const float* P, const float* b, float* best, float* place) {
  const Words& w = *words;
  for (long n = 0; n < w.count; n++, best += w.filters, place += w.filters) {
    const int64_t* word = w.characters + n * w.length;
    for (int f = 0; f < w.filters; f += LANES) {
      lanes most = spread(-__builtin_inff()), where = spread(-1.f);
      for (long i = 0; i < w.length; i++) {
        if (!word[i]) continue;
        lanes sum = sum_places(w, word, i, P, f);
        ints better = (sum > most) | (sum != sum);
        most = better ? sum : most;
        where = better ? spread((float)i) : where;
      }
      lanes shift = load_up_to(b + f, w.filters - f);
      store_up_to(best + f, where < 0.f ? spread(0.f) : most + shift, w.filters - f);
      store_up_to(place + f, where, w.filters - f);
    }
  }
}

// Adds to the gradients of P and b.
void elman_filter_back(const Words* words, const float* place, const float* gradient, float* dP, float* db) {
  const Words& w = *words;
  for (long n = 0; n < w.count; n++, place += w.filters, gradient += w.filters) {
    const int64_t* word = w.characters + n * w.length;
    for (int f = 0; f < w.filters; f++) {
      if (place[f] < 0) continue;
      db[f] += gradient[f];
      for (int k = 0; k < w.places; k++) {
        long i = (long)place[f] + k - w.places / 2;
        if (i >= 0 && i < w.length) dP[(word[i] * w.places + k) * w.filters + f] += gradient[f];
      }
    }
  }
}
}
