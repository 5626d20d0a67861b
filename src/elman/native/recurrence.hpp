// The time loop of a recurrence over packed rows. A printed file defines what a step computes.
//
// Step t has sizes[t] rows, the first of the batch, in rows offsets[t] and following of every buffer of tokens.
// A buffer of states begins with the `rows` initial ones. Threads take neighbouring rows of the batch and go
// through all steps with them: nobody waits for another.
#pragma once
#include <stdlib.h>

#include "parallel.hpp"
#include "product.hpp"

struct Job {
  int32_t rows, steps, pieces, keep;
  const int32_t *sizes, *offsets, *widths;
  void* const* buffers;
  Parallel parallel;
};

// The rows of one piece at one step, and where they begin in each kind of buffer.
struct Span {
  int n;
  long token, old, fresh, row;
  int turn;   // which of two buffers holds the gradients that come from the step after
  int piece;
};

static inline Span find_span(const Job& job, int t, int first, int last, int piece) {
  Span at;
  at.n = (job.sizes[t] < last ? job.sizes[t] : last) - first;
  at.token = job.offsets[t] + first;
  at.old = (t ? job.rows + job.offsets[t - 1] : 0) + first;
  at.fresh = job.rows + job.offsets[t] + first;
  at.row = first;
  at.turn = (job.steps - 1 - t) & 1;
  at.piece = piece;
  return at;
}

// The first row of a piece: rows are sorted by falling length, pieces have equally many tokens.
static int find_cut(const Job& job, int piece) {
  if (piece == 0) return 0;
  if (piece == job.pieces) return job.rows;
  long total = 0, here = 0;
  for (int t = 0; t < job.steps; t++) total += job.sizes[t];
  int row = 0;
  for (int length = job.steps; row < job.rows && here * job.pieces < total * piece; row++) {
    while (length > 0 && job.sizes[length - 1] <= row) length--;
    here += length;
  }
  return row;
}

static float* take_memory(long floats) { return (float*)aligned_alloc(64, (floats * 4 + 63) / 64 * 64 + 64); }

INLINE lanes keep_first(lanes a, int count) {
  for (int i = 0; i < LANES; i++) a[i] = i < count ? a[i] : 0.f;
  return a;
}
static inline void add_doubles(double* total, lanes a, int count) {
  for (int i = 0; i < (count < LANES ? count : LANES); i++) total[i] += a[i];
}

// Of the printed file: numbers that a piece of n rows needs beside its buffers, and the two kinds of step.
static long count_scratch(const int32_t* widths, long n);
template <bool KEEP>
static void step_forward(const Job& job, const Span& at, float* scratch);
static void step_backward(const Job& job, const Span& at, float* scratch);

static void run_forward(void* work, int piece) {
  const Job& job = *(const Job*)work;
  int first = find_cut(job, piece), last = find_cut(job, piece + 1);
  float* scratch = take_memory(count_scratch(job.widths, last - first));
  for (int t = 0; t < job.steps; t++) {
    Span at = find_span(job, t, first, last, piece);
    if (at.n <= 0) break;
    if (job.keep) step_forward<true>(job, at, scratch);
    else step_forward<false>(job, at, scratch);
  }
  free(scratch);
}
static void run_backward(void* work, int piece) {
  const Job& job = *(const Job*)work;
  int first = find_cut(job, piece), last = find_cut(job, piece + 1);
  float* scratch = take_memory(count_scratch(job.widths, last - first));
  for (int t = job.steps - 1; t >= 0; t--) {
    Span at = find_span(job, t, first, last, piece);
    if (at.n > 0) step_backward(job, at, scratch);
  }
  free(scratch);
}

struct Packing {
  int width, parts, blocks, depth, pieces;
  const float* const* first;
  long across, along;
  float* out;
};
static void pack_piece(void* work, int piece) {
  Packing p = *(const Packing*)work;
  int units = p.blocks * LANES, panels = (p.width + units - 1) / units;
  int begin = (int)((long)panels * piece / p.pieces) * units, end = (int)((long)panels * (piece + 1) / p.pieces) * units;
  const float* first[64];
  for (int g = 0; g < p.parts; g++) first[g] = p.first[g] + begin * p.across;
  int width = (end < p.width ? end : p.width) - begin;
  if (width > 0) pack_panels(width, p.parts, p.blocks, p.depth, first, p.across, p.along, p.out + (long)begin * p.depth * p.parts);
}

extern "C" {
void elman_forward(const Job* job) { compute_pieces(job->parallel, job->pieces, run_forward, (void*)job); }
void elman_backward(const Job* job) { compute_pieces(job->parallel, job->pieces, run_backward, (void*)job); }
long elman_count_packed(int width, int parts, int depth) { return count_packed(width, parts, depth); }
void elman_pack(int width, int parts, int blocks, int depth, const float* const* first, long across, long along, float* out, Parallel parallel, int pieces) {
  Packing packing = {width, parts, blocks, depth, pieces, first, across, along, out};
  compute_pieces(parallel, pieces, pack_piece, &packing);
}
}
