// One recurrent layer in one launch: the hand-written half of a kernel; the generated half follows it.
//
// GROUP blocks share ROWS rows of the batch. Each holds the weights of its own units, in registers and shared
// memory, for the whole sequence. A step: read what all blocks of the group sent, multiply it by the weights on
// the tensor cores, add up the parts of the warps in shared memory, let one thread a unit and row compute the
// formula in float32, send the result. What is sent has 16 bits and takes one of two ways: through the second
// level cache, where readers poll the data itself (unwritten is all ones, which no conversion gives), or into
// the shared memory of every block of a cluster, where a barrier counts the bytes.

#define INLINE __device__ __forceinline__
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned long long u64;

constexpr int THREADS = 256, WARPS = 8, VECTOR = 8;  // of 16-bit numbers
constexpr int PATIENCE = 1 << 24;                    // polls before a block gives up with an error

struct alignas(16) Vector {
  u32 x, y, z, w;
};

INLINE Vector no_vector() { return Vector{0, 0, 0, 0}; }
INLINE bool is_unwritten(const Vector& v) { return v.x == ~0u | v.y == ~0u | v.z == ~0u | v.w == ~0u; }

#if FLOAT16
#define KIND "f16"
INLINE float to_float(u16 a) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(a)); return r; }
#else
#define KIND "bf16"
INLINE float to_float(u16 a) { return __uint_as_float((u32)a << 16); }
#endif
INLINE u16 to_half(float a) { u16 r; asm("cvt.rn." KIND ".f32 %0, %1;" : "=h"(r) : "f"(a)); return r; }
INLINE u32 to_halves(float low, float high) { return (u32)to_half(low) | (u32)to_half(high) << 16; }

// c += a b on 16 x 16 times 16 x 8 numbers, spread over a warp.
INLINE void multiply_tile(float (&c)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32." KIND "." KIND ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Past the first level cache, which would not see what other blocks write.
INLINE Vector load_fresh(const u16* p) {
  Vector v;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
  return v;
}
INLINE void store_fresh(u16* p, Vector v) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

// Clusters: shared memory of the blocks beside this one.
INLINE u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
#if CLUSTER
INLINE u32 address_in(u32 address, u32 block) {
  u32 there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
INLINE void store_there(u32 address, Vector v, u32 barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1,%2,%3,%4}, [%5];" ::"r"(address),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(barrier) : "memory");
}
INLINE void begin_barrier(u32 barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}
INLINE void expect_bytes(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
INLINE void await_bytes(u32 barrier, u32 parity) {
  for (int polls = 0; polls < PATIENCE; polls++) {
    u32 there;
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(there) : "r"(barrier), "r"(parity) : "memory");
    if (there) return;
  }
  __trap();
}
INLINE void sync_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
#endif

// The part of a matrix that a block multiplies by: TILES x 16 rows a warp, K steps of 32 columns a warp. Of the
// eight warps, ACROSS share the rows and the others share the columns. The first KEPT steps lie in registers.
// A lane holds eight neighbouring columns of a step in one vector; since both factors are laid out so, the order
// of columns within a step does not matter.
template <int TILES, int ACROSS, int K, int KEPT>
struct Matrix {
  static constexpr int ALONG = WARPS / ACROSS, PITCH = TILES * ACROSS * 16 + 4;
  Vector kept[TILES][KEPT > 0 ? KEPT : 1][2];
  Vector* others;
  int across, along, lane;

  // ``weight(row, column)`` is an element of the block's part, zero outside of it.
  template <class Weight>
  INLINE Matrix(Vector* shared, const Weight& weight) : others(shared) {
    lane = threadIdx.x % 32;
    across = threadIdx.x / 32 % ACROSS;
    along = threadIdx.x / 32 / ACROSS;
#pragma unroll
    for (int m = 0; m < TILES; m++) {
#pragma unroll
      for (int k = 0; k < K; k++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const int row = (across * TILES + m) * 16 + lane / 4 + half * 8, column = (along * K + k) * 32 + lane % 4 * 8;
          float w[VECTOR];
#pragma unroll
          for (int i = 0; i < VECTOR; i++) w[i] = weight(row, column + i);
          const Vector v{to_halves(w[0], w[1]), to_halves(w[2], w[3]), to_halves(w[4], w[5]), to_halves(w[6], w[7])};
          if (k < KEPT) kept[m][k < KEPT ? k : 0][half] = v;
          else *other(m, k, half) = v;
        }
      }
    }
  }

  INLINE Vector* other(int m, int k, int half) const {
    return others + (((across + along * ACROSS) * TILES + m) * (K - KEPT) + k - KEPT) * 64 + half * 32 + lane;
  }

  // sums += the rows of this warp times step k of CHUNK x 8 vectors
  template <int CHUNK>
  INLINE void add_products(float (&sums)[CHUNK][TILES][4], int k, const Vector (&b)[CHUNK]) const {
#pragma unroll
    for (int m = 0; m < TILES; m++) {
      const Vector low = k < KEPT ? kept[m][k < KEPT ? k : 0][0] : *other(m, k, 0);
      const Vector high = k < KEPT ? kept[m][k < KEPT ? k : 0][1] : *other(m, k, 1);
#pragma unroll
      for (int n = 0; n < CHUNK; n++) multiply_tile(sums[n][m], low.x, high.x, low.y, high.y, b[n].x, b[n].y);
#pragma unroll
      for (int n = 0; n < CHUNK; n++) multiply_tile(sums[n][m], low.z, high.z, low.w, high.w, b[n].z, b[n].w);
    }
  }

  // The sums of this warp to where the threads of the formula add them up: (ALONG, CHUNK x 8, PITCH).
  template <int CHUNK>
  INLINE void store_sums(float* parts, const float (&sums)[CHUNK][TILES][4]) const {
#pragma unroll
    for (int n = 0; n < CHUNK; n++) {
#pragma unroll
      for (int m = 0; m < TILES; m++) {
        float* p = parts + ((along * CHUNK + n) * 8 + lane % 4 * 2) * PITCH + (across * TILES + m) * 16 + lane / 4;
        p[0] = sums[n][m][0];
        p[PITCH] = sums[n][m][1];
        p[8] = sums[n][m][2];
        p[PITCH + 8] = sums[n][m][3];
      }
    }
  }

  // All of it for CHUNK x 8 rows that other blocks write to memory; only the first ``count`` are real.
  template <int CHUNK>
  INLINE void multiply_fresh(float* parts, const u16* rows, int width, int stride, int count) const {
    constexpr int AHEAD = 4 / CHUNK < 1 ? 1 : 4 / CHUNK < K ? 4 / CHUNK : K, TURNS = (K + AHEAD - 1) / AHEAD;
    float sums[CHUNK][TILES][4] = {};
    Vector ahead[2][CHUNK][AHEAD];
    const int first = along * K * 32 + lane % 4 * 8, row = lane / 4;
    const u16* here = rows + (u64)row * stride + first;
    auto load = [&](int turn, bool again) {
      bool missing = false;
#pragma unroll
      for (int n = 0; n < CHUNK; n++) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
          Vector& v = ahead[turn % 2][n][i];
          const int k = turn * AHEAD + i;
          if (again && !is_unwritten(v)) continue;
          const bool real = k < K && row + n * 8 < count && first + k * 32 < width;
          v = real ? load_fresh(here + (u64)n * 8 * stride + k * 32) : no_vector();
          missing |= is_unwritten(v);
        }
      }
      return missing;
    };
    load(0, false);
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
      if (turn + 1 < TURNS) load(turn + 1, false);
      int polls = 0;
      while (load(turn, true))
        if (++polls > PATIENCE) __trap();
      __syncwarp();
