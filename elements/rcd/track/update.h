/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A target's model, and how it follows what the target looks like. */
#ifndef CUV_RCD_UPDATE_H
#define CUV_RCD_UPDATE_H

#include "rcd.h"
#include "track/spd.h"

/* How a model follows its target, where it was found. */
typedef enum {
  CUV_RCD_UPDATE_NONE,       /* it stays as it is */
  CUV_RCD_UPDATE_LOG_EUCLID, /* log M <- (1 - rate) log M + rate log C */
  CUV_RCD_UPDATE_RIEMANN,    /* the intrinsic mean of the last ones */
  CUV_RCD_UPDATE_JBLD,       /* the mean for the JBLD of the last ones */
  CUV_RCD_UPDATE_MOMENTS,    /* mean sums per pixel, with rate: the cheapest */
} CuvRcdUpdate;

#define CUV_RCD_MAX_WINDOW 40

typedef struct {
  CuvRcdUpdate update;
  double rate; /* 0 .. 1: the share of what is new */
  int window;  /* covariances, 1 .. CUV_RCD_MAX_WINDOW */
} CuvRcdLearning;

/* Of another way of learning all begins with the model as it is then. */
typedef struct {
  CuvRcdModel model; /* what windows are compared with */
  int n;             /* features */
  double lambda;
  CuvRcdUpdate update;              /* that the rest is for */
  CuvSpd log;                       /* LOG_EUCLID: the model's */
  double moments[CUV_RCD_MAX_SUMS]; /* MOMENTS: sums by pixels, at its size */
  CuvSpd past[CUV_RCD_MAX_WINDOW];  /* RIEMANN, JBLD: oldest first */
  int n_past;
} CuvRcdMemory;

/* From sums over a box, of which x and y count from it. false if they make no
 * model: see cuv_rcd_model_from_sums(). */
bool cuv_rcd_memory_init (CuvRcdMemory *self, const int64_t *sums, int n,
    const CuvRcdBox *box, double lambda);

/* The same of a box where the target was found. The model keeps its size; where
 * what comes out is not positive definite it stays. */
void cuv_rcd_memory_learn (CuvRcdMemory *self, const CuvRcdLearning *learning,
    const int64_t *sums, const CuvRcdBox *box);

#endif
