// SPDX-License-Identifier: LGPL-2.1-or-later
// What takes the time: numerators. G is read twice in an iteration: with w it
// gives maps, P = G x w, which serve u and v; with u and v it gives w's
// numerators. In single precision, where an iteration's own error is larger.
#include <algorithm>
#include "spectral/ntf-update.cuh"

#define THREADS 256
#define WARPS (THREADS / 32)

static __device__ __forceinline__ void
store4 (float *at, const float *values)
{
  *(float4 *) at = make_float4 (values[0], values[1], values[2], values[3]);
}

// What neighbouring lanes, LANES of them, have in values is added up; then each
// has N / LANES of the sums, in order, or some lanes the same one.
template <int LANES, int N>
static __device__ __forceinline__ void
fold (float (&values)[N])
{
  int n = N;

#pragma unroll
  for (int d = LANES / 2; d > 0; d /= 2) {
    const bool upper = threadIdx.x & d;

    if (n == 1) {
      values[0] += __shfl_xor_sync (~0u, values[0], d);
      continue;
    }
    n /= 2;
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
      if (i >= n)
        break;
      const float gives = upper ? values[i] : values[i + n];
      const float keeps = upper ? values[i + n] : values[i];

      values[i] = keeps + __shfl_xor_sync (~0u, gives, d);
    }
  }
}

// ---- maps, and u ----

// A block has a row of G; a thread has COLUMNS columns of the map of 4 pixels.
template <int STRIDE> struct Map {
  static constexpr int columns = STRIDE < 16 ? STRIDE : 16;
  static constexpr int groups = STRIDE / columns; // of warps, at a pixel
  static constexpr int bands = 2048 / STRIDE;     // of w, at a time
};

template <int STRIDE>
static __device__ __forceinline__ void
load_w (const CuvNtfState &self, int z, int n, float *w)
{
  const float *from = &self.factors[CUV_NTF_W].values[z * STRIDE];

  __syncthreads ();
  for (int i = 4 * threadIdx.x; i < n * STRIDE; i += 4 * blockDim.x)
    *(float4 *) &w[i] = cuv_ntf_load4 (&from[i]);
  __syncthreads ();
}

// Adds n bands of G at 4 pixels, each times its row of w.
template <int STRIDE>
static __device__ __forceinline__ void
add_bands (const float *g, int pitch, int n, const float *w, float (*map)[4])
{
#pragma unroll 4
  for (int z = 0; z < n; z++, g += pitch, w += STRIDE) {
    const float4 values = cuv_ntf_load4 (g);

#pragma unroll
    for (int k = 0; k < Map<STRIDE>::columns; k += 4) {
      const float4 four = cuv_ntf_load4 (&w[k]);
      const float factors[4] = { four.x, four.y, four.z, four.w };

#pragma unroll
      for (int i = 0; i < 4; i++) {
        map[k + i][0] = fmaf (values.x, factors[i], map[k + i][0]);
        map[k + i][1] = fmaf (values.y, factors[i], map[k + i][1]);
        map[k + i][2] = fmaf (values.z, factors[i], map[k + i][2]);
        map[k + i][3] = fmaf (values.w, factors[i], map[k + i][3]);
      }
    }
  }
}

// Writes a thread's part of the map and adds it up, times v.
template <int N>
static __device__ __forceinline__ void
take_map (
    const float (*map)[4], const float *v, int pitch, float *to, float *sums)
{
#pragma unroll
  for (int k = 0; k < N; k++) {
    const float4 factors = cuv_ntf_load4 (&v[k * pitch]);

    store4 (&to[k * pitch], map[k]);
    sums[k] = map[k][0] * factors.x;
    sums[k] = fmaf (map[k][1], factors.y, sums[k]);
    sums[k] = fmaf (map[k][2], factors.z, sums[k]);
    sums[k] = fmaf (map[k][3], factors.w, sums[k]);
  }
}

