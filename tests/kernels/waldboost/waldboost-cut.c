/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plan cut to regions finds the windows of the whole plan that are centred in
 * them, with every version. */
#include "config.h"
#include "reference/cut.h"
#include "waldboost-versions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 150, HEIGHT = 120, MOST = 3 };

static const ModelKind kinds[] = {
  { "LBP cascade", CUV_FEATURE_LBP, CUV_SUM_STAGES, CUV_BLOCK_SUM, 1, 20, 0, 3,
      4, 1, 0, 0.6 },
  { "Haar cascade", CUV_FEATURE_HAAR, CUV_SUM_STAGES, CUV_BLOCK_SUM, 0, 20, 0,
      3, 4, 1, 0, 0.7 },
  { "Haar tilted", CUV_FEATURE_HAAR, CUV_SUM_STAGES, CUV_BLOCK_SUM, 0, 15, 0, 3,
      3, 3, 1, 0.7 },
  { "LBP", CUV_FEATURE_LBP, CUV_SUM_FIXED, CUV_BLOCK_SUM, 0, 20, 2, 20, 1, 1, 0,
      0.9 },
  { "LRD", CUV_FEATURE_LRD, CUV_SUM_FLOAT, CUV_BLOCK_SUM, 0, 20, 4, 20, 1, 1, 0,
      0.9 },
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

typedef struct {
  const CuvWaldboostModel *model;
  const CuvCheckFrame *frame;
  CuvRoi regions[MOST];
  int n;
} Case;

/* ---- regions ---- */

/* Chooses regions that may overlap, be empty, or exceed the frame. */
static void
choose_regions (Case *self)
{
  self->n = random_between (1, MOST);
  for (int i = 0; i < self->n; i++) {
    const int x = random_between (-20, WIDTH), y = random_between (-20, HEIGHT);

    self->regions[i] = (CuvRoi){ x, y, x + random_between (0, 60),
      y + random_between (0, 60) };
  }
}

static bool
is_between (double value, int first, int end)
{
  return value >= first - 1e-6 && value < end - 1e-6;
}

static bool
is_wanted (
    const Case *self, const CuvWaldboostPlan *plan, const CuvWaldboostHit *hit)
{
  const CuvWaldboostBox box = cuv_waldboost_box (plan, hit);
  const double x = (box.x + box.width / 2.) * WIDTH / plan->picture_width;
  const double y = (box.y + box.height / 2.) * HEIGHT / plan->picture_height;
  bool wanted = false;

  for (int i = 0; i < self->n; i++)
    wanted |= is_between (x, self->regions[i].left, self->regions[i].right)
        && is_between (y, self->regions[i].top, self->regions[i].bottom);
  return wanted;
}

/* ---- scans ---- */

static bool
are_equal (const CuvWaldboostHit *a, const CuvWaldboostHit *b)
{
  return a->level == b->level && a->x == b->x && a->y == b->y
      && a->score == b->score;
}

/* Checks that hits are those of the whole frame that are wanted or, if the
 * scans skip windows, are among them. */
static void
check_hits (const Case *self, const CuvWaldboostPlan *plan,
    const CuvWaldboostResult *whole, const CuvWaldboostHit *hits, int n,
    bool all)
{
  int at = 0;

  for (int i = 0; i < whole->n_hits; i++) {
    const bool found = at < n && are_equal (&hits[at], &whole->hits[i]);

    if (is_wanted (self, plan, &whole->hits[i]) && all)
      CUV_CHECK (found, ": level %d at %d, %d is missing", whole->hits[i].level,
          whole->hits[i].x, whole->hits[i].y);
    else if (found)
      CUV_CHECK (is_wanted (self, plan, &whole->hits[i]));
    at += found;
  }
  CUV_CHECK (at == n, ": %d of %d hits are of the whole frame", at, n);
}

/* Scans a cut with all versions, and restores the hits of the reference. */
static int
scan_cut (
    const Case *self, const CuvWaldboostCut *cut, CuvWaldboostResult *found)
{
  CuvCheckFrame part = *self->frame;

  part.frame = cuv_frame_crop (&part.frame, &cut->part);
  *found = run_reference (self->model, &cut->plan, &part.frame);
  check_versions (self->model, &cut->plan, &part, found);
  return cuv_waldboost_cut_restore (
      cut, (CuvWaldboostHit *) found->hits, found->n_hits);
}

/* Returns the number of hits. */
static int
check_cut (const Case *self, const CuvWaldboostPlan *plan,
    const CuvWaldboostResult *whole, bool all)
{
  CuvWaldboostCut *cut = cuv_waldboost_cut_new (plan, self->regions, self->n);
  CuvWaldboostResult found;
  int n = 0;

  if (cut->plan.n_levels > 0) {
    n = scan_cut (self, cut, &found);
    check_hits (self, plan, whole, found.hits, n, all);
    free_result (&found);
  } else
    check_hits (self, plan, whole, NULL, 0, all);
  cuv_waldboost_cut_free (cut);
  return n;
}

static int
check_plan (const Case *self, const CuvWaldboostParams *params)
{
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (self->model, params, WIDTH, HEIGHT);
  const bool skip = plan->skip;
  CuvWaldboostResult whole;
  int n;

  plan->skip = false;
  whole = run_reference (self->model, plan, &self->frame->frame);
  n = check_cut (self, plan, &whole, true);
  plan->skip = skip;
  if (skip)
    check_cut (self, plan, &whole, false);
  n = cuv_waldboost_keep_centred (plan, self->regions, self->n,
          (CuvWaldboostHit *) whole.hits, whole.n_hits)
          == n
      ? n
      : -1;
  CUV_CHECK (n >= 0);
  free_result (&whole);
  cuv_waldboost_plan_free (plan);
  return n;
}

CUV_CHECKS (check_cuts)
{
  static const char *const formats[] = { "GRAY8", "RGB", "NV12", "YUY2" };
  int n_hits = 0;

  for (int i = 0; i < (cuv_check_options.few ? 15 : 60); i++) {
    const CuvWaldboostParams params = { .scan = 1 + i % 3,
      .scale_factor = 1.15,
      .octaves = 2,
      .levels_per_octave = 3,
      .upscale = i % 4 == 3 ? 1.6 : 1 };
    CuvCheckFrame frame =
        cuv_check_frame_new (formats[i % 4], WIDTH, HEIGHT, CUV_CHECK_TEXTURE);
    RandomModel *random = random_model (&kinds[i % N_KINDS], &frame.frame);
    Case self = { .model = &random->model, .frame = &frame };

    choose_regions (&self);
    cuv_check_case ("%s in %d regions, scan %d, upscale %g",
        kinds[i % N_KINDS].name, self.n, params.scan, params.upscale);
    n_hits += check_plan (&self, &params);
    CUV_CHECK (cuv_check_guards_intact (&frame));
    cuv_check_frame_free (&frame);
    free (random);
  }
  CUV_CHECK (n_hits > 100, ": %d hits", n_hits);
}
