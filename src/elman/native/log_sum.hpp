// log Σ e^a of a row of numbers.
#pragma once
#include "lanes.hpp"

static float find_most(const float* a, int count) {
  float most = -__builtin_inff();
  int j = 0;
  if (count >= LANES) {
    lanes best = load(a);
    for (j = LANES; j + LANES <= count; j += LANES) {
      lanes next = load(a + j);
      best = next > best ? next : best;
    }
    for (int i = 0; i < LANES; i++) most = best[i] > most ? best[i] : most;
  }
  for (; j < count; j++) most = a[j] > most ? a[j] : most;
  return most;
}

// Σ e^(a - most); each e^(a - most) is written to `to`, if there is such a place.
static float sum_exponentials(const float* a, int count, float most, float* to = 0) {
  lanes total = spread(0.f);
  for (int j = 0; j < count; j += LANES) {
    int here = count - j < LANES ? count - j : LANES;
    lanes power = exp_lanes(load_up_to(a + j, here) - most);
    if (to) store_up_to(to + j, power, here);
    if (here == LANES) total += power;
    else for (int i = 0; i < here; i++) total[i] += power[i];
  }
  return sum_up(total);
}
