/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dataset.h"

#include "cpu/waldboost-cpu.h"

#define LEAST_OVERLAP 0.5 /* of a box with an object that it finds */
#define NMS 0.3

typedef struct {
  gdouble score;
  gboolean right; /* it finds an object */
} Found;

typedef struct {
  const CuvWaldboostModel *model;
  CuvWaldboostGrouper *grouper;
  GArray *found;
  guint n_objects;
  guint64 n_windows, n_weak;
} Meter;

static gdouble
overlap (const CuvWaldboostBox *a, const CuvTrainBox *b)
{
  const gdouble w = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  const gdouble h = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);

  if (w <= 0 || h <= 0)
    return 0;
  return w * h
      / ((gdouble) a->width * a->height + b->width * b->height - w * h);
}

/* The box's best one of the boxes that are not taken, -1 if there is none. */
static gint
best_of (const GArray *boxes, const gboolean *taken, const CuvWaldboostBox *box)
{
  gdouble most = LEAST_OVERLAP;
  gint best = -1;

  for (guint i = 0; i < boxes->len; i++) {
    const gdouble share = overlap (box, &g_array_index (boxes, CuvTrainBox, i));

    if (share >= most && (taken == NULL || !taken[i])) {
      most = share;
      best = (gint) i;
    }
  }
  return best;
}

/* Boxes come in order of falling scores. A box on an object that is not to be
 * learnt is neither right nor wrong. */
static void
judge (Meter *self, const CuvDatasetPicture *picture,
    const CuvWaldboostBox *boxes, gint n)
{
  gboolean *taken = g_new0 (gboolean, picture->objects->len + 1);

  for (gint i = 0; i < n; i++) {
    const gint object = best_of (picture->objects, taken, &boxes[i]);
    const Found found = { (gdouble) boxes[i].score, object >= 0 };

    if (object >= 0)
      taken[object] = TRUE;
    if (object >= 0 || best_of (picture->boxes, NULL, &boxes[i]) < 0)
      g_array_append_val (self->found, found);
  }
  g_free (taken);
}

static gboolean
measure (Meter *self, const CuvDatasetPicture *picture)
{
  const CuvGrouping grouping = { CUV_GROUPING_NMS, 0, NMS };
  const CuvFrame frame = cuv_store_frame (picture->store, picture->number);
  const CuvWaldboostBox *boxes;
  CuvWaldboostPlan *plan =
      cuv_train_plan_new (self->model, self->model->window_width,
          self->model->window_height, picture->width, picture->height);
  CuvWaldboostCpu *cpu =
      plan != NULL ? cuv_waldboost_cpu_new (self->model, plan) : NULL;
  CuvWaldboostResult result;
  gint n = -1;

  if (cpu != NULL) {
    cuv_waldboost_cpu_run (cpu, &frame, 0, &result);
    n = cuv_waldboost_group (
        self->grouper, plan, &grouping, result.hits, result.n_hits, &boxes);
    self->n_windows += result.windows;
    self->n_weak += result.weak;
    self->n_objects += picture->objects->len;
  }
  if (n >= 0)
    judge (self, picture, boxes, n);
  cuv_waldboost_cpu_free (cpu);
  cuv_waldboost_plan_free (plan);
  return n >= 0;
}

static gint
compare_scores (gconstpointer a, gconstpointer b)
{
  const Found *one = a, *other = b;

  return (one->score < other->score) - (one->score > other->score);
}

/* One for each score. */
static GArray *
rates_of (const Meter *self, guint n_pictures)
{
  GArray *rates = g_array_new (FALSE, FALSE, sizeof (CuvTrainRate));
  guint right = 0;

  g_array_sort (self->found, compare_scores);
  for (guint i = 0; i < self->found->len; i++) {
    const Found *found = &g_array_index (self->found, Found, i);
    const Found *next = found + 1;
    CuvTrainRate rate = { found->score, 0, 0 };

    right += (guint) found->right;
    if (i + 1 < self->found->len && next->score == found->score)
      continue;
    rate.recall = (gdouble) right / MAX (self->n_objects, 1);
    rate.false_positives = (gdouble) (i + 1 - right) / MAX (n_pictures, 1);
    g_array_append_val (rates, rate);
  }
  return rates;
}

GArray *
cuv_dataset_measure (const CuvDataset *dataset, const CuvWaldboostModel *model,
    gdouble *weak_per_window)
{
  const GPtrArray *pictures = dataset->roles[CUV_DATASET_TEST];
  Meter self = { .model = model,
    .grouper = cuv_waldboost_grouper_new (),
    .found = g_array_new (FALSE, FALSE, sizeof (Found)) };
  gboolean ok = self.grouper != NULL;
  GArray *rates;

  for (guint i = 0; ok && i < pictures->len; i++)
    ok = measure (&self, pictures->pdata[i]);
  rates = ok ? rates_of (&self, pictures->len) : NULL;
  *weak_per_window = (gdouble) self.n_weak / (gdouble) MAX (self.n_windows, 1);
  cuv_waldboost_grouper_free (self.grouper);
  g_array_unref (self.found);
  return rates;
}
