/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostwish.h"

/* Structures take UTF-8 only, files can have any name. */
static gchar *
valid_name (const gchar *path)
{
  gchar *base = g_path_get_basename (path);
  gchar *name = g_utf8_make_valid (base, -1);

  g_free (base);
  return name;
}

void
gst_waldboost_wish_init (GstWaldboostWish *self, GstWaldboostSettings *settings)
{
  GST_OBJECT_LOCK (settings->owner);
  self->model = cuv_model_ref (settings->model);
  self->params = settings->params;
  self->roi = settings->roi;
  self->labels = g_strdup (settings->texts[GST_WALDBOOST_PROP_LABELS]);
  self->origin.label = g_utf8_make_valid (
      gst_waldboost_settings_label (settings, &self->origin.label_id), -1);
  self->origin.model_file =
      valid_name (settings->texts[GST_WALDBOOST_PROP_MODEL]);
  GST_OBJECT_UNLOCK (settings->owner);
  self->origin.no_confidence = cuv_model_has_one_score (self->model);
}

void
gst_waldboost_wish_clear (GstWaldboostWish *self)
{
  cuv_model_unref (self->model);
  gst_waldboost_origin_clear (&self->origin);
  g_free (self->labels);
  *self = (GstWaldboostWish){ 0 };
}

gchar *
gst_waldboost_wish_problem (const GstWaldboostWish *self)
{
  const CuvWaldboostParams *params = &self->params;

  if (params->max_width > 0 && params->min_width > params->max_width)
    return g_strdup (
        "min-size-width is above max-size-width: lower the one, or raise "
        "the other or set it to 0, no limit");
  if (params->max_height > 0 && params->min_height > params->max_height)
    return g_strdup (
        "min-size-height is above max-size-height: lower the one, or raise "
        "the other or set it to 0, no limit");
  if (self->origin.label_id < 0)
    return g_strdup_printf (
        "label '%s' is not among labels '%s': set label to one of them, or add "
        "it to labels",
        self->origin.label, self->labels);
  return NULL;
}

/* "WxH", or "none" for a size that limits nothing. */
static void
format_limit (gchar *text, gsize size, gint width, gint height)
{
  if (width == 0 && height == 0)
    g_strlcpy (text, "none", size);
  else
    g_snprintf (text, size, "%dx%d", width, height);
}

void
gst_waldboost_wish_warn_if_empty (
    const GstWaldboostWish *self, GstElement *owner, const CuvScanner *scanner)
{
  const CuvWaldboostParams *params = &self->params;
  gchar least[32], most[32];

  if (cuv_scanner_levels (scanner) > 0)
    return;
  if (scanner->plan->width == 0 || scanner->plan->height == 0) {
    GST_ELEMENT_WARNING (owner, LIBRARY, SETTINGS,
        ("roi lies outside the frame, which is %dx%d. No objects will be "
         "found.",
            scanner->frame_width, scanner->frame_height),
        (NULL));
    return;
  }
  format_limit (least, sizeof least, params->min_width, params->min_height);
  format_limit (most, sizeof most, params->max_width, params->max_height);
  GST_ELEMENT_WARNING (owner, LIBRARY, SETTINGS,
      ("No window fits: the model's is %dx%d, the part of the frame to look at "
       "%dx%d, limits are min-size %s, max-size %s. No objects will be found; "
       "use larger frames, a larger roi or other size limits.",
          scanner->model->window_width, scanner->model->window_height,
          scanner->plan->width, scanner->plan->height, least, most),
      (NULL));
}
