/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU backend with different numbers of threads, with AVX2 and without,
 * against the C reference. */
#include "hough-versions.h"
#include "cuvcpu.h"
#include "cpu/hough-cpu.h"
#include "cuvcheck.h"

#include <stdlib.h>
#include <string.h>

/* ---- expected results ---- */

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

/* ---- CPU versions ---- */

static const char *const methods[] = { "auto", "global", "shared", "gather",
  "ring" };

static bool
same_pixels (const CuvFrame *a, const CuvFrame *b)
{
  for (int y = 0; y < a->height; y++) {
    for (int x = 0; x < a->width; x++) {
      if (cuv_frame_grey (a, x, y) != cuv_frame_grey (b, x, y))
        return false;
    }
  }
  return true;
}

/* Drawings show the edge map and the accumulator, which results lack. */
static void
check_drawn (const HoughExpected *expected, CuvHoughCpu *cpu, const char *name)
{
  const int width = expected->layout.width, height = expected->layout.height;
  CuvCheckFrame found =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  CuvCheckFrame same =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);

  cuv_hough_cpu_draw (cpu, &found.frame, CUV_HOUGH_DRAW_EDGES);
  cuv_hough_draw_edges (&same.frame, expected->map);
  CUV_CHECK (same_pixels (&found.frame, &same.frame), ": %s, edges", name);
  cuv_hough_cpu_draw (cpu, &found.frame, CUV_HOUGH_DRAW_ACCUMULATOR);
  cuv_hough_draw_votes (&same.frame, &expected->layout, expected->votes,
      expected->params.peaks.threshold);
  CUV_CHECK (same_pixels (&found.frame, &same.frame), ": %s, votes", name);
  cuv_check_frame_free (&found);
  cuv_check_frame_free (&same);
}

static void
check_methods (
    const HoughExpected *expected, CuvHoughCpu *cpu, const CuvFrame *frame)
{
  CuvHoughParams params = expected->params;

  /* the ring first, while the accumulator still holds the previous frame */
  for (int m = CUV_HOUGH_RING; m >= CUV_HOUGH_AUTO; m--) {
    int n_threads = (int) cuv_check_below (4);
    CuvHoughResult result;
    char name[40];

    snprintf (name, sizeof name, "%s, %d threads", methods[m], n_threads);
    params.method = (CuvHoughMethod) m;
    cuv_hough_cpu_run (cpu, frame, &params, n_threads, &result);
    hough_check_result (expected, &result, name);
    if (m == CUV_HOUGH_RING || cuv_check_below (3) == 0)
      check_drawn (expected, cpu, name);
  }
}

/* Runs several frames: no state may carry over from one to the next. */
static void
check_runs (const CuvHoughConfig *config, int config_number, int n_frames)
{
  static const unsigned masks[] = { 0, ~0u };
  HoughExpected expected = { 0 };
  CuvHoughCpu *cpus[2];

  if (!hough_expected_init (&expected, config))
    return;
  for (int i = 0; i < 2; i++) {
    cuv_cpu_set_mask (masks[i]);
    cpus[i] = cuv_hough_cpu_new (&expected.layout);
  }
  for (int n = 0; n < n_frames; n++) {
    CuvHoughParams params = hough_random_params ();
    const char *format = cuv_check_formats[cuv_check_below (13)];
    CuvCheckFill fill = cuv_check_below (4)
        ? CUV_CHECK_TEXTURE
        : (CuvCheckFill) cuv_check_below (4);
    CuvCheckFrame frame =
        cuv_check_frame_new (format, config->width, config->height, fill);

    hough_expected_run (&expected, &frame.frame, &params);
    for (int i = 0; i < 2; i++) {
      cuv_check_case ("%s %dx%d, config %d, fill %d, source %d, blur %d, "
                      "norm %d, %d %d, rule %d %d, above %u, mask %x",
          format, config->width, config->height, config_number, fill,
          params.source, params.canny.blur, params.canny.norm, params.canny.low,
          params.canny.high, params.peaks.rule, params.peaks.neighborhood,
          params.peaks.threshold, masks[i]);
      check_methods (&expected, cpus[i], &frame.frame);
    }
    cuv_check_frame_free (&frame);
  }
  for (int i = 0; i < 2; i++)
    cuv_hough_cpu_free (cpus[i]);
  hough_expected_clear (&expected);
}

CUV_CHECKS_CPU (check_cpu_versions)
{
  static const HoughSize extremes[] = { { CUV_HOUGH_MAX_SIZE, 3 },
    { 1, CUV_HOUGH_MAX_SIZE }, { 3, 3000 }, { 35, 200 } };
  const int n_frames = cuv_check_options.few ? 1 : 3;

  for (int s = 0; s < HOUGH_N_SIZES; s++) {
    for (int i = 0; i < HOUGH_N_CONFIGS; i++) {
      CuvHoughConfig config =
          hough_config (i, hough_sizes[s].width, hough_sizes[s].height);

      check_runs (&config, i, n_frames);
    }
  }
  for (int s = 0; s < (cuv_check_options.few ? 2 : 4); s++) {
    int i = 1 + (int) cuv_check_below (HOUGH_N_CONFIGS - 1);
    CuvHoughConfig config =
        hough_config (i, extremes[s].width, extremes[s].height);

    check_runs (&config, i, 1);
  }
  cuv_cpu_set_mask (~0u);
}

/* One column in `every` is an edge. */
static void
check_full (HoughExpected *expected, const CuvHoughConfig *config,
    const CuvHoughParams *params, int every)
{
  const int width = config->width, height = config->height;
  CuvCheckFrame frame =
      cuv_check_frame_new ("GRAY8", width, height, CUV_CHECK_BLACK);
  const CuvComponent *grey = &frame.frame.component[0];
  CuvHoughCpu *cpu;

  cuv_check_case ("%dx%d, an edge in %d columns, step %g", width, height, every,
      config->rho_step);
  for (int at = 0; at < width * height; at++)
    grey->data[at / width * grey->stride + at % width] =
        at % width % every == 0;
  if (hough_expected_init (expected, config)) {
    hough_expected_run (expected, &frame.frame, params);
    cpu = cuv_hough_cpu_new (&expected->layout);
    check_methods (expected, cpu, &frame.frame);
    cuv_hough_cpu_free (cpu);
    hough_expected_clear (expected);
  }
  cuv_check_frame_free (&frame);
}

/* Cells with more votes than 8 and 16 bits hold, and more lines and segments
 * than their maximums. */
CUV_CHECKS_CPU (check_limits)
{
  CuvHoughParams params = { .source = CUV_EDGES_INPUT,
    .peaks = { 0, CUV_PEAKS_ALL, 1 },
    .max_lines = CUV_HOUGH_MAX_LINES,
    .segments = 1 };
  HoughExpected expected = { 0 };
  CuvHoughConfig config = hough_config (0, 400, 300);

  config.period = 16;
  config.rho_step = 1000;
  check_full (&expected, &config, &params, 1);
  CUV_CHECK (expected.result.n_votes > 16 * 65536);
  config.rho_step = 1;
  check_full (&expected, &config, &params, 7);
  CUV_CHECK (expected.result.n_found > CUV_HOUGH_MAX_LINES);
  CUV_CHECK (expected.result.n_segments_found > CUV_HOUGH_MAX_SEGMENTS);
  params.segments = 0;
  config.width = 40;
  config.height = 3000;
  check_full (&expected, &config, &params, 1);
}
