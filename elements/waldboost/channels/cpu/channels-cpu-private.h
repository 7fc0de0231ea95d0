/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of a scan, which channels-memory.c allocates and channels-cpu.c
 * runs. */
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
 * reach beyond it. */
typedef struct {
  uint8_t *plane[CUV_CHANNELS_COLORS]; /* NULL: each strip makes its pixels */
  int32_t columns, rows;               /* blocks */
  uint8_t *channels;                   /* block 0, 0 of channel 0 */
  ptrdiff_t stride, pitch; /* from row to row, from channel to channel */
  const int32_t *offsets;  /* of the nodes' bytes from a window's first */
} CuvChannelsCpuLevel;

/* n rows of a level from first on: rows of blocks in a strip, rows of windows
 * in a scan task. */
typedef struct {
  int32_t level, first, n;
  CuvScanHits hits; /* of a scan task */
} CuvChannelsTask;

/* Memory of a thread. Row y is element y modulo CUV_CHANNELS_RING of a ring.
 * There is padding before and after each row. */
typedef struct {
  uint8_t *pixels[CUV_CHANNELS_COLORS][CUV_CHANNELS_RING];
  uint16_t *magnitudes[CUV_CHANNELS_RING];
  uint8_t *bins[CUV_CHANNELS_RING];
  uint16_t *column_sums; /* for each column, of 11 rows of magnitudes */
  uint8_t *relative[4];  /* normalised magnitudes of a row of blocks */
  uint16_t *sums[CUV_CHANNELS_SUM_ROWS]; /* row of blocks y at y modulo 3 */
  uint16_t *scratch;                     /* of resize_row */
  CuvScanWork work;
  CuvChannelsMemory memory, hits, survivors;
} CuvChannelsWorker;

struct _CuvChannelsCpu {
  const CuvChannelsModel *model;
  const CuvWaldboostPlan *plan;
  CuvChannelsDsp dsp;
  ptrdiff_t sums_pitch; /* elements from channel to channel in a row of sums */
  int32_t n_strips, n_scans, n_workers;
  CuvChannelsCpuLevel *levels;
  CuvChannelsTask *strips, *scans;
  CuvChannelsWorker workers[CUV_THREADS_MAX_WORKERS];
  CuvChannelsMemory level_memory, offsets, pixels, channels, strip_memory,
      scan_memory, hits, survivors;
  /* during a run */
  const CuvChannelsPicture *picture;
  int32_t level; /* the level whose pixels are being made */
};

/* ---- channels-strip.c ---- */

/* Computes the channels of a strip. */
void cuv_channels_strip (const CuvChannelsCpu *self, CuvChannelsWorker *worker,
    const CuvChannelsTask *strip);

/* Writes row y of a level's plane to out. */
void cuv_channels_make_row (const CuvChannelsCpu *self,
    CuvChannelsWorker *worker, int level, int plane, int y, uint8_t *out);

#endif
