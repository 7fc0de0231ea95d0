/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trains a model of trees on channels from pictures with objects.
 *
 * Each round learns a classifier from the start, with more trees than the one
 * before. After a round, windows that its classifier wrongly accepts are added
 * to the negatives. Every picture is used twice, the second time with another
 * contrast. */
#ifndef CUV_CHANNELS_TRAINER_H
#define CUV_CHANNELS_TRAINER_H

#include "model/channels.h"
#include "trees/trees.h"

/* A picture, its objects to learn, and boxes that negatives must not overlap:
 * those of the objects, and those of objects to ignore. */
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
  /* The model without its trees: shrink, overhang and size of the window in
   * blocks; levels; the object's rectangle in the window. */
  CuvChannelsModel shape;
  CuvTrainTreesParams trees; /* n_trees: 1 .. CUV_CHANNELS_MAX_TREES */
  int32_t n_copies;    /* copies of an object; all but the first are moved and
                        * scaled */
  int32_t n_negatives; /* negatives of the first round; each later round adds
                        * half as many */
  bool mirror;         /* also learn each copy mirrored */
} CuvTrainChannelsParams;

typedef enum {
  CUV_TRAIN_CHANNELS_DONE,
  CUV_TRAIN_CHANNELS_NO_OBJECTS, /* none in learning, or none in calibration */
  CUV_TRAIN_CHANNELS_NO_NEGATIVES,
  CUV_TRAIN_CHANNELS_NO_MEMORY,
  CUV_TRAIN_CHANNELS_STOPPED,
} CuvTrainChannelsState;

/* Sets the shape of a model that finds objects from about width x height pixels
 * on; both must be at least 8. The window is the object's rectangle, and may
 * exceed the picture by a quarter of its shorter side. */
void cuv_train_channels_shape (
    CuvChannelsModel *self, int32_t width, int32_t height);

/* Trains a model and sets *model if it returns CUV_TRAIN_CHANNELS_DONE; free it
 * with cuv_channels_model_free(). Rejection thresholds are set with the
 * pictures of calibration, which must not be among those of learning. */
CuvTrainChannelsState cuv_train_channels (const CuvTrainScenes *learning,
    const CuvTrainScenes *calibration, const CuvTrainChannelsParams *params,
    CuvChannelsModel **model);

/* How many trees are learnt in all rounds together. */
int32_t cuv_train_channels_count (const CuvTrainChannelsParams *params);

/* ---- state.c ---- */

/* A training that was stopped is resumed with the trees that it has learnt: it
 * recalls these and ends as if it had not been stopped. Saved are a header,
 * which identifies what it was given, and a record of each tree. */
enum {
  CUV_TRAIN_TREES_HEADER = 168,                      /* bytes */
  CUV_TRAIN_TREE_RECORD = sizeof (CuvTrainTree) + 4, /* bytes */
};

/* Writes CUV_TRAIN_TREES_HEADER bytes; reads all pictures. */
void cuv_train_channels_save_header (const CuvTrainScenes *learning,
    const CuvTrainScenes *calibration, const CuvTrainChannelsParams *params,
    uint8_t *bytes);

/* Writes the record of tree `number`, CUV_TRAIN_TREE_RECORD bytes. */
void cuv_train_channels_save_tree (
    const CuvTrainTree *tree, int32_t number, uint8_t *bytes);

/* Whether size bytes begin with the header; problem as for
 * cuv_trainer_restore(). */
bool cuv_train_channels_check_header (const CuvTrainScenes *learning,
    const CuvTrainScenes *calibration, const CuvTrainChannelsParams *params,
    const uint8_t *bytes, size_t size, char *problem);

/* Reads a record. False if it is damaged. */
bool cuv_train_channels_restore_tree (const CuvTrainChannelsParams *params,
    const uint8_t *bytes, int32_t number, CuvTrainTree *tree);

/* ---- a growing list of samples ---- */

typedef struct {
  int32_t n, capacity, n_features;
  uint8_t *values; /* n_features bytes per sample */
} CuvTrainSampleList;

/* Adds a sample and returns its memory, or NULL if memory runs out. */
uint8_t *cuv_train_sample_list_add (CuvTrainSampleList *self);

/* ---- windows.c: false if memory runs out ---- */

/* Sets *copy to the picture with another, random contrast. Release its planes
 * with free (copy->plane[0]). */
bool cuv_train_change_contrast (
    const CuvChannelsPicture *picture, uint64_t seed, CuvChannelsPicture *copy);

/* Adds the samples of a scene's objects. */
bool cuv_train_add_objects (const CuvTrainScene *scene,
    const CuvTrainChannelsParams *params, uint64_t seed,
    CuvTrainSampleList *list);

/* ---- negatives.c ---- */

/* Adds up to n windows to list. They are drawn at random from the windows of
 * all scenes that overlap no box by more than CUV_TRAIN_MAX_OVERLAP and that
 * the first n_trees trees do not reject. */
bool cuv_train_add_negatives (const CuvTrainScenes *scenes,
    const CuvTrainChannelsParams *params, const CuvTrainTree *trees,
    const int32_t *thresholds, int32_t n_trees, int32_t n, uint64_t seed,
    CuvTrainSampleList *list);

#endif
