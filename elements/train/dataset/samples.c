/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cuts positive samples out of pictures: objects with a margin, moved, scaled
 * and mirrored copies. */
#include "dataset.h"
#include "cuvgrey.h"

#include <math.h>

/* Largest change of a copy: of its position, in window pixels, and of the
 * logarithm of its size. Not tuned; docs/training.md shows the effect in the
 * row --copies. */
#define SHIFT 1.5
#define SCALE 0.08

typedef struct {
  gint width, height; /* size of the window */
  gboolean cascade;
  const CuvSampleOptions *options;
  CuvSampleVisit visit;
  gpointer data;
  const CuvDatasetPicture *picture;
  CuvWaldboostPlan *plan;
  CuvTrainPyramid pyramid;
  guint8 *pixels, *mirrored;
  guint64 random;
} Cutter;

/* Returns a random number from -1 to 1. */
static gdouble
next_share (Cutter *self)
{
  return (gdouble) (cuv_train_random (&self->random) >> 11) * 0x1p-52 - 1;
}

CuvTrainBox
cuv_sample_box (const CuvTrainBox *box, gdouble margin, gint window_width,
    gint window_height)
{
  const gdouble scale = (1 + 2 * margin)
      * fmax (box->width / window_width, box->height / window_height);
  const gdouble width = scale * window_width, height = scale * window_height;

  return (CuvTrainBox){ box->x + (box->width - width) / 2,
    box->y + (box->height - height) / 2, width, height };
}

static CuvTrainBox
jitter (Cutter *self, const CuvTrainBox *box)
{
  const gdouble scale = exp (SCALE * next_share (self));
  const gdouble pixel =
      fmax (box->width / self->width, box->height / self->height);
  const gdouble x = box->x + box->width / 2 + SHIFT * pixel * next_share (self);
  const gdouble y =
      box->y + box->height / 2 + SHIFT * pixel * next_share (self);

  return (CuvTrainBox){ x - scale * box->width / 2, y - scale * box->height / 2,
    scale * box->width, scale * box->height };
}

static gboolean
add_mirrored (Cutter *self)
{
  const gint width = self->width;

  for (gint y = 0; y < self->height; y++) {
    for (gint x = 0; x < width; x++)
      self->mirrored[y * width + x] = self->pixels[y * width + width - 1 - x];
  }
  return self->visit (self->data, self->picture, self->mirrored);
}

/* Adds the samples of an object. Returns FALSE if memory runs out. *too_small:
 * whether the object is left out because it is too small. */
static gboolean
add_object (Cutter *self, const CuvTrainBox *object, gboolean *too_small)
{
  *too_small = FALSE;
  for (gint i = 0; i < self->options->n_copies; i++) {
    const CuvTrainBox box = i == 0 ? *object : jitter (self, object);
    CuvTrainWindow window;

    if (!cuv_train_place (
            self->plan, &box, self->width, self->height, &window)) {
      *too_small = i == 0;
      if (i == 0)
        break;
      continue;
    }
    if (!cuv_train_pyramid_make (&self->pyramid, window.level))
      return FALSE;
    cuv_train_cut (
        &self->pyramid, &window, self->width, self->height, self->pixels);
    if (!self->visit (self->data, self->picture, self->pixels)
        || (self->options->mirror && !add_mirrored (self)))
      return FALSE;
  }
  return TRUE;
}

/* Adds the sample of a window. Returns FALSE if memory runs out. */
static gboolean
add_window (Cutter *self, const CuvDatasetPicture *window)
{
  for (gint y = 0; y < self->height; y++)
    cuv_grey_row (
        &window->grey, y, self->pixels + (gsize) y * (gsize) self->width);
  return self->visit (self->data, window, self->pixels)
      && (!self->options->mirror || add_mirrored (self));
}

/* Adds the samples of a picture. Returns the number of objects that are too
 * small, or -1 if memory runs out. */
static gint
add_picture_samples (Cutter *self, const CuvDatasetPicture *picture)
{
  gboolean ok, too_small;
  gint n = 0;

  self->picture = picture;
  if (picture->is_window)
    return add_window (self, picture) ? 0 : -1;
  self->plan = cuv_train_plan_new (NULL, self->cascade, self->width,
      self->height, picture->width, picture->height);
  ok = self->plan != NULL
      && cuv_train_pyramid_init (&self->pyramid, self->plan, &picture->grey);
  for (guint i = 0; ok && i < picture->objects->len; i++) {
    const CuvTrainBox object =
        cuv_sample_box (&g_array_index (picture->objects, CuvTrainBox, i),
            self->options->margin, self->width, self->height);

    ok = add_object (self, &object, &too_small);
    n += too_small;
  }
  if (self->plan != NULL)
    cuv_train_pyramid_clear (&self->pyramid);
  cuv_waldboost_plan_free (self->plan);
  return ok ? n : -1;
}

gint
cuv_dataset_visit_samples (const CuvDataset *dataset, CuvDatasetRole role,
    gint window_width, gint window_height, gboolean cascade,
    const CuvSampleOptions *options, CuvSampleVisit visit, gpointer data)
{
  const gsize size = (gsize) window_width * (gsize) window_height;
  Cutter self = { .width = window_width,
    .height = window_height,
    .cascade = cascade,
    .options = options,
    .visit = visit,
    .data = data,
    .pixels = g_malloc (size),
    .mirrored = g_malloc (size),
    .random = options->seed };
  const GPtrArray *pictures = dataset->roles[role];
  gint too_small = 0;

  for (guint i = 0; too_small >= 0 && i < pictures->len
       && !g_atomic_int_get (&dataset->stop);
       i++) {
    const CuvDatasetPicture *picture = pictures->pdata[i];
    const gint n = add_picture_samples (&self, picture);

    g_atomic_int_inc (&picture->dataset->n_scanned);
    too_small = n < 0 ? -1 : too_small + n;
  }
  g_free (self.pixels);
  g_free (self.mirrored);
  return too_small;
}

typedef struct {
  CuvTrainer *trainer;
  CuvTrainPart part;
} Target;

static gboolean
add_positive (
    gpointer data, const CuvDatasetPicture *picture, const guint8 *pixels)
{
  const Target *self = data;

  return cuv_trainer_add_positive (self->trainer, self->part, pixels);
}

gint
cuv_dataset_add_samples (const CuvDataset *dataset, CuvTrainPart part,
    CuvTrainer *trainer, const CuvTrainParams *params,
    const CuvSampleOptions *options)
{
  Target target = { trainer, part };

  return cuv_dataset_visit_samples (dataset, (CuvDatasetRole) part,
      params->window_width, params->window_height, params->cascade, options,
      add_positive, &target);
}
