/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of drawing negatives from one picture: shared by negatives.c and
 * exclude.c. */
#ifndef CUV_TRAIN_NEGATIVES_H
#define CUV_TRAIN_NEGATIVES_H

#include "cpu/waldboost-cpu.h"
#include "train.h"

typedef struct {
  CuvTrainReservoir *reservoir;
  const CuvWaldboostModel *model;
  const CuvTrainPicture *picture;
  /* only wanted windows are evaluated, and n_alive is not counted */
  bool sparse;
  CuvWaldboostPlan *plan;
  CuvTrainPyramid pyramid;
  /* integral image of the current level; NULL: not computed yet */
  uint32_t *sums;
  /* number of each level's first window, then the number of windows */
  uint64_t *first;
  uint64_t hash; /* hash of the picture */
  /* 1 for each window that is not a negative; NULL: all are negatives */
  uint8_t *excluded;
  double *across; /* scratch memory, one element per pixel of a row */
  CuvWaldboostCpu **cpu;
  uint64_t n_excluded, n_alive;
} CuvTrainDraw;

/* Returns the number of window x in row y. */
static inline uint64_t
cuv_train_window_number (
    const CuvTrainDraw *self, int level, int32_t x, int32_t y)
{
  return self->first[level]
      + (uint64_t) y * (uint64_t) self->plan->levels[level].n_x + (uint64_t) x;
}

static inline CuvTrainWindow
cuv_train_window_at (const CuvTrainDraw *self, int level, int32_t x, int32_t y)
{
  const int32_t step = self->plan->levels[level].step;

  return (CuvTrainWindow){ level, x * step, y * step };
}

/* Fills excluded and n_excluded with the windows whose overlap with an object
 * is above CUV_TRAIN_MAX_OVERLAP. Returns false if memory runs out. */
bool cuv_train_exclude_objects (CuvTrainDraw *self);

#endif
