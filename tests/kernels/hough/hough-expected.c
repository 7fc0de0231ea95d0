/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hough-expected.h"
#include "cuvcheck.h"

#include <stdlib.h>
#include <string.h>

CuvHoughParams
hough_random_params (void)
{
  CuvHoughParams params = {
    .source = cuv_check_below (3) ? CUV_EDGES_CANNY : CUV_EDGES_INPUT,
    .canny = hough_random_canny (),
    .peaks = hough_peak_params ((int) cuv_check_below (HOUGH_N_RULES), 30),
    .max_lines = (int) cuv_check_below (3)
        ? CUV_HOUGH_MAX_LINES
        : 1 + (int) cuv_check_below (CUV_HOUGH_MAX_LINES),
    .segments = cuv_check_below (2),
    .segment = { (int) cuv_check_below (20), (int) cuv_check_below (5) },
  };

  if (params.peaks.rule >= CUV_PEAKS_SQUARE && cuv_check_below (2))
    params.peaks.neighborhood = 3
        + 2 * (int) cuv_check_below ((CUV_HOUGH_MAX_NEIGHBORHOOD - 3) / 2 + 1);
  return params;
}

bool
hough_expected_init (HoughExpected *self, const CuvHoughConfig *config)
{
  const char *problem = cuv_hough_layout_init (&self->layout, config);

  if (!CUV_CHECK (problem == NULL, ": %s", problem))
    return false;
  self->canny = cuv_canny_new (config->width, config->height);
  self->map = malloc ((size_t) config->width * (size_t) config->height);
  self->votes =
      malloc (cuv_hough_n_cells (&self->layout) * sizeof *self->votes);
  self->peaks = malloc (CUV_HOUGH_MAX_LINES * sizeof *self->peaks);
  self->segments = malloc (CUV_HOUGH_MAX_SEGMENTS * sizeof *self->segments);
  self->regions = cuv_regions_new (config->width, config->height);
  self->line_segments =
      malloc (CUV_HOUGH_MAX_LINES * sizeof *self->line_segments);
  return true;
}

void
hough_expected_clear (HoughExpected *self)
{
  cuv_hough_layout_clear (&self->layout);
  cuv_canny_free (self->canny);
  free (self->map);
  free (self->votes);
  free (self->peaks);
  free (self->segments);
  cuv_regions_free (self->regions);
  free (self->line_segments);
}

static void
find_edges (HoughExpected *self, const CuvFrame *frame)
{
  const int width = frame->width, height = frame->height;

  if (self->params.source == CUV_EDGES_CANNY) {
    cuv_canny_run (self->canny, frame, &self->params.canny);
    memcpy (self->map, self->canny->edges, (size_t) width * (size_t) height);
    return;
  }
  for (int at = 0; at < width * height; at++)
    self->map[at] = cuv_frame_grey (frame, at % width, at / width) ? 255 : 0;
}

static void
find_regions (HoughExpected *self, const CuvEdgeList *list)
{
  const size_t max = (size_t) self->params.max_lines;
  const size_t n = cuv_regions_find (self->regions, &self->layout, list,
      &self->params, self->line_segments, max);

  self->n_line_segments = (int32_t) n;
}

static void
vote (HoughExpected *self, const CuvFrame *frame)
{
  const CuvHoughLayout *layout = &self->layout;
  size_t n = cuv_hough_list_edges (
      self->map, frame->width, frame->height, frame->width, NULL);
  uint32_t *pixels = malloc ((n + 1) * sizeof *pixels);
  uint16_t *bins = malloc ((n + 1) * sizeof *bins);
  CuvEdgeList list = { pixels, NULL, n };

  cuv_hough_list_edges (
      self->map, frame->width, frame->height, frame->width, pixels);
  if (self->params.source == CUV_EDGES_CANNY && layout->config.window < 90) {
    cuv_hough_list_directions (layout, self->canny, pixels, n, bins);
    list.bins = bins;
    find_regions (self, &list);
    cuv_hough_list_bins (layout, self->canny, pixels, n, bins);
  }
  self->result.n_edges = (int64_t) n;
  self->result.n_votes = (int64_t) cuv_hough_vote (layout, &list, self->votes);
  free (pixels);
  free (bins);
}

void
hough_expected_run (
    HoughExpected *self, const CuvFrame *frame, const CuvHoughParams *params)
{
  CuvPeakList list = { self->peaks, (size_t) params->max_lines, 0 };
  size_t n = 0, max = CUV_HOUGH_MAX_SEGMENTS;

  self->params = *params;
  find_edges (self, frame);
  vote (self, frame);
  self->result.line_segments = NULL;
  if (cuv_hough_uses_regions (&self->layout, params)) {
    self->result.line_segments = self->line_segments;
    self->result.n_votes = self->result.n_peaks = 0;
    self->result.n_found = self->result.n_segments_found =
        self->n_line_segments;
    self->result.n_segments =
        cuv_min (self->n_line_segments, params->max_lines);
    return;
  }
  cuv_hough_peaks (&self->layout, self->votes, &params->peaks, &list);
  self->result.n_found = (int32_t) list.n;
  self->result.n_peaks = (int32_t) (list.n < list.max ? list.n : list.max);
  if (params->segments)
    n = cuv_hough_segments (&self->layout, self->map, self->peaks,
        (size_t) self->result.n_peaks, &params->segment, self->segments, max);
  self->result.n_segments_found = (int32_t) n;
  self->result.n_segments = (int32_t) (n < max ? n : max);
}

void
hough_check_result (
    const HoughExpected *self, const CuvHoughResult *result, const char *name)
{
  const CuvHoughResult *expected = &self->result;

  CUV_CHECK (result->n_edges == expected->n_edges, ": %s", name);
  CUV_CHECK (result->n_votes == expected->n_votes, ": %s", name);
  CUV_CHECK (result->n_found == expected->n_found, ": %s, %d, not %d", name,
      result->n_found, expected->n_found);
  CUV_CHECK (
      result->n_segments_found == expected->n_segments_found, ": %s", name);
  CUV_CHECK (result->method != CUV_HOUGH_AUTO, ": %s", name);
  if (CUV_CHECK (result->n_peaks == expected->n_peaks, ": %s", name))
    CUV_CHECK (memcmp (result->peaks, self->peaks,
                   (size_t) result->n_peaks * sizeof *self->peaks)
            == 0,
        ": %s, %d peaks", name, result->n_peaks);
  if (!CUV_CHECK (result->n_segments == expected->n_segments, ": %s", name))
    return;
  CUV_CHECK (
      (result->line_segments != NULL) == (expected->line_segments != NULL));
  if (result->line_segments != NULL && expected->line_segments != NULL)
    CUV_CHECK (memcmp (result->line_segments, self->line_segments,
                   (size_t) result->n_segments * sizeof *self->line_segments)
            == 0,
        ": %s, %d segments of regions", name, result->n_segments);
  else
    CUV_CHECK (memcmp (result->segments, self->segments,
                   (size_t) result->n_segments * sizeof *self->segments)
            == 0,
        ": %s, %d segments", name, result->n_segments);
}
