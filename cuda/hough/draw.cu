// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws debug views of edges and votes: the same pixels as reference/draw.c.
#include "hough/votes.cuh"

#define CUV_HOUGH_DRAW_BLOCK dim3 (32, 8)

// One thread per pixel, here and below.
static __global__ void
draw_edges_kernel (CuvFrame frame, CuvHoughMaps maps)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;

  if (x >= frame.width || y >= frame.height)
    return;
  const unsigned word = maps.edges[(size_t) y * cuv_map_pitch (maps) + x / 32];

  cuv_frame_set_grey (&frame, x, y, word >> x % 32 & 1 ? 255 : 0);
}

// Returns the first of n cells that maps to pixel v of size.
static __device__ __forceinline__ int
cuv_hough_draw_first_cell (int v, int n, int size)
{
  return (int) ((long long) v * n / size);
}

// Returns the maximum over cells first .. end - 1 of rows k .. k_end - 1.
static __device__ unsigned
most_votes (const CuvHoughDeviceLayout &layout, const unsigned *cells, int k,
    int k_end, int first, int end)
{
  unsigned maximum = 0;

  for (; k < k_end; k++) {
    const CuvHoughVoteRow &row = layout.rows[k];
    const int begin = layout.radius + row.first_cell;

    for (int i = max (first, begin); i < min (end, begin + row.n_cells); i++)
      maximum = max (maximum, cells[row.start + i - begin]);
  }
  return maximum;
}

static __global__ void
draw_votes_kernel (CuvFrame frame, CuvHoughDeviceLayout layout,
    const unsigned *cells, unsigned threshold)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int n_cells = 2 * layout.radius + 1;

  if (x >= frame.width || y >= frame.height)
    return;
  const int k = cuv_hough_draw_first_cell (x, layout.n_rows, frame.width);
  const int first = cuv_hough_draw_first_cell (y, n_cells, frame.height);
  const unsigned votes = most_votes (layout, cells, k,
      max (
          k + 1, cuv_hough_draw_first_cell (x + 1, layout.n_rows, frame.width)),
      first,
      max (
          first + 1, cuv_hough_draw_first_cell (y + 1, n_cells, frame.height)));

  // up to the threshold, at most three quarters as bright as peaks
  cuv_frame_set_grey (&frame, x, y,
      votes > threshold
          ? 255
          : (uint8_t) (votes * 191ULL / (threshold > 0 ? threshold : 1)));
}

static dim3
grid_for (const CuvFrame &frame)
{
  return dim3 (cuv_div_up (frame.width, CUV_HOUGH_DRAW_BLOCK.x),
      cuv_div_up (frame.height, CUV_HOUGH_DRAW_BLOCK.y));
}

int
cuv_draw_edges_submit (
    const CuvFrame &frame, const CuvHoughMaps &maps, cudaStream_t stream)
{
  draw_edges_kernel<<<grid_for (frame), CUV_HOUGH_DRAW_BLOCK, 0, stream>>> (
      frame, maps);
  CUV_CUDA_LAUNCHED (draw_edges_kernel);
  return 0;
}

int
cuv_draw_votes_submit (const CuvFrame &frame,
    const CuvHoughDeviceLayout &layout, const unsigned *cells,
    unsigned threshold, cudaStream_t stream)
{
  draw_votes_kernel<<<grid_for (frame), CUV_HOUGH_DRAW_BLOCK, 0, stream>>> (
      frame, layout, cells, threshold);
  CUV_CUDA_LAUNCHED (draw_votes_kernel);
  return 0;
}
