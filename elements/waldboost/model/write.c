/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BUT FIT's XML; see butfit.c for the elements. */
#include "model/model.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
  const char *type, *element;
} features[] = {
  [CUV_FEATURE_LBP] = { "LBP", "LBPFeature" },
  [CUV_FEATURE_LRD] = { "LRD", "LRDFeature" },
  [CUV_FEATURE_LRP] = { "LRP", "LRP" },
};

/* With a point, whatever the locale. */
static void
write_number (float value, FILE *out)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  fputs (g_ascii_formatd (text, sizeof text, "%.9g", (double) value), out);
}

/* In the file bit 0 of an LBP code is the first neighbour. */
static int
reverse_bits (int code)
{
  int reversed = 0;

  for (int bit = 0; bit < 8; bit++)
    reversed |= (code >> bit & 1) << (7 - bit);
  return reversed;
}

static void
write_leaves (const CuvGridClassifier *self, int32_t k, FILE *out)
{
  const float *leaves = self->leaves + (ptrdiff_t) k * self->n_codes;
  const float less = k == 0 ? self->final_threshold : 0;

  for (int code = 0; code < self->n_codes; code++) {
    const int at =
        self->feature == CUV_FEATURE_LBP ? reverse_bits (code) : code;

    if (code > 0)
      fputc (' ', out);
    write_number (leaves[at] - less, out);
  }
}

static void
write_feature (const CuvGridClassifier *self, int32_t k, FILE *out)
{
  const CuvGridNode *node = &self->nodes[k];

  fprintf (out,
      "      <%s positionX=\"%d\" positionY=\"%d\" blockWidth=\"%d\" "
      "blockHeight=\"%d\"",
      features[self->feature].element, node->x, node->y, node->width,
      node->height);
  if (self->feature != CUV_FEATURE_LBP)
    fprintf (out, " blockA=\"%d\" blockB=\"%d\"", node->a, node->b);
  fprintf (out, "/>\n");
}

static void
write_stage (const CuvGridClassifier *self, int32_t k, FILE *out)
{
  fprintf (out, "  <stage posT=\"1e+50\" negT=\"");
  if (isinf (self->thresholds[k]))
    fprintf (out, "-1e+50");
  else
    write_number (self->thresholds[k] - self->final_threshold, out);
  fprintf (out, "\">\n    <HistogramWeakHypothesis predictionValues=\"");
  write_leaves (self, k, out);
  fprintf (out, "\">\n");
  write_feature (self, k, out);
  fprintf (out, "    </HistogramWeakHypothesis>\n  </stage>\n");
}

char *
cuv_model_write (const CuvGridClassifier *classifier, const char *comment)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream (&text, &size);
  bool ok;

  if (out == NULL)
    return NULL;
  fprintf (out,
      "<!-- %s -->\n<WaldBoostClassifier type=\"%s\" sizeX=\"%d\" "
      "sizeY=\"%d\">\n",
      comment, features[classifier->feature].type, classifier->window_width,
      classifier->window_height);
  for (int32_t k = 0; k < classifier->n_weak; k++)
    write_stage (classifier, k, out);
  fprintf (out, "</WaldBoostClassifier>\n");
  ok = !ferror (out);
  if (fclose (out) == 0 && ok)
    return text;
  free (text);
  return NULL;
}
