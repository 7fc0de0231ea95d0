/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU search with different numbers of threads, with AVX2 and without,
 * against the C reference. */
#include "cuvcpu.h"
#include "cpu/rcd-cpu-private.h"
#include "rcd-inputs.h"
#include "cuvcheck.h"
#include "rcd/rcd-distance.h"
#include "rcd/rcd-pixel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned masks[] = { 0, ~0u };
enum { N_MASKS = 2 };

static void
check_run (const RcdInput *input, unsigned mask, int n_threads)
{
  CuvRcdMatch matches[CUV_RCD_MAX_TARGETS];
  CuvRcdCpu *cpu;
  char name[60];

  cuv_cpu_set_mask (mask);
  cpu = cuv_rcd_cpu_new (&input->config);
  snprintf (name, sizeof name, "mask %x, %d threads", mask, n_threads);
  for (int again = 0; again < 2; again++) {
    memset (matches, 0x55, sizeof matches);
    cuv_rcd_cpu_run (
        cpu, &input->frame.frame, &input->search, n_threads, matches);
    rcd_check_found (input, matches, cuv_rcd_cpu_scores (cpu), name);
  }
  cuv_rcd_cpu_free (cpu);
  cuv_cpu_set_mask (~0u);
}

static void
check_input (RcdInput *input)
{
  CuvCheckFrame before = cuv_check_frame_copy (&input->frame);

  rcd_input_search (input);
  for (int i = 0; i < N_MASKS; i++)
    check_run (input, masks[i], (int) cuv_check_below (4));
  CUV_CHECK (memcmp (input->frame.memory, before.memory, before.size) == 0);
  cuv_check_frame_free (&before);
}

static void
check_random (const char *format, RcdSize size, int cell)
{
  RcdInput input;

  rcd_input_init_random (&input, format, size, cell);
  check_input (&input);
  rcd_input_clear (&input);
}

CUV_CHECKS_CPU (check_versions)
{
  const int rounds = cuv_check_options.few ? 1 : 2;

  for (int f = 0; cuv_check_formats[f] != NULL; f++) {
    for (int s = 0; s < RCD_N_SIZES; s++) {
      for (int i = 0; i < rounds; i++)
        check_random (cuv_check_formats[f], rcd_sizes[s],
            rcd_cells[cuv_check_below (RCD_N_CELLS)]);
    }
  }
}

/* ---- large frames ---- */

/* All windows of several sizes, for the maximum number of targets. */
static void
check_frame (const char *format, CuvRcdFeatures features, RcdSize size,
    int cell, int n_targets, int refine)
{
  static const double scales[] = { 0.5, 1.0, 1.25 };
  CuvRcdConfig config = { features, CUV_RCD_JBLD, size.width, size.height, cell,
    n_targets, 0, 1.0 / 12.0 };
  RcdInput input;

  rcd_input_init (&input, &config, format, CUV_CHECK_TEXTURE);
  for (int t = 0; t < n_targets; t++) {
    CuvRcdBox box = { 3 + 5 * t, 7 + 2 * t, 40 + t, 30 + 2 * t };

    CUV_CHECK (rcd_input_add (&input, &box));
    rcd_input_add_scales (&input, box.width, box.height, 1, scales, 3);
  }
  input.search.refine = refine;
  rcd_input_name (&input, format);
  check_input (&input);
  rcd_input_clear (&input);
}

CUV_CHECKS_CPU (check_large)
{
  static const RcdSize large = { 1919, 1079 }, small = { 200, 130 };

  check_frame ("I420", CUV_RCD_RGB_GRAD, small, 16, CUV_RCD_MAX_TARGETS, 0);
  check_frame ("RGB", CUV_RCD_TUZEL9, small, 5, 2, 4);
  if (cuv_check_options.few)
    return;
  check_frame ("RGB", CUV_RCD_RGB_GRAD, large, 16, 2, 8);
  check_frame ("NV12", CUV_RCD_TUZEL9, large, 10, 1, 0);
  check_frame ("GRAY8", CUV_RCD_GREY_GRAD, large, CUV_RCD_MAX_CELL, 1, 0);
}

/* ---- large sums ---- */

enum { N_WINDOWS = 7, LINE = (N_WINDOWS + 1) * CUV_RCD_MAX_SUMS + 4 };

/* Sums of a picture repeated many times, at an offset: with more pixels than a
 * frame can have, differences in rounding become visible. */
static void
add_copies (int64_t *integrals, const int64_t *sums, int n, int64_t copies,
    int64_t pixels, int x, int y)
{
  memcpy (integrals, sums, CUV_RCD_MAX_SUMS * sizeof *sums);
  for (int k = 0; k < CUV_RCD_SUMS (n); k++)
    integrals[k] *= copies;
  if (n == 9)
    cuv_rcd_move_origin (integrals, n, copies * pixels, -x, -y);
}

/* Compares the scores of C and AVX2; returns the first score. */
static double
compare_dsp (const CuvRcdWindowRow *row, const CuvRcdWindowEdges *places)
{
  double scores[N_MASKS][N_WINDOWS];

  for (int i = 0; i < N_MASKS; i++) {
    CuvRcdDsp steps;

    cuv_cpu_set_mask (masks[i]);
    cuv_rcd_dsp_init (&steps);
    steps.score (row, places, N_WINDOWS, scores[i]);
  }
  CUV_CHECK (memcmp (scores[0], scores[1], sizeof scores[0]) == 0);
  return scores[0][0];
}

