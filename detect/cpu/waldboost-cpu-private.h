/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of a scan on the CPU: waldboost-cpu-memory.c allocates it,
 * waldboost-cpu.c scans with it. */
#ifndef CUV_WALDBOOST_CPU_PRIVATE_H
#define CUV_WALDBOOST_CPU_PRIVATE_H

#include "cpu/scan-work.h"
#include "cpu/waldboost-cpu.h"
#include "cpu/waldboost-dsp.h"
#include "cuvthreads.h"

#define CUV_ZERO_ROWS 2 /* zero rows above an integral image */

/* Aligned memory that only grows, and is zeroed when it does. */
typedef struct {
  void *memory; /* as allocated */
  void *data;   /* its first aligned byte */
  size_t size;  /* bytes from data on */
} CuvBuffer;

typedef struct {
  const uint8_t *data;
  ptrdiff_t stride;
  int width, height;
} CuvPicture;

/* A strip: consecutive rows of windows in a level, and their hits in a worker's
 * list. */
typedef struct {
  int32_t level, first, n; /* n rows of windows, from row `first` on */
  CuvScanHits hits;
} CuvStrip;

/* One thread's memory and results. */
typedef struct {
  CuvBuffer grey[2]; /* rows of a level */
  CuvBuffer column;  /* scratch of resize_row */
  /* sums, squares, tilted; pages of idle workers are never touched and take
   * no memory */
  CuvBuffer integral[3];
  CuvBuffer hits, survivors;
  CuvScanWork work;
} CuvWorker;

struct _CuvWaldboostCpu {
  const CuvWaldboostModel *model;
  const CuvWaldboostPlan *plan;
  CuvWaldboostDsp dsp;
  ptrdiff_t stride; /* stride of the integral images */
  int n_strips, n_workers;
  CuvWorker workers[CUV_THREADS_MAX_WORKERS];
  CuvBuffer strips;   /* CuvStrip: n_strips elements */
  CuvBuffer pictures; /* see cuv_picture_of() */
  /* pixels of the levels from which others are resized */
  CuvBuffer pixels;
  CuvBuffer zeros;           /* the pixel row above a strip */
  CuvBuffer hits, survivors; /* memory of the result */
  CuvBuffer grey;   /* grey pixels of the frame, unless it has a grey plane */
  CuvBuffer turned; /* grey pixels of the rotated frame */
  /* during a run */
  const CuvFrame *frame;
  int level; /* the level whose picture is made, see cuv_picture_of() */
};

/* Returns the picture of a level; level -1: the rotated frame, -2: the frame.
 * data is NULL if no levels are resized from the level: its rows are then
 * computed when a strip needs them. */
static inline CuvPicture *
cuv_picture_of (const CuvWaldboostCpu *self, int level)
{
  return (CuvPicture *) self->pictures.data + level + 2;
}

#endif
