// The step of a network in one call: instructions, one after the other, over numbered buffers of rows.
//
// The caller gives the first buffers; the others last as long as the call. Matrices are read where they lie.
#include <stdlib.h>

#include "attention.hpp"
#include "parallel.hpp"

enum Kind { LOOK_UP, FOLD, MULTIPLY, MULTIPLY_BFLOAT16, STEP, ADD, TANH, WEIGH, FIND };

struct Instruction {
  int32_t kind, to, from, beside, width, depth, add, rest;
  const void* matrix;
  const float* bias;
  const void* table;
  int64_t stride;
  double scale;
};

// W E[w] + b of the tokens that were read before, each beside the E[w] that it was computed from.
struct FoldedTable {
  const float* E;
  float* rows;
  uint8_t* known;
};

// A matrix of which something was made: some of its numbers, and a checksum of all of them.
struct Sample {
  const float* at;
  const float* values;
  int64_t count, step, numbers;
  uint64_t checksum;
};

// What the printed steps of a formula are given: numbers of buffers, or where that is -1 what is fixed.
struct FormulaStep {
  void (*run)(int, int, const int*, float* const*, float*);
  const int32_t* widths;
  const int32_t* places;
  float* const* fixed;
  int64_t count, scratch;  // numbers a row
};

struct Program {
  const Instruction* instructions;
  const int32_t* widths;  // of the buffers
  const Sample* samples;
  int64_t sampled, count, buffers, given, scratch, vocabulary;  // scratch: numbers a row that any step needs
};

struct Call {
  float* const* given;
  const int64_t* tokens;
  const Sources* sources;
  const int64_t* source_rows;
  Parallel parallel;
  int32_t rows, threads;
};

static const long WORTH_A_THREAD = 1 << 20;  // numbers of a matrix
static const int MOST_GIVEN = 64;
static const int POSITIONS = -1;  // in place of a width: as many as the sources have

struct Share {
  const Instruction* at;
  const float* x;
  float* y;
  int rows, pieces;
};

template <typename T>
static void multiply_share(void* work, int piece) {
  const Share& s = *(const Share*)work;
  const Instruction& i = *s.at;
  long blocks = (i.width + 3) / 4, first = blocks * piece / s.pieces * 4, last = blocks * (piece + 1) / s.pieces * 4;
  if (last > i.width) last = i.width;
  if (first >= last) return;
  const T* W = (const T*)i.matrix + first * i.stride;
  // The rows of y lie as far apart as all of its columns.
  multiply_rows(s.rows, (int)(last - first), i.depth, s.x, i.depth, W, i.stride, i.bias ? i.bias + first : 0, s.y + first, i.width, i.add != 0);
}

template <typename T>
static void multiply(const Instruction& i, const Call& call, const float* x, float* y) {
  long worth = 1 + (long)i.width * i.depth / WORTH_A_THREAD;
  Share share = {&i, x, y, call.rows, (int)(worth < call.threads ? worth : call.threads)};
  if (share.pieces <= 1) share.pieces = 1, multiply_share<T>(&share, 0);
  else compute_pieces(call.parallel, share.pieces, multiply_share<T>, &share);
}

// A row that changed is computed again. Threads that compute the same row write the same numbers.
static void fold(const Instruction& i, const Call& call, float* to) {
  const FoldedTable& folded = *(const FoldedTable*)i.table;
  for (int r = 0; r < call.rows; r++, to += i.width) {
    long token = call.tokens[r];
    const float* x = folded.E + token * i.depth;
    float *gates = folded.rows + token * (i.width + i.depth), *from = gates + i.width;
    if (!__atomic_load_n(folded.known + token, __ATOMIC_ACQUIRE) || memcmp(from, x, 4 * i.depth)) {
      multiply_rows(1, i.width, i.depth, x, i.depth, (const float*)i.matrix, i.stride, i.bias, gates, i.width, false);
      memcpy(from, x, 4 * i.depth);
      __atomic_store_n(folded.known + token, 1, __ATOMIC_RELEASE);
    }
    memcpy(to, gates, 4 * i.width);
  }
}

static bool is_unchanged(const Program& program) {
  for (int k = 0; k < program.sampled; k++) {
    const Sample& s = program.samples[k];
    if (s.step == 1 && memcmp(s.at, s.values, 4 * s.count)) return false;
    for (long j = 0; s.step > 1 && j < s.count; j++)
      if (memcmp(s.at + j * s.step, s.values + j, 4)) return false;
  }
  return true;
}

INLINE uint64_t mix(uint64_t sum, uint64_t x) {
  sum = (sum ^ x) * 0x9E3779B97F4A7C15u;
  return sum ^ sum >> 32;  // or a sign that changes twice would change nothing
}

// Of a number that changes it is always another: each step maps different sums to different ones.
static uint64_t sum_numbers(const float* at, int64_t numbers) {
  enum { LANES_64 = 32 };
  uint64_t sums[LANES_64] = {0}, xs[LANES_64], whole = (uint64_t)numbers;
  for (; numbers >= 2 * LANES_64; at += 2 * LANES_64, numbers -= 2 * LANES_64) {
    memcpy(xs, at, sizeof xs);
    for (int j = 0; j < LANES_64; j++) sums[j] = mix(sums[j], xs[j]);
  }
  for (int j = 0; j < LANES_64; j++) whole = mix(whole, sums[j]);
  for (uint32_t x; numbers; at++, numbers--) memcpy(&x, at, 4), whole = mix(whole, x);
  return whole;
}

