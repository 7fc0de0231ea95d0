// SPDX-License-Identifier: LGPL-2.1-or-later
// Passes over a cube's pixels, which sum products, fill histograms or paint:
// how memory is read, and which of three kernels does it (cuv_pca_pass_plan()).
#include <algorithm>
#include "pca/pca-state.cuh"

// Whether the image and the picture have no gaps between rows.
static bool
is_one_row (const CuvPcaPass &pass)
{
  const CuvCube &cube = pass.cube;

  return cube.row_step == cube.pixel_step * cube.width
      && (!(pass.tasks & CUV_PCA_PAINT) || pass.stride == 4LL * cube.width)
      && (int64_t) cube.width * cube.height < INT32_MAX - (1 << 20);
}

// Chooses packed tiles, which hold whole pixels, if bands are close to each
// other: memory is read in sectors of 32 bytes, so that reading single samples
// would take as long.
static void
plan_bands (CuvPcaPass *pass)
{
  const CuvCube &cube = pass->cube;
  const int64_t size = cuv_cube_sample_size (cube.format);
  const int64_t first = pass->bands.index[0] * cube.band_step;
  const int64_t last = pass->bands.index[pass->bands.n - 1] * cube.band_step;
  const int64_t span = std::max (first, last) - std::min (first, last) + size;

  pass->packed = cube.pixel_step > size && span <= cube.pixel_step
      && cube.pixel_step <= 32 * pass->bands.n
      && cube.pixel_step <= CUV_CUBE_MAX_BANDS * size;
  pass->low = std::min (first, last);
  pass->span = (int) span;
}

// Chooses the number of bytes per copy.
static void
plan_units (CuvPcaPass *pass)
{
  const CuvCube &cube = pass->cube;
  const int size = cuv_cube_sample_size (cube.format);
  const bool is_row = pass->packed || pass->bands.n == 1;
  const uint64_t steps =
      (uint64_t) (uintptr_t) (cube.data + (is_row ? pass->low : 0))
      | (uint64_t) (pass->height > 1 ? cube.row_step : 0)
      | (uint64_t) (is_row ? 0 : cube.band_step);
  const bool scattered = !pass->packed && cube.pixel_step != size;

  pass->unit = scattered ? size
      : steps % 16 == 0  ? 16
      : steps % 4 == 0   ? 4
                         : size;
  pass->sample_step = pass->packed ? size : cube.pixel_step;
}

int
cuv_pca_pass_plan (CuvPcaPass *pass, int *n_blocks)
{
  const bool one = is_one_row (*pass);

  pass->width = one ? pass->cube.width * pass->cube.height : pass->cube.width;
  pass->height = one ? 1 : pass->cube.height;
  pass->paints_uint4 =
      ((uintptr_t) pass->picture | (uintptr_t) (one ? 0 : pass->stride)) % 16
      == 0;
  plan_bands (pass);
  plan_units (pass);
  if (cuv_pca_video_plan (pass, n_blocks)
      || cuv_pca_31_bands_plan (pass, n_blocks))
    return 0;
  return cuv_pca_tiles_plan (pass, n_blocks);
}

int
cuv_pca_pass_submit (const CuvPcaPass &pass, int n_blocks, cudaStream_t stream)
{
  if (pass.video)
    return cuv_pca_video_submit (pass, n_blocks, stream);
  if (pass.up_to_31)
    return cuv_pca_31_bands_submit (pass, n_blocks, stream);
  return cuv_pca_tiles_submit (pass, n_blocks, stream);
}
