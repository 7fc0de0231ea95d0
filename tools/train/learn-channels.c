/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learns trees on channels. */
#include "train-tool.h"

#include <math.h>

static gboolean
check_state (CuvTrainChannelsState state, GError **error)
{
  switch (state) {
    case CUV_TRAIN_CHANNELS_DONE:
      return TRUE;
    case CUV_TRAIN_CHANNELS_NO_NEGATIVES:
      g_set_error_literal (error, LEARN_ERROR, 0,
          "no negatives were found: all windows overlap objects, or the "
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

/* ---- the state ---- */

/* A training: trees that were saved, and how many there are so far. */
typedef struct {
  Results *results;
  CuvTrainChannelsParams params;
  GArray *saved; /* of CuvTrainTree */
  gint n;        /* atomic: trees learnt or recalled */
  CuvTrainTree last;
  StateFile *state_file;
  GError *problem; /* of the file or the GPU */
  gint failed;     /* atomic: there is a problem */
} Training;

static gsize
size_of_record (gpointer data)
{
  return CUV_TRAIN_TREE_RECORD;
}

static void
save_header (gpointer data, guint8 *bytes)
{
  const Training *self = data;

  cuv_dataset_save_channels (self->results->inputs->dataset, &self->params,
      &self->results->options->samples, bytes);
}

static void
save_record (gpointer data, guint8 *bytes)
{
  const Training *self = data;

  cuv_train_channels_save_tree (&self->last, self->n, bytes);
}

static gsize
restore (
    gpointer data, const guint8 *bytes, gsize size, gint *n, gchar *problem)
{
  Training *self = data;
  const gint n_most = cuv_train_channels_count (&self->params);
  gsize used = CUV_TRAIN_TREES_HEADER;
  CuvTrainTree tree;

  if (!cuv_dataset_check_channels (self->results->inputs->dataset,
          &self->params, &self->results->options->samples, bytes, size,
          problem))
    return 0;
  for (*n = 0; *n < n_most && size - used >= CUV_TRAIN_TREE_RECORD
       && cuv_train_channels_restore_tree (
           &self->params, bytes + used, *n, &tree);
       ++*n, used += CUV_TRAIN_TREE_RECORD)
    g_array_append_val (self->saved, tree);
  return used;
}

const StateKind state_of_channels = { ".trees", CUV_TRAIN_TREES_HEADER,
  size_of_record, save_header, save_record, restore };

static bool
recall (void *data, CuvTrainTree *tree)
{
  Training *self = data;

  if ((guint) self->n >= self->saved->len)
    return false;
  *tree = g_array_index (self->saved, CuvTrainTree, self->n);
  g_atomic_int_inc (&self->n);
  return true;
}

static void
learnt (void *data, const CuvTrainTree *tree)
{
  Training *self = data;

  self->last = *tree;
  if (self->problem == NULL
      && !state_file_add (self->state_file, &self->problem))
    g_atomic_int_set (&self->failed, TRUE);
  g_atomic_int_inc (&self->n);
}

static bool
device_failed (void *data, const char *problem)
{
  Training *self = data;

  if (device_may_leave (self->results->options->device, problem))
    return true;
  device_set_error (problem, &self->problem);
  g_atomic_int_set (&self->failed, TRUE);
  return false;
}

static bool
has_failed (void *data)
{
  return g_atomic_int_get (&((Training *) data)->failed);
}

/* ---- learning ---- */

static CuvTrainChannelsState
train (Training *self)
{
  Results *results = self->results;
  const CuvTrainWatch watch = { self, has_failed, recall, learnt,
    device_failed };
  CuvProcessor processor = device_processor (self->results->options->device);
  CuvTrainChannelsParams params = self->params;
  const gint64 start = g_get_monotonic_time ();
  Progress *progress = progress_begin ("learning trees of all rounds", &self->n,
      (guint) cuv_train_channels_count (&params));
  CuvTrainChannelsState state;

  params.trees.watch = &watch;
  params.trees.processor = &processor;
  state = cuv_dataset_train_channels (results->inputs->dataset, &params,
      &results->options->samples, &results->channels);
  progress_end (progress);
  results->seconds =
      (gdouble) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  return state;
}

static void
describe (Results *self, const CuvTrainChannelsParams *params)
{
  const CuvChannelsTrees *trees = &params->shape.trees;

  self->end = g_strdup (cuv_train_describe_end (CUV_TRAIN_DONE));
  self->classifier = (CuvGridClassifier){ .window_width =
                                              trees->columns * trees->shrink,
    .window_height = trees->rows * trees->shrink,
    .n_weak = params->trees.n_trees,
    .final_threshold = ldexpf (
        (gfloat) self->channels->trees.final_threshold, -CUV_TRAIN_TREE_BITS) };
}

static gboolean
learn_with (Training *self, LearnFinish finish, gpointer data, GError **error)
{
  GError *problem = NULL;

  self->state_file = state_file_new (
      &state_of_channels, self, self->results->options->output, error);
  if (self->state_file == NULL)
    return FALSE;
  if (check_state (train (self), &problem)) {
    describe (self->results, &self->params);
    finish (self->results, data, &problem);
  } else if (self->problem != NULL) {
    g_error_free (problem);
    problem = g_steal_pointer (&self->problem);
  }
  return learn_close (self->state_file, problem, error);
}

gboolean
learn_channels (
    Results *self, LearnFinish finish, gpointer data, GError **error)
{
  Training training = { .results = self,
    .params = cuv_dataset_channels_params (&self->options->train),
    .saved = g_array_new (FALSE, FALSE, sizeof (CuvTrainTree)) };
  const gboolean ok = learn_with (&training, finish, data, error);

  g_array_unref (training.saved);
  return ok;
}
