/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A search on the CPU: the result of cuv_rcd_search(), faster. */
#ifndef CUV_RCD_CPU_H
#define CUV_RCD_CPU_H

#include "rcd.h"

typedef struct _CuvRcdCpu CuvRcdCpu;

/* Allocates all memory that searches with this configuration need; NULL if
 * there is too little. cuv_rcd_config_problem() must have returned NULL. */
CuvRcdCpu *cuv_rcd_cpu_new (const CuvRcdConfig *config);
void cuv_rcd_cpu_free (CuvRcdCpu *self); /* NULL is allowed */

/* Searches one frame of the configured size: one match per target. n_threads:
 * 0 = one per processor; the result does not depend on it. */
void cuv_rcd_cpu_run (CuvRcdCpu *self, const CuvFrame *frame,
    const CuvRcdSearch *search, int n_threads, CuvRcdMatch *matches);

/* Computes cuv_rcd_box_sums() on n_threads threads. */
void cuv_rcd_cpu_measure (CuvRcdCpu *self, const CuvFrame *frame,
    const CuvRcdBox *box, int n_threads, int64_t *sums);

/* Draws the distance map of a target over the searched frame: the last run's
 * windows of the size that matched best, see cuv_rcd_draw_map(). Draws nothing
 * if no window matched. */
void cuv_rcd_cpu_draw (const CuvRcdCpu *self, const CuvFrame *frame,
    const CuvRcdSearch *search, int target, const CuvRcdMatch *match,
    double half);

/* Returns the scores of the last run's windows before refinement, by window
 * number. */
const double *cuv_rcd_cpu_scores (const CuvRcdCpu *self);

#endif
