/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes are a model or an error; evaluating a model reads valid memory
 * only. */
#include <stdlib.h>
#include "model/channels.h"
#include "model/model.h"
#include "reference/waldboost-reference.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Integral images of one window of noise, without spare elements. */
typedef struct {
  uint8_t *pixels;
  uint32_t *sums, *squares, *tilted;
} Pictures;

static Pictures
pictures_new (int width, int height)
{
  ptrdiff_t stride = (ptrdiff_t) width + 1;
  size_t n = (size_t) stride * ((size_t) height + 1);
  Pictures self = { calloc (n, 1), calloc (n, sizeof (uint32_t)),
    calloc (n, sizeof (uint32_t)), calloc (n, sizeof (uint32_t)) };
  uint32_t state = 1;

  for (int y = 0; y < height; y++) {
    uint8_t *above = self.pixels + (size_t) y * (size_t) width;
    uint8_t *grey = above + width; /* after a row of zeros */
    ptrdiff_t row = y * stride, above_it = y > 0 ? row - stride : row;

    for (int x = 0; x < width; x++) {
      state = state * 1664525 + 1013904223;
      grey[x] = (uint8_t) (state >> 24);
    }
    cuv_sum_row (
        self.sums + row + stride, self.sums + row, grey, width, 1, stride);
    cuv_square_row (self.squares + row + stride, self.squares + row, grey,
        width, 1, stride);
    cuv_tilted_row (self.tilted + row + stride, self.tilted + row,
        self.tilted + above_it, grey, above, width, 1, stride);
  }
  return self;
}

static void
evaluate (const CuvWaldboostModel *model)
{
  int width = model->window_width, height = model->window_height;
  Pictures pictures = pictures_new (width, height);
  CuvIntegrals integrals = { pictures.sums, pictures.squares, pictures.tilted,
    (ptrdiff_t) width + 1 };
  float score;
  int passed = cuv_evaluate_window (model, &integrals, 0, &score);

  if (passed < -1 || passed > model->n_weak)
    abort ();
  free (pictures.pixels);
  free (pictures.sums);
  free (pictures.squares);
  free (pictures.tilted);
}

/* Evaluates windows of a level that is as large as the window. Windows may
 * exceed the level. */
static void
evaluate_trees (const CuvChannelsTrees *trees)
{
  const size_t n = (size_t) (CUV_CHANNELS_N * trees->columns * trees->rows);
  uint8_t *values = malloc (n);
  const CuvChannelsLevel level = { values, trees->columns, trees->rows };

  for (size_t i = 0; i < n; i++)
    values[i] = (uint8_t) (i * 2654435761u >> 24);
  for (int y = -trees->overhang; y <= trees->overhang; y++) {
    for (int x = -trees->overhang; x <= trees->overhang; x++) {
      int32_t score = 1;
      const int passed = cuv_channels_evaluate (trees, &level, x, y, &score);

      if (passed < 0 || passed > trees->n_trees || score < 1)
        abort ();
    }
  }
  free (values);
}

/* Selects options by the size of the file. */
static CuvModelOptions
choose_options (size_t size)
{
  CuvModelOptions options = { .final_threshold = (float) (size % 7) - 3 };

  options.arithmetic = size % 3;
  options.block_value = (CuvBlockValue) (size / 3 % 3);
  options.lrp_order_10ab = size / 9 % 2;
  return options;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  CuvModelOptions options = choose_options (size);
  char *error = NULL;
  const CuvWaldboostModel *model =
      cuv_model_parse ((const char *) data, size, &options, &error);

  if ((model == NULL) != (error != NULL))
    abort ();
  if (model != NULL && model->channels != NULL)
    evaluate_trees (&model->channels->trees);
  else if (model != NULL)
    evaluate (model);
  cuv_model_unref (model);
  free (error);
  return 0;
}
