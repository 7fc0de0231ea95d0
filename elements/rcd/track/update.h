/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Updates the appearance model of a target. */
#ifndef CUV_RCD_UPDATE_H
#define CUV_RCD_UPDATE_H

#include "rcd.h"
#include "track/spd.h"

typedef enum {
  CUV_RCD_UPDATE_NONE,       /* keep the first model */
  CUV_RCD_UPDATE_LOG_EUCLID, /* log M <- (1 - rate) log M + rate log C */
  CUV_RCD_UPDATE_RIEMANN,    /* Riemannian mean of the last covariances */
  CUV_RCD_UPDATE_JBLD,       /* JBLD mean of the last covariances */
  CUV_RCD_UPDATE_MOMENTS,    /* running mean of sums per pixel: cheapest */
} CuvRcdUpdate;

#define CUV_RCD_MAX_WINDOW 40

typedef struct {
  CuvRcdUpdate update;
  double rate; /* LOG_EUCLID, MOMENTS: weight of the new covariance, 0 .. 1 */
  int window;  /* RIEMANN, JBLD: covariances to average, 1 .. CUV_RCD_MAX_WINDOW
                */
} CuvRcdUpdateConfig;

/* A change of update method starts from the current model. */
typedef struct {
  CuvRcdModel model; /* the model that windows are compared with */
  int n;             /* number of features */
  double lambda;
  CuvRcdUpdate update; /* method that the fields below belong to */
  CuvSpd log;          /* LOG_EUCLID: logarithm of the model */
  /* MOMENTS: sums per pixel, with x and y scaled to the model's size */
  double moments[CUV_RCD_MAX_SUMS];
  CuvSpd past[CUV_RCD_MAX_WINDOW]; /* RIEMANN, JBLD: oldest first */
  int n_past;
} CuvRcdAppearance;

/* Initialises the model. sums: over box, as cuv_rcd_box_sums() computes them.
 * Returns false in the same cases as cuv_rcd_model_from_sums(). */
bool cuv_rcd_appearance_init (CuvRcdAppearance *self, const int64_t *sums,
    int n, const CuvRcdBox *box, double lambda);

/* Updates the model from the box where the target was found; sums as above. The
 * model keeps its size, and is unchanged if the result is not positive
 * definite.
 */
void cuv_rcd_appearance_update (CuvRcdAppearance *self,
    const CuvRcdUpdateConfig *update, const int64_t *sums,
    const CuvRcdBox *box);

#endif
