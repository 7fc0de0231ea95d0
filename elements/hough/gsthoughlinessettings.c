/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gsthoughlinessettings.h"

#include <math.h>

#include "gsthoughlinesproperties.h"
#include "hough.h"

#define AUTO_WINDOW 10 /* degrees */

/* ---- what the values come to ---- */

static gdouble
window_of (const GstHoughValues *self)
{
  if (self->orientation_window > 0)
    return self->orientation_window;
  return self->edges == CUV_EDGES_INPUT || self->method == CUV_HOUGH_GATHER
      ? 90
      : AUTO_WINDOW;
}

CuvHoughShape
gst_hough_values_shape (const GstHoughValues *self)
{
  gboolean pclines = self->method == GST_HOUGH_PCLINES;
  gint turn = self->theta_min >= 90 ? 180 : 0;
  CuvHoughShape shape = {
    .kind = pclines ? CUV_LINES_PCLINES : CUV_LINES_RHO_THETA,
    .width = 1,
    .height = 1,
    .period = pclines ? 2 * self->pclines_d
                      : (gint32) lrint (180 / self->theta_resolution),
    .theta_min = self->theta_min - turn,
    .theta_max = self->theta_max - turn,
    .rho_step = self->rho_resolution,
    .window = window_of (self),
  };

  return shape;
}

CuvHoughParams
gst_hough_values_params (const GstHoughValues *self)
{
  CuvHoughParams params = {
    .source = self->edges,
    .canny = { self->blur, self->norm, self->canny_low, self->canny_high },
    .method =
        self->method == GST_HOUGH_PCLINES ? CUV_HOUGH_SHARED : self->method,
    .peaks = { (guint32) self->threshold, self->nms, self->neighborhood | 1 },
    .max_lines = self->max_lines > 0 ? self->max_lines : CUV_HOUGH_MAX_LINES,
    .segments = self->segments,
    .segment = { self->min_length, self->max_gap },
  };

  return params;
}

gchar *
gst_hough_values_problem (const GstHoughValues *self)
{
  if (self->edges == CUV_EDGES_CANNY && self->canny_low > self->canny_high)
    return g_strdup_printf (
        "canny-low %d is above canny-high %d: lower the one or raise the other",
        self->canny_low, self->canny_high);
  if (self->edges == CUV_EDGES_INPUT && window_of (self) < 90)
    return g_strdup_printf (
        "orientation-window %g with edges=input, edges that have no direction: "
        "set orientation-window to 90 or edges to canny",
        self->orientation_window);
  if (self->method == CUV_HOUGH_GATHER && window_of (self) < 90)
    return g_strdup_printf (
        "orientation-window %g with method=gather, which does not look at "
        "directions: set orientation-window to 90 or another method",
        self->orientation_window);
  return NULL;
}

gchar *
gst_hough_values_shape_problem (const GstHoughValues *self)
{
  CuvHoughShape shape = gst_hough_values_shape (self);
  CuvHoughSpace space;
  const gchar *problem;

  if (self->theta_max <= self->theta_min)
    return g_strdup_printf ("theta-max %g is not above theta-min %g: raise the "
                            "one or lower the other",
        self->theta_max, self->theta_min);
  if (self->theta_max > self->theta_min + 180)
    return g_strdup_printf ("theta-max %g is more than 180 degrees above "
                            "theta-min %g: 180 more are all lines",
        self->theta_max, self->theta_min);
  problem = cuv_hough_space_init (&space, &shape);
  cuv_hough_space_clear (&space);
  if (problem == NULL)
    return NULL;
  return g_strdup_printf ("theta-min %g, theta-max %g: %s; set them further "
                          "apart, or a finer theta-resolution or pclines-d",
      self->theta_min, self->theta_max, problem);
}

/* ---- settings ---- */

GstHoughValues
gst_hough_settings_values (GstHoughSettings *self)
{
  GstHoughValues values;

  GST_OBJECT_LOCK (self->owner);
  values = self->values;
  GST_OBJECT_UNLOCK (self->owner);
  return values;
}

gboolean
gst_hough_settings_start (GstHoughSettings *self)
{
  gchar *text;
  gboolean ok;

  GST_OBJECT_LOCK (self->owner);
  ok = self->started = cuv_roi_parse (self->roi, &self->values.roi);
  text = g_strdup (self->roi);
  GST_OBJECT_UNLOCK (self->owner);
  if (!ok)
    GST_ELEMENT_ERROR (self->owner, LIBRARY, SETTINGS,
        ("roi is '%s': it takes " CUV_ROI_TAKES ".", text), (NULL));
  g_free (text);
  return ok;
}

void
gst_hough_settings_stop (GstHoughSettings *self)
{
  GST_OBJECT_LOCK (self->owner);
  self->started = FALSE;
  GST_OBJECT_UNLOCK (self->owner);
}

/* Before the start all texts are taken: start() looks again, and can fail. */
static void
set_roi (GstHoughSettings *self, const gchar *text)
{
  gboolean ok, started;

  GST_OBJECT_LOCK (self->owner);
  started = self->started;
  ok = cuv_roi_parse (text, &self->values.roi);
  if (ok || !started) {
    g_free (self->roi);
    self->roi = g_strdup (text);
  }
  GST_OBJECT_UNLOCK (self->owner);
  if (ok)
    gst_cuv_filter_request_prepare (self->owner);
  else if (started)
    GST_ELEMENT_WARNING (self->owner, LIBRARY, SETTINGS,
        ("roi '%s' is refused, the old one stays: it takes " CUV_ROI_TAKES ".",
            text),
        (NULL));
}

void
gst_hough_settings_set (GstHoughSettings *self, guint id, const GValue *value)
{
  gpointer place = gst_hough_property_place (&self->values, id);
  gboolean changed;

  if (place == NULL) {
    set_roi (self, g_value_get_string (value));
    return;
  }
  GST_OBJECT_LOCK (self->owner);
  changed = gst_cuv_value_store (place, value);
  GST_OBJECT_UNLOCK (self->owner);
  /* controllers set properties at every frame: only a change is work */
  if (changed)
    gst_cuv_filter_request_prepare (self->owner);
}

void
gst_hough_settings_get (GstHoughSettings *self, guint id, GValue *value)
{
  gpointer place = gst_hough_property_place (&self->values, id);

  GST_OBJECT_LOCK (self->owner);
  if (place == NULL)
    g_value_set_string (value, self->roi);
  else
    gst_cuv_value_fetch (place, value);
  GST_OBJECT_UNLOCK (self->owner);
}

void
gst_hough_settings_init (GstHoughSettings *self, GstCuvFilter *owner)
{
  self->owner = owner;
  gst_hough_properties_reset (&self->values);
}

void
gst_hough_settings_clear (GstHoughSettings *self)
{
  g_clear_pointer (&self->roi, g_free);
}
