/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes are a model or an error; and a model reads its own memory only. */
#include <stdlib.h>
#include "model.h"
#include "waldboost-scan.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
evaluate (const CuvWaldboostModel *model)
{
  ptrdiff_t stride = model->window_width + 1;
  size_t n = (size_t) stride * (model->window_height + 1);
  uint32_t *sums = malloc (n * sizeof *sums), state = 1;
  float score;

  for (size_t i = 0; i < n; i++)
    sums[i] = state = state * 1664525 + 1013904223;
  cuv_evaluate_window (model, sums, stride, &score);
  free (sums);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *error = NULL;
  const CuvWaldboostModel *model =
      cuv_model_parse ((const char *) data, size, NULL, &error);

  if ((model == NULL) != (error != NULL))
    abort ();
  if (model != NULL)
    evaluate (model);
  cuv_model_unref (model);
  free (error);
  return 0;
}
