/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trees on channels: trains them from the pictures of a data set and measures
 * rates of windows. */
#include "dataset.h"

#include "channels/frame.h"
#include "channels/planes.h"
#include "cuvthreads.h"

/* ---- pictures ---- */

/* Returns the planes of red, green and blue of a picture as a frame. */
static CuvFrame
frame_of_planes (const CuvChannelsPicture *picture)
{
  CuvFrame frame = { .model = CUV_MODEL_RGB,
    .width = picture->width,
    .height = picture->height,
    .n_components = CUV_CHANNELS_COLORS };

  for (gint i = 0; i < CUV_CHANNELS_COLORS; i++)
    frame.component[i] = (CuvComponent){
      .data = (guint8 *) picture->plane[i], .stride = picture->width, .step = 1
    };
  return frame;
}

CuvDatasetPicture *
cuv_dataset_add_frame (CuvDataset *self, const gchar *path,
    const CuvFrame *frame, const CuvRgbMatrix *matrix, CuvStoreKeep keep,
    GError **error)
{
  const CuvTurn upright = { .width = frame->width, .height = frame->height };
  const CuvRoi whole = { 0, 0, frame->width, frame->height };
  const CuvFrame *grey = keep & CUV_STORE_GREY ? frame : NULL;
  CuvChannelsPlanes planes = { 0 };
  CuvChannelsPicture rgb;
  CuvDatasetPicture *picture = NULL;

  if (!(keep & CUV_STORE_COLOURS))
    return cuv_dataset_add (self, path, frame, NULL, error);
  if (cuv_channels_planes_make (
          &planes, frame, &whole, matrix, &upright, 0, &rgb)) {
    const CuvFrame colours = frame_of_planes (&rgb);

    picture = cuv_dataset_add (self, path, grey, &colours, error);
  } else {
    g_set_error_literal (
        error, G_FILE_ERROR, G_FILE_ERROR_NOMEM, "out of memory");
  }
  cuv_channels_planes_clear (&planes);
  return picture;
}

/* ---- settings ---- */

/* Depth of the trees, measured in docs/definitions/channels.md. */
enum { DEPTH = 2 };

/* fraction of the features from which a tree chooses */
#define SHARE (1. / 16)

CuvTrainChannelsParams
cuv_dataset_channels_params (const CuvTrainParams *params)
{
  CuvTrainChannelsParams channels = { .trees = { .depth = DEPTH,
                                          .n_trees = params->n_weak,
                                          .share = SHARE,
                                          .alpha = params->alpha },
    .n_negatives = MAX (params->n_negatives / 2, 1) };

  cuv_train_channels_shape (
      &channels.shape, params->window_width, params->window_height);
  return channels;
}

/* ---- scenes ---- */

static CuvTrainScene
scene_of (const CuvDatasetPicture *picture)
{
  CuvTrainScene scene = { .picture = { .width = picture->width,
                              .height = picture->height },
    .objects = (const CuvTrainBox *) (void *) picture->objects->data,
    .boxes = (const CuvTrainBox *) (void *) picture->boxes->data,
    .n_objects = (gint32) picture->objects->len,
    .n_boxes = (gint32) picture->boxes->len };

  for (gint i = 0; i < CUV_CHANNELS_COLORS; i++)
    scene.picture.plane[i] = picture->colours.component[i].data;
  return scene;
}

/* Returns an array of CuvTrainScene: the pictures of a role. */
static GArray *
scenes_of (const CuvDataset *dataset, CuvDatasetRole role)
{
  const GPtrArray *pictures = dataset->roles[role];
  GArray *scenes = g_array_new (FALSE, FALSE, sizeof (CuvTrainScene));

  for (guint i = 0; i < pictures->len; i++) {
    const CuvTrainScene scene = scene_of (pictures->pdata[i]);

    g_array_append_val (scenes, scene);
  }
  return scenes;
}

static CuvTrainChannelsParams
params_with (
    const CuvTrainChannelsParams *params, const CuvSampleOptions *options)
{
  CuvTrainChannelsParams all = *params;

  all.n_copies = options->n_copies;
  all.mirror = options->mirror;
  all.trees.seed = options->seed;
  return all;
}

/* The arguments of a training. */
typedef struct {
  GArray *arrays[CUV_TRAIN_N_PARTS];
  CuvTrainScenes parts[CUV_TRAIN_N_PARTS];
  CuvTrainChannelsParams params;
} Given;

static void
given_init (Given *self, const CuvDataset *dataset,
    const CuvTrainChannelsParams *params, const CuvSampleOptions *options)
{
  self->params = params_with (params, options);
  for (gint part = 0; part < CUV_TRAIN_N_PARTS; part++) {
    GArray *array = scenes_of (dataset, (CuvDatasetRole) part);

    self->arrays[part] = array;
    self->parts[part] = (CuvTrainScenes){ (gint32) array->len,
      (const CuvTrainScene *) (void *) array->data };
  }
}

static void
given_clear (Given *self)
{
  for (gint part = 0; part < CUV_TRAIN_N_PARTS; part++)
    g_array_unref (self->arrays[part]);
}

CuvTrainChannelsState
cuv_dataset_train_channels (const CuvDataset *dataset,
    const CuvTrainChannelsParams *params, const CuvSampleOptions *options,
    CuvChannelsModel **model)
{
  CuvTrainChannelsState state;
  Given given;

  given_init (&given, dataset, params, options);
  state = cuv_train_channels (&given.parts[CUV_TRAIN_LEARNING],
      &given.parts[CUV_TRAIN_CALIBRATION], &given.params, model);
  given_clear (&given);
  return state;
}

