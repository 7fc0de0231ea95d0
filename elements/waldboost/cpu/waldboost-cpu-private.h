/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waldboost-cpu-memory.c prepares a scan, waldboost-cpu.c runs it. */
#ifndef CUV_WALDBOOST_CPU_PRIVATE_H
#define CUV_WALDBOOST_CPU_PRIVATE_H

#include "cpu/waldboost-cpu.h"
#include "cpu/waldboost-dsp.h"

#define CUV_ZERO_ROWS 2 /* above an integral image */
#define CUV_MAX_WORKERS 64

/* Aligned memory that only grows; zeroed whenever it does. */
typedef struct {
  void *memory;
  void *data;
  size_t size;
} CuvBuffer;

typedef struct {
  const uint8_t *data;
  ptrdiff_t stride;
  int width, height;
} CuvPicture;

typedef struct {
  int32_t level, first, n; /* rows of windows */
  int32_t first_hit, n_hits, worker;
} CuvStrip;

/* One thread's memory and results. */
typedef struct {
  CuvBuffer grey[2];     /* rows of a level */
  CuvBuffer column;      /* scratch of resize_row */
  CuvBuffer integral[3]; /* sums, squares, tilted; pages of idle workers are
                          * never touched, so they cost no memory */
  CuvBuffer hits, survivors;
  CuvHitList list; /* of all its strips */
  int64_t pyramid_ns, scan_ns;
} CuvWorker;

struct _CuvWaldboostCpu {
  const CuvWaldboostModel *model;
  const CuvWaldboostPlan *plan;
  CuvWaldboostDsp dsp;
  ptrdiff_t stride; /* of the integral images */
  int n_strips, n_workers;
  CuvWorker workers[CUV_MAX_WORKERS];
  CuvBuffer strips, pictures, pixels, zeros, hits, survivors;
  CuvBuffer grey; /* of the frame, unless one of its planes is grey */
  /* during a run */
  const CuvFrame *frame;
  int level; /* whose picture is being made, -1 = the frame */
};

/* The picture of a level, -1 = the frame. data is NULL unless the level is a
 * source of others: then rows are made when a strip needs them. */
static inline CuvPicture *
cuv_picture_of (const CuvWaldboostCpu *self, int level)
{
  return (CuvPicture *) self->pictures.data + level + 1;
}

#endif
