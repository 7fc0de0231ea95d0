/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "mtds.h"

#include <glib/gstdio.h>
#include <string.h>

guint
mtd_add_od (GstBuffer *buffer, const gchar *label, gint x, gint y, gint w,
    gint h, gfloat confidence)
{
  GstAnalyticsODMtd od;

  fail_unless (gst_analytics_relation_meta_add_od_mtd (
      gst_buffer_add_analytics_relation_meta (buffer),
      g_quark_from_string (label), x, y, w, h, confidence, &od));
  return od.id;
}

static void
relate (GstAnalyticsRelationMeta *meta, guint from, guint to)
{
  fail_unless (gst_analytics_relation_meta_set_relation (
      meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, from, to));
}

void
mtd_add_class (
    GstBuffer *buffer, guint od, const gchar *label, gfloat confidence)
{
  GstAnalyticsRelationMeta *meta =
      gst_buffer_get_analytics_relation_meta (buffer);
  GQuark labels[] = { g_quark_from_static_string ("none"),
    g_quark_from_string (label) };
  gfloat levels[] = { 0.01f, confidence };
  GstAnalyticsClsMtd classes;

  fail_unless (gst_analytics_relation_meta_add_cls_mtd (
      meta, 2, levels, labels, &classes));
  relate (meta, od, classes.id);
}

void
mtd_add_track (GstBuffer *buffer, guint od, guint64 id)
{
  GstAnalyticsRelationMeta *meta =
      gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsTrackingMtd track;

  fail_unless (
      gst_analytics_relation_meta_add_tracking_mtd (meta, id, 0, &track));
  relate (meta, od, track.id);
}

guint
mtd_count (GstBuffer *buffer, GstAnalyticsMtdType type)
{
  GstAnalyticsRelationMeta *meta =
      gst_buffer_get_analytics_relation_meta (buffer);
  gpointer state = NULL;
  GstAnalyticsMtd mtd;
  guint n = 0;

  while (meta != NULL
      && gst_analytics_relation_meta_iterate (meta, &state, type, &mtd))
    n++;
  return n;
}

/* Returns the number of detections that relate to the entry; od: set to the
 * last of them. */
static guint
n_related (GstAnalyticsRelationMeta *meta, guint id, GstAnalyticsODMtd *od)
{
  gpointer state = NULL;
  GstAnalyticsODMtd each;
  guint n = 0;

  while (gst_analytics_relation_meta_iterate (
      meta, &state, gst_analytics_od_mtd_get_mtd_type (), &each)) {
    if (gst_analytics_relation_meta_get_relation (meta, each.id, id)
        & GST_ANALYTICS_REL_TYPE_RELATE_TO) {
      *od = each;
      n++;
    }
  }
  return n;
}

MtdTrack
mtd_find_track (GstBuffer *buffer, guint64 id)
{
  GstAnalyticsRelationMeta *meta =
      gst_buffer_get_analytics_relation_meta (buffer);
  gpointer state = NULL;
  GstAnalyticsTrackingMtd track;
  MtdTrack found = { 0 };
  guint n = 0;

  fail_unless (meta != NULL);
  while (gst_analytics_relation_meta_iterate (
      meta, &state, gst_analytics_tracking_mtd_get_mtd_type (), &track)) {
    guint64 other;
    MtdTrack t;

    fail_unless (gst_analytics_tracking_mtd_get_info (
        &track, &other, &t.first_seen, &t.last_seen, &t.lost));
    if (other != id)
      continue;
    n++;
    fail_unless_equals_int (n_related (meta, track.id, &t.od), !t.lost);
    found = t;
  }
  fail_unless_equals_int (n, 1);
  return found;
}

void
mtd_check_box (GstAnalyticsODMtd *od, guint x, guint y, guint w, guint h)
{
  gint left, top, width, height;
  gfloat confidence;

  fail_unless (gst_analytics_od_mtd_get_location (
      od, &left, &top, &width, &height, &confidence));
  fail_unless ((guint) left == x && (guint) top == y && (guint) width == w
          && (guint) height == h,
      "%d,%d %dx%d, not %u,%u %ux%u", left, top, width, height, x, y, w, h);
}

GArray *
objects_of (GstBuffer *buffer)
{
  GArray *objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));

  gst_cuv_objects_read (objects, buffer);
  return objects;
}

GstCuvObject
nth_object (const GArray *objects, guint i)
{
  fail_unless (i < objects->len);
  return g_array_index (objects, GstCuvObject, i);
}

GstCuvObject
only_object (GstBuffer *buffer)
{
  g_autoptr (GArray) objects = objects_of (buffer);
  GstCuvObject object = nth_object (objects, 0);

  fail_unless_equals_int (objects->len, 1);
  return object;
}

GstHarness *
line_new (const gchar *line, const gchar *format)
{
  GstHarness *h = gst_harness_new_parse (line);

  cuv_harness_caps (h, format, WIDTH, HEIGHT);
  return h;
}

void
line_set (GstHarness *h, const gchar *element, const gchar *property,
    const gchar *text)
{
  GstElement *found = gst_harness_find_element (h, element);

  g_object_set (found, property, text, NULL);
  gst_object_unref (found);
}

gchar *
line_end (GstHarness *h)
{
  gchar *text;

  gst_harness_push_event (h, gst_event_new_eos ());
  gst_harness_teardown (h);
  fail_unless (g_file_get_contents ("out", &text, NULL, NULL));
  fail_unless (g_unlink ("out") == 0);
  return text;
}

void
expect_part (const gchar *text, const gchar *part)
{
  fail_unless (strstr (text, part) != NULL, "no %s in %s", part, text);
}

void
skip_without (const gchar *element)
{
  g_autofree gchar *reason = g_strdup_printf ("%s is not installed", element);
  GstElementFactory *factory = gst_element_factory_find (element);

  if (factory == NULL)
    cuv_tests_skip (reason);
  gst_object_unref (factory);
}

GstVideoInfo
frame_info (void)
{
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_BGRA, WIDTH, HEIGHT);
  return info;
}

GstBuffer *
push (GstHarness *h, GstBuffer *frame)
{
  GstBuffer *out = gst_harness_push_and_pull (h, frame);

  fail_unless (out != NULL);
  return out;
}

GstBuffer *
black_frame (void)
{
  GstBuffer *frame = cuv_frame_new ("BGRA", WIDTH, HEIGHT);

  gst_buffer_memset (frame, 0, 0, -1);
  return frame;
}

gchar *
published (GstBuffer *frame, const gchar *format)
{
  g_autofree gchar *line =
      g_strdup_printf ("visionpublish file-path=out file-format=%s", format);
  GstHarness *h = line_new (line, "BGRA");
  gchar *text, *from, *objects;

  gst_buffer_unref (push (h, frame));
  text = line_end (h);
  from = strstr (text, "\"objects\":");
  if (from == NULL)
    return text;
  objects = g_strndup (from, (gsize) (strstr (from, ",\"resolution\"") - from));
  g_free (text);
  return objects;
}
