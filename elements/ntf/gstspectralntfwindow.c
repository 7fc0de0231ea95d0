/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstspectralntfwindow.h"

gint
gst_ntf_window_add (GstNtfWindow *self, gint depth, GstBuffer *frame)
{
  const gint place = (gint) (self->n++ % (guint64) depth);

  self->times[place] = GST_BUFFER_PTS (frame);
  self->duration = GST_BUFFER_DURATION (frame);
  return place;
}

gboolean
gst_ntf_window_is_due (const GstNtfWindow *self, gint depth, gint hop)
{
  return self->n >= (guint64) depth
      && (self->n - (guint64) depth) % (guint64) hop == 0;
}

gint
gst_ntf_window_oldest (const GstNtfWindow *self, gint depth)
{
  return (gint) (self->n % (guint64) depth);
}

void
gst_ntf_window_stamp (
    const GstNtfWindow *self, gint depth, gint hop, GstBuffer *picture)
{
  GST_BUFFER_PTS (picture) = self->times[gst_ntf_window_oldest (self, depth)];
  GST_BUFFER_DURATION (picture) = GST_CLOCK_TIME_IS_VALID (self->duration)
      ? self->duration * (guint64) hop
      : GST_CLOCK_TIME_NONE;
}

GstClockTime
gst_ntf_window_latency (gint depth, gint fps_n, gint fps_d)
{
  return fps_n > 0 ? gst_util_uint64_scale ((guint64) (depth - 1) * GST_SECOND,
             (guint64) fps_d, (guint64) fps_n)
                   : 0;
}

static gboolean
may_be_grey (const GstStructure *structure)
{
  GstStructure *grey =
      gst_structure_new ("video/x-raw", "format", G_TYPE_STRING, "GRAY8", NULL);
  gboolean may = gst_structure_can_intersect (structure, grey);

  gst_structure_free (grey);
  return may;
}

/* Scales a structure's frame rate. Rates that are not fixed, and those that may
 * be of another format, become any rate. */
static void
scale_rate (GstStructure *structure, gint num, gint denom)
{
  gint n, d;

  if (!gst_structure_has_field (structure, "framerate"))
    return;
  if (g_strcmp0 (gst_structure_get_string (structure, "format"), "GRAY8") == 0
      && gst_structure_get_fraction (structure, "framerate", &n, &d)
      && gst_util_fraction_multiply (n, d, num, denom, &n, &d))
    gst_structure_set (structure, "framerate", GST_TYPE_FRACTION, n, d, NULL);
  else
    gst_structure_set (structure, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1,
        G_MAXINT, 1, NULL);
}

GstCaps *
gst_ntf_window_scale_rates (GstCaps *caps, gint num, gint denom)
{
  if (num == denom)
    return caps;
  caps = gst_caps_make_writable (caps);
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *structure = gst_caps_get_structure (caps, i);

    if (may_be_grey (structure))
      scale_rate (structure, num, denom);
  }
  return caps;
}

void
gst_ntf_window_check_filled (
    const GstNtfWindow *self, gint depth, GstElement *element)
{
  if (self->n == 0 || self->n >= (guint64) depth)
    return;
  GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
      ("The stream ended after %u frames, fewer than window=%d: nothing was "
       "factorised. Set window to at most the number of frames.",
          (guint) self->n, depth),
      (NULL));
}
