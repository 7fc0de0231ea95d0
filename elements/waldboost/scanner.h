/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One detector for frames of one size in one place: the CPU's or the GPU's half
 * behind the same three calls. */
#ifndef CUV_WALDBOOST_SCANNER_H
#define CUV_WALDBOOST_SCANNER_H

#include "cpu/waldboost-cpu.h"
#include "cuvroi.h"

typedef struct {
  const CuvWaldboostModel *model;
  CuvWaldboostParams params;
  CuvWaldboostPlan *plan; /* of the part of the frame last looked at */
  int x, y;               /* that part's place in the frame */
  int n_levels;           /* with windows, that the last run looked at */
  CuvRoi area;            /* the roi inside the frame */
  int frame_width, frame_height;
  bool on_device;
  CuvWaldboostCpu *cpu; /* one of the two, or none if no window fits */
  struct _CuvWaldboostCuda *cuda;
} CuvScanner;

/* NULL and fills the scanner, or says what went wrong. The scanner keeps a
 * reference to the model. roi is cut to the frame; all 0 = the whole of it. A
 * device scanner is run once on the frame, for the first launch loads the
 * kernels. */
const char *cuv_scanner_init (CuvScanner *self, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    bool on_device, void *stream);

/* On how many levels the plan has windows. */
int cuv_scanner_levels (const CuvScanner *self);

/* On the device the context that it was made in must be current. */
void cuv_scanner_clear (CuvScanner *self);

/* Scans region, NULL for all, as if what of it is inside the roi were the
 * frame; hits are relative to x, y. One that no window fits has none. Allocates
 * only what a region needs more than all before. NULL, or what went wrong. */
const char *cuv_scanner_run (CuvScanner *self, const CuvFrame *frame,
    const CuvRoi *region, void *stream, int n_threads,
    CuvWaldboostResult *result);

#endif
