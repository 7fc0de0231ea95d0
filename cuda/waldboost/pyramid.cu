// SPDX-License-Identifier: LGPL-2.1-or-later
// Launches the kernels of the pyramid: pictures of levels, then integral
// images.
#include "waldboost/integral-kernel.cuh"
#include "waldboost/pyramid.cuh"
#include "waldboost/resize.cuh"
#include "waldboost/tilted-kernels.cuh"

// Sets *source to the frame's grey plane if it can be read as aligned words,
// otherwise to a grey copy, which is turned if the plan requires it.
static int
prepare_source (CuvPyramid *self, const CuvFrame *frame,
    CuvPyramidSource *source, cudaStream_t stream)
{
  const CuvComponent *y = &frame->component[0];
  const bool words = ((uintptr_t) y->data | y->stride | self->width) % 4 == 0;

  if (self->turn.degrees == 0 && frame->model != CUV_MODEL_RGB && y->step == 1
      && words && self->width >= 12 && self->height >= 2) {
    *source = CuvPyramidSource{ y->data, (int) y->stride, self->width };
    return 0;
  }
  const int pitch = self->grey_pitch ();
  uint8_t *grey = self->image<uint8_t> (CUV_WALDBOOST_IMAGE_GREY);
  dim3 block (32, 8);
  dim3 grid (cuv_div_up (self->width, 32), cuv_div_up (self->height, 8));

  *source = CuvPyramidSource{ grey, pitch, pitch };
  if (self->turn.degrees != 0) {
    cuv_turned_grey_kernel<<<grid, block, 0, stream>>> (
        *frame, self->turn, grey, pitch, self->began);
    CUV_CUDA_LAUNCHED (cuv_turned_grey_kernel);
    return 0;
  }
  cuv_grey_kernel<<<grid, block, 0, stream>>> (
      *frame, grey, pitch, self->began);
  CUV_CUDA_LAUNCHED (cuv_grey_kernel);
  return 0;
}

static int
make_halves (
    CuvPyramid *self, const CuvPyramidSource &frame, cudaStream_t stream)
{
  const CuvWaldboostLevel &first =
      self->host_levels[self->halves.level[0]].plan;
  dim3 grid (cuv_div_up (first.width, CUV_PYRAMID_HALVES),
      cuv_div_up (first.height, CUV_PYRAMID_HALVES));

  cuv_halves_kernel<<<grid, CUV_PYRAMID_HALVES * CUV_PYRAMID_HALVES, 0,
      stream>>> (self->halves, self->levels (), frame,
      self->image<uint8_t> (CUV_WALDBOOST_IMAGE_PICTURES), self->began);
  CUV_CUDA_LAUNCHED (cuv_halves_kernel);
  return 0;
}

template <int powers>
static int
make_pictures (
    CuvPyramid *self, const CuvPyramidSource &frame, cudaStream_t stream)
{
  const CuvPyramidTile *tiles =
      self->table<CuvPyramidTile> (self->picture_tiles_at);
  const CuvPyramidPictures pictures = { self->levels (),
    self->table<uint32_t> (self->taps_at), frame, self->needs.picture_rows (),
    self->image<uint8_t> (CUV_WALDBOOST_IMAGE_PICTURES),
    self->image<uint32_t> (CUV_WALDBOOST_IMAGE_STRIP_SUMS),
    self->image<uint32_t> (CUV_WALDBOOST_IMAGE_STRIP_SQUARES) };

  for (size_t d = 0; d + 1 < self->picture_tiles.size (); d++) {
    int first = self->picture_tiles[d], n = self->picture_tiles[d + 1] - first;

    if (n == 0)
      continue; // cuv_halves_kernel makes all levels of this depth
    cuv_picture_kernel<powers><<<n, CUV_PYRAMID_PICTURE_THREADS, 0, stream>>> (
        tiles + first, pictures, self->began);
    CUV_CUDA_LAUNCHED (cuv_picture_kernel);
  }
  return 0;
}

template <typename Sum, bool with_squares>
static int
make_sums (CuvPyramid *self, CuvPyramidLevels levels, cudaStream_t stream)
{
  const int first =
      levels == CUV_PYRAMID_OTHER_LEVELS ? self->n_split_strips : 0;
  const int end = levels == CUV_PYRAMID_SPLIT_LEVELS ? self->n_split_strips
                                                     : self->n_strips;

  integral_kernel<Sum, with_squares>
      <<<(1 + with_squares) * (end - first), 32 * CUV_PYRAMID_WARPS, 0,
          stream>>> (self->table<CuvPyramidTile> (self->strip_tiles_at) + first,
          self->levels (),
          self->image<const uint8_t> (CUV_WALDBOOST_IMAGE_PICTURES),
          self->image<const uint32_t> (CUV_WALDBOOST_IMAGE_STRIP_SUMS),
          self->image<const uint32_t> (CUV_WALDBOOST_IMAGE_STRIP_SQUARES),
          self->image<Sum> (CUV_WALDBOOST_IMAGE_SUMS),
          self->image<uint32_t> (CUV_WALDBOOST_IMAGE_SQUARES));
  CUV_CUDA_LAUNCHED (integral_kernel);
  return 0;
}

static int
make_tilted (CuvPyramid *self, cudaStream_t stream)
{
  const CuvPyramidTile *tiles =
      self->table<CuvPyramidTile> (self->diagonals_at);
  uint32_t *diagonal = self->image<uint32_t> (CUV_WALDBOOST_IMAGE_DIAGONAL);

  antidiagonal_kernel<<<self->n_diagonal_tiles, CUV_PYRAMID_DIAGONALS, 0,
      stream>>> (tiles, self->levels (),
      self->image<const uint8_t> (CUV_WALDBOOST_IMAGE_PICTURES), diagonal);
  CUV_CUDA_LAUNCHED (antidiagonal_kernel);
  diagonal_kernel<<<self->n_diagonal_tiles, CUV_PYRAMID_DIAGONALS, 0,
      stream>>> (tiles, self->levels (), diagonal,
      self->image<uint32_t> (CUV_WALDBOOST_IMAGE_TILTED));
  CUV_CUDA_LAUNCHED (diagonal_kernel);
  return 0;
}

int
cuv_pyramid_submit_pictures (
    CuvPyramid *self, const CuvFrame *frame, cudaStream_t stream)
{
  CuvPyramidSource source;

  if (prepare_source (self, frame, &source, stream) != 0
      || (self->halves.n > 0 && make_halves (self, source, stream) != 0))
    return -1;
  return self->needs.squares ? make_pictures<2> (self, source, stream)
      : self->needs.sums     ? make_pictures<1> (self, source, stream)
                             : make_pictures<0> (self, source, stream);
}

int
cuv_pyramid_submit_integrals (
    CuvPyramid *self, CuvPyramidLevels levels, cudaStream_t stream)
{
  const CuvPyramidNeeds &needs = self->needs;

  if (needs.sums) {
    const auto make = needs.narrow ? make_sums<uint16_t, false>
        : needs.squares            ? make_sums<uint32_t, true>
                                   : make_sums<uint32_t, false>;

    if (make (self, levels, stream) != 0)
      return -1;
  }
  return needs.tilted ? make_tilted (self, stream) : 0;
}
