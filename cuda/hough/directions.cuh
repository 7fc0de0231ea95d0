// SPDX-License-Identifier: LGPL-2.1-or-later
// The gradient of a single edge, computed as in Canny, and its orientation bin.
#ifndef CUV_HOUGH_DIRECTIONS_CUH
#define CUV_HOUGH_DIRECTIONS_CUH

#include "hough/votes.cuh"

// Computes the 3x3 luma values around a pixel, blurred by [1 4 6 4 1] / 16 in x
// and y, with replicated borders. cuv_hough_blur_tile() does the same for a
// tile.
static __device__ __forceinline__ void
cuv_hough_blur_3x3 (const CuvFrame &frame, int x, int y, int *grey)
{
  const int weights[] = { 1, 4, 6, 4, 1 };

  for (int i = 0; i < 9; i++)
    grey[i] = 128;
#pragma unroll
  for (int j = 0; j < 7; j++) {
    const int row_y = cuv_hough_clamp (y + j - 3, frame.height);
    int row[7];

#pragma unroll
    for (int i = 0; i < 7; i++)
      row[i] = cuv_frame_grey (
          &frame, cuv_hough_clamp (x + i - 3, frame.width), row_y);
#pragma unroll
    for (int i = 0; i < 3; i++) {
      const int sum = row[i] + 4 * row[i + 1] + 6 * row[i + 2] + 4 * row[i + 3]
          + row[i + 4];

#pragma unroll
      for (int k = max (j - 4, 0); k <= min (j, 2); k++)
        grey[3 * k + i] += weights[j - k] * sum;
    }
  }
  for (int i = 0; i < 9; i++)
    grey[i] >>= 8;
}

// Loads the 3x3 grey values around an edge. No edge is on the frame's border.
template <bool BLURRED>
static __device__ __forceinline__ void
cuv_hough_load_3x3 (const CuvFrame &frame, int x, int y, int *grey)
{
  const CuvComponent &c = frame.component[0];
  const uint8_t *at = c.data + (int64_t) y * c.stride + x * c.step;

  if (BLURRED)
    cuv_hough_blur_3x3 (frame, x, y, grey);
#pragma unroll
  for (int i = 0; !BLURRED && i < 9; i++) {
    const int dx = i % 3 - 1, dy = i / 3 - 1;

    if (frame.model != CUV_MODEL_RGB)
      grey[i] = __ldg (at + dy * c.stride + dx * c.step);
    else
      grey[i] = cuv_frame_grey (&frame, x + dx, y + dy);
  }
}

// Returns the Sobel gradient of an edge.
template <bool BLURRED>
static __device__ __forceinline__ short2
gradient_of (const CuvFrame &frame, int x, int y)
{
  int at[9];

  cuv_hough_load_3x3<BLURRED> (frame, x, y, at);
  return short2{ (short) (at[2] + 2 * at[5] + at[8] - at[0] - 2 * at[3]
                     - at[6]),
    (short) (at[6] + 2 * at[7] + at[8] - at[0] - 2 * at[1] - at[2]) };
}

// Whether the normal of a gradient's bin has the opposite direction.
static __device__ __forceinline__ bool
is_turned (short2 gradient)
{
  return gradient.x < 0 || (gradient.x == 0 && gradient.y > 0);
}

// Returns the orientation bin of a gradient: atan2f() guesses it to within one,
// integer cross products correct the guess.
static __device__ __forceinline__ int
find_bin (const short2 *boundaries, int n_bins, short2 gradient)
{
  const bool turn = is_turned (gradient);
  const int x = turn ? -gradient.x : gradient.x;
  const int y = turn ? -gradient.y : gradient.y;
  const auto begins_after = [&] (int g) {
    const short2 boundary = boundaries[g];

    return boundary.x * y - boundary.y * x < 0;
  };
  const float turns = atan2f ((float) y, (float) x) * .318309886f + .5f;
  int g = min (max ((int) (turns * n_bins), 0), n_bins - 1);

  while (g > 0 && begins_after (g))
    g--;
  while (g < n_bins - 1 && !begins_after (g + 1))
    g++;
  return g;
}

#endif
