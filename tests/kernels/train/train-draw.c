/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Training: the windows that are drawn as negatives. */
#include "train-groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 12, HEIGHT = 10, N_PICTURES = 3, N_WEAK = 4 };

/* Counts the windows that overlap no box by more than the limit. */
static uint64_t
count_negatives (const CuvWaldboostPlan *plan, const CuvTrainBox *boxes, int n)
{
  uint64_t n_negatives = 0;

  for (int i = 0; i < plan->n_levels; i++) {
    const CuvWaldboostLevel *level = &plan->levels[i];

    for (int at = 0; at < level->n_x * level->n_y; at++) {
      const CuvTrainWindow window = { i, level->step * (at % level->n_x),
        level->step * (at / level->n_x) };
      bool negative = true;

      for (int b = 0; b < n; b++)
        negative = negative
            && cuv_train_overlap (plan, &window, &boxes[b])
                <= CUV_TRAIN_MAX_OVERLAP;
      n_negatives += negative;
    }
  }
  return n_negatives;
}

static int
random_boxes (CuvTrainBox boxes[5], int width, int height)
{
  const int n = (int) cuv_check_below (6);

  for (int b = 0; b < n; b++)
    boxes[b] = (CuvTrainBox){ cuv_check_below ((uint32_t) width) - 9.5,
      cuv_check_below ((uint32_t) height) - 9.5, 1 + cuv_check_below (60),
      0.5 + cuv_check_below (60) };
  return n;
}

/* Checks that each negative is drawn once. */
void
check_draw (int width, int height, bool cascade)
{
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_TEXTURE);
  CuvWaldboostPlan *plan =
      cuv_train_plan_new (NULL, cascade, 12, 10, width, height);
  CuvTrainBox boxes[5];
  const CuvTrainPicture picture = { frame.frame, boxes,
    random_boxes (boxes, width, height) };
  CuvTrainReservoir reservoir;
  uint64_t n;

  cuv_check_case ("%d boxes in %d x %d%s", picture.n_boxes, width, height,
      cascade ? ", OpenCV's scan" : "");
  n = count_negatives (plan, boxes, picture.n_boxes);
  CUV_CHECK (cuv_train_reservoir_init (&reservoir, 12, 10, 100000, 1));
  reservoir.cascade = cascade;
  CUV_CHECK (cuv_train_draw (&reservoir, NULL, &picture, 0));
  CUV_CHECK (reservoir.n_windows == n && reservoir.n_alive == n
          && (uint64_t) reservoir.n == n,
      ": %d windows drawn of %d", reservoir.n, (int) n);
  for (int32_t i = 1; i < reservoir.n; i++)
    CUV_CHECK (reservoir.ranks[i] <= reservoir.ranks[(i - 1) / 2]);
  cuv_train_reservoir_clear (&reservoir);
  cuv_waldboost_plan_free (plan);
  cuv_check_frame_free (&frame);
}

/* ---- some of the windows that are not rejected ---- */

typedef struct {
  CuvCheckFrame frames[N_PICTURES];
  CuvTrainPicture pictures[N_PICTURES];
  CuvTrainBox boxes[5];
} Album;

static bool
load (void *data, int32_t i, CuvTrainPicture *picture)
{
  *picture = ((const Album *) data)->pictures[i];
  return true;
}

/* Makes pictures, the first of which has objects. */
static void
album_init (Album *self)
{
  for (int i = 0; i < N_PICTURES; i++) {
    const int width = 30 + (int) cuv_check_below (90);
    const int height = 30 + (int) cuv_check_below (90);

    self->frames[i] =
        cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_TEXTURE);
    self->pictures[i] = (CuvTrainPicture){ self->frames[i].frame, self->boxes,
      i == 0 ? random_boxes (self->boxes, width, height) : 0 };
  }
}

