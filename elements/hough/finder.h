/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line detector for frames of one size in one place: the CPU's or the GPU's
 * half behind the same calls. */
#ifndef CUV_HOUGH_FINDER_H
#define CUV_HOUGH_FINDER_H

#include "cuvroi.h"
#include "hough-cpu.h"

/* A line or a segment in the frame: x cos (theta) + y sin (theta) = rho, in
 * pixels from the frame's top left one, theta in radians from -pi/2 up to below
 * pi/2. A line ends where it leaves the part of the frame looked at. */
typedef struct {
  float rho, theta;
  uint32_t votes;
  float x1, y1, x2, y2;
} CuvLine;

#define CUV_FINDER_MAX_LINES CUV_HOUGH_MAX_SEGMENTS

typedef struct {
  CuvHoughShape shape; /* that was asked for */
  CuvHoughSpace space;
  CuvRoi area; /* the roi inside the frame */
  bool on_device;
  CuvHoughCpu *cpu; /* one of the two, or none if the area has no pixels */
  struct _CuvHoughCuda *cuda;
  CuvLine lines[CUV_FINDER_MAX_LINES]; /* of the last run */
  int n_lines;
} CuvFinder;

/* The shape's size is that of what roi has of the frame. NULL and *problem says
 * what went wrong. A finder on the device is run once on the frame, for the
 * first launch loads the kernels. */
CuvFinder *cuv_finder_new (const CuvHoughShape *shape, const CuvRoi *roi,
    const CuvFrame *frame, bool on_device, void *stream, const char **problem);

/* NULL is allowed. On the device the context that it was made in must be
 * current. */
void cuv_finder_free (CuvFinder *self);

/* Whether it would be made just so again. */
bool cuv_finder_is_for (const CuvFinder *self, const CuvHoughShape *shape,
    const CuvRoi *roi, const CuvFrame *frame, bool on_device);

/* Finds a frame's lines, or segments if they are wanted, and draws over the
 * area where the frame may be written to. NULL, or what went wrong. */
const char *cuv_finder_run (CuvFinder *self, const CuvFrame *frame,
    const CuvHoughParams *params, CuvHoughDraw draw, void *stream,
    int n_threads, CuvHoughResult *result);

#endif
