/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostdetector.h"

#include <string.h>

/* Writes to *params, too, which must live as long as the result. */
static CuvDetectorConfig
config_of (const GstWaldboostSettings *s, const GstVideoInfo *info,
    CuvWaldboostParams *params)
{
  memcpy (params, &s->params, sizeof *params); /* copies padding, too */
  params->rgb = gst_cuv_frame_rgb_matrix (info);
  return (CuvDetectorConfig){ s->models->models, s->models->n, params,
    s->n_rotations, s->rotation, s->area };
}

gboolean
gst_waldboost_detector_matches (const CuvDetector *detector,
    const GstWaldboostSettings *s, const GstCuvFrame *frame)
{
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  CuvWaldboostParams params;
  const CuvDetectorConfig config = config_of (s, &frame->video.info, &params);

  return cuv_detector_matches (detector, &config, &frame->frame, &processor);
}

gchar *
gst_waldboost_size_problem (
    const GstWaldboostSettings *s, const GstCuvFrame *frame)
{
  const CuvRoi area =
      cuv_roi_in_frame (&s->area, frame->frame.width, frame->frame.height);

  for (gint i = 0; i < s->n_rotations; i++) {
    CuvWaldboostParams params = s->params;
    gint width = area.right - area.left, height = area.bottom - area.top;

    params.rotation = s->rotation[i];
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

CuvDetector *
gst_waldboost_detector_new (const GstWaldboostSettings *s,
    const GstCuvFrame *frame, const gchar **error)
{
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  CuvWaldboostParams params;
  const CuvDetectorConfig config = config_of (s, &frame->video.info, &params);

  return cuv_detector_new (&config, &frame->frame, &processor, error);
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
has_levels (const CuvDetector *detector, gint model)
{
  gboolean has = FALSE;

  for (gint i = 0; i < detector->n_rotations; i++)
    has |= detector->of[i]->n_levels[model] > 0;
  return has;
}

static gboolean
is_outside (const CuvWaldboostDetector *detector)
{
  return detector->area.left == detector->area.right
      || detector->area.top == detector->area.bottom;
}

void
gst_waldboost_detector_warn_if_empty (const CuvDetector *detector,
    const GstWaldboostSettings *s, GstElement *element)
{
  const CuvWaldboostDetector *first = detector->of[0];

  if (is_outside (first)) {
    GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
        ("roi '%s' lies outside the frame, which is %dx%d. No objects will be "
         "found; set a roi inside the frame, or none to search the whole "
         "frame.",
            s->roi, first->frame_width, first->frame_height),
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
    else if (!has_levels (detector, i))
      warn_no_window (first, s, i, element);
  }
}
