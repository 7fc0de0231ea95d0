/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses features of BUT FIT's classifiers.
 *
 *   <LBPFeature positionX positionY blockWidth blockHeight/>
 *   <LRDFeature|LRP .. blockA blockB [blocksX=3] [blocksY=3]
 *       [binReductionFactor=1]/>
 *   <TCont2DiscFeature minValue maxValue numberOfBins>
 *     <HaarHorizontalDoubleFeature|.. positionX positionY blockWidth
 *         blockHeight/> */
#include "model/butfit.h"

#include <string.h>

#define MAX_MEAN_AREA 4095 /* pixels in a block whose value is a mean */
#define MAX_BINS 1024
/* Maximum magnitude of minValue and maxValue, and minimum distance between
 * them: with these limits the computed bin fits 32 bits. */
#define MAX_HAAR_VALUE 1e4f
#define MIN_HAAR_RANGE 1e-2f

/* Indexed by CuvFeature. */
static const struct {
  const char *name;    /* value of the attribute type */
  const char *element; /* NULL: see haars */
  int n_entries;       /* number of entries in a table; 0: numberOfBins */
} types[] = {
  [CUV_FEATURE_LBP] = { "LBP", "LBPFeature", 256 },
  [CUV_FEATURE_LRD] = { "LRD", "LRDFeature", 17 },
  [CUV_FEATURE_LRP] = { "LRP", "LRP", 100 },
  [CUV_FEATURE_HAAR] = { "HAAR", NULL, 0 },
};

/* Haar features as weighted rectangles over a grid of equal blocks. As
 * rectangles overlap, fewer are needed than one per block. */
static const struct {
  const char *element;
  int columns, rows;
  struct {
    int x, y, width, height, weight; /* in blocks; weight of each block */
  } rect[3];
  int norm; /* the value is divided by this, and by the area of a block */
} haars[] = {
  { "HaarHorizontalDoubleFeature", 2, 1,
      { { 0, 0, 1, 1, -1 }, { 1, 0, 1, 1, 1 } }, 1 },
  { "HaarVerticalDoubleFeature", 1, 2,
      { { 0, 0, 1, 1, -1 }, { 0, 1, 1, 1, 1 } }, 1 },
  { "HaarHorizontalTernalFeature", 3, 1,
      { { 0, 0, 3, 1, 1 }, { 1, 0, 1, 1, -3 } }, 2 },
  { "HaarVerticalTernalFeature", 1, 3,
      { { 0, 0, 1, 3, 1 }, { 0, 1, 1, 1, -3 } }, 2 },
  { "HaarDiagonalFeature", 2, 2,
      { { 0, 0, 2, 2, 1 }, { 1, 0, 1, 1, -2 }, { 0, 1, 1, 1, -2 } }, 2 },
  { "HaarSurroundFeature", 3, 3, { { 0, 0, 3, 3, 1 }, { 1, 1, 1, 1, -9 } }, 8 },
};

/* ---- types ---- */

gboolean
cuv_butfit_set_type (CuvButfit *self, const char *name, GError **error)
{
  for (int i = 0; i < (int) G_N_ELEMENTS (types); i++) {
    if (strcmp (types[i].name, name) == 0) {
      self->type = i;
      self->type_given = TRUE;
      return TRUE;
    }
  }
  return cuv_model_fail (error,
      "unsupported type '%.*s': only LBP, LRD, LRP and HAAR are supported",
      CUV_MAX_SHOWN, name);
}

/* Checks that all features of a classifier have one type. If the attribute says
 * LRD or LRP, elements of either name mean that type. */
static gboolean
agree_on_type (CuvButfit *self, int type, GError **error)
{
  gboolean rank = type == CUV_FEATURE_LRD || type == CUV_FEATURE_LRP;
  gboolean rank_given = self->type_given
      && (self->type == CUV_FEATURE_LRD || self->type == CUV_FEATURE_LRP);

  if (self->n_entries != 0)
    return cuv_model_fail (error,
        "a weak hypothesis has more than one feature, but only one is "
        "supported");
  if (self->type < 0)
    self->type = type;
  if (self->type == type || (rank && rank_given))
    return TRUE;
  cuv_model_fail (error,
      "the classifier has both %s and %s features; only one type is supported",
      types[self->type].name, types[type].name);
  return FALSE;
}

/* ---- geometry ---- */

/* The first block of a feature. */
typedef struct {
  int x, y, width, height;
} Block;

static gboolean
read_block (const CuvModelReader *reader, const CuvTag *tag, int columns,
    int rows, Block *block, GError **error)
{
  static const char *const names[] = { "positionX", "positionY", "blockWidth",
    "blockHeight" };
  const CuvWaldboostModel *model = &reader->builder.model;
  int *sides[] = { &block->x, &block->y, &block->width, &block->height };

  for (int i = 0; i < 4; i++) {
    if (!cuv_attribute_integer (
            tag, names[i], i / 2, CUV_MODEL_MAX_WINDOW, sides[i], error))
      return FALSE;
  }
  if (block->x + columns * block->width <= model->window_width
      && block->y + rows * block->height <= model->window_height)
    return TRUE;
  return cuv_model_fail (error,
      "%dx%d blocks of %d x %d pixels at (%d, %d) exceed the window of "
      "%d x %d",
      columns, rows, block->width, block->height, block->x, block->y,
      model->window_width, model->window_height);
}