/* Makes a model whose weak classifiers each reject a part of the windows. */
static const CuvWaldboostModel *
model_new (void)
{
  CuvTrainFeatures features;
  float leaves[N_WEAK * CUV_TRAIN_MAX_CODES], thresholds[N_WEAK];
  const CuvWaldboostModel *model;

  cuv_train_features_init (
      &features, CUV_FEATURE_LBP, WIDTH, HEIGHT, N_WEAK, 3);
  for (int k = 0; k < N_WEAK; k++) {
    for (int code = 0; code < CUV_TRAIN_MAX_CODES; code++)
      leaves[k * CUV_TRAIN_MAX_CODES + code] = cuv_check_below (3) ? 1 : -1;
    thresholds[k] = (float) k / 2;
  }
  model = cuv_model_new (
      &(CuvGridClassifier){ CUV_FEATURE_LBP, false, WIDTH, HEIGHT, N_WEAK,
          CUV_TRAIN_MAX_CODES, features.nodes, leaves, thresholds, -100 });
  cuv_train_features_clear (&features);
  return model;
}

typedef struct {
  uint64_t rank;
  const uint8_t *pixels;
} Drawn;

static int
compare_ranks (const void *a, const void *b)
{
  const Drawn *one = a, *other = b;

  return (one->rank > other->rank) - (one->rank < other->rank);
}

static Drawn *
sort (const CuvTrainReservoir *reservoir)
{
  Drawn *drawn = malloc (((size_t) reservoir->n + 1) * sizeof *drawn);

  for (int32_t i = 0; i < reservoir->n; i++)
    drawn[i] = (Drawn){ reservoir->ranks[i],
      reservoir->pixels + (ptrdiff_t) i * WIDTH * HEIGHT };
  qsort (drawn, (size_t) reservoir->n, sizeof *drawn, compare_ranks);
  return drawn;
}

/* Compares a reservoir with `all`, into which every window that is not rejected
 * was drawn. */
static void
check_drawn (const CuvTrainReservoir *some, const CuvTrainReservoir *all)
{
  const int32_t n = some->capacity < all->n ? some->capacity : all->n;
  const double rate = (double) all->n_alive / (double) all->n_windows;
  const double error = n == all->n ? 1e-9 : 5 / sqrt (n > 3 ? n - 2 : 1);
  Drawn *expected = sort (all), *drawn = sort (some);

  CUV_CHECK (some->n == n && some->n_windows == all->n_windows);
  for (int32_t i = 0; i < n && i < some->n; i++)
    CUV_CHECK (drawn[i].rank == expected[i].rank
        && memcmp (drawn[i].pixels, expected[i].pixels, WIDTH * HEIGHT) == 0);
  if (some->n > 1)
    CUV_CHECK (fabs (cuv_train_reservoir_rate (some) - rate) <= error * rate,
        ": a rate of %g is said to be %g", rate,
        cuv_train_reservoir_rate (some));
  free (expected);
  free (drawn);
}

/* Checks that the windows of the smallest ranks are drawn, whatever fraction of
 * the windows is considered first. */
void
check_draw_of_some (int32_t capacity)
{
  static const double shares[] = { 1, 0.3, 0.01, 1e-9 };
  const CuvWaldboostModel *model = model_new ();
  Album album;
  const CuvTrainPictures pictures = { N_PICTURES, load, &album };
  CuvTrainReservoir all, some;

  album_init (&album);
  cuv_check_case ("%d negatives drawn", capacity);
  CUV_CHECK (cuv_train_reservoir_init (&all, WIDTH, HEIGHT, 1000000, 1));
  for (int32_t i = 0; i < N_PICTURES; i++)
    CUV_CHECK (cuv_train_draw (&all, model, &album.pictures[i], i));
  for (int i = 0; i < 4; i++) {
    CUV_CHECK (cuv_train_reservoir_init (&some, WIDTH, HEIGHT, capacity, 1));
    CUV_CHECK (cuv_train_draw_all (&some, model, &pictures, shares[i]));
    check_drawn (&some, &all);
    cuv_train_reservoir_clear (&some);
  }
  cuv_train_reservoir_clear (&all);
  cuv_model_unref (model);
  for (int i = 0; i < N_PICTURES; i++)
    cuv_check_frame_free (&album.frames[i]);
}
