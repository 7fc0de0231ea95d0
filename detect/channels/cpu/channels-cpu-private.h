/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a scan: channels-memory.c allocates it, channels-cpu.c scans
 * with it. */
#ifndef CUV_CHANNELS_CPU_PRIVATE_H
#define CUV_CHANNELS_CPU_PRIVATE_H

#include "channels/cpu/channels-cpu.h"
#include "channels/cpu/channels-dsp.h"
#include "cpu/scan-work.h"
#include "cuvthreads.h"
#include "model/channels.h"

enum {
  CUV_CHANNELS_RING = 16,       /* rows of pixels that a strip keeps */
  CUV_CHANNELS_SUM_ROWS = 3,    /* rows of sums of blocks that a strip keeps */
  CUV_CHANNELS_STRIP_ROWS = 64, /* rows of blocks in a strip */
  CUV_CHANNELS_SCAN_ROWS = 16,  /* rows of windows in a task */
};

/* Memory whose size only grows. */
typedef struct {
  void *data;
  size_t size;
} CuvChannelsMemory;

/* A level. It has planes of pixels if other levels are resized from it, and
 * channels if it has windows. Blocks at an edge are repeated as far as windows
 * extend beyond it. */
typedef struct {
  int32_t width, height, source; /* as in CuvWaldboostLevel; source: a level
                                  * of the pyramid */
  float scale;
  const CuvTap *x_taps, *y_taps;
  bool is_source, is_scanned;
  uint8_t *plane[CUV_CHANNELS_COLORS]; /* NULL: each strip computes its rows */
  int32_t columns, rows;               /* number of blocks */
  uint8_t *channels;                   /* block (0, 0) of channel 0 */
  /* bytes from row to row; from channel to channel */
  ptrdiff_t stride, pitch;
} CuvChannelsCpuLevel;

/* Rows of a level. A strip has rows of blocks, and its level belongs to the
 * pyramid. A scan task has rows of windows, and its level belongs to the
 * plan. */
typedef struct {
  int32_t level, first, n;
  CuvScanHits hits; /* of a scan task */
} CuvChannelsTask;

/* Memory of a thread. In the rings, row y has index y modulo CUV_CHANNELS_RING.
 * Each row has padding before and after it. */
typedef struct {
  uint8_t *pixels[CUV_CHANNELS_COLORS][CUV_CHANNELS_RING];
  uint16_t *magnitudes[CUV_CHANNELS_RING];
  uint8_t *bins[CUV_CHANNELS_RING];
  uint16_t *column_sums; /* of 11 rows of magnitudes */
  uint8_t *relative[4];  /* normalised magnitudes of a row of blocks */
  uint16_t *sums[CUV_CHANNELS_SUM_ROWS]; /* row y has index y modulo 3 */
  uint16_t *scratch;                     /* memory for resize_row */
  CuvScanWork work;
  CuvChannelsMemory memory, hits, survivors;
} CuvChannelsWorker;

/* A level of a model's plan. */
typedef struct {
  int32_t level; /* index in the pyramid */
  /* distances of nodes' bytes from a window; NULL if the level has no
   * windows */
  const int32_t *offsets;
} CuvChannelsScanLevel;

/* The scan of a model. */
typedef struct {
  const CuvChannelsModel *model;
  const CuvWaldboostPlan *plan;
  CuvChannelsScanLevel *levels;
  CuvChannelsTask *tasks;
  int32_t n_tasks;
  CuvChannelsMemory level_memory, offsets, task_memory, hits, survivors;
} CuvChannelsScan;

struct _CuvChannelsCpu {
  CuvChannelsDsp dsp;
  int32_t shrink, overhang; /* overhang: the maximum of the models */
  ptrdiff_t sums_pitch;     /* from channel to channel in a row of sums */
  int32_t n_levels, n_strips, n_scans, n_workers;
  CuvChannelsCpuLevel *levels;
  CuvChannelsTask *strips;
  CuvChannelsScan scans[CUV_WALDBOOST_MAX_MODELS];
  CuvChannelsWorker workers[CUV_THREADS_MAX_WORKERS];
  CuvChannelsMemory level_memory, pixels, channels, strip_memory;
  /* during a run */
  const CuvChannelsPicture *picture;
  int32_t level; /* the level whose pixels are made */
  CuvChannelsScan *scan;
};

/* ---- channels-memory.c ---- */

/* Returns false if memory runs out. If the memory grows, its contents are
 * lost. */
bool cuv_channels_reserve (CuvChannelsMemory *self, size_t size);

/* Divides n rows of a level into tasks, writes these unless tasks is NULL, and
 * returns their number. */
int cuv_channels_add_tasks (
    CuvChannelsTask *tasks, int level, int n, int rows_of_task);

/* ---- channels-scan.c ---- */

/* Call this when the sizes of the pyramid's levels and the scan's levels are
 * set. Returns false if memory runs out. */
bool cuv_channels_scan_reserve (
    CuvChannelsScan *self, const CuvChannelsCpuLevel *pyramid);
void cuv_channels_scan_clear (CuvChannelsScan *self);

/* Scans the rows of a task. */
void cuv_channels_scan_rows (CuvChannelsCpu *cpu, int worker, int task);

/* Makes a result of the hits and counts of the workers. */
void cuv_channels_scan_collect (
    const CuvChannelsCpu *cpu, CuvWaldboostResult *result);

/* ---- channels-strip.c ---- */

/* Computes the channels of a strip. */
void cuv_channels_strip (const CuvChannelsCpu *self, CuvChannelsWorker *worker,
    const CuvChannelsTask *strip);

/* Writes row y of a level's plane to out. */
void cuv_channels_make_row (const CuvChannelsCpu *self,
    CuvChannelsWorker *worker, int level, int plane, int y, uint8_t *out);

#endif
