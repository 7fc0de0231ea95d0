/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCV's cascade XML with LBP features, as opencv_traincascade writes it.
 *
 *   <opencv_storage><cascade>
 *     <featureType>LBP <height> <width> <featureParams><maxCatCount>256
 *     <stages> <_> <stageThreshold>
 *                  <weakClassifiers> <_> <internalNodes> <leafValues>
 *     <features> <_> <rect>
 */
#include "model-opencv.h"

#include <stdlib.h>
#include <string.h>

/* What an element is, by its name and where it stands. */
static const struct {
  CuvOpencvPlace parent;
  const char *name;
  CuvOpencvPlace place;
} elements[] = {
  { CUV_OPENCV_DOCUMENT, "opencv_storage", CUV_OPENCV_STORAGE },
  { CUV_OPENCV_STORAGE, "cascade", CUV_OPENCV_CASCADE },
  { CUV_OPENCV_CASCADE, "stageType", CUV_OPENCV_STAGE_TYPE },
  { CUV_OPENCV_CASCADE, "featureType", CUV_OPENCV_FEATURE_TYPE },
  { CUV_OPENCV_CASCADE, "width", CUV_OPENCV_WIDTH },
  { CUV_OPENCV_CASCADE, "height", CUV_OPENCV_HEIGHT },
  { CUV_OPENCV_CASCADE, "featureParams", CUV_OPENCV_FEATURE_PARAMS },
  { CUV_OPENCV_FEATURE_PARAMS, "maxCatCount", CUV_OPENCV_MAX_CAT_COUNT },
  { CUV_OPENCV_CASCADE, "stages", CUV_OPENCV_STAGES },
  { CUV_OPENCV_STAGES, "_", CUV_OPENCV_STAGE },
  { CUV_OPENCV_STAGE, "stageThreshold", CUV_OPENCV_STAGE_THRESHOLD },
  { CUV_OPENCV_STAGE, "weakClassifiers", CUV_OPENCV_WEAKS },
  { CUV_OPENCV_WEAKS, "_", CUV_OPENCV_WEAK },
  { CUV_OPENCV_WEAK, "internalNodes", CUV_OPENCV_INTERNAL_NODES },
  { CUV_OPENCV_WEAK, "leafValues", CUV_OPENCV_LEAF_VALUES },
  { CUV_OPENCV_CASCADE, "features", CUV_OPENCV_FEATURES },
  { CUV_OPENCV_FEATURES, "_", CUV_OPENCV_FEATURE },
  { CUV_OPENCV_FEATURE, "rect", CUV_OPENCV_RECT },
};

/* ---- elements ---- */

static const char *
attribute (const char **names, const char **values, const char *name)
{
  for (int i = 0; names[i] != NULL; i++) {
    if (strcmp (names[i], name) == 0)
      return values[i];
  }
  return "";
}

/* Known models of other kinds: what they are, and the way out. */
static gboolean
is_other_kind (const char *name, const char *type_id, GError **error)
{
  if (strcmp (type_id, "opencv-haar-classifier") == 0)
    cuv_opencv_fail (error,
        "this is an old-format OpenCV Haar cascade (opencv-haar-classifier); "
        "only new-format cascades with LBP features are supported: train one "
        "with opencv_traincascade -featureType LBP");
  else if (strcmp (name, "WaldBoostClassifier") == 0)
    cuv_opencv_fail (error,
        "this is a WaldBoostClassifier model; only OpenCV cascades "
        "with LBP features are supported");
  else if (strcmp (name, "waldboost") == 0)
    cuv_opencv_fail (error,
        "this is a model of OpenCV's WBDetector (<waldboost>); only cascades "
        "with LBP features are supported");
  else
    return FALSE;
  return TRUE;
}

static int
find_element (CuvOpencvPlace parent, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    if (elements[i].parent == parent && strcmp (elements[i].name, name) == 0)
      return (int) i;
  }
  return -1;
}

static void
begin_place (CuvOpencvParser *self, CuvOpencvPlace place, GError **error)
{
  switch (place) {
    case CUV_OPENCV_STAGE:
      cuv_opencv_begin_stage (self, error);
      break;
    case CUV_OPENCV_WEAKS:
    case CUV_OPENCV_STAGES:
    case CUV_OPENCV_FEATURES:
      if (!(self->open[2].seen & (1u << CUV_OPENCV_FEATURE_TYPE)))
        cuv_opencv_fail (
            error, "<featureType> must come before stages and features");
      break;
    case CUV_OPENCV_WEAK:
      cuv_opencv_begin_weak (self);
      break;
    default:
      break;
  }
}

static void
start_element (GMarkupParseContext *context, const char *name,
    const char **names, const char **values, gpointer data, GError **error)
{
  CuvOpencvParser *self = data;
  CuvOpencvElement *parent = &self->open[self->depth];
  int i = find_element (parent->place, name);
  CuvOpencvPlace place = i >= 0 ? elements[i].place : CUV_OPENCV_SKIP;

  g_markup_parse_context_get_position (context, &self->line, NULL);
  if (is_other_kind (name, attribute (names, values, "type_id"), error))
    return;
  if (self->depth == CUV_MODEL_MAX_DEPTH) {
    cuv_opencv_fail (
        error, "more than %d elements in each other", CUV_MODEL_MAX_DEPTH);
    return;
  }
  if (place != CUV_OPENCV_SKIP && strcmp (name, "_") != 0
      && (parent->seen & (1u << place))) {
    cuv_opencv_fail (error, "<%s> stands here twice", name);
    return;
  }
  parent->seen |= 1u << place;
  self->open[++self->depth] = (CuvOpencvElement){ place, self->line, 0 };
  g_string_truncate (self->text, 0);
  begin_place (self, place, error);
}

