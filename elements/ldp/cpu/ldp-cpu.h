/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptors on the CPU. */
#ifndef CUV_LDP_CPU_H
#define CUV_LDP_CPU_H

#include "ldp.h"

/* By one thread at a time. */
typedef struct _CuvLdpCpu CuvLdpCpu;

/* For pictures of a shape; NULL if there is no memory. */
CuvLdpCpu *cuv_ldp_cpu_new (const CuvLdpShape *shape);
void cuv_ldp_cpu_free (CuvLdpCpu *self); /* NULL is allowed */

/* The histograms of a rectangle of a frame, which lies in it, made the shape's
 * size: cuv_ldp_n_counts() of cuv_ldp_count_size() bytes, until the next run.
 * n_threads 0 = all. */
const void *cuv_ldp_cpu_run (CuvLdpCpu *self, const CuvFrame *frame,
    const CuvLdpRect *rect, int n_threads);

/* cuv_ldp_draw() of the codes of the last run, over its rectangle. */
void cuv_ldp_cpu_draw (CuvLdpCpu *self, int direction, int n_threads);

#endif
