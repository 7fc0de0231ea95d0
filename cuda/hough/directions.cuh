// SPDX-License-Identifier: LGPL-2.1-or-later
// The gradient of a single edge, computed as in Canny, and its orientation bin.
#ifndef CUV_HOUGH_DIRECTIONS_CUH
#define CUV_HOUGH_DIRECTIONS_CUH

#include "hough/votes.cuh"

// Returns the Sobel gradient of an edge. No edge is on the frame's border.
static __device__ __forceinline__ short2
gradient_of (const CuvFrame &frame, unsigned pixel)
{
  const CuvComponent &c = frame.component[0];
  const int x = pixel & 0xffff, y = pixel >> 16;
  const uint8_t *middle = c.data + (int64_t) y * c.stride + x * c.step;
  int at[9];

#pragma unroll
  for (int i = 0; i < 9; i++) {
    const int dx = i % 3 - 1, dy = i / 3 - 1;

    if (frame.model != CUV_MODEL_RGB)
      at[i] = middle[dy * c.stride + dx * c.step];
    else
      at[i] = cuv_frame_grey (&frame, x + dx, y + dy);
  }
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
