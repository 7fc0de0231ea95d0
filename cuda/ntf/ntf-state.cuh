// SPDX-License-Identifier: LGPL-2.1-or-later
// State shared by the kernels of a factorisation, and their launchers, which
// all use one stream.
//
// G is approximated by a sum of outer products of columns of u, v and w. The
// numerators of a mode are the products of G with the two other modes (MTTKRP);
// the Gram matrix of a mode X is M = X^T X. Numerators of v and w are summed by
// slot, a range of G's rows, then over slots in a fixed order: results are
// reproducible.
//
// With MATRIX, u has one row and v a row for each pixel of pitch x height.
#ifndef CUV_NTF_STATE_CUH
#define CUV_NTF_STATE_CUH

#include <type_traits>
#include "cuv-cuda.cuh"
#include "ntf/ntf-factors.h"

// The maximum number of blocks that compute a Gram matrix, except that of a
// MATRIX's v.
#define CUV_NTF_GRAM_PARTS 8

// A mode's factor: value (i, k) is at i * row_step + k * k_step.
typedef struct {
  float *values;
  int size, row_step, k_step;
} CuvNtfMatrix;

// Written by tests, copied to the host.
typedef struct {
  CuvNtfResult result;
  double square; // squared norm of G
  int stop;      // boolean: kernels of iterations and tests return at once
} CuvNtfProgress;

// Counters of finished blocks, reset by the last one, see cuv_ntf_is_last().
typedef struct {
  unsigned grams[CUV_NTF_MODES];      // blocks that computed a mode's M
  unsigned test;                      // blocks of a test
  unsigned bands[CUV_CUBE_MAX_BANDS]; // blocks of sum_w_kernel(), by blockIdx.y
  int ready[CUV_NTF_MODES];           // iteration that a mode's M belongs to
} CuvNtfCounters;

// Sizes and device memory of a factorisation, passed to kernels by value.
typedef struct {
  int height, width, depth, rank;
  int stride; // the rank rounded up to 8, 16, 32 or 64; columns beyond it are 0
  bool is_matrix; // whether G is pixels x depth
  int pitch;      // the width rounded up to a multiple of 4
  double scale;   // G is the cube's samples divided by it
  float *g;       // height x depth x pitch, 0 beyond the width
  // u and w row by row; v column by column
  CuvNtfMatrix factors[CUV_NTF_MODES];
  // for v and w: the number of slots, and the rows of G in each
  int n_slots[CUV_NTF_MODES], slot_rows[CUV_NTF_MODES];
  int map_parts, map_shift; // PARTS and its split, see Map in ntf-u-and-v.cu
  // numerators: n_sums partial sums of size x stride values, to be added up
  float *sums[CUV_NTF_MODES];
  int n_sums[CUV_NTF_MODES];
  // M: n_parts partial sums of stride x stride values, and the total
  int n_parts[CUV_NTF_MODES];
  double *grams[CUV_NTF_MODES], *gram_parts[CUV_NTF_MODES];
  CuvNtfCounters *counters;
  double *row_squares; // squared norms of the residual, by row of G
  CuvNtfProgress *progress;
  int iteration; // counted from 1
  CuvNtfParams params;
} CuvNtfState;

// CuvNtfScan on the device, suited to atomicMax().
typedef struct {
  unsigned largest; // float bits
  unsigned long long n_negative, n_not_finite;
  unsigned long long first; // ~(row, band, column), as one number; 0 = none
} CuvNtfFound;

// Returns the first row of G in a slot.
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

// Returns the number of extra blocks in which the kernel that updates a mode
// computes M of the previous mode, in the first launch of an iteration.
static inline int
cuv_ntf_gram_blocks (const CuvNtfState &self, int mode, int first)
{
  return self.params.schedule == CUV_NTF_GS && first == 0 && !self.is_matrix
      ? self.n_parts[cuv_ntf_mode_before (mode)]
      : 0;
}

