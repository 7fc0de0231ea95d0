/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a detector on pictures and lists the objects that it finds, and its
 * mistakes. */
#include "dataset.h"

#include <math.h>
#include <stdlib.h>
#include "channels/frame.h"
#include "cpu/waldboost-cpu.h"
#include "cuvthreads.h"

#define MIN_NEIGHBOURS 3

typedef struct {
  const CuvWaldboostModel *model;
  gdouble margin; /* margin of samples */
  CuvGrouping grouping;
  CuvWaldboostGrouper *grouper;
  CuvDatasetFound *found;
  guint64 n_windows, n_weak;
} Meter;

gdouble
cuv_dataset_overlap (const CuvTrainBox *a, const CuvTrainBox *b)
{
  const gdouble w = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  const gdouble h = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);

  if (w <= 0 || h <= 0)
    return 0;
  return w * h / (a->width * a->height + b->width * b->height - w * h);
}

/* Returns the object that fits best among n objects that no box has found yet,
 * or NULL if none overlaps the box by at least `most`. */
static CuvDatasetBox *
best_of (CuvDatasetBox *objects, guint n, const CuvTrainBox *box, gdouble most)
{
  CuvDatasetBox *best = NULL;

  for (guint i = 0; i < n; i++) {
    const gdouble share = cuv_dataset_overlap (box, &objects[i].box);

    if (share >= most && isinf (objects[i].score)) {
      most = share;
      best = &objects[i];
    }
  }
  return best;
}

static CuvTrainBox
sample_box (
    const Meter *self, const CuvDatasetPicture *picture, const CuvTrainBox *box)
{
  if (self->model->channels != NULL)
    return *box;
  return cuv_sample_box (box, picture->is_window ? 0 : self->margin,
      self->model->window_width, self->model->window_height);
}

static gboolean
is_on_any (
    const Meter *self, const CuvDatasetPicture *picture, const CuvTrainBox *box)
{
  for (guint i = 0; i < picture->boxes->len; i++) {
    const CuvTrainBox other = sample_box (
        self, picture, &g_array_index (picture->boxes, CuvTrainBox, i));

    if (cuv_dataset_overlap (box, &other) >= picture->dataset->least_overlap)
      return TRUE;
  }
  return FALSE;
}

static void
add_objects (Meter *self, const CuvDatasetPicture *picture)
{
  for (guint i = 0; i < picture->objects->len; i++) {
    const CuvDatasetBox object = { picture,
      sample_box (
          self, picture, &g_array_index (picture->objects, CuvTrainBox, i)),
      -INFINITY };

    g_array_append_val (self->found->objects, object);
  }
}

/* Compares boxes, which are in the order of descending scores, with the objects
 * of a picture. A box on an object that is not learnt is neither right nor
 * wrong. */
static void
judge (Meter *self, const CuvDatasetPicture *picture,
    const CuvWaldboostBox *boxes, gint n, gdouble threshold)
{
  GArray *objects = self->found->objects;
  const guint first = objects->len;

  add_objects (self, picture);
  for (gint i = 0; i < n; i++) {
    const CuvDatasetBox box = { picture,
      { boxes[i].x, boxes[i].y, boxes[i].width, boxes[i].height },
      threshold + (gdouble) boxes[i].score };
    CuvDatasetBox *object =
        best_of (&g_array_index (objects, CuvDatasetBox, first),
            picture->objects->len, &box.box, picture->dataset->least_overlap);

    if (object != NULL)
      object->score = box.score;
    else if (!is_on_any (self, picture, &box.box))
      g_array_append_val (self->found->mistakes, box);
  }
}

/* ---- the detector ---- */

static gint
compare_hits (gconstpointer a, gconstpointer b)
{
  const gfloat one = *(const gfloat *) a, other = *(const gfloat *) b;

  return (one > other) - (one < other);
}

static gdouble
median_score (const CuvWaldboostResult *result)
{
  const gint n = result->n_hits;
  gfloat *scores = g_new (gfloat, n);
  gdouble median;

  for (gint i = 0; i < n; i++)
    scores[i] = result->hits[i].score;
  qsort (scores, (gsize) n, sizeof *scores, compare_hits);
  median = (gdouble) scores[n / 2];
  g_free (scores);
  return median;
}

/* A copy of a model, whose threshold can be raised, and the detector that scans
 * with it. */
typedef struct {
  CuvWaldboostModel model;
  CuvChannelsModel channels;
  CuvWeak *weak; /* weak classifiers of model */
  CuvWaldboostCpu *cpu;
  CuvChannelsFrame *frame; /* used instead of cpu for trees on channels */
} Detector;

