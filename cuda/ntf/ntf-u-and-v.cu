// SPDX-License-Identifier: LGPL-2.1-or-later
// map_kernel updates u and sums the numerators of v. The map of a row of G is P
// = G x w, its product with w over the bands: width x rank values, in
// registers. P v is the row's numerators of u; P times the row's new u is added
// to those of v. Symbols: see ntf-state.cuh.
#include <algorithm>
#include "ntf/ntf-products.cuh"

#define CUV_NTF_MAP_MAX_WARPS 16
#define CUV_NTF_MAP_MIN_WARPS 8 // required by the Gram matrix

// A thread's part of a map: 4 pixels and `columns` columns. The lanes of a warp
// form PARTS groups (state.map_parts). 2^map_shift groups share a row, each
// with every 2^map_shift-th band, so that a warp has PARTS >> map_shift
// adjacent rows. Numerators of v are summed over all groups.
template <int STRIDE, int PARTS> struct Map {
  static constexpr int columns = CuvNtfColumns<STRIDE>::n;
  // groups of columns, a warp each; lanes along a row
  static constexpr int groups = CuvNtfColumns<STRIDE>::groups;
  static constexpr int lanes = 32 / PARTS;
  static constexpr int bands =
      CUV_NTF_SHARED_VALUES / STRIDE; // bands at a time
  static constexpr int sums =
      columns > lanes ? columns / lanes : 1; // numerators of u per lane
};

template <int STRIDE, int PARTS> struct MapShared {
  CuvNtfRule<STRIDE> rule;
  float rows[CUV_NTF_SHARED_VALUES]; // rows of w
  // numerators of u, by warp, part and column
  float parts[CUV_NTF_MAP_MAX_WARPS * PARTS * Map<STRIDE, PARTS>::columns];
  float values[PARTS * STRIDE]; // numerators of u, then its new values
};

// Returns how many pixels of a row a block of CUV_NTF_MAP_MAX_WARPS warps
// holds.
static int
pixels_at_once (int stride, int parts)
{
  return CUV_NTF_MAP_MAX_WARPS / cuv_div_up (stride, 16) * 128 / parts;
}

void
cuv_ntf_init_slots_of_v (CuvNtfState *self)
{
  const size_t slot = cuv_ntf_n_values (*self, CUV_NTF_V) * sizeof (float);
  // sums are limited to 64 MB, so that they neither thrash the cache nor fill
  // the memory
  const int max_slots =
      (int) std::clamp<size_t> (((size_t) 64 << 20) / slot, 64, 512);
  int n_rows;

  self->map_parts = self->stride == 8 ? 2 : 4;
  while (self->map_parts > 1
      && self->pitch > pixels_at_once (self->stride, self->map_parts))
    self->map_parts /= 2;
  self->n_sums[CUV_NTF_U] =
      cuv_div_up (self->pitch, pixels_at_once (self->stride, self->map_parts));
  // few enough rows per block for at least 96 blocks, which fill a GPU
  n_rows = self->map_parts;
  for (self->map_shift = 0; n_rows > 1 && self->height / n_rows < 96;
       n_rows /= 2)
    self->map_shift++;
  cuv_ntf_init_slots (self, CUV_NTF_V,
      cuv_div_up (cuv_div_up (self->height, max_slots), n_rows) * n_rows);
  self->n_sums[CUV_NTF_V] = self->n_slots[CUV_NTF_V];
}

// Computes the map of 4 pixels from x on, of rows y .. end - 1.
template <int STRIDE, int PARTS>
static __device__ __forceinline__ void
find_map (const CuvNtfState &self, int y, int end, int x, int column, float *w,
    float (*map)[4])
{
  constexpr int columns = Map<STRIDE, PARTS>::columns;
  constexpr int bands = Map<STRIDE, PARTS>::bands;
  const int part = threadIdx.x % 32 / Map<STRIDE, PARTS>::lanes;
  const int shift = self.map_shift, step = 1 << shift; // band increment
  const int row = y + (part >> shift), from = part & (step - 1);
  const bool is_idle = row >= end || x >= self.pitch;
  const float *g = &self.g[((size_t) row * self.depth + from) * self.pitch + x];

  for (int z = 0; z < self.depth; z += bands) {
    const int n = min (bands, self.depth - z);

    if (self.depth > bands)
      cuv_ntf_load_rows<STRIDE> (self, CUV_NTF_W, z, n, w);
    cuv_ntf_add_products<columns> (&g[z * self.pitch], self.pitch << shift,
        is_idle ? 0 : (n - from + step - 1) >> shift,
        &w[from * STRIDE + column], STRIDE << shift, map);
  }
}

