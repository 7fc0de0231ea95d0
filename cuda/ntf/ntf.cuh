// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels of a factorisation share: where everything is, and the
// launches, one after the other on a stream.
#ifndef CUV_NTF_CUH
#define CUV_NTF_CUH

#include <type_traits>
#include "cuv-cuda.cuh"
#include "ntf/ntf-factors.h"

// Numerators of v and w are summed slot by slot, each a part of G's rows, then
// over the slots: in the same order at each run.
#define CUV_NTF_GRAM_PARTS 8

// A mode's columns: value (i, k) is at i * row_step + k * k_step.
typedef struct {
  float *values;
  int size, row_step, k_step;
} CuvNtfMatrix;

typedef struct {
  CuvNtfResult result;
  double square; // of all of G
  int stop;      // no kernel of an iteration or a test does anything any more
} CuvNtfProgress;

// Blocks that are done, of those that find a mode's M, make a test or sum some
// bands of w; and the iteration that a mode's M is of.
typedef struct {
  unsigned grams[CUV_NTF_MODES], test, bands[CUV_CUBE_MAX_BANDS];
  int ready[CUV_NTF_MODES];
} CuvNtfCounters;

typedef struct {
  int height, width, depth, rank;
  int stride; // the rank rounded up to 8, 16, 32 or 64; columns beyond it are 0
  int pitch;  // the width rounded up to a multiple of 4
  double scale;
  float *g; // height x depth x pitch, 0 beyond the width
  // u and w row by row; v column by column
  CuvNtfMatrix factors[CUV_NTF_MODES];
  int n_slots[CUV_NTF_MODES], slot_rows[CUV_NTF_MODES];
  int map_parts, map_shift; // see ntf-map.cu
  // numerators, row by row, as often as there are parts of them to add up
  float *sums[CUV_NTF_MODES];
  int n_sums[CUV_NTF_MODES];
  int n_parts[CUV_NTF_MODES];
  double *grams[CUV_NTF_MODES], *gram_parts[CUV_NTF_MODES];
  CuvNtfCounters *counters;
  double *rests; // by row
  CuvNtfProgress *progress;
  int iteration; // counted from 1
  CuvNtfParams params;
} CuvNtfState;

typedef struct {
  unsigned largest; // its bits
  unsigned long long n_negative, n_not_finite;
  unsigned long long first; // ~(row, band, column), as one number; 0 = none
} CuvNtfFound;

static __device__ __forceinline__ int
cuv_ntf_first_row (const CuvNtfState &self, int mode, int slot)
{
  return min (slot * self.slot_rows[mode], self.height);
}

static __host__ __device__ inline int
cuv_ntf_mode_before (int mode)
{
  return (mode + CUV_NTF_MODES - 1) % CUV_NTF_MODES;
}

// What finds new values of a mode also finds, meanwhile, M of the mode before:
// so many blocks of its first launch in an iteration do.
static inline int
cuv_ntf_gram_blocks (const CuvNtfState &self, int mode, int first)
{
  return self.params.schedule == CUV_NTF_GS && first == 0
      ? self.n_parts[cuv_ntf_mode_before (mode)]
      : 0;
}

// Of a mode's columns, or of one part of its numerators.
static __host__ __device__ inline size_t
cuv_ntf_n_values (const CuvNtfState &self, int mode)
{
  return (size_t) self.stride
      * (mode == CUV_NTF_V ? self.pitch : self.factors[mode].size);
}

static __device__ __forceinline__ float4
cuv_ntf_load4 (const float *at)
{
  return *(const float4 *) at;
}

// Of all blocks of a kind, n of them: whether this one is the last to come
// here. What the others wrote is to be read by __ldcg(). By all threads.
static __device__ __forceinline__ bool
cuv_ntf_is_last (unsigned *counter, unsigned n)
{
  bool last = false;

  __syncthreads ();
  if (threadIdx.x == 0) {
    __threadfence ();
    last = atomicAdd (counter, 1u) == n - 1;
    if (last)
      *counter = 0;
    __threadfence ();
  }
  return __syncthreads_or (last);
}

// Calls f (std::integral_constant) of the stride, for templates.
template <typename F>
static inline int
cuv_ntf_with_stride (int stride, F f)
{
  return stride == 8 ? f (std::integral_constant<int, 8> ())
      : stride == 16 ? f (std::integral_constant<int, 16> ())
      : stride == 32 ? f (std::integral_constant<int, 32> ())
                     : f (std::integral_constant<int, 64> ());
}

// How G's rows are divided for v and w.
void cuv_ntf_init_slots_of_v (CuvNtfState *self);
void cuv_ntf_init_slots_of_w (CuvNtfState *self);

// In slots of so many rows.
static inline void
cuv_ntf_init_slots (CuvNtfState *self, int mode, int n_rows)
{
  self->slot_rows[mode] = n_rows;
  self->n_slots[mode] = cuv_div_up (self->height, n_rows);
}

// Enqueue; return 0 or -1. Slots are those from first to below end.

// The slots' maps, G x w; from them u's numerators or v's. Of both, but for
// JACOBI, u's new values are found in between, if a block can have a whole row:
// where n_sums[CUV_NTF_U] is 1.
enum { CUV_NTF_FIND_U = 1, CUV_NTF_FIND_V = 2 };
int cuv_ntf_map_submit (
    const CuvNtfState &self, int first, int end, int what, cudaStream_t stream);
// w's numerators; those of the last slot are followed by w's new values.
int cuv_ntf_sum_w_submit (
    const CuvNtfState &self, int first, int end, cudaStream_t stream);
// A mode's new values.
int cuv_ntf_update_submit (
    const CuvNtfState &self, int mode, cudaStream_t stream);
// M of all modes.
int cuv_ntf_grams_submit (const CuvNtfState &self, cudaStream_t stream);
// The test after iteration n, row by row; for n = 0 only progress->square. It
// is made when all rows are there.
int cuv_ntf_test_submit (
    const CuvNtfState &self, int n, int row, int n_rows, cudaStream_t stream);
int cuv_ntf_residual_submit (const CuvNtfState &self, int row, int n_rows,
    float *map, cudaStream_t stream);
// *found begins as zeros. Samples are floats.
int cuv_ntf_scan_submit (const CuvCube &cube, const double *ignore,
    CuvNtfFound *found, cudaStream_t stream);
int cuv_ntf_load_submit (const CuvNtfState &self, const CuvCube &cube,
    const double *ignore, int z, cudaStream_t stream);

#endif
