/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cases that the random models of waldboost.c do not cover: very large windows,
 * contrast at the limit, and the model files of opencv-data. */
#include "config.h"
#include "model/model.h"
#include "waldboost-inputs.h"
#include "waldboost-versions.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#define LBP CUV_FEATURE_LBP
#define HAAR CUV_FEATURE_HAAR

static const CuvWaldboostParams as_opencv = { .scan = CUV_SCAN_OPENCV,
  .scale_factor = 1.2 };

/* Checks windows so large that a tile of them just fits in a GPU's shared
 * memory, or does not fit. */
void
check_large_windows (void)
{
  static const struct {
    ModelKind kind;
    int width, height;
  } cases[] = {
    { { "LBP", LBP, CUV_SUM_STAGES, CUV_BLOCK_SUM, 1, 0, 0, 3, 5, 1, 0, 0.6 },
        400, 400 },
    { { "LBP trees", LBP, CUV_SUM_STAGES, CUV_BLOCK_SUM, 1, 0, 0, 3, 4, 4, 0,
          0.6 },
        200, 330 },
    { { "Haar", HAAR, CUV_SUM_STAGES, CUV_BLOCK_SUM, 0, 0, 0, 3, 5, 1, 0, 0.6 },
        168, 168 },
    { { "Haar", HAAR, CUV_SUM_STAGES, CUV_BLOCK_SUM, 0, 0, 0, 3, 5, 1, 0, 0.6 },
        62, 273 },
    { { "Haar", HAAR, CUV_SUM_STAGES, CUV_BLOCK_SUM, 0, 0, 0, 3, 5, 1, 0, 0.6 },
        250, 240 },
    { { "Haar tilted", HAAR, CUV_SUM_STAGES, CUV_BLOCK_SUM, 0, 0, 0, 3, 5, 2, 1,
          0.6 },
        240, 200 },
    { { "LRD", CUV_FEATURE_LRD, CUV_SUM_FIXED, CUV_BLOCK_SUM, 0, 0, 2, 20, 1, 1,
          0, 0.7 },
        90, 30 },
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CuvCheckFrame frame =
        cuv_check_frame_new ("NV12", 420, 410, CUV_CHECK_TEXTURE);
    RandomModel *random = random_model_of_window (
        &cases[i].kind, &frame.frame, cases[i].width, cases[i].height);

    cuv_check_case ("%s, window %d x %d", cases[i].kind.name, cases[i].width,
        cases[i].height);
    check_scan (&random->model, &as_opencv, &frame, false);
    cuv_check_frame_free (&frame);
    free (random);
  }
}

/* Checks which windows a scan visits right of a flat area that is wider than
 * several tiles of 64 windows: if the first stage rejects flat windows, that
 * depends on the windows left of the area. */
void
check_flat_area (void)
{
  static const ModelKind kind = { "LBP", LBP, CUV_SUM_STAGES, CUV_BLOCK_SUM, 1,
    0, 0, 3, 4, 1, 0, 0.6 };

  for (int i = 0; i < 4; i++) {
    CuvCheckFrame frame =
        cuv_check_frame_new ("GRAY8", 900, 60, CUV_CHECK_TEXTURE);
    RandomModel *random = random_model_of_window (&kind, &frame.frame, 12, 14);
    CuvComponent *grey = &frame.frame.component[0];

    for (int y = 0; y < 60; y++)
      memset (grey->data + y * grey->stride + 40 + y, 100, 700);
    cuv_check_case ("a flat area, model %d", i);
    check_scan (&random->model, &as_opencv, &frame, false);
    cuv_check_frame_free (&frame);
    free (random);
  }
}

/* Checks windows whose contrast is at the limit of 0.1: a version that computes
 * the product in float instead of double decides differently. The frame is a
 * chessboard of 90 and 110, so that its variance is 100. */
void
check_contrast (void)
{
  static const int sides[] = { 25, 28, 40 };
  static const ModelKind kind = { "Haar", HAAR, CUV_SUM_STAGES, CUV_BLOCK_SUM,
    0, 0, 0, 3, 4, 1, 0, 0.6 };

  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
    CuvCheckFrame frame =
        cuv_check_frame_new ("GRAY8", 90, 70, CUV_CHECK_TEXTURE);
    RandomModel *random =
        random_model_of_window (&kind, &frame.frame, sides[i], sides[i]);
    CuvComponent *grey = &frame.frame.component[0];

    for (int y = 0; y < 70; y++) {
      for (int x = 0; x < 90; x++)
        grey->data[y * grey->stride + x] = (x + y) % 2 ? 110 : 90;
    }
    cuv_check_case ("a variance of 100, window %d x %d", sides[i], sides[i]);
    check_scan (&random->model, &as_opencv, &frame, true);
    cuv_check_frame_free (&frame);
    free (random);
  }
}

static void
check_file (const char *path, const CuvCheckFrame *frame)
{
  const CuvWaldboostModel *model;
  CuvWaldboostParams params = { .scale_factor = 1.1, .octaves = 3 };

  cuv_check_case ("%s", path);
  model = bench_cascade (path);
  if (model != NULL)
    check_scan (model, &params, frame, false);
  cuv_model_unref (model);
}

/* Checks all cascades of opencv-data, and the models in the folder
 * CUV_MODEL_PATH. */
void
check_files (void)
{
  CuvCheckFrame picture = cuv_check_bench_picture ();
  CuvCheckFrame frame = bench_scaled (&picture, 320, 240);
  const char *folder = getenv ("CUV_MODEL_PATH");
  char pattern[4096];
  glob_t paths;

  snprintf (pattern, sizeof pattern, "%s/*.xml", folder ? folder : ".");
  glob ("/usr/share/opencv4/*cascades/*.xml", 0, NULL, &paths);
  cuv_check_case ("model files");
  CUV_CHECK (paths.gl_pathc > 0, ": install opencv-data");
  if (folder != NULL)
    glob (pattern, GLOB_APPEND, NULL, &paths);
  for (size_t i = 0; i < paths.gl_pathc; i++)
    check_file (paths.gl_pathv[i], &frame);
  globfree (&paths);
  cuv_check_frame_free (&picture);
  cuv_check_frame_free (&frame);
}
