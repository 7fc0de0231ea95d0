/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A whole search: the definition that the CPU and GPU versions are tested
 * against. */
#include "rcd.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

#include <stdlib.h>

const char *
cuv_rcd_config_problem (const CuvRcdConfig *config)
{
  if (config->width < 1 || config->width > CUV_RCD_MAX_SIZE
      || config->height < 1 || config->height > CUV_RCD_MAX_SIZE)
    return "the frame size is outside 1 to 16384 pixels: scale the video";
  if (config->cell < 1 || config->cell > CUV_RCD_MAX_CELL)
    return "cell is outside 1 to 32 pixels: choose a value in that range";
  if (config->max_targets < 1 || config->max_targets > CUV_RCD_MAX_TARGETS)
    return "max-targets is outside 1 to 16: choose a value in that range";
  if (config->max_windows < 0 || !(config->lambda >= 0.0))
    return "the number of windows or lambda is negative: choose 0 or more";
  return NULL;
}

CuvRcdMatch
cuv_rcd_no_match (void)
{
  return (CuvRcdMatch){
    .window = -1, .score = (double) INFINITY, .second = (double) INFINITY
  };
}

void
cuv_rcd_find_next (const CuvRcdSearch *search, const CuvRcdTarget *target,
    int cell, const double *scores, const CuvRcdBox *candidates, int n,
    CuvRcdMatch *match)
{
  *match = cuv_rcd_no_match ();
  for (int l = 0; l < target->n_levels; l++) {
    const CuvRcdLevel *level = &target->levels[l];

    for (int i = 0; i < cuv_rcd_level_windows (level); i++) {
      const double score = scores[level->first + i];
      CuvRcdBox box;

      if (!(score < match->score))
        continue;
      box = cuv_rcd_level_box (&search->area, level, cell, i);
      if (!cuv_rcd_centre_is_outside_all (&box, candidates, n))
        continue;
      match->score = score;
      match->window = level->first + i;
      match->level = l;
      match->box = box;
    }
  }
}

typedef struct {
  const CuvRcdConfig *config;
  const CuvFrame *frame;
  const CuvRcdSearch *search;
  int n;              /* number of features */
  CuvRcdGrid grid;    /* grid of the search area; points into lines */
  int64_t *integrals; /* owned, with the memory of cells and lines */
  int64_t *cells;
  int32_t *lines;
} Search;

static bool
search_init (Search *self)
{
  const CuvRcdArea *area = &self->search->area;
  const size_t columns = (size_t) area->n_columns, rows = (size_t) area->n_rows;
  const size_t n_sums = (size_t) CUV_RCD_SUMS (self->n);
  const size_t n_integrals = (columns + 1) * (rows + 1) * n_sums;
  const size_t n_cells = columns * rows * n_sums;

  self->integrals = malloc ((n_integrals + n_cells) * sizeof *self->integrals
      + (columns + rows + 2) * sizeof *self->lines);
  if (self->integrals == NULL)
    return false;
  self->cells = self->integrals + n_integrals;
  self->lines = (int32_t *) (self->cells + n_cells);
  for (int i = 0; i <= area->n_columns; i++)
    self->lines[i] = (area->column + i) * self->config->cell;
  for (int i = 0; i <= area->n_rows; i++)
    self->lines[columns + 1 + (size_t) i] =
        (area->row + i) * self->config->cell;
  self->grid = (CuvRcdGrid){ area->n_columns, area->n_rows, self->lines,
    self->lines + columns + 1 };
  cuv_rcd_cell_sums (
      self->frame, self->config->features, &self->grid, self->cells);
  cuv_rcd_integrate (self->cells, (int) n_sums, &self->grid, self->integrals);
  return true;
}

