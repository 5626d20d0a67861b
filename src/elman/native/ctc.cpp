// -log p of each target, summed over all ways to spell it (CTC, Graves et al. 2006), and its gradient by the logits.
//
// Each position writes `slots` tokens or blanks in turn; slot k of token v has the logit z[v * slots + k]. The states
// of a target y are blank, y_1, blank, y_2, …, blank; state s follows itself, the one before it and, if it is a token
// and not that of two states before, that one, too:
//
//   a_t(s) = log p_t(s) + log Σ e^a_{t-1}      b_t(s) = log Σ e^(b_{t+1} + log p_{t+1})      l = -log Σ_s e^(a_t + b_t)
//   ∂l/∂z_t(v) = p_t(v) - Σ_{s of v} e^(a_t(s) + b_t(s) + l)
#include <stdlib.h>

#include "log_sum.hpp"
#include "parallel.hpp"

struct Spellings {
  int32_t rows, positions, slots, vocabulary, longest, blank, pieces;
  float impossible;         // the result where a source is too short: no gradient then
  const float* logits;      // (rows, positions, vocabulary, slots)
  const int64_t *targets;   // (rows, longest)
  const int64_t *lengths, *target_lengths;
  float* nll;
  float* gradient;          // as the logits, or null
};

static const float NEVER = -1e30f;  // the logarithm of a probability that is zero

// The states of one target, with room for what stands before the first and after the last.
struct States {
  int count, room;      // room: whole vectors, and LANES numbers before and after them
  int32_t* token;
  float *skip, *emit;   // 0 where a state may follow that of two before, else NEVER; log p_t(s)
  float *next, *a;      // b_{t+1} + log p_{t+1}; a of all times, `room` numbers each
};

static int find_room(int count) { return (count + LANES - 1) / LANES * LANES + 2 * LANES; }

INLINE lanes add_logs(lanes a, lanes b, lanes c) {
  lanes most = a > b ? a : b;
  most = c > most ? c : most;
  return most + log_lanes(exp_lanes(a - most) + exp_lanes(b - most) + exp_lanes(c - most));
}

static void clear_states(const States& s, float* to) {
  for (int i = 0; i < s.room; i++) to[i] = NEVER;
}

static void write_states(const Spellings& all, long row, const States& s) {
  const int64_t* target = all.targets + row * all.longest;
  clear_states(s, s.skip);
  for (int i = 0; i < s.count; i++) {
    s.token[i] = i % 2 ? (int32_t)target[i / 2] : all.blank;
    if (i > 2 && i % 2 && target[i / 2] != target[i / 2 - 1]) s.skip[LANES + i] = 0.f;
  }
}

// log p of the states at a time; where a gradient is wanted its place takes p of all tokens.
static void emit_states(const Spellings& all, const States& s, const float* z, float* probabilities, float* line, float* emit) {
  const int count = all.vocabulary;
  for (int v = 0; v < count; v++) line[v] = z[(long)v * all.slots];
  float most = find_most(line, count), total = sum_exponentials(line, count, most, probabilities ? line + count : 0);
  float shift = most + __builtin_logf(total);
  clear_states(s, emit);
  for (int i = 0; i < s.count; i++) emit[LANES + i] = line[s.token[i]] - shift;
  for (int v = 0; probabilities && v < count; v++) probabilities[(long)v * all.slots] = line[count + v] / total;
}

static void move_forward(const States& s, const float* before, const float* emit, float* a) {
  clear_states(s, a);
  for (int i = LANES; i < LANES + s.count; i += LANES)
    store(a + i, load(emit + i) + add_logs(load(before + i), load(before + i - 1), load(before + i - 2) + load(s.skip + i)));
}

// b of a time from `next`, in `b`; then `next` becomes b + log p of this time.
static void move_back(const States& s, const float* emit, float* b, float* next) {
  for (int i = LANES; i < LANES + s.count; i += LANES)
    store(b + i, add_logs(load(next + i), load(next + i + 1), load(next + i + 2) + load(s.skip + i + 2)));
  for (int i = LANES; i < LANES + s.count; i += LANES) store(next + i, load(b + i) + load(emit + i));
  for (int i = LANES + s.count; i < s.room; i++) next[i] = NEVER;
}

static void subtract_states(const Spellings& all, const States& s, const float* a, const float* b, float nll, float* probabilities) {
  for (int i = 0; i < s.count; i += LANES) {
    lanes share = exp_lanes(load(a + LANES + i) + load(b + LANES + i) + nll);
    for (int u = 0; u < LANES && i + u < s.count; u++) probabilities[(long)s.token[i + u] * all.slots] -= share[u];
  }
}

static float sum_ends(const States& s, const float* a) {
  float last = a[LANES + s.count - 1], other = s.count > 1 ? a[LANES + s.count - 2] : NEVER, most = last > other ? last : other;
  return most + __builtin_logf(__builtin_expf(last - most) + __builtin_expf(other - most));
}

static void spell_row(const Spellings& all, long row, States s, float* line) {
  const long size = (long)all.positions * all.slots * all.vocabulary, width = (long)all.slots * all.vocabulary;
  const float* logits = all.logits + row * size;
  float* gradient = all.gradient ? all.gradient + row * size : 0;
  const int times = (int)all.lengths[row] * all.slots;
  s.count = 2 * (int)all.target_lengths[row] + 1;
  write_states(all, row, s);
  float* begin = s.next;  // before the first time the blank before all tokens may be next, or the first token
  clear_states(s, begin);
  begin[LANES] = 0.f;
  for (int t = 0; t < times; t++) {
    const long at = t / all.slots * width + t % all.slots;
    emit_states(all, s, logits + at, gradient ? gradient + at : 0, line, s.emit + (long)t * s.room);
    move_forward(s, t ? s.a + (long)(t - 1) * s.room : begin, s.emit + (long)t * s.room, s.a + (long)t * s.room);
  }
  float found = times ? sum_ends(s, s.a + (long)(times - 1) * s.room) : s.count > 1 ? NEVER : 0.f;
  const bool never = found < NEVER / 2;
  all.nll[row] = never ? all.impossible : -found;
  if (!gradient) return;
  if (never) memset(gradient, 0, 4 * size);
  else memset(gradient + all.lengths[row] * width, 0, 4 * (size - all.lengths[row] * width));
  clear_states(s, s.next);
  for (int t = times - 1; t >= 0 && !never; t--) {
    float* b = line;
    clear_states(s, b);
    if (t == times - 1) s.next[LANES + s.count - 1] = 0.f;
    move_back(s, s.emit + (long)t * s.room, b, s.next);
    const long at = t / all.slots * width + t % all.slots;
    subtract_states(all, s, s.a + (long)t * s.room, b, -found, gradient + at);
  }
}

static void spell_piece(void* work, int piece) {
  const Spellings& all = *(const Spellings*)work;
  const int room = find_room(2 * all.longest + 1);
  const long times = (long)all.positions * all.slots, line = 2 * (long)all.vocabulary + room + LANES;
  float* memory = (float*)malloc(4 * (room * (3 + 2 * times) + line));
  States s = {0, room, (int32_t*)memory, memory + room, memory + 3 * room, memory + 2 * room, memory + (3 + times) * room};
  for (long row = (long)all.rows * piece / all.pieces; row < (long)all.rows * (piece + 1) / all.pieces; row++)
    spell_row(all, row, s, memory + room * (3 + 2 * times));
  free(memory);
}

extern "C" void elman_spell(const Spellings* all, Parallel parallel) { compute_pieces(parallel, all->pieces, spell_piece, (void*)all); }
