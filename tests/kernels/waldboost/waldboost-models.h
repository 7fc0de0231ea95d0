/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random models of every kind. Their thresholds are sums that windows of a
 * picture reach exactly, so that some windows survive and ties are common. */
#ifndef CUV_TEST_WALDBOOST_MODELS_H
#define CUV_TEST_WALDBOOST_MODELS_H

#include "waldboost-oracle.h"

typedef struct {
  const char *name;
  CuvFeature feature;
  CuvArithmetic arithmetic;
  CuvBlockValue block_value;
  int inclusive;
  int max_window; /* maximum side in pixels */
  int max_block;  /* maximum side in pixels; 0 = any that fits */
  int n_stages;   /* of a cascade, otherwise weak classifiers */
  int max_weak;   /* per stage */
  int max_nodes;  /* per tree; 1 = stumps */
  int tilted;
  double pass; /* fraction of windows that pass a threshold */
} ModelKind;

#define MAX_WEAK 1024
#define MAX_NODES 8

typedef struct {
  CuvWaldboostModel model;
  CuvWeak weak[MAX_WEAK];
  CuvGridNode nodes[MAX_WEAK * MAX_NODES];
  CuvHaarNode haar_nodes[MAX_WEAK * MAX_NODES];
  float leaves[MAX_WEAK * 256];
  int32_t fixed_leaves[MAX_WEAK * 256];
  int32_t stage_first[MAX_WEAK + 1];
} RandomModel;

int random_between (int low, int high);

/* A window of a picture, whose sum may become a threshold. */
typedef struct {
  OracleWindow window;
  float norm;
  double sum; /* of the weak classifiers so far */
} Sample;

typedef struct {
  Sample *samples;
  int n, capacity;
} SamplePool;

SamplePool sample_pool_new (int capacity);
void sample_pool_free (SamplePool *self);

/* Adds up to n windows at random positions of a picture. */
void sample_pool_add (SamplePool *self, const CuvWaldboostModel *model,
    const uint8_t *pixels, int width, int height, int n);

/* Adds the response of weak classifier k to all samples. */
void sample_pool_respond (
    SamplePool *self, const CuvWaldboostModel *model, int k);

/* Returns the n-th greatest sum, a threshold that n samples pass. */
double sample_pool_threshold (SamplePool *self, int n);

/* Drops samples below the threshold. */
void sample_pool_drop (SamplePool *self, double threshold);

/* Makes a model of this kind, with thresholds from windows of a frame. free()
 * it. */
RandomModel *random_model (const ModelKind *kind, const CuvFrame *frame);
RandomModel *random_model_of_window (
    const ModelKind *kind, const CuvFrame *frame, int width, int height);
int random_window_side (const ModelKind *kind);

/* Makes a model without thresholds, for windows of width x height. */
RandomModel *random_model_without_thresholds (
    const ModelKind *kind, int width, int height);

/* For WaldBoost models: sets the threshold of weak classifier k, a sum in the
 * model's arithmetic, or no test if -INFINITY. */
void set_threshold (RandomModel *self, int k, double threshold);
void set_final_threshold (RandomModel *self, double threshold);

#endif
