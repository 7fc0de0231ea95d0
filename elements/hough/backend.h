/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector for frames of one size and a region of interest, on the CPU
 * or on the GPU. */
#ifndef CUV_HOUGH_BACKEND_H
#define CUV_HOUGH_BACKEND_H

#include "cuvbackend.h"
#include "cuvroi.h"
#include "hough.h"

/* A line or a segment in the frame: x cos (theta) + y sin (theta) = rho, in
 * pixels from the frame's top left one, theta in radians from -pi/2 up to below
 * pi/2. A line ends where it leaves the region of interest. */
typedef struct {
  float rho, theta;
  uint32_t votes;
  float x1, y1, x2, y2;
} CuvLine;

typedef struct {
  CuvHoughConfig config; /* as requested: without a size */
  CuvHoughLayout layout;
  CuvRoi area; /* the region of interest inside the frame */
  bool on_device;
  CuvBackend backend;                    /* closed if the area is empty */
  CuvLine lines[CUV_HOUGH_MAX_SEGMENTS]; /* of the last run */
  int n_lines;
} CuvHoughDetector;

/* The config's size is ignored: it is that of the region of interest in the
 * frame. NULL on failure, and *error says why. */
CuvHoughDetector *cuv_hough_detector_new (const CuvHoughConfig *config,
    const CuvRoi *roi, const CuvFrame *frame, const CuvProcessor *processor,
    const char **error);

/* NULL is allowed. On the device the context that it was made in must be
 * current. */
void cuv_hough_detector_free (CuvHoughDetector *self);

/* Whether self was made for these arguments; self may be NULL. */
bool cuv_hough_detector_matches (const CuvHoughDetector *self,
    const CuvHoughConfig *config, const CuvRoi *roi, const CuvFrame *frame,
    const CuvProcessor *processor);

/* Finds a frame's lines, or segments if params ask for them, and draws over the
 * region of interest, for which the frame must be writable. A threshold of 0 is
 * chosen for the frame. Returns NULL, or an error. */
const char *cuv_hough_detector_run (CuvHoughDetector *self,
    const CuvFrame *frame, const CuvHoughParams *params, CuvHoughDraw draw,
    const CuvProcessor *processor, CuvHoughResult *result);

#endif