// Computes the numerators of u for each part of the warp.
template <int STRIDE, int PARTS>
static __device__ __forceinline__ void
sum_map (const CuvNtfState &self, int x, int column, const float (*map)[4],
    float *parts)
{
  using M = Map<STRIDE, PARTS>;
  constexpr int columns = M::columns;
  const int warp = cuv_warp_of_thread (), lane = threadIdx.x % 32;
  const int at = lane % M::lanes;
  float sums[columns] = {};

  if (x < self.pitch)
    cuv_ntf_times_v<columns> (map,
        &self.factors[CUV_NTF_V].values[column * self.pitch + x], self.pitch,
        sums);
  cuv_ntf_fold<M::lanes, 1, columns> (sums);
  if (columns < M::lanes && at % (M::lanes / columns) != 0)
    return;
#pragma unroll
  for (int i = 0; i < M::sums; i++)
    parts[(warp * PARTS + lane / M::lanes) * columns + at * columns / M::lanes
        + i] = sums[i];
}

// Adds up the numerators of u over the warps and parts of each row.
template <int STRIDE, int PARTS>
static __device__ __forceinline__ void
add_parts (const CuvNtfState &self, const float *parts, float *numerators)
{
  constexpr int columns = Map<STRIDE, PARTS>::columns;
  constexpr int groups = Map<STRIDE, PARTS>::groups;
  const int mask = (1 << self.map_shift) - 1; // mask of a row's parts within a
                                              // warp
  const int n_parts = blockDim.x / 32 / groups << self.map_shift;

  for (int i = threadIdx.x; i < PARTS * STRIDE >> self.map_shift;
       i += blockDim.x) {
    const int k = i % STRIDE, first = i / STRIDE << self.map_shift;
    const float *from = &parts[(k / columns * PARTS + first) * columns];
    float sum = 0;

#pragma unroll 8
    for (int j = 0; j < n_parts; j++) {
      const int warp = (j >> self.map_shift) * groups;

      sum += from[(warp * PARTS + (j & mask)) * columns + k % columns];
    }
    numerators[i] = sum;
  }
}

// Computes new values of n rows of u from y on. begins: these are the slot's
// first rows.
template <int STRIDE, int PARTS>
static __device__ __forceinline__ void
update_u (const CuvNtfState &self, int y, int n, bool begins,
    MapShared<STRIDE, PARTS> *shared)
{
  const int warp = cuv_warp_of_thread ();
  CuvNtfRow<STRIDE> row;

  if (warp < n)
    cuv_ntf_load_row (self, CUV_NTF_U, y + warp, &row);
  if (begins) { // needs all threads
    cuv_ntf_wait_for_gram (self, CUV_NTF_W);
    cuv_ntf_prepare (self, CUV_NTF_U, &shared->rule);
  } else {
    __syncthreads ();
  }
  add_parts<STRIDE, PARTS> (self, shared->parts, shared->values);
  __syncthreads ();
  if (warp < n)
    cuv_ntf_update_row (self, CUV_NTF_U, shared->rule,
        &shared->values[warp * STRIDE], y + warp, &row);
  __syncthreads ();
}

// Called if this launch does not update u: stores its numerators for later and
// loads its present values.
template <int STRIDE, int PARTS>
static __device__ __forceinline__ void
keep_u (const CuvNtfState &self, int y, int n, int flags,
    MapShared<STRIDE, PARTS> *shared)
{
  float *sums =
      &self.sums[CUV_NTF_U][((size_t) blockIdx.x * self.height + y) * STRIDE];
  const float *u = &self.factors[CUV_NTF_U].values[y * STRIDE];

  __syncthreads ();
  if (flags & CUV_NTF_FIND_U)
    add_parts<STRIDE, PARTS> (self, shared->parts, shared->values);
  __syncthreads ();
  for (int i = threadIdx.x; i < PARTS * STRIDE; i += blockDim.x) {
    if (i < n * STRIDE && (flags & CUV_NTF_FIND_U))
      sums[i] = shared->values[i];
    shared->values[i] = i < n * STRIDE ? u[i] : 0;
  }
  __syncthreads ();
}

// Adds a warp's maps times their rows' u to a slot's sums; overwrites them if
// begins is set.
template <int STRIDE, int PARTS>
static __device__ __forceinline__ void
add_to_v (const CuvNtfState &self, int x, int column, const float *u,
    bool begins, float (*map)[4], float *to)
{
  constexpr int columns = Map<STRIDE, PARTS>::columns, n = columns / PARTS;
  const int part = threadIdx.x % 32 / Map<STRIDE, PARTS>::lanes;

#pragma unroll
  for (int k = 0; k < columns; k++) {
    const float factor = u[column + k];

#pragma unroll
    for (int i = 0; i < 4; i++)
      map[k][i] *= factor;
  }
  cuv_ntf_fold<PARTS, Map<STRIDE, PARTS>::lanes, 4 * columns> (map[0]);
  if (x >= self.pitch)
    return;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float4 *at = (float4 *) &to[(x + i) * STRIDE + column + part * n];

#pragma unroll
    for (int k = 0; k < n; k += 4, at++) {
      const float4 before = begins ? make_float4 (0, 0, 0, 0) : *at;

      *at = make_float4 (before.x + map[k][i], before.y + map[k + 1][i],
          before.z + map[k + 2][i], before.w + map[k + 3][i]);
    }
  }
}

