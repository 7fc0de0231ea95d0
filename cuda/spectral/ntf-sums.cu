// SPDX-License-Identifier: LGPL-2.1-or-later
// w: its numerators are sums over a slot's rows of G times u, and then over
// pixels times v.
#include <algorithm>
#include "spectral/ntf-sums.cuh"

#define THREADS 256
#define WARPS (THREADS / 32)

// Each warp has 128 pixels of a band, and a group of columns.
typedef struct {
  int n_across, n_units;      // parts of a row; warps for a band
  int bands, blocks_of_bands; // of a block; blocks for these
  int blocks_of_slot;
} Layout;

static Layout
layout_of (const CuvNtfState &self)
{
  const int n_across = cuv_div_up (self.pitch, 128);
  const int n_units = n_across * cuv_div_up (self.stride, 16);
  const int bands = std::max (WARPS / n_units, 1);
  const int blocks = cuv_div_up (n_units, WARPS);

  return { n_across, n_units, bands, blocks,
    cuv_div_up (self.depth, bands) * blocks };
}

void
cuv_ntf_init_slots_of_w (CuvNtfState *self)
{
  const Layout layout = layout_of (*self);
  int *n = &self->n_slots[CUV_NTF_W];

  // to fill the GPU; but no slot has fewer than 8 rows, or many more than 64
  *n = std::max (256 / layout.blocks_of_slot, self->height / 64);
  *n = std::clamp (*n, 1, std::min (cuv_div_up (self->height, 8), 64));
  self->n_sums[CUV_NTF_W] = *n * layout.n_across;
}

// Sums of band z at pixels from x on, over rows from y to below end; lanes that
// have_none only help.
template <int STRIDE>
static __device__ __forceinline__ void
sum_rows (const CuvNtfState &self, int y, int end, int z, int x, int column,
    bool has_none, float *rows, float (*sums)[4])
{
  constexpr int n_rows = CUV_NTF_ROWS_ROOM / STRIDE;
  const int step = self.depth * self.pitch;
  const float *g = &self.g[(size_t) y * step + z * self.pitch + x];

  for (; y < end; y += n_rows, g += (size_t) n_rows * step) {
    const int n = min (n_rows, end - y);

    cuv_ntf_load_rows<STRIDE> (self, CUV_NTF_U, y, n, rows);
    cuv_ntf_add_products<CuvNtfColumns<STRIDE>::n> (
        g, step, has_none ? 0 : n, &rows[column], STRIDE, sums);
  }
}

template <int STRIDE>
static __device__ __forceinline__ void
sum_slot (const CuvNtfState &self, const Layout &layout, int slot, int block,
    float *rows)
{
  constexpr int columns = CuvNtfColumns<STRIDE>::n;
  constexpr int groups = CuvNtfColumns<STRIDE>::groups;
  const int unit =
                block % layout.blocks_of_bands * WARPS + cuv_warp_of_thread (),
            part = unit % layout.n_units / groups;
  const int band = unit / layout.n_units, lane = threadIdx.x % 32;
  const int z = block / layout.blocks_of_bands * layout.bands + band;
  const int x = part * 128 + lane * 4, column = unit % groups * columns;
  const bool has_none =
      band >= layout.bands || z >= self.depth || x >= self.pitch;
  float pixels[columns][4] = {}, sums[columns] = {};

  sum_rows<STRIDE> (self, cuv_ntf_first_row (self, CUV_NTF_W, slot),
      cuv_ntf_first_row (self, CUV_NTF_W, slot + 1), z, x, column, has_none,
      rows, pixels);
  if (!has_none)
    cuv_ntf_times_v<columns> (pixels,
        &self.factors[CUV_NTF_V].values[column * self.pitch + x], self.pitch,
        sums);
  cuv_ntf_fold<32, 1, columns> (sums);
  if (lane % (32 / columns) == 0 && band < layout.bands && z < self.depth)
    self.sums[CUV_NTF_W]
             [((size_t) (slot * layout.n_across + part) * self.depth + z)
                     * STRIDE
                 + column + lane * columns / 32] = sums[0];
}

template <int STRIDE>
static __global__ void
__launch_bounds__ (THREADS, 2)
    sum_w_kernel (const __grid_constant__ CuvNtfState self,
        const __grid_constant__ Layout layout, int first, int n_gram_blocks)
{
  __shared__ __align__ (16) union {
    double gram[CUV_NTF_GRAM_ROOM];
    float rows[CUV_NTF_ROWS_ROOM];
    CuvNtfUpdateRoom<STRIDE> update;
  } room;
  const int i = (int) blockIdx.x - n_gram_blocks;
  const int block = i % layout.blocks_of_slot,
            z = block / layout.blocks_of_bands * layout.bands;

  cuv_let_next_kernel_start ();
  cuv_wait_for_previous_kernel ();
  if (__ldcg (&self.progress->stop))
    return;
  if (i < 0) {
    cuv_ntf_gram_part<STRIDE> (self, CUV_NTF_V, blockIdx.x, room.gram);
    return;
  }
  sum_slot<STRIDE> (
      self, layout, first + i / layout.blocks_of_slot, block, room.rows);
  if (cuv_ntf_is_last (&self.counters->bands[z],
          self.n_slots[CUV_NTF_W] * layout.blocks_of_bands))
    cuv_ntf_update_rows<STRIDE> (
        self, CUV_NTF_W, z, min (layout.bands, self.depth - z), &room.update);
}

int
cuv_ntf_sum_w_submit (
    const CuvNtfState &self, int first, int end, cudaStream_t stream)
{
  const Layout layout = layout_of (self);
  const int n_gram_blocks = cuv_ntf_gram_blocks (self, CUV_NTF_W, first);

  return cuv_ntf_with_stride (self.stride, [&] (auto stride) {
    return cuv_launch_early ("sum_w_kernel",
        n_gram_blocks + layout.blocks_of_slot * (end - first), THREADS, 0,
        stream, sum_w_kernel<stride ()>, self, layout, first, n_gram_blocks);
  });
}