// The map of row y, to. Returns one of the columns' sums over the warp's
// pixels: lane i that of column i * columns / 32.
template <int STRIDE>
static __device__ __forceinline__ float
map_row (const CuvNtfState &self, int y, float *to, float *w)
{
  constexpr int columns = Map<STRIDE>::columns, bands = Map<STRIDE>::bands;
  constexpr int groups = Map<STRIDE>::groups;
  const int n_across = blockDim.x / (32 * groups); // warps, at a row
  const int warp = cuv_warp_of_thread (), first = warp % groups * columns;
  const int pitch = self.pitch;
  const float *row = &self.g[(size_t) y * self.depth * pitch];
  const float *v = &self.factors[CUV_NTF_V].values[first * pitch];
  float sum = 0;

  for (int x0 = 0; x0 < pitch; x0 += 128 * n_across) {
    const int x = x0 + (warp / groups * 32 + threadIdx.x % 32) * 4;
    float map[columns][4] = {}, sums[columns] = {};

    for (int z = 0; z < self.depth; z += bands) {
      const int n = min (bands, self.depth - z);

      if (x0 == 0 || self.depth > bands)
        load_w<STRIDE> (self, z, n, w);
      if (x < pitch)
        add_bands<STRIDE> (
            &row[(size_t) z * pitch + x], pitch, n, &w[first], map);
    }
    if (x < pitch)
      take_map<columns> (map, &v[x], pitch, &to[first * pitch + x], sums);
    fold<32> (sums);
    sum += sums[0];
  }
  return sum;
}

template <int STRIDE>
static __global__ void
__launch_bounds__ (THREADS, 2) map_kernel (
    const __grid_constant__ CuvNtfState self, int first_row, bool hals)
{
  constexpr int columns = Map<STRIDE>::columns, groups = Map<STRIDE>::groups;
  __shared__ CuvNtfRule<STRIDE> rule;
  __shared__ __align__ (16) float w[Map<STRIDE>::bands * STRIDE];
  __shared__ float parts[WARPS * columns], numerators[STRIDE];
  const int warp = cuv_warp_of_thread (), y = first_row + blockIdx.x;
  float column;

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  if (__ldcg (&self.progress->stop))
    return;
  cuv_ntf_prepare (self, CUV_NTF_U, &rule);
  column = map_row<STRIDE> (
      self, y, &self.map[(size_t) blockIdx.x * STRIDE * self.pitch], w);
  if (threadIdx.x % (32 / columns) == 0)
    parts[warp * columns + threadIdx.x % 32 * columns / 32] = column;
  __syncthreads ();
  for (int k = threadIdx.x; k < STRIDE; k += blockDim.x) {
    float sum = 0;

    for (int i = k / columns; i < (int) blockDim.x / 32; i += groups)
      sum += parts[i * columns + k % columns];
    numerators[k] = sum;
    if (self.params.schedule == CUV_NTF_JACOBI)
      self.sums[CUV_NTF_U][y * STRIDE + k] = sum;
  }
  __syncthreads ();
  if (warp == 0 && self.params.schedule == CUV_NTF_GS)
    cuv_ntf_update_row (self, CUV_NTF_U, hals, rule, numerators, y);
}

int
cuv_ntf_map_submit (
    const CuvNtfState &self, int first, int end, bool hals, cudaStream_t stream)
{
  const int first_row = cuv_ntf_first_row (self, CUV_NTF_V, first);
  const int n_rows = cuv_ntf_first_row (self, CUV_NTF_V, end) - first_row;

  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    constexpr int groups = Map<stride ()>::groups;
    const int n_across =
        std::min (cuv_div_up (self.pitch, 128), WARPS / 2 / groups);

    return cuv_launch_early ("map_kernel", n_rows,
        32 * groups * std::max (n_across, 1), 0, stream, map_kernel<stride ()>,
        self, first_row, hals);
  });
}

