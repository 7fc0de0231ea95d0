/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds where a target moved since the last frame, and its size, with a
 * correlation filter: a linear classifier of HOG cells that learns to answer 1
 * on the target and 0 on all of its displacements in the region around it
 * (background-aware correlation filters: Galoogahi, Fagg, Lucey, ICCV 2017).
 *
 *   places.c            places, crops, masks, labels: shared by CPU and GPU
 *   correlation.c       finding and learning on the CPU
 *   filter-dsp.c        chooses the loops of correlation.c, which are compiled
 *                       for each instruction set from templates:
 *   filter-template.h   the function table
 *   hog-template.h      features of cells
 *   fourier-template.h  transforms
 *   solve-template.h    the filter of a model, and responses
 *
 * cuda/rcd/filter.h does the same on the GPU. backend.c decides on which of the
 * two a filter runs. */
#ifndef CUV_RCD_CORRELATION_H
#define CUV_RCD_CORRELATION_H

#include "correlation/filter-dsp.h"
#include "rcd.h"

/* Memory that targets share. */
typedef struct {
  CuvFilterDsp dsp;
  CuvFourier fourier;
  CuvGrid grid;
  CuvSpectrum sample;
  CuvResponse response;
  uint8_t picture[CUV_RCD_HOG_PIXELS];
  float window[CUV_RCD_GRID_CELLS]; /* cells' weights, 0 at the border */
  /* the targets' crops of a frame */
  uint8_t crops[CUV_RCD_MAX_TARGETS][CUV_RCD_CROP_PIXELS];
} CuvCorrelationWork;

/* The centre of a target in pixels, and its size relative to the first box. */
typedef struct {
  double x, y, scale;
} CuvPlace;

typedef struct {
  double width, height; /* size of the first box, in pixels */
  double side;          /* side of the square region around it */
  CuvPlace place;
  CuvPlace crop; /* place around which the crop was made */
  double peak;   /* response at the place */
  CuvRcdFilterGoal goal;
  /* on_device: the model and the filter are in device memory; unsolved: the
   * filter has not been computed from the current model. */
  bool on_device, unsolved;
  CuvSpectrum model;  /* mean of samples */
  CuvSpectrum filter; /* filter of the model */
} CuvCorrelation;

/* ---- places (places.c) ---- */

/* Initialises a new target without learning anything. */
void cuv_correlation_init (CuvCorrelation *self, const CuvRcdBox *box);

/* Moves the place to the centre of box, and scales it to the area of box. */
void cuv_correlation_move (CuvCorrelation *self, const CuvRcdBox *box);

/* Returns the target's box at the current place. */
CuvRcdBox cuv_correlation_box (const CuvCorrelation *self);

/* Returns the part of the next frame that the functions below need. They get
 * its pixels as `crop`. */
CuvRcdCrop cuv_correlation_crop (CuvCorrelation *self);

/* Returns the part of the crop that shows the region around the place, at one
 * of the CUV_RCD_FILTER_SCALES sizes. */
CuvRcdCrop cuv_correlation_sample (const CuvCorrelation *self, int scale);

/* Moves the place to the position and size with the greatest response. */
void cuv_correlation_choose (
    CuvCorrelation *self, const CuvRcdFilterPeak peaks[CUV_RCD_FILTER_SCALES]);

void cuv_correlation_set_mask (CuvCorrelation *self);

/* Returns the value of a cell in a Gaussian grid. The label is the real part of
 * the grid's spectrum. */
float cuv_correlation_label (const CuvCorrelation *self, int x, int y);

/* ---- on the CPU (correlation.c) ---- */

void cuv_correlation_work_init (CuvCorrelationWork *self);

/* Sets the mask and the label. */
void cuv_correlation_set_goal (CuvCorrelation *self, CuvCorrelationWork *work);

/* Learns a new target from a crop around its box. */
void cuv_correlation_start (
    CuvCorrelation *self, CuvCorrelationWork *work, const uint8_t *crop);

/* Moves the place to where the response is greatest. */
void cuv_correlation_find (
    CuvCorrelation *self, CuvCorrelationWork *work, const uint8_t *crop);

/* Learns what is at the place, with the weight rate, 0 .. 1. */
void cuv_correlation_learn (CuvCorrelation *self, CuvCorrelationWork *work,
    const uint8_t *crop, float rate);

#endif
