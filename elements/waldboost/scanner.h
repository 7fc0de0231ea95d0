/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A scanner for frames of one size in host or device memory: the CPU or the GPU
 * version behind the same interface. */
#ifndef CUV_WALDBOOST_SCANNER_H
#define CUV_WALDBOOST_SCANNER_H

#include "cpu/waldboost-cpu.h"
#include "cuvroi.h"

typedef struct {
  const CuvWaldboostModel *model;
  CuvWaldboostParams params;
  CuvWaldboostPlan *plan; /* of the part of the frame scanned last */
  int x, y;               /* position of that part in the frame */
  int n_levels;           /* levels with windows in the last run */
  CuvRoi area;            /* roi clipped to the frame */
  int frame_width, frame_height;
  bool on_device;
  CuvWaldboostCpu *cpu; /* one of the two is set, or none if no window fits */
  struct _CuvWaldboostCuda *cuda;
} CuvScanner;

/* Initialises the scanner, which keeps a reference to the model. roi is clipped
 * to the frame; all 0 = the whole frame. A device scanner is run once on the
 * frame, because the first launch loads the kernels. Returns NULL, or a static
 * error message; then cuv_scanner_clear() is still needed. */
const char *cuv_scanner_init (CuvScanner *self, const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    bool on_device, void *stream);

/* The number of levels of the plan with windows. */
int cuv_scanner_levels (const CuvScanner *self);

/* Device scanners: the context of cuv_scanner_init() must be current. */
void cuv_scanner_clear (CuvScanner *self);

/* Scans region, NULL = all, clipped to the roi, as if it were the frame; hits
 * are relative to x, y. No hits if no window fits. Memory only grows. Returns
 * NULL or an error message. */
const char *cuv_scanner_run (CuvScanner *self, const CuvFrame *frame,
    const CuvRoi *region, void *stream, int n_threads,
    CuvWaldboostResult *result);

#endif
