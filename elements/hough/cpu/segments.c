/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments of the peaks, on several threads. */
#include "cpu/hough-cpu-private.h"

static size_t
first_peak (const CuvHoughCpu *self, int task)
{
  return self->n_peaks * (size_t) task / CUV_N_SEGMENT_TASKS;
}

static void
segment_task (void *data, int index, int task)
{
  CuvHoughCpu *self = data;
  const size_t first = first_peak (self, task);
  CuvHoughSegment *out =
      self->task_segments + (size_t) task * CUV_HOUGH_MAX_SEGMENTS;
  size_t n = cuv_hough_segments (self->layout, self->map, self->peaks + first,
      first_peak (self, task + 1) - first, &self->params->segment, out,
      CUV_HOUGH_MAX_SEGMENTS);

  self->task_n_segments[task] = n;
  for (size_t i = 0; i < n && i < CUV_HOUGH_MAX_SEGMENTS; i++)
    out[i].peak += (int32_t) first;
}

size_t
cuv_hough_cpu_find_segments (CuvHoughCpu *self, size_t n_peaks)
{
  size_t n = 0;

  self->n_peaks = n_peaks;
  cuv_hough_cpu_run_tasks (self, CUV_N_SEGMENT_TASKS, segment_task);
  for (int i = 0; i < CUV_N_SEGMENT_TASKS; i++) {
    const CuvHoughSegment *part =
        self->task_segments + (size_t) i * CUV_HOUGH_MAX_SEGMENTS;

    for (size_t s = 0; s < self->task_n_segments[i]; s++, n++) {
      if (n < CUV_HOUGH_MAX_SEGMENTS)
        self->segments[n] = part[s];
    }
  }
  return n;
}