// ---- v ----

// Each thread adds up, over a slot's rows, 4 pixels of a column of the maps
// times u.
static __device__ __forceinline__ void
sum_rows (const CuvNtfState &self, int first_row, int slot, int i)
{
  const int row_size = self.stride * self.pitch, k = 4 * i / self.pitch;
  const int y = cuv_ntf_first_row (self, CUV_NTF_V, slot);
  const int n = cuv_ntf_first_row (self, CUV_NTF_V, slot + 1) - y;
  const float *u = &self.factors[CUV_NTF_U].values[y * self.stride + k];
  const float *map = &self.map[(size_t) (y - first_row) * row_size + 4 * i];
  float sums[4] = {};

#pragma unroll 8
  for (int j = 0; j < n; j++) {
    const float4 values = cuv_ntf_load4 (&map[(size_t) j * row_size]);
    const float factor = u[j * self.stride];

    sums[0] = fmaf (values.x, factor, sums[0]);
    sums[1] = fmaf (values.y, factor, sums[1]);
    sums[2] = fmaf (values.z, factor, sums[2]);
    sums[3] = fmaf (values.w, factor, sums[3]);
  }
  store4 (&self.sums[CUV_NTF_V][(size_t) slot * row_size + 4 * i], sums);
}

template <int STRIDE>
static __global__ void
__launch_bounds__ (THREADS, 4)
    sum_v_kernel (const __grid_constant__ CuvNtfState self, int first,
        int n_across, int n_parts)
{
  __shared__ CuvNtfGramRoom<STRIDE> room;
  const int block = (int) blockIdx.x - n_parts;
  const int i = block % n_across * THREADS + threadIdx.x;

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  if (__ldcg (&self.progress->stop))
    return;
  if (block < 0)
    cuv_ntf_gram_part<STRIDE> (self, CUV_NTF_U, blockIdx.x, room);
  else if (4 * i < STRIDE * self.pitch)
    sum_rows (self, cuv_ntf_first_row (self, CUV_NTF_V, first),
        first + block / n_across, i);
}

int
cuv_ntf_sum_v_submit (
    const CuvNtfState &self, int first, int end, bool gram, cudaStream_t stream)
{
  const int n_across = cuv_div_up (self.stride * self.pitch, 4 * THREADS);
  const int n_parts = gram ? self.n_parts[CUV_NTF_U] : 0;

  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    return cuv_launch_early ("sum_v_kernel", n_parts + n_across * (end - first),
        THREADS, 0, stream, sum_v_kernel<stride ()>, self, first, n_across,
        n_parts);
  });
}

// ---- w ----

// A warp has BANDS bands and all columns: 8 of them a lane, in as many groups
// of lanes as it takes, each of which goes along a row of G.
#define BANDS CUV_NTF_BANDS_OF_THREAD
#define COLUMNS 8

// Adds 4 pixels of the bands, times v and u.
static __device__ __forceinline__ void
add_pixels (const float *g, int n_bands, int pitch, const float *v,
    const float *u, float *sums)
{
  float4 values[BANDS];

#pragma unroll
  for (int z = 0; z < BANDS; z++)
    values[z] = z < n_bands ? cuv_ntf_load4 (&g[(size_t) z * pitch])
                            : make_float4 (0, 0, 0, 0);
#pragma unroll
  for (int k = 0; k < COLUMNS; k++) {
    const float4 column = cuv_ntf_load4 (&v[(size_t) k * pitch]);
    const float factors[4] = { column.x * u[k], column.y * u[k],
      column.z * u[k], column.w * u[k] };

#pragma unroll
    for (int z = 0; z < BANDS; z++) {
      float *sum = &sums[z * COLUMNS + k];

      *sum = fmaf (values[z].x, factors[0], *sum);
      *sum = fmaf (values[z].y, factors[1], *sum);
      *sum = fmaf (values[z].z, factors[2], *sum);
      *sum = fmaf (values[z].w, factors[3], *sum);
    }
  }
}

