// SPDX-License-Identifier: LGPL-2.1-or-later
// sum_w_kernel updates w. Its numerators are sums over a slot's rows of G times
// u, then over pixels times v.
#include <algorithm>
#include "ntf/ntf-products.cuh"

#define CUV_NTF_W_THREADS 256
#define CUV_NTF_W_WARPS (CUV_NTF_W_THREADS / 32)

// Each warp has 128 pixels of a band and a group of columns. A block has
// several bands, or a band several blocks. Grid: blocks of a band x bands x
// slots.
typedef struct {
  int tiles_across; // tiles of 128 pixels per row
  int n_units;      // warps per band
  int bands;        // bands per block
  int n_blocks;     // blocks per band
} Layout;

static Layout
layout_of (const CuvNtfState &self)
{
  const int tiles_across = cuv_div_up (self.pitch, 128);
  const int n_units = tiles_across * cuv_div_up (self.stride, 16);

  return { tiles_across, n_units, std::max (CUV_NTF_W_WARPS / n_units, 1),
    cuv_div_up (n_units, CUV_NTF_W_WARPS) };
}

void
cuv_ntf_init_slots_of_w (CuvNtfState *self)
{
  const Layout layout = layout_of (*self);
  const int n_blocks = layout.n_blocks * cuv_div_up (self->depth, layout.bands);
  const int n_slots = std::max (256 / n_blocks, 1); // enough to fill a GPU

  cuv_ntf_init_slots (self, CUV_NTF_W,
      std::max (std::min (cuv_div_up (self->height, n_slots), 64),
          std::max (cuv_div_up (self->height, 64), 8)));
  self->n_sums[CUV_NTF_W] = self->n_slots[CUV_NTF_W] * layout.tiles_across;
}

// Computes the sums of band z at pixels from x on, over rows y .. end - 1;
// lanes that are idle only take part in reductions.
template <int STRIDE>
static __device__ __forceinline__ void
sum_rows (const CuvNtfState &self, int y, int end, int z, int x, int column,
    bool is_idle, float *rows, float (*sums)[4])
{
  constexpr int n_rows = CUV_NTF_SHARED_VALUES / STRIDE;
  const int step = self.depth * self.pitch;
  const float *g = &self.g[(size_t) y * step + z * self.pitch + x];

  for (; y < end; y += n_rows, g += (size_t) n_rows * step) {
    const int n = min (n_rows, end - y);

    if (self.slot_rows[CUV_NTF_W] > n_rows)
      cuv_ntf_load_rows<STRIDE> (self, CUV_NTF_U, y, n, rows);
    cuv_ntf_add_products<CuvNtfColumns<STRIDE>::n> (
        g, step, is_idle ? 0 : n, &rows[column], STRIDE, sums);
  }
}

template <int STRIDE>
static __device__ __forceinline__ void
sum_slot (const CuvNtfState &self, const Layout &layout, int slot, float *rows)
{
  constexpr int columns = CuvNtfColumns<STRIDE>::n;
  constexpr int groups = CuvNtfColumns<STRIDE>::groups;
  const int unit = blockIdx.x * CUV_NTF_W_WARPS + cuv_warp_of_thread ();
  const int band = unit / layout.n_units;
  const int part = unit % layout.n_units / groups;
  const int z = blockIdx.y * layout.bands + band, lane = threadIdx.x % 32;
  const int x = part * 128 + lane * 4, column = unit % groups * columns;
  const bool has_band = band < layout.bands && z < self.depth;
  const bool is_idle = !has_band || x >= self.pitch;
  float pixels[columns][4] = {}, sums[columns] = {};

  sum_rows<STRIDE> (self, cuv_ntf_first_row (self, CUV_NTF_W, slot),
      cuv_ntf_first_row (self, CUV_NTF_W, slot + 1), z, x, column, is_idle,
      rows, pixels);
  if (!is_idle)
    cuv_ntf_times_v<columns> (pixels,
        &self.factors[CUV_NTF_V].values[column * self.pitch + x], self.pitch,
        sums);
  cuv_ntf_fold<32, 1, columns> (sums);
  if (lane % (32 / columns) == 0 && has_band) {
    const int i = (slot * layout.tiles_across + part) * self.depth + z;

    self.sums[CUV_NTF_W][i * STRIDE + column + lane * columns / 32] = sums[0];
  }
}

// Grid: see Layout; slots from `first` on. With finds_gram the blocks of z = 0
// compute the Gram matrix of v. The last block of each blockIdx.y updates its
// rows of w.
template <int STRIDE>
static __global__ void
__launch_bounds__ (CUV_NTF_W_THREADS, 2)
    sum_w_kernel (const __grid_constant__ CuvNtfState self,
        const __grid_constant__ Layout layout, int first, bool finds_gram)
{
  __shared__ __align__ (16) union {
    double gram[CUV_NTF_GRAM_VALUES];
    float rows[CUV_NTF_SHARED_VALUES];
    CuvNtfUpdateShared<STRIDE> update;
  } shared;
  const int slot = first + blockIdx.z - finds_gram;
  const int y = slot * self.slot_rows[CUV_NTF_W];
  int stop; // its load overlaps with that of rows

  cuv_pdl_trigger ();
  cuv_pdl_wait ();
  stop = __ldcg (&self.progress->stop);
  if (slot >= first
      && self.slot_rows[CUV_NTF_W] <= CUV_NTF_SHARED_VALUES / STRIDE)
    cuv_ntf_load_rows<STRIDE> (self, CUV_NTF_U, y,
        min (self.slot_rows[CUV_NTF_W], self.height - y), shared.rows);
  if (stop)
    return;
  if (slot < first) {
    for (int part = blockIdx.y * gridDim.x + blockIdx.x;
         part < self.n_parts[CUV_NTF_V]; part += gridDim.y * gridDim.x)
      cuv_ntf_gram_part<STRIDE> (self, CUV_NTF_V, part, shared.gram);
    return;
  }
  sum_slot<STRIDE> (self, layout, slot, shared.rows);
  if (cuv_ntf_is_last (&self.counters->bands[blockIdx.y],
          self.n_slots[CUV_NTF_W] * layout.n_blocks)) {
    const int z = blockIdx.y * layout.bands;

    cuv_ntf_update_rows<STRIDE> (self, CUV_NTF_W, z,
        min (layout.bands, self.depth - z), 0, &shared.update);
  }
}

int
cuv_ntf_sum_w_submit (
    const CuvNtfState &self, int first, int end, cudaStream_t stream)
{
  const Layout layout = layout_of (self);
  const bool finds_gram = cuv_ntf_gram_blocks (self, CUV_NTF_W, first) > 0;
  const dim3 grid (layout.n_blocks, cuv_div_up (self.depth, layout.bands),
      finds_gram + end - first);

  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    return cuv_launch_dependent ("sum_w_kernel", grid, CUV_NTF_W_THREADS, 0,
        stream, sum_w_kernel<stride ()>, self, layout, first, finds_gram);
  });
}