static void step_formula(const FormulaStep& step, const Call& call, float* const* buffers, float* scratch) {
  float* given[MOST_GIVEN];
  for (int k = 0; k < step.count; k++) given[k] = step.places[k] < 0 ? step.fixed[k] : buffers[step.places[k]];
  step.run(call.rows, 1, step.widths, given, scratch);
}

// to = from + beside, or tanh of it.
static void add_up(const Instruction& i, int rows, const float* a, const float* b, float* to) {
  for (long j = 0; j < (long)rows * i.width; j += LANES) {
    int count = (long)rows * i.width - j < LANES ? (int)((long)rows * i.width - j) : LANES;
    lanes sum = load_up_to(a + j, count) + load_up_to(b + j, count);
    store_up_to(to + j, i.kind == TANH ? tanh_lanes(sum) : sum, count);
  }
}

static void run_instruction(const Instruction& i, const Call& call, float* const* buffers, float* scratch) {
  float* to = i.to < 0 ? 0 : buffers[i.to];
  const float* from = i.from < 0 ? 0 : buffers[i.from];
  switch (i.kind) {
    case LOOK_UP:
      for (int r = 0; r < call.rows; r++) memcpy(to + (long)r * i.width, (const float*)i.table + call.tokens[r] * i.stride, 4 * i.width);
      break;
    case FOLD: fold(i, call, to); break;
    case MULTIPLY: multiply<float>(i, call, from, to); break;
    case MULTIPLY_BFLOAT16: multiply<bfloat16>(i, call, from, to); break;
    case STEP: step_formula(*(const FormulaStep*)i.matrix, call, buffers, scratch); break;
    case ADD:
    case TANH: add_up(i, call.rows, from, buffers[i.beside], to); break;
    case WEIGH: weigh_sources(*call.sources, call.rows, call.source_rows, from, (float)i.scale, (const float*)i.matrix, to); break;
    case FIND: find_contexts(*call.sources, i.beside, call.rows, call.source_rows, from, to); break;
  }
}

// Rows that are computed together: their buffers stay near, and a matrix is read once for them.
static const int MOST_ROWS = 32;

struct Work {
  const Program* program;
  const Call* call;
  int failed;
};

INLINE long find_width(const Program& program, const Call& call, int b) {
  return program.widths[b] == POSITIONS ? call.sources->positions : program.widths[b];
}

static void run_rows(void* given, int piece) {
  Work& work = *(Work*)given;
  const Program& program = *work.program;
  long first = (long)piece * MOST_ROWS, numbers = program.scratch;
  Call call = *work.call;
  call.rows = call.rows - first < MOST_ROWS ? (int)(call.rows - first) : MOST_ROWS;
  if (call.tokens) call.tokens += first;
  if (call.source_rows) call.source_rows += first;
  for (int b = program.given; b < program.buffers; b++) numbers += find_width(program, call, b);
  float** buffers = (float**)malloc(sizeof(float*) * program.buffers);
  float* memory = (float*)malloc(4 * (numbers * call.rows + 1));
  if (buffers && memory) {
    float* next = memory;
    for (int b = 0; b < program.buffers; b++) {
      long width = find_width(program, call, b);
      buffers[b] = b < program.given ? call.given[b] + first * width : next;
      if (b >= program.given) next += width * call.rows;
    }
    for (int k = 0; k < program.count; k++) run_instruction(program.instructions[k], call, buffers, next);
  } else {
    __atomic_store_n(&work.failed, 1, __ATOMIC_RELAXED);
  }
  free(memory);
  free(buffers);
}

enum Outcome { DONE, NO_MEMORY, UNKNOWN_TOKEN, CHANGED };

extern "C" int elman_run_program(const Program* program, const Call* call) {
  for (int r = 0; program->vocabulary && r < call->rows; r++)
    if (call->tokens[r] < 0 || call->tokens[r] >= program->vocabulary) return UNKNOWN_TOKEN;
  if (!is_unchanged(*program)) return CHANGED;
  Call each = *call;
  Work work = {program, &each, 0};
  int pieces = (call->rows + MOST_ROWS - 1) / MOST_ROWS;
  if (pieces > 1) each.threads = 1;  // threads take rows rather than parts of a product
  if (pieces > 1 && call->threads > 1) share_pieces(call->parallel, call->threads, pieces, run_rows, &work);
  else
    for (int piece = 0; piece < pieces; piece++) run_rows(&work, piece);
  return work.failed ? NO_MEMORY : DONE;
}

extern "C" uint64_t elman_sum_numbers(const float* at, int64_t numbers) { return sum_numbers(at, numbers); }

// Whether all numbers are as they were, those between the samples, too.
extern "C" int elman_is_current(const Program* program) {
  for (int k = 0; k < program->sampled; k++) {
    const Sample& s = program->samples[k];
    if (sum_numbers(s.at, s.numbers) != s.checksum) return 0;
  }
  return 1;
}

extern "C" int elman_round_depth(int depth) { return round_depth(depth); }

// Whether a matrix holds nothing but bfloat16; if so, it is packed.
extern "C" int elman_pack_bfloat16(int rows, int depth, const float* W, int64_t stride, bfloat16* to) {
  for (int r = 0; r < rows; r++)
    if (!pack_row(W + r * stride, depth, to + (long)r * round_depth(depth))) return 0;
  return 1;
}
