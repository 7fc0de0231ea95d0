/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The line detector for one frame size and region of interest, on the CPU or on
 * the GPU. */
#ifndef CUV_HOUGH_BACKEND_H
#define CUV_HOUGH_BACKEND_H

#include "cuvbackend.h"
#include "cuvroi.h"
#include "hough.h"

/* A line or a segment in the frame: x cos (theta) + y sin (theta) = rho. Pixels
 * are counted from the frame's top left one; theta is in radians, -pi/2 <=
 * theta < pi/2. A line ends where it leaves the region of interest. */
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
  bool submitted;                        /* the next run only collects */
  CuvLine lines[CUV_HOUGH_MAX_SEGMENTS]; /* result of the last run */
  int n_lines;
} CuvHoughDetector;

/* Creates a detector. The config's size is ignored: the region of interest in
 * the frame determines it. Returns NULL on failure, and *error says why. */
CuvHoughDetector *cuv_hough_detector_new (const CuvHoughConfig *config,
    const CuvRoi *roi, const CuvFrame *frame, const CuvProcessor *processor,
    const char **error);

/* NULL is allowed. If the detector is on the GPU, the CUDA context in which it
 * was created must be current. */
void cuv_hough_detector_free (CuvHoughDetector *self);

/* Whether self was made for these arguments; self may be NULL. */
bool cuv_hough_detector_matches (const CuvHoughDetector *self,
    const CuvHoughConfig *config, const CuvRoi *roi, const CuvFrame *frame,
    const CuvProcessor *processor);

/* Finds a frame's lines, or segments if params ask for them. Draws over the
 * region of interest unless draw is NONE; the frame must then be writable. A
 * threshold of 0 is replaced by one that suits the frame's size. Returns NULL,
 * or an error. */
const char *cuv_hough_detector_run (CuvHoughDetector *self,
    const CuvFrame *frame, const CuvHoughParams *params, CuvHoughDraw draw,
    const CuvProcessor *processor, CuvHoughResult *result);

/* Starts to find a frame's lines without drawing, and does not wait;
 * cuv_hough_detector_run() with the same arguments does the rest. Returns false
 * if nothing was started, as on the CPU. */
bool cuv_hough_detector_submit (CuvHoughDetector *self, const CuvFrame *frame,
    const CuvHoughParams *params, const CuvProcessor *processor);

#endif
