/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector on the CPU or, with --cuda, on the GPU. */
#ifndef HOUGH_VERSIONS_H
#define HOUGH_VERSIONS_H

#include "cuvcheck.h"
#include "hough.h"

extern const char *const hough_methods[]; /* names of CuvHoughMethod */

typedef struct {
  CuvCheckVersion version;
  void *state;    /* a CuvHoughCpu or CuvHoughCuda; NULL if out of memory, which
                     fails a check */
  CuvFrame frame; /* where the version finds it */
  CuvHoughParams params;
  CuvHoughResult result;
} HoughRun;

HoughRun hough_run_new (
    const CuvHoughLayout *layout, const CuvCheckVersion *version);
void hough_run_clear (HoughRun *self);

/* Detects the lines of a frame, or queues this on the GPU. data: a HoughRun. */
void hough_run_submit (void *data);

/* Waits for the result. */
bool hough_run_collect (HoughRun *self);

#endif
