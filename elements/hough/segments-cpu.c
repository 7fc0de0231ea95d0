/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hough-cpu-private.h"

/* The first of the peaks that are a piece. */
static size_t
first_peak (const CuvHoughCpu *self, int piece)
{
  return self->n_peaks * (size_t) piece / CUV_N_SEGMENT_PIECES;
}

static void
segment_piece (CuvHoughCpu *self, CuvHoughWorker *worker, int piece)
{
  const size_t first = first_peak (self, piece);
  CuvHoughSegment *out =
      self->piece_segments + (size_t) piece * CUV_HOUGH_MAX_SEGMENTS;
  size_t n = cuv_hough_segments (self->space, self->map, self->peaks + first,
      first_peak (self, piece + 1) - first, &self->params->segment, out,
      CUV_HOUGH_MAX_SEGMENTS);

  self->piece_n_segments[piece] = n;
  for (size_t i = 0; i < n && i < CUV_HOUGH_MAX_SEGMENTS; i++)
    out[i].peak += (int32_t) first;
}

size_t
cuv_hough_cpu_segments (CuvHoughCpu *self, size_t n_peaks)
{
  size_t n = 0;

  self->n_peaks = n_peaks;
  cuv_hough_cpu_pieces (self, CUV_N_SEGMENT_PIECES, segment_piece);
  for (int i = 0; i < CUV_N_SEGMENT_PIECES; i++) {
    const CuvHoughSegment *part =
        self->piece_segments + (size_t) i * CUV_HOUGH_MAX_SEGMENTS;

    for (size_t s = 0; s < self->piece_n_segments[i]; s++, n++) {
      if (n < CUV_HOUGH_MAX_SEGMENTS)
        self->segments[n] = part[s];
    }
  }
  return n;
}
