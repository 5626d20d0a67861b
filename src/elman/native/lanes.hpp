// Vectors of floats as wide as the processor's registers, and the functions of formulas on them.
#pragma once
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX2__) && defined(__FMA__)
#define LANES 8
#else
#define LANES 4
#endif
#define INLINE static inline __attribute__((always_inline))

typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef float loose __attribute__((vector_size(4 * LANES), aligned(4), may_alias));  // in memory, anywhere

INLINE lanes load(const float* p) { return *(const loose*)p; }
INLINE void store(float* p, lanes a) { *(loose*)p = a; }
INLINE lanes spread(float a) { return a - (lanes){}; }

// The first `count` lanes, zeros after them; and nothing is written beyond them.
#if defined(__AVX512F__) && !defined(__clang__)
INLINE lanes load_some(const float* p, int count) {
  return (lanes)__builtin_ia32_loadups512_mask(p, (__attribute__((vector_size(64))) float){}, (uint16_t)((1u << count) - 1));
}
INLINE void store_some(float* p, lanes a, int count) {
  __builtin_ia32_storeups512_mask(p, a, (uint16_t)((1u << count) - 1));
}
#else
INLINE lanes load_some(const float* p, int count) {
  float all[LANES] = {};
  memcpy(all, p, 4 * count);
  return load(all);
}
INLINE void store_some(float* p, lanes a, int count) {
  float all[LANES];
  store(all, a);
  memcpy(p, all, 4 * count);
}
#endif
// `count` is LANES in all but the last block of a row.
INLINE lanes load_up_to(const float* p, int count) { return count >= LANES ? load(p) : load_some(p, count); }
// The same of a row that comes from afar; what stands beside it is asked for.
INLINE lanes load_early(const float* p, int count) {
  __builtin_prefetch(p + LANES);
  return load_up_to(p, count);
}
INLINE void store_up_to(float* p, lanes a, int count) {
  if (count >= LANES) store(p, a);
  else store_some(p, a, count);
}
INLINE float sum_up(lanes a) {
  float total = 0;
  for (int i = 0; i < LANES; i++) total += a[i];
  return total;
}

// Each keeps NaN: a comparison with it is false, so the operand itself is chosen.
INLINE lanes below(lanes a, float high) { return a > high ? spread(high) : a; }
INLINE lanes above(lanes a, float low) { return a < low ? spread(low) : a; }

// e^a = 2^n (1 + q) for |a| <= 87: n is whole, q a polynomial of what is left (Cephes).
struct Power {
  lanes whole, rest;  // 2^n and q
};
INLINE Power split_exp(lanes a) {
  a = above(below(a, 87.f), -87.f);
  lanes n = (a * 1.44269504f + 12582912.f) - 12582912.f;  // to the nearest whole number
  lanes f = (a - n * 0.693359375f) + n * 2.12194440e-4f;
  lanes p = spread(1.9875691500e-4f);
  p = p * f + 1.3981999507e-3f;
  p = p * f + 8.3334519073e-3f;
  p = p * f + 4.1665795894e-2f;
  p = p * f + 1.6666665459e-1f;
  p = p * f + 5.0000001201e-1f;
  return {(lanes)((__builtin_convertvector(n, ints) + 127) << 23), p * (f * f) + f};
}
INLINE lanes exp_within(lanes a) {
  Power e = split_exp(a);
  return e.whole * e.rest + e.whole;
}
INLINE lanes exp_lanes(lanes a) {
  lanes e = exp_within(a);
  e = a > 87.f ? e * exp_within(a - 87.f) : e;
  return a < -87.f ? spread(0.f) : e;
}
INLINE lanes sigmoid_lanes(lanes a) { return 1.f / (1.f + exp_within(-a)); }
// (e^2a - 1) / (e^2a + 1): e^2a - 1 as 2^n q + (2^n - 1) loses no digits near zero, where n = 0.
INLINE lanes tanh_lanes(lanes a) {
  Power e = split_exp(2.f * a);
  lanes less = e.whole * e.rest + (e.whole - 1.f);
  return less / (less + 2.f);
}
INLINE lanes abs_lanes(lanes a) { return (lanes)((ints)a & 0x7fffffff); }
INLINE lanes relu_lanes(lanes a) { return a > 0.f ? a : a != a ? a : spread(0.f); }
INLINE lanes sign_lanes(lanes a) {
  lanes one = spread(1.f), none = spread(0.f);
  return a != a ? a : a > 0.f ? one : a < 0.f ? -one : none;
}
INLINE lanes is_positive_lanes(lanes a) { return a > 0.f ? spread(1.f) : spread(0.f); }
INLINE lanes maximum_lanes(lanes a, lanes b) { return a != a ? a : a > b ? a : b; }
INLINE lanes minimum_lanes(lanes a, lanes b) { return a != a ? a : a < b ? a : b; }
INLINE lanes clamp_min_lanes(lanes a, lanes low) { return a < low ? low : a; }
INLINE lanes clamp_max_lanes(lanes a, lanes high) { return a > high ? high : a; }