static double
score_window (const Search *self, const CuvRcdTarget *target,
    const CuvRcdLevel *level, int i)
{
  const int left = level->x + i % level->n_x * level->step;
  const int top = level->y + i / level->n_x * level->step;
  const CuvRcdBox box =
      cuv_rcd_level_box (&self->search->area, level, self->config->cell, i);
  int64_t sums[CUV_RCD_MAX_SUMS];

  cuv_rcd_window_sums (self->integrals, CUV_RCD_SUMS (self->n), &self->grid,
      left, top, left + level->columns, top + level->rows, sums);
  return cuv_rcd_score (sums, self->n, &box, &target->model,
      self->config->metric, self->config->lambda);
}

static void
score_windows (const Search *self, const CuvRcdTarget *target, double *scores)
{
  for (int l = 0; l < target->n_levels; l++) {
    const CuvRcdLevel *level = &target->levels[l];

    for (int i = 0; i < cuv_rcd_level_windows (level); i++)
      scores[level->first + i] = score_window (self, target, level, i);
  }
}

static void
refine_round (const Search *self, const CuvRcdTarget *target, int spacing,
    int shift, CuvRcdMatch *match)
{
  const CuvRcdConfig *config = self->config;
  CuvRcdFineWindows fine;

  cuv_rcd_fine_windows_init (
      &fine, &match->box, spacing, shift, config->width, config->height);
  match->score = (double) INFINITY;
  for (int i = 0; i < CUV_RCD_FINE_WINDOWS; i++) {
    const CuvRcdBox *box = &fine.boxes[i];
    const CuvRcdBox origin = { 0, 0, box->width, box->height };
    int64_t sums[CUV_RCD_MAX_SUMS];
    double score;

    if (!fine.valid[i])
      continue;
    cuv_rcd_box_sums (self->frame, config->features, box, sums);
    score = cuv_rcd_score (
        sums, self->n, &origin, &target->model, config->metric, config->lambda);
    if (score < match->score) {
      match->score = score;
      match->box = *box;
    }
  }
}

static void
refine (const Search *self, const CuvRcdTarget *target, CuvRcdMatch *match)
{
  int shift = CUV_RCD_FINE_FIRST_SHIFT;

  for (int spacing = self->search->refine; spacing > 0;
       spacing = cuv_rcd_next_spacing (spacing)) {
    refine_round (self, target, spacing, shift, match);
    shift = CUV_RCD_FINE_NEXT_SHIFT;
  }
}

static void
rcd_find_target (const Search *self, const CuvRcdTarget *target, double *scores,
    CuvRcdMatch *best)
{
  const int n_candidates = cuv_rcd_n_candidates (self->search);
  const int cell = self->config->cell;
  CuvRcdBox candidates[CUV_RCD_MAX_CANDIDATES];
  CuvRcdMatch match;
  double first_score;

  score_windows (self, target, scores);
  cuv_rcd_find_next (self->search, target, cell, scores, NULL, 0, best);
  if (best->window < 0)
    return;
  first_score = best->score;
  candidates[0] = best->box;
  cuv_rcd_find_next (self->search, target, cell, scores, candidates, 1, &match);
  best->second = match.score;
  refine (self, target, best);
  for (int n = 1; n < n_candidates && match.window >= 0; n++) {
    candidates[n] = match.box;
    match.second = first_score;
    refine (self, target, &match);
    if (match.score < best->score)
      *best = match;
    if (n + 1 < n_candidates)
      cuv_rcd_find_next (
          self->search, target, cell, scores, candidates, n + 1, &match);
  }
  cuv_rcd_box_sums (
      self->frame, self->config->features, &best->box, best->sums);
}

bool
cuv_rcd_search (const CuvRcdConfig *config, const CuvFrame *frame,
    const CuvRcdSearch *search, double *scores, CuvRcdMatch *matches)
{
  Search self = { .config = config,
    .frame = frame,
    .search = search,
    .n = cuv_rcd_n_features (config->features) };
  double *own = malloc (((size_t) config->max_windows + 1) * sizeof *own);
  bool ok = own != NULL && search_init (&self);

  for (int t = 0; ok && t < search->n_targets; t++)
    rcd_find_target (
        &self, &search->targets[t], scores != NULL ? scores : own, &matches[t]);
  free (own);
  free (self.integrals);
  return ok;
}
