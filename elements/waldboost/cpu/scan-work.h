/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the threads of a scan find and count, and how it becomes a result:
 * shared by waldboost-cpu.c and channels/cpu/channels-cpu.c. */
#ifndef CUV_WALDBOOST_SCAN_WORK_H
#define CUV_WALDBOOST_SCAN_WORK_H

#include "reference/waldboost-reference.h"

/* The work of a thread. */
typedef struct {
  CuvHitList list; /* hits of all its tasks */
  int64_t pyramid_ns, scan_ns;
} CuvScanWork;

/* The hits of a task, in its worker's list. */
typedef struct {
  int32_t worker, first_hit, n_hits;
} CuvScanHits;

/* hits: memory for CUV_WALDBOOST_MAX_HITS; survivors: for a count of each of
 * the segments. */
void cuv_scan_work_start (CuvScanWork *self, CuvWaldboostHit *hits,
    uint64_t *survivors, int n_segments);

/* A result without hits, with memory as above. */
void cuv_scan_result_start (CuvWaldboostResult *self, CuvWaldboostHit *hits,
    uint64_t *survivors, int n_segments);

/* Adds the counts and times of a thread. */
void cuv_scan_result_add_work (
    CuvWaldboostResult *self, const CuvScanWork *work, int n_segments);

/* Appends the hits of a task; those beyond the memory count as overflow. Call
 * it for tasks in the order of their windows. work: that of the task's worker.
 */
void cuv_scan_result_add_hits (
    CuvWaldboostResult *self, const CuvScanWork *work, const CuvScanHits *hits);

#endif
