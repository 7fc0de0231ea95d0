/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A whole run of the line detector on the CPU. */
#ifndef CUV_HOUGH_CPU_H
#define CUV_HOUGH_CPU_H

#include "hough.h"

typedef struct _CuvHoughCpu CuvHoughCpu;

/* Allocates all that frames of the layout's size need; NULL if there is no
 * memory. The layout must outlive it. */
CuvHoughCpu *cuv_hough_cpu_new (const CuvHoughLayout *layout);
void cuv_hough_cpu_free (CuvHoughCpu *self); /* NULL is allowed */

/* Finds the lines of one frame, of the layout's size; n_threads 0 = all. A
 * window needs gradients: without Canny all edges vote for all lines. */
void cuv_hough_cpu_run (CuvHoughCpu *self, const CuvFrame *frame,
    const CuvHoughParams *params, int n_threads, CuvHoughResult *result);

/* Draws over a frame of the same size what the last run found: edges, or the
 * accumulator with cells of more votes than the threshold in white. */
void cuv_hough_cpu_draw (
    CuvHoughCpu *self, const CuvFrame *frame, CuvHoughDraw draw);

#endif