static void
detector_init (Detector *self, const CuvWaldboostModel *model)
{
  *self = (Detector){ .model = *model,
    .weak =
        g_memdup2 (model->weak, (gsize) model->n_weak * sizeof *self->weak) };
  self->model.weak = self->weak;
  if (model->channels == NULL)
    return;
  self->channels = *model->channels;
  self->model.channels = &self->channels;
}

static void
close_detector (Detector *self)
{
  g_clear_pointer (&self->cpu, cuv_waldboost_cpu_free);
  g_clear_pointer (&self->frame, cuv_channels_frame_free);
}

static void
detector_clear (Detector *self)
{
  close_detector (self);
  g_free (self->weak);
}

/* Raises the threshold so that windows with this score or less are rejected.
 * Returns by how much the threshold was raised. */
static gdouble
reject_score (Detector *self, gdouble score)
{
  CuvWaldboostModel *model = &self->model;

  if (model->arithmetic == CUV_SUM_STAGES) {
    /* windows whose sums equal thresholds pass */
    score += ldexp (0.5, -CUV_TRAIN_LEAF_BITS);
    self->weak[model->n_weak - 1].threshold += (gfloat) score;
  }
  model->final_threshold += (gfloat) score;
  model->fixed_final_threshold +=
      (gint32) lrint (ldexp (score, model->fixed_bits));
  self->channels.trees.final_threshold +=
      (gint32) lrint (ldexp (score, CUV_TRAIN_TREE_BITS));
  return score;
}

/* Scans a frame once. Returns FALSE if memory runs out. */
static gboolean
scan_once (Detector *self, const CuvWaldboostPlan *plan, const CuvFrame *frame,
    CuvWaldboostResult *result)
{
  const CuvRgbMatrix unused = { { { 0 } } };

  if (self->model.channels != NULL) {
    self->frame =
        cuv_channels_frame_new (&(CuvWaldboostSearch){ &self->model, plan }, 1);
    return self->frame != NULL
        && cuv_channels_frame_run (
            self->frame, frame, 0, 0, &unused, 1, result);
  }
  self->cpu = cuv_waldboost_cpu_new (&self->model, plan);
  if (self->cpu != NULL)
    cuv_waldboost_cpu_run (self->cpu, frame, 1, result);
  return self->cpu != NULL;
}

/* Finds all hits above a threshold, which is 0 if the detector can list all of
 * them. The detector owns the hits. Returns FALSE if memory runs out. */
static gboolean
scan (Detector *self, const CuvWaldboostPlan *plan, const CuvFrame *frame,
    CuvWaldboostResult *result, gdouble *threshold)
{
  for (*threshold = 0;; close_detector (self)) {
    if (!scan_once (self, plan, frame, result))
      return FALSE;
    if (result->overflow == 0)
      return TRUE;
    *threshold += reject_score (self, median_score (result));
  }
}

static void
count_weak (Meter *self, const CuvDatasetPicture *picture,
    const CuvWaldboostResult *result, gdouble threshold)
{
  CuvDatasetFound *found = self->found;

  found->n_pictures += !picture->is_window;
  found->n_overflows += threshold > 0;
  found->least = MAX (found->least, threshold);
  self->n_windows += picture->is_window ? 0 : result->windows;
  self->n_weak += picture->is_window ? 0 : result->weak;
}

static gboolean
measure_picture (Meter *self, const CuvDatasetPicture *picture)
{
  const CuvWaldboostModel *model = self->model;
  const CuvWaldboostBox *boxes;
  CuvWaldboostPlan *plan =
      cuv_train_plan_new (model, false, model->window_width,
          model->window_height, picture->width, picture->height);
  CuvWaldboostResult result;
  Detector detector;
  gdouble threshold;
  gint n = -1;

  detector_init (&detector, model);
  if (plan != NULL
      && scan (&detector, plan, cuv_dataset_frame (picture, model), &result,
          &threshold))
    n = cuv_waldboost_group (self->grouper, plan, &self->grouping, result.hits,
        result.n_hits, &boxes);
  if (n >= 0) {
    count_weak (self, picture, &result, threshold);
    judge (self, picture, boxes, n, threshold);
  }
  detector_clear (&detector);
  cuv_waldboost_plan_free (plan);
  return n >= 0;
}

/* ---- all pictures ---- */

/* Applies the highest threshold of any picture to all pictures. */
static void
drop_lower_scores (CuvDatasetFound *self)
{
  for (guint i = 0; i < self->objects->len; i++) {
    CuvDatasetBox *object = &g_array_index (self->objects, CuvDatasetBox, i);

    if (object->score <= self->least)
      object->score = -INFINITY;
  }
  for (guint i = self->mistakes->len; i > 0; i--) {
    if (g_array_index (self->mistakes, CuvDatasetBox, i - 1).score
        <= self->least)
      g_array_remove_index_fast (self->mistakes, i - 1);
  }
}