/* Checks an optional attribute of which only one value is supported. */
static gboolean
check_fixed (
    const CuvTag *tag, const char *name, const char *only, GError **error)
{
  const char *value = cuv_attribute (tag, name);

  if (value == NULL || strcmp (value, only) == 0)
    return TRUE;
  return cuv_model_fail (error, "%s '%.*s' is not supported: it must be %s",
      name, CUV_MAX_SHOWN, value, only);
}

static gboolean
check_mean (const CuvModelReader *reader, const Block *block, GError **error)
{
  if (reader->options.block_value == CUV_BLOCK_SUM
      || block->width * block->height <= MAX_MEAN_AREA)
    return TRUE;
  cuv_model_fail (error,
      "the mean of a block of %d x %d pixels is not supported: the limit is %d "
      "pixels; use block-value=sum",
      block->width, block->height, MAX_MEAN_AREA);
  return FALSE;
}

static gboolean
read_ranks (const CuvTag *tag, CuvGridNode *node, GError **error)
{
  int a, b;

  if (!cuv_attribute_integer (tag, "blockA", 0, 8, &a, error)
      || !cuv_attribute_integer (tag, "blockB", 0, 8, &b, error))
    return FALSE;
  node->a = (int16_t) a;
  node->b = (int16_t) b;
  return TRUE;
}

/* ---- features ---- */

void
cuv_butfit_begin_grid (
    CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvButfit *self = reader->state;
  CuvGridNode node = { 0 };
  Block block;
  int type = 0;

  while (strcmp (types[type].element, tag->name) != 0)
    type++;
  if (!agree_on_type (self, type, error)
      || !read_block (reader, tag, 3, 3, &block, error)
      || !check_mean (reader, &block, error)
      || !check_fixed (tag, "blocksX", "3", error)
      || !check_fixed (tag, "blocksY", "3", error)
      || !check_fixed (tag, "binReductionFactor", "1", error)
      || (type != CUV_FEATURE_LBP && !read_ranks (tag, &node, error)))
    return;
  node.x = (int16_t) block.x;
  node.y = (int16_t) block.y;
  node.width = (int16_t) block.width;
  node.height = (int16_t) block.height;
  g_array_append_val (reader->builder.nodes, node);
  self->n_entries = types[self->type].n_entries;
}

void
cuv_butfit_begin_bins (
    CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvButfit *self = reader->state;
  CuvHaarNode *node = &self->haar;

  if (!agree_on_type (self, CUV_FEATURE_HAAR, error)
      || !cuv_attribute_float (
          tag, "minValue", MAX_HAAR_VALUE, &node->minimum, error)
      || !cuv_attribute_float (
          tag, "maxValue", MAX_HAAR_VALUE, &node->maximum, error)
      || !cuv_attribute_integer (
          tag, "numberOfBins", 1, MAX_BINS, &node->bins, error))
    return;
  if (node->maximum - node->minimum < MIN_HAAR_RANGE)
    cuv_model_fail (error, "maxValue %g must be at least minValue %g + %g",
        (double) node->maximum, (double) node->minimum,
        (double) MIN_HAAR_RANGE);
}

void
cuv_butfit_begin_haar (
    CuvModelReader *reader, const CuvTag *tag, GError **error)
{
  CuvButfit *self = reader->state;
  CuvHaarNode *node = &self->haar;
  Block block;
  int i = 0;

  while (strcmp (haars[i].element, tag->name) != 0)
    i++;
  if (!read_block (reader, tag, haars[i].columns, haars[i].rows, &block, error))
    return;
  for (int r = 0; r < 3; r++)
    node->rect[r] =
        (CuvHaarRect){ (int16_t) (block.x + haars[i].rect[r].x * block.width),
          (int16_t) (block.y + haars[i].rect[r].y * block.height),
          (int16_t) (haars[i].rect[r].width * block.width),
          (int16_t) (haars[i].rect[r].height * block.height),
          (float) haars[i].rect[r].weight };
  node->divisor = (float) (haars[i].norm * block.width * block.height);
  g_array_append_val (reader->builder.haar_nodes, *node);
  self->n_entries = node->bins;
}

/* ---- tables ---- */

void
cuv_butfit_order_table (
    const CuvModelReader *reader, const float *in, float *out, guint n)
{
  const CuvButfit *self = reader->state;

  for (guint i = 0; i < n; i++) {
    guint from = i;

    if (self->type == CUV_FEATURE_LBP)
      from = cuv_lbp_reversed (i);
    else if (self->type == CUV_FEATURE_LRP && reader->options.lrp_order_10ab)
      from = i % 10 * 10 + i / 10;
    out[i] = in[from];
  }
}