static void
check_row (const RcdInput *input)
{
  const int n = cuv_rcd_n_features (input->config.features), many = 20000;
  int64_t sums[CUV_RCD_MAX_SUMS];
  int64_t upper[LINE] = { 0 }, lower[LINE] = { 0 };
  const CuvRcdWindowRow row = { &input->targets[0].model, CUV_RCD_JBLD, n,
    input->config.lambda, upper, lower, 700, 50 * many, 40 * many };
  CuvRcdWindowEdges places[N_WINDOWS];

  for (int i = 0; i < N_WINDOWS; i++) {
    CuvRcdBox box = { 3 * i, 2 * i, 50, 40 };

    cuv_rcd_box_sums (&input->frame.frame, input->config.features, &box, sums);
    places[i] =
        (CuvRcdWindowEdges){ 900 - 100 * i, 0, (i + 1) * CUV_RCD_MAX_SUMS };
    add_copies (lower + places[i].right, sums, n, (int64_t) many * many,
        50 * 40, places[i].x, row.y);
  }
  CUV_CHECK (isfinite (compare_dsp (&row, places)));
}

CUV_CHECKS_CPU (check_large_sums)
{
  for (int i = 0; i < 12; i++) {
    CuvRcdConfig config = rcd_random_config (100, 80, 5);
    RcdInput input;

    config.features = (CuvRcdFeatures) (i % 3);
    cuv_check_case ("large sums, features %d", config.features);
    rcd_input_init (&input, &config, "RGB", CUV_CHECK_TEXTURE);
    CUV_CHECK (rcd_input_add (&input, &(CuvRcdBox){ 8, 7, 60, 70 }));
    check_row (&input);
    rcd_input_clear (&input);
  }
}

/* Invalid sums and models: determinants of any sign, or NaN. */
static void
check_invalid_row (int n)
{
  int64_t upper[LINE] = { 0 }, lower[LINE] = { 0 };
  CuvRcdModel model = {
    .det = (double) cuv_check_below (5) - 2.0, .width = 30, .height = 40
  };
  const CuvRcdWindowRow row = { &model, CUV_RCD_JBLD, n, 0.0, upper, lower, 0,
    5, 4 };
  const bool positive = cuv_check_below (2);
  CuvRcdWindowEdges places[N_WINDOWS];

  for (int i = 0; i < (N_WINDOWS + 1) * CUV_RCD_MAX_SUMS; i++)
    lower[i] = i < CUV_RCD_MAX_SUMS ? 0 : (int64_t) cuv_check_below (99) - 49;
  for (int k = 0; k < CUV_RCD_TRIANGLE (n); k++)
    model.c[k] = (double) cuv_check_below (99) / 9.0 - 5.5;
  for (int i = 0; i < N_WINDOWS; i++)
    places[i] = (CuvRcdWindowEdges){ 0, 0, (i + 1) * CUV_RCD_MAX_SUMS };
  for (int k = 0; k < n && positive; k++) {
    model.c[cuv_rcd_packed_index (n, k, k)] += 50.0;
    for (int i = 0; i < N_WINDOWS; i++)
      lower[places[i].right + n + cuv_rcd_packed_index (n, k, k)] += 900;
  }
  compare_dsp (&row, places);
}

CUV_CHECKS_CPU (check_invalid_sums)
{
  cuv_check_case ("invalid sums");
  for (int i = 0; i < 2000; i++)
    check_invalid_row (i % 3 == 0 ? 9 : i % 3 == 1 ? 5 : 3);
}

/* ---- measured boxes ---- */

static void
check_box (CuvRcdCpu *cpu, const CuvFrame *frame, CuvRcdFeatures features,
    const CuvRcdBox *box)
{
  const size_t n = (size_t) CUV_RCD_SUMS (cuv_rcd_n_features (features));
  int64_t found[CUV_RCD_MAX_SUMS], expected[CUV_RCD_MAX_SUMS];

  cuv_rcd_box_sums (frame, features, box, expected);
  cuv_rcd_cpu_measure (cpu, frame, box, (int) cuv_check_below (4), found);
  CUV_CHECK (memcmp (found, expected, n * sizeof *found) == 0,
      ": box %d %d %dx%d", box->x, box->y, box->width, box->height);
}

CUV_CHECKS_CPU (check_measured)
{
  static const RcdSize sizes[] = { { 1, 1 }, { 5, 200 }, { 801, 77 } };

  for (int f = 0; cuv_check_formats[f] != NULL; f++) {
    for (int i = 0; i < 3 * N_MASKS * 3; i++) {
      const RcdSize size = sizes[i % 3];
      CuvRcdConfig config = rcd_random_config (size.width, size.height, 8);
      CuvCheckFrame frame = cuv_check_frame_new (
          cuv_check_formats[f], size.width, size.height, CUV_CHECK_NOISE);
      CuvRcdCpu *cpu;

      config.features = (CuvRcdFeatures) (i / 3 % 3);
      cuv_cpu_set_mask (masks[i / 9]);
      cuv_check_case ("%s %dx%d, features %d, mask %x", cuv_check_formats[f],
          size.width, size.height, config.features, masks[i / 9]);
      cpu = cuv_rcd_cpu_new (&config);
      for (int n = 0; n < 8; n++) {
        int x = (int) cuv_check_below ((uint32_t) size.width);
        int y = (int) cuv_check_below ((uint32_t) size.height);
        int w = 1 + (int) cuv_check_below ((uint32_t) (size.width - x));
        int h = 1 + (int) cuv_check_below ((uint32_t) (size.height - y));

        check_box (
            cpu, &frame.frame, config.features, &(CuvRcdBox){ x, y, w, h });
      }
      cuv_rcd_cpu_free (cpu);
      cuv_check_frame_free (&frame);
    }
  }
  cuv_cpu_set_mask (~0u);
}
