/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the line detector on the CPU, and its stages. Each stage runs tasks
 * that any thread may take. */
#ifndef CUV_HOUGH_CPU_PRIVATE_H
#define CUV_HOUGH_CPU_PRIVATE_H

#include "cpu/hough-cpu.h"
#include "cpu/hough-dsp.h"
#include "cuvthreads.h"

enum {
  CUV_HOUGH_MAX_MEMORY = 32 * (CUV_THREADS_MAX_WORKERS + 1),
  CUV_HOUGH_EDGE_ROWS = 32, /* rows of a band */
  CUV_HOUGH_ROWS_AT_ONCE =
      2, /* rows that a task votes for: a pair, see hough-dsp.h */
  CUV_HOUGH_N_SORT_TASKS = 16,
  CUV_HOUGH_N_SEGMENT_TASKS = 16,
};

/* Memory of one thread. */
typedef struct {
  uint8_t *grey;               /* padded by two pixels on either side */
  uint16_t *blurred[5];        /* rows blurred across; row y in [y % 5] */
  CuvGradientRow gradients[3]; /* row y in [y % 3] */
  int16_t *scratch;            /* scratch memory of dsp.gradients() */
  uint32_t *pair_table;        /* 0 when not in use */
  uint8_t *lanes;              /* scratch memory of dsp.gather() */
  uint32_t *ring;              /* rows of n_cells, see votes.c */
  int32_t *found;              /* cells that dsp.find_cells() lists */
  CuvPeakList peaks;
} CuvHoughWorker;

struct _CuvHoughCpu {
  const CuvHoughLayout *layout;
  CuvHoughDsp dsp;
  int n_workers;
  CuvHoughWorker workers[CUV_THREADS_MAX_WORKERS];
  void *memory[CUV_HOUGH_MAX_MEMORY]; /* owned allocations */
  int n_memory;
  size_t n_pair_cells; /* cells of each pair_table */
  bool complete;       /* all allocations have succeeded */

  /* edges */
  uint8_t *grey;          /* luma of frames that do not have it as a plane */
  uint8_t *map, *columns; /* edge map, and transposed */
  uint32_t *pixels;       /* edges, y << 16 | x */
  uint16_t *bins;         /* the edges' orientation bins */
  uint32_t *sorted;       /* the edges sorted by bin */
  size_t *band_edges;     /* number of edges in each band */
  size_t *first_of_bin;   /* index of each bin's first edge in sorted */
  /* per task and bin: number of edges, then index of the next one in sorted */
  size_t *next_of_bin[CUV_HOUGH_N_SORT_TASKS];
  CuvEdgeList list;

  /* results */
  uint32_t *votes; /* accumulator, n_rows x n_cells */
  bool has_votes;  /* the last run filled the accumulator */
  CuvHoughPeak *peaks;
  CuvHoughSegment *segments;
  CuvHoughSegment *task_segments; /* CUV_HOUGH_MAX_SEGMENTS per task */
  size_t task_n_segments[CUV_HOUGH_N_SEGMENT_TASKS];
  CuvRegions *regions; /* NULL if edges have no directions */
  CuvLineSegment *line_segments;
  uint32_t threshold; /* threshold of the last run's peaks, votes */

  /* the current run */
  const CuvFrame *frame;
  const CuvHoughParams *params;
  int n_threads;
  const uint8_t *source; /* luma */
  ptrdiff_t stride;
  _Atomic uint64_t n_votes; /* number of votes; tasks add theirs */
  size_t n_peaks;
};

static inline void
cuv_hough_cpu_run_tasks (CuvHoughCpu *self, int n_tasks, CuvWorkersFunc func)
{
  cuv_threads_run_workers (
      self->n_threads, self->n_workers, n_tasks, func, self);
}

void cuv_hough_cpu_find_edges (CuvHoughCpu *self);

/* Sorts the edges by orientation bin, if the layout has an orientation window
 * and Canny found them. */
void cuv_hough_cpu_sort_edges (CuvHoughCpu *self);

/* Finds the edges' directions, as bins. */
void cuv_hough_cpu_find_directions (CuvHoughCpu *self);

/* Votes into the accumulator, by a method other than RING. Returns the number
 * of votes. */
uint64_t cuv_hough_cpu_vote (CuvHoughCpu *self, CuvHoughMethod method);

void cuv_hough_cpu_find_peaks (CuvHoughCpu *self, CuvPeakList *list);

/* Makes a pair of two rows. Returns the number of counts in its table, or 0 if
 * that would be too large because the directions of the rows differ too much
 * for the frame's size. */
size_t cuv_hough_pair_init (CuvHoughPair *self, const CuvHoughLayout *layout,
    const CuvHoughRow *a, const CuvHoughRow *b);

/* Returns the number of cells of the largest table for two adjacent rows of a
 * layout. */
size_t cuv_hough_max_pair_cells (const CuvHoughLayout *layout);

/* Votes and finds peaks without an accumulator. Returns the number of votes. */
uint64_t cuv_hough_cpu_ring (CuvHoughCpu *self, CuvPeakList *list);

#endif