// Rows of a slot, each warp some.
template <int STRIDE>
static __device__ __forceinline__ void
sum_slot (
    const CuvNtfState &self, int slot, int z, float (&sums)[BANDS * COLUMNS])
{
  constexpr int lanes = 32 * COLUMNS / STRIDE; // along a row
  const int lane = threadIdx.x % 32, k = lane / lanes * COLUMNS;
  const int end = cuv_ntf_first_row (self, CUV_NTF_W, slot + 1);
  const float *v = &self.factors[CUV_NTF_V].values[k * self.pitch];
  int y = cuv_ntf_first_row (self, CUV_NTF_W, slot) + cuv_warp_of_thread ();

  for (; y < end; y += WARPS) {
    const float *row = &self.g[((size_t) y * self.depth + z) * self.pitch];
    float u[COLUMNS];

#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
      u[i] = self.factors[CUV_NTF_U].values[y * STRIDE + k + i];
    for (int x = lane % lanes * 4; x < self.pitch; x += lanes * 4)
      add_pixels (&row[x], self.depth - z, self.pitch, &v[x], u, sums);
  }
  fold<lanes> (sums);
}

// What the block's warps have, added up.
template <int STRIDE>
static __device__ __forceinline__ void
store_slot (const CuvNtfState &self, int slot, int z,
    const float (&sums)[BANDS * COLUMNS], float *all)
{
  constexpr int lanes = 32 * COLUMNS / STRIDE, n = BANDS * COLUMNS / lanes;
  const int lane = threadIdx.x % 32, k = lane / lanes * COLUMNS;
  float *to = &self.sums[CUV_NTF_W][((size_t) slot * self.depth + z) * STRIDE];

#pragma unroll
  for (int i = 0; i < n; i++) {
    const int at = lane % lanes * n + i;

    all[(cuv_warp_of_thread () * BANDS + at / COLUMNS) * STRIDE + k
        + at % COLUMNS] = sums[i];
  }
  __syncthreads ();
  for (int i = threadIdx.x; i < min (BANDS, self.depth - z) * STRIDE;
       i += THREADS) {
    float sum = 0;

    for (int warp = 0; warp < WARPS; warp++)
      sum += all[warp * BANDS * STRIDE + i];
    to[i] = sum;
  }
}

template <int STRIDE>
static __global__ void
__launch_bounds__ (THREADS, 2)
    sum_w_kernel (const __grid_constant__ CuvNtfState self, int first,
        int n_across, int n_parts)
{
  // M's room, or a block's sums
  __shared__ CuvNtfGramRoom<STRIDE> room;
  const int block = (int) blockIdx.x - n_parts;
  const int slot = first + block / n_across, z = block % n_across * BANDS;
  float sums[BANDS * COLUMNS] = {};

  static_assert (sizeof (float) * WARPS * BANDS * STRIDE <= sizeof room,
      "both are in one place");
  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  if (__ldcg (&self.progress->stop))
    return;
  if (block < 0) {
    cuv_ntf_gram_part<STRIDE> (self, CUV_NTF_V, blockIdx.x, room);
    return;
  }
  sum_slot<STRIDE> (self, slot, z, sums);
  store_slot<STRIDE> (self, slot, z, sums, (float *) room);
}

int
cuv_ntf_sum_w_submit (
    const CuvNtfState &self, int first, int end, bool gram, cudaStream_t stream)
{
  const int n_across = cuv_div_up (self.depth, BANDS);
  const int n_parts = gram ? self.n_parts[CUV_NTF_V] : 0;

  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    return cuv_launch_early ("sum_w_kernel", n_parts + n_across * (end - first),
        THREADS, 0, stream, sum_w_kernel<stride ()>, self, first, n_across,
        n_parts);
  });
}