#pragma unroll
      for (int i = 0; i < AHEAD; i++) {
        const int k = turn * AHEAD + i;
        if (k >= K) continue;
        Vector b[CHUNK];
#pragma unroll
        for (int n = 0; n < CHUNK; n++) b[n] = ahead[turn % 2][n][i];
        add_products<CHUNK>(sums, k, b);
      }
    }
    store_sums<CHUNK>(parts, sums);
  }

  // The same for rows that lie in shared memory.
  template <int CHUNK>
  INLINE void multiply_shared(float* parts, const u16* rows, int stride) const {
    float sums[CHUNK][TILES][4] = {};
    const u16* here = rows + lane / 4 * stride + along * K * 32 + lane % 4 * 8;
#pragma unroll
    for (int k = 0; k < K; k++) {
      Vector b[CHUNK];
#pragma unroll
      for (int n = 0; n < CHUNK; n++) b[n] = *(const Vector*)(here + n * 8 * stride + k * 32);
      add_products<CHUNK>(sums, k, b);
    }
    store_sums<CHUNK>(parts, sums);
  }

  // An element of the product: the sum of what the warps found.
  template <int CHUNK>
  static INLINE float result(const float* parts, int n, int row) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < ALONG; i++) sum += parts[(i * CHUNK * 8 + n) * PITCH + row];
    return sum;
  }
};

// UNITS numbers of each of the first ``count`` rows, from this block to memory.
template <int UNITS>
INLINE void send_to_memory(const u16* staged, u16* target, int stride, int count) {
  constexpr int PARTS = UNITS / VECTOR;
  for (int i = threadIdx.x; i < count * PARTS; i += THREADS)
    store_fresh(target + (u64)(i / PARTS) * stride + i % PARTS * VECTOR, *(const Vector*)(staged + i * VECTOR));
}

#if CLUSTER
// UNITS numbers of ROWS rows, from this block into the shared memory of all blocks of the cluster.
template <int UNITS, int ROWS, int BLOCKS>
INLINE void send_to_cluster(const u16* staged, u32 target, int stride, u32 barrier) {
  constexpr int PARTS = UNITS / VECTOR, ALL = ROWS * PARTS;
#pragma unroll 4
  for (int i = threadIdx.x; i < ALL * BLOCKS; i += THREADS) {
    const int block = i / ALL, r = i % ALL;
    const u32 there = address_in(target + (r / PARTS * stride + r % PARTS * VECTOR) * 2, block);
    store_there(there, *(const Vector*)(staged + r * VECTOR), address_in(barrier, block));
  }
}
#endif
