// Work in pieces, shared by threads. Who takes which piece is open; what a piece computes is not.
#pragma once
#include <pthread.h>

// How OpenMP of the host program runs a function on its own threads: `GOMP_parallel`, or null.
typedef void (*Parallel)(void (*)(void*), void*, unsigned, unsigned);

struct Pieces {
  void (*compute)(void* work, int piece);
  void* work;
  int count;
  int next;
};

static void take_pieces(void* given) {
  Pieces* pieces = (Pieces*)given;
  for (;;) {
    int piece = __atomic_fetch_add(&pieces->next, 1, __ATOMIC_RELAXED);
    if (piece >= pieces->count) return;
    pieces->compute(pieces->work, piece);
  }
}
static void* take_pieces_alone(void* given) {
  take_pieces(given);
  return 0;
}

// Pieces shared by so many threads: those of the host where it lends them, so that no two pools fight for the cores.
static void share_pieces(Parallel parallel, int hands, int count, void (*compute)(void*, int), void* work) {
  Pieces pieces = {compute, work, count, 0};
  if (hands > 1 && parallel) {
    parallel(take_pieces, &pieces, hands, 0);
    return;
  }
  pthread_t threads[64];
  int more = 0;
  while (more < hands - 1 && more < 64 && !pthread_create(&threads[more], 0, take_pieces_alone, &pieces)) more++;
  take_pieces(&pieces);
  for (int i = 0; i < more; i++) pthread_join(threads[i], 0);
}

// As many threads as pieces.
static void compute_pieces(Parallel parallel, int count, void (*compute)(void*, int), void* work) {
  share_pieces(parallel, count, count, compute, work);
}
