/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes descriptors on the CPU: same result as cuv_ldp_describe(). */
#ifndef CUV_LDP_CPU_H
#define CUV_LDP_CPU_H

#include "ldp.h"

/* Not thread-safe: one call at a time. */
typedef struct _CuvLdpCpu CuvLdpCpu;

/* Returns NULL if out of memory. */
CuvLdpCpu *cuv_ldp_cpu_new (const CuvLdpLayout *layout);
void cuv_ldp_cpu_free (CuvLdpCpu *self); /* NULL is allowed */

/* Resizes a rectangle inside the frame to the layout's size and returns its
 * histograms: cuv_ldp_n_counts() counts of cuv_ldp_count_size() bytes each,
 * valid until the next run; NULL if out of memory. Allocates only if the
 * rectangle's width changes. n_threads 0 = one per processor. */
const void *cuv_ldp_cpu_run (CuvLdpCpu *self, const CuvFrame *frame,
    const CuvLdpRect *rect, int n_threads);

/* Describes the last run's resized picture in another orientation
 * (cuv_ldp_turn()). The last run's counts stay valid. Allocates at the first
 * call. */
const void *cuv_ldp_cpu_run_turned (
    CuvLdpCpu *self, int orientation, int n_threads);

/* Draws the last run's codes into its frame and rectangle, as cuv_ldp_draw()
 * does. */
void cuv_ldp_cpu_draw (CuvLdpCpu *self, int direction, int n_threads);

#endif