void
cuv_dataset_save_channels (const CuvDataset *dataset,
    const CuvTrainChannelsParams *params, const CuvSampleOptions *options,
    guint8 *bytes)
{
  Given given;

  given_init (&given, dataset, params, options);
  cuv_train_channels_save_header (&given.parts[CUV_TRAIN_LEARNING],
      &given.parts[CUV_TRAIN_CALIBRATION], &given.params, bytes);
  given_clear (&given);
}

gboolean
cuv_dataset_check_channels (const CuvDataset *dataset,
    const CuvTrainChannelsParams *params, const CuvSampleOptions *options,
    const guint8 *bytes, gsize size, gchar *problem)
{
  gboolean same;
  Given given;

  given_init (&given, dataset, params, options);
  same = cuv_train_channels_check_header (&given.parts[CUV_TRAIN_LEARNING],
      &given.parts[CUV_TRAIN_CALIBRATION], &given.params, bytes, size, problem);
  given_clear (&given);
  return same;
}

/* ---- rates of windows ---- */

typedef struct {
  const GPtrArray *pictures;
  const CuvWaldboostModel *model;
  CuvTrainChannelsParams params;
  /* for each picture: accepted windows, all windows */
  CuvCount *positives, *negatives;
  gint failed; /* atomic: memory ran out */
} Rates;

/* Counts the samples of a picture's objects. */
static gboolean
count_objects (Rates *self, gint task, const CuvTrainScene *scene)
{
  const CuvChannelsTrees *trees = &self->model->channels->trees;
  CuvTrainSampleList list = { .n_features = CUV_CHANNELS_N * trees->columns
        * trees->rows };
  const gboolean ok = cuv_train_add_objects (
      scene, &self->params, self->params.trees.seed + (guint64) task, &list);

  for (gint32 i = 0; ok && i < list.n; i++) {
    const CuvChannelsLevel level = { list.values
          + (gsize) i * (gsize) list.n_features,
      trees->columns, trees->rows };
    gint32 score;

    self->positives[task].n +=
        cuv_channels_evaluate (trees, &level, 0, 0, &score) == trees->n_trees;
  }
  self->positives[task].of = (guint64) list.n;
  free (list.values);
  return ok;
}

static gboolean
is_negative (const CuvTrainScene *scene, const CuvWaldboostPlan *plan,
    const CuvWaldboostHit *hit)
{
  const CuvWaldboostBox at = cuv_waldboost_box (plan, hit);
  const CuvTrainBox window = { at.x, at.y, at.width, at.height };

  for (gint32 i = 0; i < scene->n_boxes; i++) {
    if (cuv_dataset_overlap (&window, &scene->boxes[i]) > CUV_TRAIN_MAX_OVERLAP)
      return FALSE;
  }
  return TRUE;
}

static guint64
channels_count_negatives (
    const CuvTrainScene *scene, const CuvWaldboostPlan *plan)
{
  guint64 n = 0;

  for (gint i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];

    for (gint32 y = 0; y < level->n_y; y++) {
      for (gint32 x = 0; x < level->n_x; x++) {
        const CuvWaldboostHit hit = { i, plan->first + x * level->step,
          plan->first + y * level->step, 0 };

        n += is_negative (scene, plan, &hit);
      }
    }
  }
  return n;
}

static gboolean
channels_count_windows (
    Rates *self, gint task, const CuvTrainScene *scene, const CuvFrame *frame)
{
  const CuvWaldboostModel *model = self->model;
  CuvWaldboostPlan *plan = cuv_train_plan_new (model, false,
      model->window_width, model->window_height, frame->width, frame->height);
  CuvChannelsFrame *detector = plan != NULL
      ? cuv_channels_frame_new (&(CuvWaldboostSearch){ model, plan }, 1)
      : NULL;
  const CuvRgbMatrix unused = { { { 0 } } };
  CuvWaldboostResult result;
  const gboolean ok = detector != NULL
      && cuv_channels_frame_run (detector, frame, 0, 0, &unused, 1, &result);

  for (gint i = 0; ok && i < result.n_hits; i++)
    self->negatives[task].n += is_negative (scene, plan, &result.hits[i]);
  if (ok)
    self->negatives[task].of = channels_count_negatives (scene, plan);
  cuv_channels_frame_free (detector);
  cuv_waldboost_plan_free (plan);
  return ok;
}

static void
rates_task (void *data, int task)
{
  Rates *self = data;
  const CuvDatasetPicture *picture = self->pictures->pdata[task];
  const CuvTrainScene scene = scene_of (picture);

  if (!count_objects (self, task, &scene)
      || !channels_count_windows (self, task, &scene, &picture->colours))
    g_atomic_int_set (&self->failed, TRUE);
  g_atomic_int_inc (&picture->dataset->n_scanned);
}

gboolean
cuv_dataset_channels_rates (const CuvDataset *dataset, CuvDatasetRole role,
    const CuvWaldboostModel *model, const CuvSampleOptions *options,
    CuvWindowRates *rates)
{
  const GPtrArray *pictures = dataset->roles[role];
  const CuvTrainChannelsParams none = { .shape = *model->channels };
  Rates self = { pictures, model, params_with (&none, options),
    g_new0 (CuvCount, pictures->len), g_new0 (CuvCount, pictures->len), FALSE };

  cuv_threads_run (0, (int) pictures->len, rates_task, &self);
  rates->recall = cuv_share (self.positives, pictures->len, options->n_copies);
  rates->false_positives =
      cuv_share (self.negatives, pictures->len, CUV_MISTAKE_CLUSTER);
  for (guint i = 0; i < pictures->len; i++) {
    rates->n_positives += self.positives[i].of;
    rates->n_negatives += self.negatives[i].of;
  }
  g_free (self.positives);
  g_free (self.negatives);
  return !self.failed;
}
