// Recurrences in which each unit reads its own past alone: a row of the batch from its first token to its last.
//
// The tokens of row i are those from starts[i] to starts[i + 1]. Threads take rows, or parts of the units of a row:
// nobody waits for another. A printed file defines what one row computes.
#pragma once
#include <stdlib.h>

#include "lanes.hpp"
#include "parallel.hpp"

struct UnitJob {
  int32_t rows, width, pieces, parts, reverse, keep;
  const int64_t* starts;
  float* const* buffers;
  double* totals;  // gradients of per-unit parameters, for each piece
  Parallel parallel;
};

// Some units of one row.
struct UnitSpan {
  long begin, end, row;
  int first, last, piece;
};

// Where the token lies that is read as number n.
INLINE long find_token(const UnitJob& job, const UnitSpan& at, long n) { return job.reverse ? at.end - 1 - n : at.begin + n; }

static const int VALUES_BEFORE_SUM = 256;  // floats are added up so often before they become doubles

// Of the printed file: how many numbers a unit needs beside the buffers, and the two ways through a row.
static long count_scratch(long width);
template <bool KEEP>
static void read_row(const UnitJob& job, const UnitSpan& at, float* scratch);
static void return_row(const UnitJob& job, const UnitSpan& at, float* scratch);

static void add_units(double* total, float* some, int first, int last) {
  for (int j = first; j < last; j++) total[j] += some[j], some[j] = 0.f;
}

typedef void (*RowFunction)(const UnitJob& job, const UnitSpan& at, float* scratch);

static void take_rows(const UnitJob& job, int piece, RowFunction compute) {
  float* scratch = (float*)aligned_alloc(64, (count_scratch(job.width) * 4 + 63) / 64 * 64 + 64);
  memset(scratch, 0, count_scratch(job.width) * 4);  // lanes beyond the last unit are computed, too
  const int vectors = (job.width + LANES - 1) / LANES;
  for (long item = piece; item < (long)job.rows * job.parts; item += job.pieces) {
    const long row = item / job.parts, part = item % job.parts;
    const int last = (int)(vectors * (part + 1) / job.parts) * LANES;
    UnitSpan at = {job.starts[row], job.starts[row + 1], row, (int)(vectors * part / job.parts) * LANES, last < job.width ? last : job.width, piece};
    if (at.first < at.last) compute(job, at, scratch);
  }
  free(scratch);
}
static void take_rows_forward(void* work, int piece) {
  const UnitJob& job = *(const UnitJob*)work;
  take_rows(job, piece, job.keep ? read_row<true> : read_row<false>);
}
static void take_rows_backward(void* work, int piece) { take_rows(*(const UnitJob*)work, piece, return_row); }

extern "C" {
void elman_read_units(const UnitJob* job) { compute_pieces(job->parallel, job->pieces, take_rows_forward, (void*)job); }
void elman_return_units(const UnitJob* job) { compute_pieces(job->parallel, job->pieces, take_rows_backward, (void*)job); }
}
