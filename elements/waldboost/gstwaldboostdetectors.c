/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostdetectors.h"

#include <string.h>

static CuvWaldboostParams
params_of (const GstWaldboostSettings *s, const GstVideoInfo *info, gint i)
{
  CuvWaldboostParams params;

  memcpy (&params, &s->params, sizeof params); /* memcpy copies padding, too */
  params.rotation = s->rotation[i];
  params.rgb = gst_cuv_frame_rgb_matrix (info);
  return params;
}

/* ---- open and close ---- */

gboolean
gst_waldboost_detectors_match (const GstWaldboostDetectors *self,
    const GstWaldboostSettings *s, const GstCuvFrame *frame)
{
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  gboolean match = self->n == s->n_rotations;

  for (gint i = 0; i < s->n_rotations && match; i++) {
    const CuvWaldboostParams params = params_of (s, &frame->video.info, i);

    match = cuv_waldboost_detector_matches (self->of[i], s->models->models,
        s->models->n, &params, &s->area, &frame->frame, &processor);
  }
  return match;
}

gchar *
gst_waldboost_size_problem (
    const GstWaldboostSettings *s, const GstCuvFrame *frame)
{
  const CuvRoi area =
      cuv_roi_in_frame (&s->area, frame->frame.width, frame->frame.height);

  for (gint i = 0; i < s->n_rotations; i++) {
    const CuvWaldboostParams params = params_of (s, &frame->video.info, i);
    gint width = area.right - area.left, height = area.bottom - area.top;

    if (!cuv_waldboost_picture_size (&params, &width, &height))
      return g_strdup_printf (
          "upscale %g and rotation %d make a picture of %dx%d from %dx%d "
          "pixels, which exceeds the limits of %d pixels a side and %d in all: "
          "lower upscale, set a smaller roi or use smaller frames",
          params.upscale, params.rotation, width, height,
          area.right - area.left, area.bottom - area.top,
          CUV_WALDBOOST_MAX_SIDE, CUV_WALDBOOST_MAX_PIXELS);
  }
  return NULL;
}

const gchar *
gst_waldboost_detectors_open (GstWaldboostDetectors *self,
    const GstWaldboostSettings *s, const GstCuvFrame *frame)
{
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  const gchar *error = NULL;

  for (gint i = 0; i < s->n_rotations && error == NULL; i++) {
    const CuvWaldboostParams params = params_of (s, &frame->video.info, i);

    self->of[i] = cuv_waldboost_detector_new (s->models->models, s->models->n,
        &params, &s->area, &frame->frame, &processor, &error);
    if (error == NULL)
      self->n++;
  }
  if (error != NULL)
    gst_waldboost_detectors_close (self);
  return error;
}

void
gst_waldboost_detectors_close (GstWaldboostDetectors *self)
{
  for (gint i = 0; i < self->n; i++)
    cuv_waldboost_detector_free (self->of[i]);
  *self = (GstWaldboostDetectors){ 0 };
}

/* ---- warnings ---- */

/* Writes "WxH", or "none" if both are 0. */
static void
format_limit (gchar *text, gsize size, gint width, gint height)
{
  if (width == 0 && height == 0)
    g_strlcpy (text, "none", size);
  else
    g_snprintf (text, size, "%dx%d", width, height);
}

static void
warn_no_window (const CuvWaldboostDetector *detector,
    const GstWaldboostSettings *s, gint model, GstElement *element)
{
  const CuvWaldboostModel *searched = detector->models[model];
  const CuvWaldboostParams *params = &detector->params;
  gchar min_text[32], max_text[32];

  format_limit (
      min_text, sizeof min_text, params->min_width, params->min_height);
  format_limit (
      max_text, sizeof max_text, params->max_width, params->max_height);
  GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
      ("No window fits: the window of model '%s' is %dx%d, the searched "
       "part of the frame %dx%d, the limits are min-size %s and "
       "max-size %s. No objects will be found; use larger frames, a "
       "larger roi, upscale or other size limits.",
          s->models->names[model], searched->window_width,
          searched->window_height, detector->plans[model]->width,
          detector->plans[model]->height, min_text, max_text),
      (NULL));
}

static gboolean
has_levels (const GstWaldboostDetectors *self, gint model)
{
  gboolean has = FALSE;

  for (gint i = 0; i < self->n; i++)
    has |= self->of[i]->n_levels[model] > 0;
  return has;
}

static gboolean
is_outside (const CuvWaldboostDetector *detector)
{
  return detector->area.left == detector->area.right
      || detector->area.top == detector->area.bottom;
}

void
gst_waldboost_detectors_warn_if_empty (const GstWaldboostDetectors *self,
    const GstWaldboostSettings *s, GstElement *element)
{
  const CuvWaldboostDetector *detector = self->of[0];

  if (is_outside (detector)) {
    GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
        ("roi '%s' lies outside the frame, which is %dx%d. No objects will be "
         "found; set a roi inside the frame, or none to search the whole "
         "frame.",
            s->roi, detector->frame_width, detector->frame_height),
        (NULL));
    return;
  }
  for (gint i = 0; i < s->models->n; i++) {
    if (cuv_model_rejects_all (s->models->models[i]))
      GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
          ("model '%s' rejects every window: its training ended in numbers "
           "that are not finite. "
           "No objects will be found; train it with more negative samples.",
              s->models->names[i]),
          (NULL));
    else if (!has_levels (self, i))
      warn_no_window (detector, s, i, element);
  }
}
