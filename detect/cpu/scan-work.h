/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hits and counts of each thread of a scan, and functions that combine them
 * into a result: shared by waldboost-cpu.c and channels/cpu/channels-cpu.c. */
#ifndef CUV_WALDBOOST_SCAN_WORK_H
#define CUV_WALDBOOST_SCAN_WORK_H

#include "reference/waldboost-reference.h"

/* The hits and counts of a thread. */
typedef struct {
  CuvHitList list; /* hits of all its tasks */
  int64_t pyramid_ns, scan_ns;
} CuvScanWork;

/* The hits of a task, in its worker's list. */
typedef struct {
  int32_t worker, first_hit, n_hits;
} CuvScanHits;

/* Starts without hits. hits: memory for CUV_WALDBOOST_MAX_HITS hits; survivors:
 * memory for one count per segment. */
void cuv_scan_work_start (CuvScanWork *self, CuvWaldboostHit *hits,
    uint64_t *survivors, int n_segments);

/* Starts a result without hits, with memory as for cuv_scan_work_start(). */
void cuv_scan_result_start (CuvWaldboostResult *self, CuvWaldboostHit *hits,
    uint64_t *survivors, int n_segments);

/* Adds the counts and times of a thread. */
void cuv_scan_result_add_work (
    CuvWaldboostResult *self, const CuvScanWork *work, int n_segments);

/* Appends the hits of a task; hits that do not fit the memory count as
 * overflow. Call it for tasks in the order of their windows. work: hits and
 * counts of the task's worker. */
void cuv_scan_result_add_hits (
    CuvWaldboostResult *self, const CuvScanWork *work, const CuvScanHits *hits);

#endif
