/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Describes pictures of a shape in one place: the CPU's or the GPU's half
 * behind the same calls. */
#ifndef CUV_LDP_DESCRIBER_H
#define CUV_LDP_DESCRIBER_H

#include "cpu/ldp-cpu.h"

typedef struct {
  CuvLdpLayout layout;
  bool on_device;
  CuvLdpCpu *cpu; /* one of the two */
  struct _CuvLdpCuda *cuda;
} CuvDescriber;

/* NULL and *problem says what went wrong. On the device it is run once on the
 * frame, for the first launch loads the kernels. */
CuvDescriber *cuv_describer_new (const CuvLdpLayout *layout,
    const CuvFrame *frame, bool on_device, void *stream, const char **problem);

/* NULL is allowed. On the device the context that it was made in must be
 * current. */
void cuv_describer_free (CuvDescriber *self);

/* Whether it would be made just so again. */
bool cuv_describer_is_for (
    const CuvDescriber *self, const CuvLdpLayout *layout, bool on_device);

/* The histograms of a rectangle of a frame, which lies in it, made the shape's
 * size: cuv_ldp_n_counts() of cuv_ldp_count_size() bytes, until the next run.
 * Returns NULL, or what went wrong. */
const char *cuv_describer_run (CuvDescriber *self, const CuvFrame *frame,
    const CuvLdpRect *rect, void *stream, int n_threads, const void **counts);

/* Draws the codes of the last run over its rectangle. Returns NULL, or what
 * went wrong. */
const char *cuv_describer_draw (
    CuvDescriber *self, int direction, int n_threads);

#endif
