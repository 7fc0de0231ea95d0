/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a classifier as XML; opencv.c and butfit.c list the elements. */
#include "model/model.h"
#include "model/reader.h"

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

/* Writes a number with a decimal point in any locale, and with the fewest
 * digits that give the same float. */
static void
write_number (float value, FILE *out)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[] = "%.1g";

  do
    g_ascii_formatd (text, sizeof text, format, (double) value);
  while ((float) g_ascii_strtod (text, NULL) != value && format[2]++ < '9');
  fputs (text, out);
}

/* ---- OpenCV ---- */

static void
write_rect (const CuvGridNode *node, FILE *out)
{
  fprintf (out, "    <_>\n      <rect>%d %d %d %d</rect></_>\n", node->x,
      node->y, node->width, node->height);
}

/* Writes the stump of weak classifier k, which uses feature k. */
static void
write_stump (const CuvWaldboostModel *model, int32_t k, FILE *out)
{
  const CuvGridNode *node = &model->nodes[k];

  fprintf (
      out, "        <_>\n          <internalNodes>\n            0 -1 %d", k);
  for (int i = 0; i < 8; i++)
    fprintf (out, " %d", (int32_t) node->subset[i]);
  fprintf (out, "</internalNodes>\n          <leafValues>\n            ");
  write_number (model->leaves[2 * k], out);
  fputc (' ', out);
  write_number (model->leaves[2 * k + 1], out);
  fprintf (out, "</leafValues></_>\n");
}

static void
write_opencv_stage (const CuvGridClassifier *self,
    const CuvWaldboostModel *model, int stage, FILE *out)
{
  const int32_t first = model->stage_first[stage];
  const int32_t end = model->stage_first[stage + 1];

  fprintf (out,
      "    <_>\n      <maxWeakCount>%d</maxWeakCount>\n      <stageThreshold>",
      end - first);
  write_number (cuv_grid_threshold (self, end - 1), out);
  fprintf (out, "</stageThreshold>\n      <weakClassifiers>\n");
  for (int32_t k = first; k < end; k++)
    write_stump (model, k, out);
  fprintf (out, "      </weakClassifiers></_>\n");
}

static int
longest_stage (const CuvWaldboostModel *model)
{
  int longest = 0;

  for (int i = 0; i < model->n_stages; i++)
    longest = MAX (longest, model->stage_first[i + 1] - model->stage_first[i]);
  return longest;
}

/* Writes the elements that opencv_traincascade writes; OpenCV does not read
 * stageParams. */
static void
write_opencv (const CuvGridClassifier *self, const char *comment, FILE *out)
{
  const CuvWaldboostModel *model = cuv_model_new (self);

  fprintf (out,
      "<?xml version=\"1.0\"?>\n<!-- %s -->\n<opencv_storage>\n"
      "<cascade type_id=\"opencv-cascade-classifier\">\n"
      "  <stageType>BOOST</stageType>\n  <featureType>LBP</featureType>\n"
      "  <height>%d</height>\n  <width>%d</width>\n"
      "  <stageParams>\n    <boostType>RAB</boostType>\n"
      "    <maxDepth>1</maxDepth>\n    <maxWeakCount>%d</maxWeakCount>\n"
      "  </stageParams>\n"
      "  <featureParams>\n    <maxCatCount>256</maxCatCount>\n"
      "    <featSize>1</featSize></featureParams>\n"
      "  <stageNum>%d</stageNum>\n  <stages>\n",
      comment, self->window_height, self->window_width, longest_stage (model),
      model->n_stages);
  for (int i = 0; i < model->n_stages; i++)
    write_opencv_stage (self, model, i, out);
  fprintf (out, "  </stages>\n  <features>\n");
  for (int32_t k = 0; k < self->n_weak; k++)
    write_rect (&self->nodes[k], out);
  fprintf (out, "  </features></cascade>\n</opencv_storage>\n");
  cuv_model_unref (model);
}

/* ---- BUT FIT ---- */

static void
write_leaves (const CuvGridClassifier *self, int32_t k, FILE *out)
{
  const float *leaves = self->leaves + (ptrdiff_t) k * self->n_codes;
  const float less = k == 0 ? self->final_threshold : 0;

  for (int code = 0; code < self->n_codes; code++) {
    const int at = self->feature == CUV_FEATURE_LBP
        ? (int) cuv_lbp_reversed ((guint) code)
        : code;

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
write_weak (const CuvGridClassifier *self, int32_t k, FILE *out)
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

static void
write_butfit (const CuvGridClassifier *self, const char *comment, FILE *out)
{
  fprintf (out,
      "<!-- %s -->\n<WaldBoostClassifier type=\"%s\" sizeX=\"%d\" "
      "sizeY=\"%d\">\n",
      comment, features[self->feature].type, self->window_width,
      self->window_height);
  for (int32_t k = 0; k < self->n_weak; k++)
    write_weak (self, k, out);
  fprintf (out, "</WaldBoostClassifier>\n");
}

/* ---- both formats ---- */

char *
cuv_model_write (const CuvGridClassifier *classifier, const char *comment)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream (&text, &size);
  bool ok;

  if (out == NULL)
    return NULL;
  (classifier->cascade ? write_opencv : write_butfit) (
      classifier, comment, out);
  ok = !ferror (out);
  if (fclose (out) == 0 && ok)
    return text;
  free (text);
  return NULL;
}
