/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A whole search on the CPU: what cuv_rcd_search() returns, fast. */
#ifndef CUV_RCD_CPU_H
#define CUV_RCD_CPU_H

#include "rcd.h"

typedef struct _CuvRcdCpu CuvRcdCpu;

/* Allocates all that frames of the shape's size need; NULL if there is no
 * memory. The shape has no problem. */
CuvRcdCpu *cuv_rcd_cpu_new (const CuvRcdShape *shape);
void cuv_rcd_cpu_free (CuvRcdCpu *self); /* NULL is allowed */

/* Searches one frame, of the shape's size, for all targets; a match for each.
 * n_threads 0 = all. */
void cuv_rcd_cpu_run (CuvRcdCpu *self, const CuvFrame *frame,
    const CuvRcdSearch *search, int n_threads, CuvRcdMatch *matches);

/* The sums over a box inside the frame; x and y count from the box. */
void cuv_rcd_cpu_measure (CuvRcdCpu *self, const CuvFrame *frame,
    const CuvRcdBox *box, int n_threads, int64_t *sums);

/* Of the last run: the scores of all windows, by number. */
const double *cuv_rcd_cpu_scores (const CuvRcdCpu *self);

#endif