// Processes a slot, PARTS >> map_shift rows at a time.
template <int STRIDE, int PARTS>
static __device__ __forceinline__ void
find_slot (const CuvNtfState &self, int slot, int flags, bool updates,
    MapShared<STRIDE, PARTS> *shared)
{
  using M = Map<STRIDE, PARTS>;
  const int warp = cuv_warp_of_thread (), lane = threadIdx.x % 32;
  const int n_warps = blockDim.x / 32 / M::groups; // warps along a row
  const int x =
      ((blockIdx.x * n_warps + warp / M::groups) * M::lanes + lane % M::lanes)
      * 4;
  const int column = warp % M::groups * M::columns;
  const int first = cuv_ntf_first_row (self, CUV_NTF_V, slot);
  const int end = cuv_ntf_first_row (self, CUV_NTF_V, slot + 1);
  const int row = lane / M::lanes >> self.map_shift;

  for (int y = first; y < end; y += PARTS >> self.map_shift) {
    const int n = min (PARTS >> self.map_shift, end - y);
    float map[M::columns][4] = {};

    find_map<STRIDE, PARTS> (self, y, end, x, column, shared->rows, map);
    if (flags & CUV_NTF_FIND_U)
      sum_map<STRIDE, PARTS> (self, x, column, map, shared->parts);
    if (updates)
      update_u<STRIDE, PARTS> (self, y, n, y == first, shared);
    else
      keep_u<STRIDE, PARTS> (self, y, n, flags, shared);
    if (flags & CUV_NTF_FIND_V)
      add_to_v<STRIDE, PARTS> (self, x, column, &shared->values[row * STRIDE],
          y == first, map,
          &self.sums[CUV_NTF_V][slot * cuv_ntf_n_values (self, CUV_NTF_V)]);
  }
}

// Grid: blocks of a row x slots from `first` on, after n_gram_blocks blocks
// that compute w's Gram matrix.
template <int STRIDE, int PARTS>
static __global__ void __launch_bounds__ (32 * CUV_NTF_MAP_MAX_WARPS, 1)
    map_kernel (const __grid_constant__ CuvNtfState self, int first, int flags,
        bool updates, int n_gram_blocks)
{
  __shared__ __align__ (16) union {
    double gram[CUV_NTF_GRAM_VALUES];
    MapShared<STRIDE, PARTS> map;
  } shared;
  const int block = (int) blockIdx.y - n_gram_blocks;
  int stop; // its load overlaps with that of rows

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  stop = __ldcg (&self.progress->stop);
  if (block >= 0 && self.depth <= Map<STRIDE, PARTS>::bands)
    cuv_ntf_load_rows<STRIDE> (self, CUV_NTF_W, 0, self.depth, shared.map.rows);
  if (stop)
    return;
  if (block < 0) {
    cuv_ntf_gram_part<STRIDE> (self, CUV_NTF_W, blockIdx.y, shared.gram);
    return;
  }
  find_slot<STRIDE, PARTS> (self, first + block, flags, updates, &shared.map);
}

template <int STRIDE, int PARTS>
static int
cuv_ntf_launch_map (
    const CuvNtfState &self, int first, int end, int flags, cudaStream_t stream)
{
  const bool updates = self.params.schedule == CUV_NTF_GS
      && flags == (CUV_NTF_FIND_U | CUV_NTF_FIND_V);
  const int n_gram_blocks =
      updates ? cuv_ntf_gram_blocks (self, CUV_NTF_U, first) : 0;
  const int n_warps = std::clamp (
      cuv_div_up (self.pitch, 128 / PARTS) * Map<STRIDE, PARTS>::groups,
      CUV_NTF_MAP_MIN_WARPS, CUV_NTF_MAP_MAX_WARPS);

  return cuv_launch_dependent ("map_kernel",
      dim3 (self.n_sums[CUV_NTF_U], n_gram_blocks + end - first), 32 * n_warps,
      0, stream, map_kernel<STRIDE, PARTS>, self, first, flags, updates,
      n_gram_blocks);
}

int
cuv_ntf_map_submit (
    const CuvNtfState &self, int first, int end, int flags, cudaStream_t stream)
{
  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    constexpr int max_parts = stride () == 8 ? 2 : 4;

    return (self.map_parts == 1 ? cuv_ntf_launch_map<stride (), 1>
            : self.map_parts == 2
            ? cuv_ntf_launch_map<stride (), 2>
            : cuv_ntf_launch_map<stride (), max_parts>) (self, first, end,
        flags, stream);
  });
}
