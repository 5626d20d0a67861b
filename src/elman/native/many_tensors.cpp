// Operations on many tensors in one call. Threads share chunks of them; what a chunk gives depends on nobody else.
#include <stdlib.h>

#include "lanes.hpp"
#include "parallel.hpp"

static const long CHUNK = 1 << 15;
static const long FLOATS = 256 * LANES;  // are added up as floats, before they become a double

struct Tensors {
  int count, hands;
  const int64_t* sizes;
  float* const* to;
  const float* const* of;
  float share;
  double* sums;  // of each chunk
};

static int count_chunks(long size) { return (int)((size + CHUNK - 1) / CHUNK); }
static int count_all(const Tensors& t) {
  int all = 0;
  for (int i = 0; i < t.count; i++) all += count_chunks(t.sizes[i]);
  return all;
}

// Some numbers of one tensor.
struct Chunk {
  int tensor;
  long begin, end;
};
static Chunk find_chunk(const Tensors& t, int number) {
  int tensor = 0;
  for (; number >= count_chunks(t.sizes[tensor]); tensor++) number -= count_chunks(t.sizes[tensor]);
  long begin = number * CHUNK, size = t.sizes[tensor];
  return {tensor, begin, begin + CHUNK < size ? begin + CHUNK : size};
}

static void add_squares(void* work, int piece) {
  const Tensors& t = *(const Tensors*)work;
  Chunk c = find_chunk(t, piece);
  const float* a = t.to[c.tensor];
  double total = 0;
  for (long begin = c.begin; begin < c.end; begin += FLOATS) {
    long end = begin + FLOATS < c.end ? begin + FLOATS : c.end;
    lanes sum = spread(0.f);
    for (long i = begin; i < end; i += LANES) {
      lanes x = load_up_to(a + i, end - i < LANES ? (int)(end - i) : LANES);
      sum += x * x;
    }
    total += sum_up(sum);
  }
  t.sums[piece] = total;
}
static void scale_chunk(void* work, int piece) {
  const Tensors& t = *(const Tensors*)work;
  Chunk c = find_chunk(t, piece);
  float* a = t.to[c.tensor];
  const float share = t.share;  // which no a[i] can be
  for (long i = c.begin; i < c.end; i++) a[i] *= share;
}
static void move_chunk(void* work, int piece) {
  const Tensors& t = *(const Tensors*)work;
  Chunk c = find_chunk(t, piece);
  float* a = t.to[c.tensor];
  const float *b = t.of[c.tensor], share = t.share;
  for (long i = c.begin; i < c.end; i++) a[i] += (b[i] - a[i]) * share;
}

extern "C" {
// Σ a² over all numbers of all tensors, in the order in which they lie.
double elman_add_squares(Tensors* t, Parallel parallel) {
  int chunks = count_all(*t);
  t->sums = (double*)malloc(chunks * sizeof(double));
  share_pieces(parallel, t->hands, chunks, add_squares, t);
  double total = 0;
  for (int i = 0; i < chunks; i++) total += t->sums[i];
  free(t->sums);
  return total;
}
// share · a instead of each a.
void elman_scale(Tensors* t, Parallel parallel) { share_pieces(parallel, t->hands, count_all(*t), scale_chunk, t); }
// a + share · (b - a) instead of each a, b being in the same place of the other tensor.
void elman_move(Tensors* t, Parallel parallel) { share_pieces(parallel, t->hands, count_all(*t), move_chunk, t); }
}
