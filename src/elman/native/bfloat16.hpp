// Numbers of 16 bits, the upper half of a float, in an order in which two vectors of them are one of 32 bits.
#pragma once
#include "lanes.hpp"

struct bfloat16 {
  uint16_t bits;
};
typedef int32_t loose_ints __attribute__((vector_size(4 * LANES), aligned(2), may_alias));

// Rows of a matrix are padded with zeros to a multiple of this.
INLINE int round_depth(int depth) { return (depth + 2 * LANES - 1) / (2 * LANES) * (2 * LANES); }

// From one row of a matrix without gaps to the next.
INLINE int find_stride(const float*, int depth) { return depth; }
INLINE int find_stride(const bfloat16*, int depth) { return round_depth(depth); }

INLINE ints load_pairs(const bfloat16* p) { return *(const loose_ints*)p; }
INLINE lanes take_first(ints pairs) { return (lanes)(pairs << 16); }
INLINE lanes take_second(ints pairs) { return (lanes)(pairs & (int32_t)0xffff0000); }
INLINE lanes load_rest(const float* p, int count) { return count > 0 ? load_up_to(p, count) : spread(0.f); }

// One row; whether all of its numbers are bfloat16 already, so that nothing is lost.
static bool pack_row(const float* from, int depth, bfloat16* to) {
  uint32_t lost = 0;
  for (int k = 0; k < round_depth(depth); k += 2 * LANES)
    for (int i = 0; i < 2 * LANES; i++) {
      uint32_t bits = 0;
      if (k + i < depth) memcpy(&bits, from + k + i, 4);
      lost |= bits & 0xffff;
      to[k + 2 * (i % LANES) + i / LANES].bits = (uint16_t)(bits >> 16);
    }
  return !lost;
}
