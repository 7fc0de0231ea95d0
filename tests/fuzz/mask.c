/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any text is a mask that can be drawn for frames of any size, or an error. */
#include <stdint.h>
#include <stdlib.h>
#include "gstmotionmask.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
draw (const GstMotionMask *mask, int width, int height, int scale)
{
  const CuvMotionConfig config = { .scale = scale };
  const int columns = cuv_motion_n_values (&config, width);
  const int rows = cuv_motion_n_values (&config, height);
  const int stride = cuv_motion_n_words (columns);
  int64_t n, counted = 0;
  uint64_t *words = gst_motion_mask_draw (mask, &config, width, height, &n);

  for (int y = 0; y < rows; y++) {
    for (int x = 0; x < stride * 64; x++) {
      const int bit = words[y * stride + x / 64] >> x % 64 & 1;

      if (bit && x >= columns)
        abort ();
      counted += bit;
    }
  }
  if (counted != n)
    abort ();
  g_free (words);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *text = g_strndup ((const char *) data, size), *problem;
  GstMotionMask *mask = gst_motion_mask_parse (text, &problem);

  if ((mask == NULL) != (problem != NULL)
      || (problem != NULL && *problem == '\0'))
    abort ();
  if (mask != NULL) {
    draw (mask, 97, 40, 1);
    draw (mask, 1, 1, 16);
    draw (mask, 32767, 3, 16);
    g_boxed_free (GST_TYPE_MOTION_MASK, mask);
  }
  g_free (problem);
  g_free (text);
  return 0;
}