static void
end_element (GMarkupParseContext *context, const char *name, gpointer data,
    GError **error)
{
  CuvOpencvParser *self = data;
  const CuvOpencvElement *open = &self->open[self->depth--];

  g_markup_parse_context_get_position (context, &self->line, NULL);
  switch (open->place) {
    case CUV_OPENCV_WEAK:
      cuv_opencv_end_weak (self, open, error);
      break;
    case CUV_OPENCV_STAGE:
      cuv_opencv_end_stage (self, open, error);
      break;
    case CUV_OPENCV_FEATURE:
      cuv_opencv_require (open, CUV_OPENCV_RECT, "rect", error);
      break;
    case CUV_OPENCV_CASCADE:
      cuv_opencv_end_cascade (self, open, error);
      break;
    default: /* a text, on the line of its start tag or below */
      self->line = open->line;
      cuv_opencv_read (self, open->place, self->text->str, error);
      break;
  }
  g_string_truncate (self->text, 0);
}

static void
add_text (GMarkupParseContext *context, const char *text, gsize size,
    gpointer data, GError **error)
{
  CuvOpencvParser *self = data;

  if (self->open[self->depth].place != CUV_OPENCV_SKIP)
    g_string_append_len (self->text, text, size);
}

/* Comments and processing instructions are nothing to us. */
static void
pass_through (GMarkupParseContext *context, const char *text, gsize size,
    gpointer data, GError **error)
{
  CuvOpencvParser *self = data;

  if (size >= 9 && strncmp (text, "<!DOCTYPE", 9) == 0) {
    g_markup_parse_context_get_position (context, &self->line, NULL);
    cuv_opencv_fail (error, "document types and entities are not supported");
  }
}

/* ---- entry ---- */

static gboolean
check_utf8 (
    CuvOpencvParser *self, const char *bytes, size_t size, GError **error)
{
  const char *end;

  if (g_utf8_validate_len (bytes, size, &end))
    return TRUE;
  self->line = 1;
  for (const char *c = bytes; c < end; c++)
    self->line += *c == '\n';
  cuv_opencv_fail (error, "not well-formed XML: not UTF-8 text");
  return FALSE;
}

static gboolean
parse (CuvOpencvParser *self, const char *bytes, size_t size, GError **error)
{
  static const GMarkupParser callbacks = { start_element, end_element, add_text,
    pass_through, NULL };
  GMarkupParseContext *context =
      g_markup_parse_context_new (&callbacks, 0, self, NULL);
  gboolean ok = (size == 0
                    || g_markup_parse_context_parse (
                        context, bytes, (gssize) size, error))
      && g_markup_parse_context_end_parse (context, error);

  if (!ok && (*error)->domain == G_MARKUP_ERROR)
    g_markup_parse_context_get_position (context, &self->line, NULL);
  g_markup_parse_context_free (context);
  if (ok && !(self->open[1].seen & (1u << CUV_OPENCV_CASCADE))) {
    cuv_opencv_fail (error,
        "this is not a model that is known here; supported are OpenCV "
        "cascades with LBP features");
    ok = FALSE;
  }
  return ok;
}

/* One line of UTF-8, whatever was in the file. */
static char *
describe (const CuvOpencvParser *self, const GError *error)
{
  gboolean syntax = error->domain == G_MARKUP_ERROR;
  char *reason = g_utf8_make_valid (error->message, -1);
  char *text = g_strdup_printf ("line %d: %s%s", self->line,
      syntax ? "not well-formed XML: " : "", reason);
  char *copy;

  for (char *c = text; *c != '\0'; c++) {
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  }
  copy = strdup (text);
  g_free (text);
  g_free (reason);
  return copy;
}

static const CuvWaldboostModel *
finish (CuvOpencvParser *self)
{
  CuvWaldboostModel *model = &self->parts.model;

  model->arithmetic = CUV_SUM_STAGES;
  model->scan = CUV_SCAN_OPENCV;
  model->inclusive = TRUE;
  model->window_width = (int32_t) self->width;
  model->window_height = (int32_t) self->height;
  return cuv_model_builder_finish (&self->parts);
}

const CuvWaldboostModel *
cuv_model_parse (const char *bytes, size_t size, const CuvModelOptions *options,
    char **error)
{
  CuvOpencvParser self = { .open[0].place = CUV_OPENCV_DOCUMENT };
  const CuvWaldboostModel *model = NULL;
  GError *reason = NULL;

  if (size >= 3 && memcmp (bytes, "\xef\xbb\xbf", 3) == 0) {
    bytes += 3; /* the mark that some editors put before UTF-8 */
    size -= 3;
  }
  cuv_model_builder_init (&self.parts);
  self.features = g_array_new (FALSE, FALSE, sizeof (CuvOpencvRect));
  self.wanted = g_array_new (FALSE, FALSE, sizeof (CuvOpencvWanted));
  self.text = g_string_new (NULL);
  if (size > CUV_MODEL_MAX_BYTES)
    cuv_opencv_fail (&reason,
        "a file of more than %d MB is not read as a model",
        CUV_MODEL_MAX_BYTES >> 20);
  else if (check_utf8 (&self, bytes, size, &reason)
      && parse (&self, bytes, size, &reason))
    model = finish (&self);
  if (model == NULL) {
    *error = describe (&self, reason);
    g_error_free (reason);
    cuv_model_builder_clear (&self.parts);
  }
  g_array_unref (self.features);
  g_array_unref (self.wanted);
  g_string_free (self.text, TRUE);
  return model;
}
