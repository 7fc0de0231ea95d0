// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws the distance map: the same pixels as
// elements/rcd/reference/distance-map.c.
#include "rcd/search.cuh"

#define BLOCK dim3 (32, 8)

// Returns the grey value of a pixel: 255 * 2^(-distance / half), where distance
// is that of the window with the nearest centre, or 0 if there is none.
static __device__ uint8_t
value_at (const CuvRcdState &state, const CuvRcdLevel &level, int x, int y,
    double half)
{
  const int size = level.step * state.cell;
  const CuvRcdBox first =
      cuv_rcd_window_box (state, level, CuvRcdWindowPosition{});
  const int dx = x - (first.x + first.width / 2 - size / 2);
  const int dy = y - (first.y + first.height / 2 - size / 2);

  if (dx < 0 || dy < 0 || dx >= size * level.n_x || dy >= size * level.n_y)
    return 0;
  const double distance = cuv_rcd_distance (
      state.scores[level.first + dy / size * level.n_x + dx / size],
      state.metric);

  return (uint8_t) (255.0 * exp2 (-distance / half) + 0.5);
}

// One thread per pixel.
static __global__ void
draw_kernel (const __grid_constant__ CuvRcdState state, CuvFrame frame,
    int target, double half)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const CuvRcdMatch &match = state.matches[target];

  if (x >= frame.width || y >= frame.height || match.window < 0)
    return;
  cuv_frame_set_grey (&frame, x, y,
      value_at (state, state.targets[target].levels[match.level], x, y, half));
}

int
cuv_rcd_draw_submit (const CuvRcdState &state, const CuvFrame &frame,
    int target, double half, cudaStream_t stream)
{
  const dim3 grid (
      cuv_div_up (frame.width, BLOCK.x), cuv_div_up (frame.height, BLOCK.y));

  draw_kernel<<<grid, BLOCK, 0, stream>>> (state, frame, target, half);
  CUV_CUDA_LAUNCHED (draw_kernel);
  return 0;
}
