/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learns trees on channels. */
#include "train-tool.h"

#include <math.h>

/* Of a tree: measured in docs/definitions/channels.md. */
enum { DEPTH = 2 };

#define SHARE (1. / 16) /* of the features that it chooses from */

static CuvTrainChannelsParams
params_of (const TrainOptions *options)
{
  const CuvTrainParams *train = &options->train;
  CuvTrainChannelsParams params = { .trees = { .depth = DEPTH,
                                        .n_trees = train->n_weak,
                                        .share = SHARE,
                                        .alpha = train->alpha },
    .n_negatives = train->n_negatives / 2 };

  cuv_train_channels_shape (
      &params.shape, train->window_width, train->window_height);
  return params;
}

static gboolean
check_state (CuvTrainChannelsState state, GError **error)
{
  switch (state) {
    case CUV_TRAIN_CHANNELS_DONE:
      return TRUE;
    case CUV_TRAIN_CHANNELS_NO_NEGATIVES:
      g_set_error_literal (error, LEARN_ERROR, 0,
          "there are no negatives: all windows overlap objects, or the "
          "pictures are smaller than the window; add --negatives");
      return FALSE;
    case CUV_TRAIN_CHANNELS_NO_OBJECTS:
      g_set_error_literal (
          error, LEARN_ERROR, 0, "there are too few pictures with objects");
      return FALSE;
    case CUV_TRAIN_CHANNELS_NO_MEMORY:
    case CUV_TRAIN_CHANNELS_STOPPED:
      break;
  }
  return learn_fail (CUV_TRAIN_NO_MEMORY, error);
}

gboolean
learn_channels (Results *self, GError **error)
{
  const gint64 start = g_get_monotonic_time ();
  const CuvTrainChannelsParams params = params_of (self->options);
  const CuvChannelsTrees *trees = &params.shape.trees;
  Progress *progress = progress_begin (
      "learning trees, pictures scanned", &self->inputs->dataset->n_scanned, 0);
  const CuvTrainChannelsState state = cuv_dataset_train_channels (
      self->inputs->dataset, &params, &self->options->samples, &self->channels);

  progress_end (progress);
  self->seconds = (gdouble) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  if (!check_state (state, error))
    return FALSE;
  self->end = g_strdup (cuv_train_describe_end (CUV_TRAIN_DONE));
  self->classifier = (CuvGridClassifier){ .window_width =
                                              trees->columns * trees->shrink,
    .window_height = trees->rows * trees->shrink,
    .n_weak = params.trees.n_trees,
    .final_threshold = ldexpf (
        (gfloat) self->channels->trees.final_threshold, -CUV_TRAIN_TREE_BITS) };
  return TRUE;
}