static gint
compare_scores (gconstpointer a, gconstpointer b)
{
  const CuvDatasetBox *one = a, *other = b;

  return (one->score < other->score) - (one->score > other->score);
}

static CuvDatasetFound *
found_new (void)
{
  CuvDatasetFound *self = g_new (CuvDatasetFound, 1);

  *self = (CuvDatasetFound){ .objects = g_array_new (
                                 FALSE, FALSE, sizeof (CuvDatasetBox)),
    .mistakes = g_array_new (FALSE, FALSE, sizeof (CuvDatasetBox)) };
  return self;
}

typedef struct {
  const GPtrArray *pictures;
  Meter *meters; /* one for each picture */
  gint failed;   /* atomic: memory ran out */
} Search;

static void
measure_task (void *data, int task)
{
  Search *self = data;
  Meter *meter = &self->meters[task];
  const CuvDatasetPicture *picture = self->pictures->pdata[task];

  meter->grouper = cuv_waldboost_grouper_new ();
  g_atomic_int_inc (&picture->dataset->n_scanned);
  if (!g_atomic_int_get (&picture->dataset->stop)
      && (meter->grouper == NULL || !measure_picture (meter, picture)))
    g_atomic_int_set (&self->failed, TRUE);
  cuv_waldboost_grouper_free (meter->grouper);
}

/* Adds the objects and mistakes of a picture. */
static void
add_found (Meter *self, const Meter *picture)
{
  CuvDatasetFound *to = self->found;
  const CuvDatasetFound *from = picture->found;

  g_array_append_vals (to->objects, from->objects->data, from->objects->len);
  g_array_append_vals (to->mistakes, from->mistakes->data, from->mistakes->len);
  to->n_pictures += from->n_pictures;
  to->n_overflows += from->n_overflows;
  to->least = MAX (to->least, from->least);
  self->n_windows += picture->n_windows;
  self->n_weak += picture->n_weak;
}

/* Returns the detector's default grouping. */
static CuvGrouping
grouping_of (CuvDatasetGrouping grouping)
{
  return grouping == CUV_DATASET_NEIGHBOURS
      ? (CuvGrouping){ .method = CUV_GROUPING_NEIGHBORS,
          .min_neighbours = MIN_NEIGHBOURS }
      : (CuvGrouping){ .method = CUV_GROUPING_NMS,
          .nms_iou = CUV_NMS_IOU,
          .nms_inside = CUV_NMS_INSIDE };
}

CuvDatasetFound *
cuv_dataset_find (const CuvDataset *dataset, CuvDatasetRole role,
    const CuvWaldboostModel *model, const CuvSampleOptions *options,
    CuvDatasetGrouping grouping)
{
  const GPtrArray *pictures = dataset->roles[role];
  CuvDatasetFound *found = found_new ();
  Meter self = { model, options->margin, grouping_of (grouping), NULL, found, 0,
    0 };
  Search search = { pictures, g_new (Meter, pictures->len), FALSE };

  for (guint i = 0; i < pictures->len; i++)
    search.meters[i] = (Meter){ model, options->margin, self.grouping, NULL,
      found_new (), 0, 0 };
  cuv_threads_run (0, (int) pictures->len, measure_task, &search);
  for (guint i = 0; i < pictures->len; i++) {
    add_found (&self, &search.meters[i]);
    cuv_dataset_found_free (search.meters[i].found);
  }
  g_free (search.meters);
  found->weak_per_window =
      (gdouble) self.n_weak / (gdouble) MAX (self.n_windows, 1);
  if (found->least > 0)
    drop_lower_scores (found);
  g_array_sort (found->objects, compare_scores);
  g_array_sort (found->mistakes, compare_scores);
  if (search.failed)
    g_clear_pointer (&found, cuv_dataset_found_free);
  return found;
}

static void
lower_scores (GArray *boxes, gdouble by)
{
  for (guint i = 0; i < boxes->len; i++)
    g_array_index (boxes, CuvDatasetBox, i).score -= by;
}

void
cuv_dataset_found_lower (CuvDatasetFound *self, gdouble by)
{
  lower_scores (self->objects, by);
  lower_scores (self->mistakes, by);
  self->least -= by;
  if (self->least <= 0)
    self->n_overflows = 0;
}

void
cuv_dataset_found_free (CuvDatasetFound *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->objects);
  g_array_unref (self->mistakes);
  g_free (self);
}
