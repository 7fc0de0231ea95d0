/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector on the CPU. */
#ifndef CUV_HOUGH_CPU_H
#define CUV_HOUGH_CPU_H

#include "hough.h"

typedef struct _CuvHoughCpu CuvHoughCpu;

/* Allocates the memory for frames of the layout's size; returns NULL if out of
 * memory. The layout must outlive it. */
CuvHoughCpu *cuv_hough_cpu_new (const CuvHoughLayout *layout);
void cuv_hough_cpu_free (CuvHoughCpu *self); /* NULL is allowed */

/* Finds the lines of one frame of the layout's size; n_threads 0 = all
 * processors. Orientation windows need gradients: without Canny all edges vote
 * in all rows. */
void cuv_hough_cpu_run (CuvHoughCpu *self, const CuvFrame *frame,
    const CuvHoughParams *params, int n_threads, CuvHoughResult *result);

/* Draws the last run's edges, or its accumulator with cells above the threshold
 * in white, over a frame of the same size. */
void cuv_hough_cpu_draw (
    CuvHoughCpu *self, const CuvFrame *frame, CuvHoughDraw draw);

#endif
