/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Searches in frames of one size in one place: the CPU's or the GPU's half
 * behind the same calls. */
#ifndef CUV_RCD_SEARCHER_H
#define CUV_RCD_SEARCHER_H

#include "cpu/rcd-cpu.h"

typedef struct {
  CuvRcdConfig shape;
  bool on_device;
  CuvRcdCpu *cpu; /* one of the two */
  struct _CuvRcdCuda *cuda;
} CuvRcdSearcher;

/* NULL, and *problem says what went wrong. One on the device is run once on the
 * frame, for the first launch loads the kernels. */
CuvRcdSearcher *cuv_rcd_searcher_new (const CuvRcdConfig *shape,
    const CuvFrame *frame, bool on_device, void *stream, const char **problem);

/* NULL is allowed. On the device the context that it was made in must be
 * current. */
void cuv_rcd_searcher_free (CuvRcdSearcher *self);

/* Whether it does what one made just so would do, with at least as many
 * windows. */
bool cuv_rcd_searcher_is_for (
    const CuvRcdSearcher *self, const CuvRcdConfig *shape, bool on_device);

/* A match for each target. half: 0, or draws the first one's distance map over
 * the frame, see cuv_rcd_map_value(). NULL, or what went wrong. */
const char *cuv_rcd_searcher_run (CuvRcdSearcher *self, const CuvFrame *frame,
    const CuvRcdSearch *search, double half, void *stream, int n_threads,
    CuvRcdMatch *matches);

/* The sums over a box inside the frame; x and y count from the box. NULL, or
 * what went wrong. */
const char *cuv_rcd_searcher_measure (CuvRcdSearcher *self,
    const CuvFrame *frame, const CuvRcdBox *box, void *stream, int n_threads,
    int64_t *sums);

#endif
