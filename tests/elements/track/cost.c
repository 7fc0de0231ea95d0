/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints as JSON the time that visiontrack takes per frame in a pipeline, with
 * people who walk to and fro. */
#include <stdio.h>
#include <stdlib.h>

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#define N 300
#define CAPS "video/x-raw,format=NV12,width=1920,height=1080,framerate=30/1"

static GstBuffer *
frame_new (guint n_objects, guint frame)
{
  GstBuffer *buffer = gst_buffer_new ();

  for (guint i = 0; i < n_objects; i++) {
    const guint way = frame * (1 + i % 4) % 400;
    const guint x = i * 137 % 1600 + (way < 200 ? way : 400 - way);

    if ((i + frame) % 10 != 0)
      gst_buffer_add_video_region_of_interest_meta (
          buffer, "person", x, i * 61 % 1000, 40, 80);
  }
  GST_BUFFER_PTS (buffer) = frame * GST_SECOND / 30;
  return buffer;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gint64 *first = a, *second = b;

  return *first < *second ? -1 : *first > *second;
}

static void
measure (guint n_objects)
{
  GstHarness *h = gst_harness_new_parse ("visiontrack message=none");
  gint64 times[N];

  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < N; i++) {
    GstBuffer *frame = frame_new (n_objects, i);
    const gint64 start = (gint64) gst_util_get_timestamp ();

    gst_harness_push (h, frame);
    times[i] = (gint64) gst_util_get_timestamp () - start;
    gst_buffer_unref (gst_harness_pull (h));
  }
  qsort (times, N, sizeof *times, compare);
  printf ("{\"objects\": %u, \"microseconds\": %.1f}\n", n_objects,
      (gdouble) times[N / 2] / 1e3);
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  measure (0);
  measure (10);
  measure (100);
  measure (500);
  return 0;
}