// Returns the number of rows of a mode's factor, without the padding of image
// rows.
static __device__ __forceinline__ int
cuv_ntf_n_rows (const CuvNtfState &self, int mode)
{
  return self.is_matrix && mode == CUV_NTF_V ? self.height * self.width
                                             : self.factors[mode].size;
}

// Returns the number of values of a mode's factor, or of one part of its
// numerators.
static __host__ __device__ inline size_t
cuv_ntf_n_values (const CuvNtfState &self, int mode)
{
  return (size_t) self.stride
      * (mode == CUV_NTF_V ? self.factors[mode].k_step
                           : self.factors[mode].size);
}

static __device__ __forceinline__ float4
cuv_ntf_load4 (const float *at)
{
  return *(const float4 *) at;
}

// Whether this is the last of n blocks to increment the counter; it must read
// results of the others by __ldcg(). Called by all threads.
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

// Calls f (std::integral_constant<stride>) to select a template.
template <typename F>
static inline int
cuv_ntf_with_stride (int stride, F f)
{
  return stride == 8 ? f (std::integral_constant<int, 8> ())
      : stride == 16 ? f (std::integral_constant<int, 16> ())
      : stride == 32 ? f (std::integral_constant<int, 32> ())
                     : f (std::integral_constant<int, 64> ());
}

// MATRIX: sets the number of parts of v's M and of w's numerators.
void cuv_ntf_init_matrix (CuvNtfState *self);

// Divide the rows of G into slots for v or w.
void cuv_ntf_init_slots_of_v (CuvNtfState *self);
void cuv_ntf_init_slots_of_w (CuvNtfState *self);

// Sets slots of n_rows rows.
static inline void
cuv_ntf_init_slots (CuvNtfState *self, int mode, int n_rows)
{
  self->slot_rows[mode] = n_rows;
  self->n_slots[mode] = cuv_div_up (self->height, n_rows);
}

// ---- launchers: return 0 or -1; slots are first .. end - 1 ----

// Computes the maps G x w of the slots' rows, and from them the numerators of
// u, of v, or of both, by flags. If both, and n_sums[CUV_NTF_U] == 1 (a block
// has a whole row), u is updated in between, except with JACOBI.
enum { CUV_NTF_FIND_U = 1, CUV_NTF_FIND_V = 2 };
int cuv_ntf_map_submit (const CuvNtfState &self, int first, int end, int flags,
    cudaStream_t stream);
// Computes w's numerators; after the last slot also its new values.
int cuv_ntf_sum_w_submit (
    const CuvNtfState &self, int first, int end, cudaStream_t stream);
// Computes a mode's new values.
int cuv_ntf_update_submit (
    const CuvNtfState &self, int mode, cudaStream_t stream);
// Computes M of the modes from the first on.
int cuv_ntf_grams_submit (
    const CuvNtfState &self, int first_mode, cudaStream_t stream);
// MATRIX: compute new values of v and its M; numerators of w.
int cuv_ntf_pixels_submit (const CuvNtfState &self, cudaStream_t stream);
int cuv_ntf_bands_submit (const CuvNtfState &self, cudaStream_t stream);
// Runs the test after iteration n, for n_rows rows of G from `row` on; the last
// row completes it. With n = 0 computes only progress->square.
int cuv_ntf_test_submit (
    const CuvNtfState &self, int n, int row, int n_rows, cudaStream_t stream);
// Computes a map of residuals, height x width: see cuv_ntf_cuda_residual().
int cuv_ntf_residual_submit (const CuvNtfState &self, int row, int n_rows,
    float *map, cudaStream_t stream);
// Scans a float cube for its largest value, and for values that are negative or
// not finite. The caller zeroes *found before.
int cuv_ntf_scan_submit (const CuvCube &cube, const double *ignore,
    CuvNtfFound *found, cudaStream_t stream);
// Converts a cube to bands z, z + 1, ... of G.
int cuv_ntf_load_submit (const CuvNtfState &self, const CuvCube &cube,
    const double *ignore, int z, cudaStream_t stream);

#endif
