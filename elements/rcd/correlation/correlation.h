/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a target went since the last frame, and its size, by a correlation
 * filter: a linear classifier of HOG cells that learns to answer 1 on the
 * target and 0 on all of its displacements in the region around it
 * (background-aware correlation filters: Galoogahi, Fagg, Lucey, ICCV 2017).
 *
 * fourier.c       Fourier transforms
 * hog.c           features of cells
 * solve.c         the filter of a model
 * correlation.c   places, responses, learning
 *
 * It runs on the CPU for all frames: what it reads of one is a small crop. */
#ifndef CUV_RCD_CORRELATION_H
#define CUV_RCD_CORRELATION_H

#include "correlation/fourier.h"
#include "correlation/hog.h"
#include "rcd.h"

/* Memory that targets share. */
typedef struct {
  CuvFourier fourier;
  CuvHog hog;
  CuvGrid grid;
  CuvSpectrum sample, response;
  CuvSpectrum solution, multiplier; /* of solve.c */
  uint8_t picture[CUV_HOG_SIDE * CUV_HOG_SIDE];
} CuvCorrelationWork;

/* The centre of a target in pixels, and its size relative to the first. */
typedef struct {
  double x, y, scale;
} CuvPlace;

typedef struct {
  double width, height; /* of the first box */
  double side;          /* of the square region around it */
  CuvPlace place;
  CuvPlace crop;                  /* that the crop was made around */
  double peak;                    /* response at the place */
  int first, end;                 /* rows of the mask that are not 0 */
  float mask[CUV_GRID_CELLS];     /* of the filter: the target's box */
  float window[CUV_GRID_CELLS];   /* of samples, 0 at the region's border */
  float label[CUV_SPECTRUM_BINS]; /* the ideal response */
  CuvSpectrum model;              /* mean of samples */
  CuvSpectrum filter;             /* of the model */
} CuvCorrelation;

void cuv_correlation_work_init (CuvCorrelationWork *self);

/* The place of a target of this model's size in box. */
void cuv_correlation_move (CuvCorrelation *self, const CuvRcdBox *box);

/* The box at the place. */
CuvRcdBox cuv_correlation_box (const CuvCorrelation *self);

/* What the functions below need of the next frame: they get its pixels. */
CuvRcdCrop cuv_correlation_crop (CuvCorrelation *self);

/* Learns a new target, in a crop around box. */
void cuv_correlation_init (CuvCorrelation *self, const CuvRcdBox *box);
void cuv_correlation_start (
    CuvCorrelation *self, CuvCorrelationWork *work, const uint8_t *crop);

/* Moves the place to where the response is greatest. */
void cuv_correlation_find (
    CuvCorrelation *self, CuvCorrelationWork *work, const uint8_t *crop);

/* Learns what is at the place; rate: its weight, 0 .. 1. */
void cuv_correlation_learn (CuvCorrelation *self, CuvCorrelationWork *work,
    const uint8_t *crop, float rate);

/* solve.c */
void cuv_correlation_solve (CuvCorrelation *self, CuvCorrelationWork *work);

#endif
