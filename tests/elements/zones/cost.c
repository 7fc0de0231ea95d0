/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark: what visionzones takes for a frame with 200 zones and 200 objects,
 * reading objects and writing tables included. */
#include "config.h"

#include <gst/check/gstharness.h>
#include "gstcuvmeta.h"

#define N 200
#define FRAMES 300

static gchar *
zones_text (void)
{
  GString *text = g_string_new ("{\"units\": \"pixels\", \"zones\": [");

  for (guint i = 0; i < N; i++) {
    const gint x = g_random_int_range (0, 1720);
    const gint y = g_random_int_range (0, 880);

    g_string_append_printf (text,
        "%s{\"name\": \"zone %u\", \"polygon\": [[%d, %d], [%d, %d], [%d, "
        "%d]]}",
        i > 0 ? ", " : "", i, x, y, x + 200, y, x + 100, y + 200);
  }
  g_string_append (text, "]}");
  return g_string_free (text, FALSE);
}

static GstBuffer *
frame_new (const GstVideoInfo *info, gint places[N][2], guint number)
{
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = number * 40 * GST_MSECOND;
  for (gint i = 0; i < N; i++) {
    GstCuvObject object = gst_cuv_meta_add_object (
        &(GstCuvWriter){ .buffer = buffer, .info = info }, i, "person",
        (guint) places[i][0], (guint) places[i][1], 40, 100, 0.9, NULL);

    gst_cuv_meta_set_track (&(GstCuvWriter){ .buffer = buffer, .info = info },
        &object, i + 1, GST_CLOCK_TIME_NONE, 0);
    places[i][0] = CLAMP (places[i][0] + g_random_int_range (-4, 5), 0, 1880);
    places[i][1] = CLAMP (places[i][1] + g_random_int_range (-4, 5), 0, 980);
  }
  return buffer;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return (*(const guint64 *) a > *(const guint64 *) b)
      - (*(const guint64 *) a < *(const guint64 *) b);
}

static guint64
median (GstHarness *h, const GstVideoInfo *info)
{
  guint64 times[FRAMES];
  gint places[N][2];

  for (guint i = 0; i < N; i++) {
    places[i][0] = g_random_int_range (0, 1880);
    places[i][1] = g_random_int_range (0, 980);
  }
  for (guint i = 0; i < FRAMES; i++) {
    GstStructure *stats;

    gst_buffer_unref (
        gst_harness_push_and_pull (h, frame_new (info, places, i)));
    g_object_get (h->element, "stats", &stats, NULL);
    gst_structure_get_uint64 (stats, "microseconds", &times[i]);
    gst_structure_free (stats);
  }
  qsort (times, FRAMES, sizeof times[0], compare);
  return times[FRAMES / 2];
}

int
main (int argc, char **argv)
{
  GstVideoInfo info;
  gchar *zones;

  gst_init (&argc, &argv);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, 1920, 1080);
  zones = zones_text ();
  for (gint outlines = 0; outlines < 2; outlines++) {
    GstHarness *h = gst_harness_new ("visionzones");

    g_object_set (
        h->element, "zones", zones, "outlines", outlines, "message", 0, NULL);
    gst_harness_set_src_caps_str (
        h, "video/x-raw, format=NV12, width=1920, height=1080, framerate=25/1");
    g_print ("{\"name\": \"%u zones, %u objects, outlines=%s\", \"us\": "
             "%" G_GUINT64_FORMAT "}\n",
        N, N, outlines ? "true" : "false", median (h, &info));
    gst_harness_teardown (h);
  }
  g_free (zones);
  return 0;
}
