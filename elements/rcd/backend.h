/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A search, and correlation filters, on the CPU or on the GPU. */
#ifndef CUV_RCD_BACKEND_H
#define CUV_RCD_BACKEND_H

#include "correlation/correlation.h"
#include "cuvbackend.h"
#include "rcd.h"

/* Opened with a CuvRcdConfig. */
extern const CuvBackendClasses cuv_rcd_backend_classes;

/* Tasks of filters: find their targets near the last places in a frame; start
 * with new targets; or let one filter of the last FIND or START learn what is
 * at its place. */
typedef enum { CUV_RCD_FIND, CUV_RCD_START, CUV_RCD_LEARN } CuvRcdFilterTask;

typedef struct {
  CuvRcdFilterTask task;
  CuvCorrelation *const *filters;
  int n;
  int crop;   /* LEARN: index of its one filter in the last FIND or START */
  float rate; /* LEARN: see cuv_correlation_learn() */
  CuvCorrelationWork *work;
} CuvRcdFilterJob;

/* A job for a frame of the config's size: a search, filters, a measurement, or
 * all of these. Learning needs no frame. */
typedef struct {
  const CuvFrame *frame;

  const CuvRcdSearch *search; /* NULL = no search */
  CuvRcdMatch *matches;       /* receives one per target */
  /* If not 0, draws the first target's distance map over the frame, which must
   * be writable; see cuv_rcd_map_value(). */
  double half;

  const CuvRcdFilterJob *filters; /* NULL = no filters */

  const CuvRcdBox *box; /* box to measure, inside the frame; NULL = none */
  int64_t *sums;        /* receives the sums over the box; see
                         * cuv_rcd_box_sums() */
} CuvRcdJob;

#endif