// One lane after the other, for what is rare.
#define LANE_BY_LANE(name, expression)     \
  static lanes name(lanes a) {             \
    for (int i = 0; i < LANES; i++) {      \
      float x = a[i];                      \
      a[i] = expression;                   \
    }                                      \
    return a;                              \
  }
INLINE lanes sqrt_lanes(lanes a) {
  for (int i = 0; i < LANES; i++) a[i] = __builtin_sqrtf(a[i]);
  return a;
}
INLINE lanes rsqrt_lanes(lanes a) { return 1.f / sqrt_lanes(a); }
INLINE lanes log_lanes(lanes a);
LANE_BY_LANE(erf_lanes, __builtin_erff(x))
INLINE lanes pow_lanes(lanes a, lanes n) {
  for (int i = 0; i < LANES; i++) a[i] = __builtin_powf(a[i], n[i]);
  return a;
}

// log a = log m + n log 2 with m in [√½, √2) (Cephes); what is no positive number goes by the library.
static lanes log_slowly(lanes a) {
  for (int i = 0; i < LANES; i++) a[i] = __builtin_logf(a[i]);
  return a;
}
INLINE lanes log_lanes(lanes a) {
  ints usual = (a >= 1.17549435e-38f) & (a <= 3.4028234e38f);
  bool all = true;
  for (int i = 0; i < LANES; i++) all &= usual[i] != 0;
  if (!all) return log_slowly(a);
  ints bits = (ints)a;
  lanes n = __builtin_convertvector((bits >> 23) - 126, lanes);
  lanes m = (lanes)((bits & 0x007fffff) | 0x3f000000);
  ints small = m < 0.707106781186547524f;
  n = small ? n - 1.f : n;
  lanes x = small ? m + m - 1.f : m - 1.f, z = x * x;
  lanes p = spread(7.0376836292e-2f);
  p = p * x - 1.1514610310e-1f;
  p = p * x + 1.1676998740e-1f;
  p = p * x - 1.2420140846e-1f;
  p = p * x + 1.4249322787e-1f;
  p = p * x - 1.6668057665e-1f;
  p = p * x + 2.0000714765e-1f;
  p = p * x - 2.4999993993e-1f;
  p = p * x + 3.3333331174e-1f;
  lanes y = x * z * p + n * -2.12194440e-4f - 0.5f * z;
  return x + y + n * 0.693359375f;
}
// log(1 + e^-|a|); the digits that 1 + y loses are put back.
INLINE lanes log_one_more(lanes a) {
  lanes y = exp_within(-abs_lanes(a)), u = 1.f + y, rest = u - 1.f;
  lanes plain = rest == 0.f ? y : log_lanes(u) * (y / (rest == 0.f ? spread(1.f) : rest));
  return a != a ? a : plain;
}
INLINE lanes softplus_lanes(lanes a) { return relu_lanes(a) + log_one_more(a); }
INLINE lanes log_sigmoid_lanes(lanes a) { return -(relu_lanes(-a) + log_one_more(a)); }
INLINE lanes silu_lanes(lanes a) { return a * sigmoid_lanes(a); }
INLINE lanes gelu_lanes(lanes a) { return 0.5f * a * (1.f + erf_lanes(a * 0.70710678118f)); }
