/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints as JSON the time that visioncrop takes per picture, for ten objects of
 * 200x200 in 1920x1080 NV12, and the time of GStreamer's videocrop and
 * videoscale for a single box that never changes. */
#include <stdio.h>
#include <stdlib.h>

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#define N 500
#define OBJECTS 10
#define CAPS "video/x-raw,format=NV12,width=1920,height=1080,framerate=30/1"

static GstBuffer *
frame_new (guint n_objects)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 1920 * 1080 * 3 / 2, NULL);

  gst_buffer_memset (frame, 0, 100, gst_buffer_get_size (frame));
  for (guint i = 0; i < n_objects; i++)
    gst_buffer_add_video_region_of_interest_meta (
        frame, "face", 170 * i, 80 * i, 200, 200);
  GST_BUFFER_PTS (frame) = 0;
  return frame;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gint64 *first = a, *second = b;

  return *first < *second ? -1 : *first > *second;
}

/* Prints the median time for a picture, or for a frame without pictures. */
static void
measure (const gchar *name, const gchar *line, guint n_objects, guint n_out)
{
  GstHarness *h = gst_harness_new_parse (line);
  gint64 times[N];

  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < N; i++) {
    GstBuffer *frame = frame_new (n_objects);
    const gint64 start = (gint64) gst_util_get_timestamp ();

    gst_harness_push (h, frame);
    times[i] = (gint64) gst_util_get_timestamp () - start;
    for (guint k = 0; k < n_out; k++)
      gst_buffer_unref (gst_harness_pull (h));
  }
  qsort (times, N, sizeof *times, compare);
  printf ("{\"case\": \"%s\", \"microseconds\": %.1f}\n", name,
      (gdouble) times[N / 2] / 1e3 / MAX (n_out, 1));
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  measure ("frame without objects", "visioncrop width=112 height=112", 0, 0);
  measure ("own size", "visioncrop", OBJECTS, OBJECTS);
  measure ("112x112", "visioncrop width=112 height=112", OBJECTS, OBJECTS);
  measure ("videocrop ! videoscale, 112x112",
      "videocrop left=340 right=1380 top=160 bottom=720 ! videoscale"
      " ! capsfilter caps=\"video/x-raw,width=112,height=112\"",
      0, 1);
  return 0;
}
