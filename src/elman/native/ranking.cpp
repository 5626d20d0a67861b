// The likeliest of many tokens.
#include "log_sum.hpp"

// log Σ e^a; NaN where any of them is, or all are -∞.
static double find_log_sum(const float* a, int count) {
  float most = find_most(a, count);
  return most + __builtin_log((double)sum_exponentials(a, count, most));
}

// The log-probability of one token.
extern "C" double elman_log_probability(const float* logits, int count, int token) {
  return logits[token] - find_log_sum(logits, count);
}

static const int BLOCK = 4 * LANES;

// The k greatest of a - log_sum, greatest first, and of equal ones the first; how many are above -∞.
static int rank(const float* a, int count, double log_sum, int k, float* values, int64_t* places) {
  int found = 0;
  for (int begin = 0; begin < count; begin += BLOCK) {
    int end = begin + BLOCK < count ? begin + BLOCK : count;
    if (found == k && !((float)(find_most(a + begin, end - begin) - log_sum) > values[k - 1])) continue;
    for (int j = begin; j < end; j++) {
      float value = (float)(a[j] - log_sum);
      if (!(value > (found < k ? -__builtin_inff() : values[k - 1]))) continue;
      int at = found < k ? found++ : k - 1;
      for (; at && value > values[at - 1]; at--) values[at] = values[at - 1], places[at] = places[at - 1];
      values[at] = value, places[at] = j;
    }
  }
  return found;
}

// Rows of log-probabilities from logits: the k greatest of each, -∞ and token 0 where there are no more.
extern "C" void elman_rank_rows(int rows, int count, const float* logits, int k, float* values, int64_t* places) {
  for (int r = 0; r < rows; r++, logits += count, values += k, places += k) {
    int found = rank(logits, count, find_log_sum(logits, count), k, values, places);
    for (; found < k; found++) values[found] = -__builtin_inff(), places[found] = 0;
  }
}

// The k greatest probabilities among all but the barred tokens; how many are above zero. `scratch`: count numbers.
extern "C" int elman_likeliest(int count, const float* logits, int bars, const int32_t* barred, int k, float* values, int64_t* places, float* scratch) {
  memcpy(scratch, logits, 4 * (long)count);
  for (int b = 0; b < bars; b++) scratch[barred[b]] = -__builtin_inff();
  float most = find_most(scratch, count), total = sum_exponentials(scratch, count, most);
  for (int j = 0; j < count; j += LANES) {
    lanes masses = exp_lanes(load_up_to(scratch + j, count - j) - most) / total;
    store_up_to(scratch + j, masses, count - j);
  }
  int found = rank(scratch, count, 0, k, values, places);
  while (found && !(values[found - 1] > 0)) found--;
  return found;
}
