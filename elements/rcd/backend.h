/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Searches frames on the CPU or on the GPU. */
#ifndef CUV_RCD_BACKEND_H
#define CUV_RCD_BACKEND_H

#include "cuvbackend.h"
#include "rcd.h"

/* Opened with a CuvRcdConfig. */
extern const CuvBackendClasses cuv_rcd_backend_classes;

/* A job for a frame of the config's size: a search, crops, a measurement, or
 * all of these. */
typedef struct {
  const CuvFrame *frame;

  const CuvRcdSearch *search; /* NULL = none */
  CuvRcdMatch *matches;       /* receives one per target */
  /* 0, or draws the first target's distance map over the frame, which must be
   * writable: see cuv_rcd_map_value() */
  double half;

  const CuvRcdCrop *crops; /* n_crops of them */
  int n_crops;
  uint8_t *pixels; /* receives CUV_RCD_CROP_PIXELS of each */

  const CuvRcdBox *box; /* to measure, inside the frame; NULL = none */
  int64_t *sums;        /* receives those of the box: cuv_rcd_box_sums() */
} CuvRcdJob;

#endif
