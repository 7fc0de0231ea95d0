/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trains a model of trees on channels from pictures with objects.
 *
 * Classifiers are learnt in rounds, each with more trees than the one before
 * and from the start: after a round, windows of the pictures that its
 * classifier accepts are added to the negatives. Every picture is used twice,
 * the second time with another contrast. */
#ifndef CUV_CHANNELS_TRAINER_H
#define CUV_CHANNELS_TRAINER_H

#include <stdatomic.h>
#include "model/channels.h"
#include "train/channels/trees.h"

/* A picture, its objects to learn, and boxes that negatives must not overlap:
 * the objects and those to ignore. */
typedef struct {
  CuvChannelsPicture picture;
  const CuvTrainBox *objects, *boxes;
  int32_t n_objects, n_boxes;
} CuvTrainScene;

typedef struct {
  int32_t n;
  const CuvTrainScene *scenes;
} CuvTrainScenes;

typedef struct {
  /* Of the model: shrink, overhang and window, in blocks; levels; the object's
   * rectangle in the window. */
  CuvChannelsModel shape;
  CuvTrainTreesParams trees; /* n_trees: 1 .. CUV_CHANNELS_MAX_TREES */
  int32_t n_copies;    /* samples of an object; all but the first are moved and
                        * scaled */
  int32_t n_negatives; /* of the first round; a later one adds half as many */
  bool mirror;
  const atomic_int *stop; /* training ends when it is set; may be NULL */
} CuvTrainChannelsParams;

typedef enum {
  CUV_TRAIN_CHANNELS_DONE,
  CUV_TRAIN_CHANNELS_NO_OBJECTS, /* to learn from, or in calibration */
  CUV_TRAIN_CHANNELS_NO_NEGATIVES,
  CUV_TRAIN_CHANNELS_NO_MEMORY,
  CUV_TRAIN_CHANNELS_STOPPED,
} CuvTrainChannelsState;

/* Sets window, shrink, overhang and object for objects of about width x height
 * pixels or more, 8 at least each: the window exceeds the object by nothing,
 * and may exceed the picture by a quarter of its shorter side. */
void cuv_train_channels_shape (
    CuvChannelsModel *self, int32_t width, int32_t height);

/* *model: free it with cuv_channels_model_free(). calibration: other pictures,
 * for the rejection thresholds. */
CuvTrainChannelsState cuv_train_channels (const CuvTrainScenes *learning,
    const CuvTrainScenes *calibration, const CuvTrainChannelsParams *params,
    CuvChannelsModel **model);

/* ---- a growing list of samples ---- */

typedef struct {
  int32_t n, capacity, n_features;
  uint8_t *values; /* n_features of each sample */
} CuvTrainSampleList;

/* Memory for one more sample, NULL if there is none. */
uint8_t *cuv_train_sample_list_add (CuvTrainSampleList *self);

/* ---- windows.c: false if memory runs out ---- */

/* A picture with another contrast, and its planes; release them with free
 * (copy->plane[0]). */
bool cuv_train_change_contrast (
    const CuvChannelsPicture *picture, uint64_t seed, CuvChannelsPicture *copy);

/* Adds the samples of a scene's objects. */
bool cuv_train_add_objects (const CuvTrainScene *scene,
    const CuvTrainChannelsParams *params, uint64_t seed,
    CuvTrainSampleList *list);

/* ---- negatives.c ---- */

/* Draws up to n windows at random from those of all scenes that overlap no box
 * by more than CUV_TRAIN_MAX_OVERLAP and that the first n_trees trees do not
 * reject. */
bool cuv_train_add_negatives (const CuvTrainScenes *scenes,
    const CuvTrainChannelsParams *params, const CuvTrainTree *trees,
    const int32_t *thresholds, int32_t n_trees, int32_t n, uint64_t seed,
    CuvTrainSampleList *list);

#endif
