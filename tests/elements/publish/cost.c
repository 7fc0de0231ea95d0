/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints as JSON the time that visionpublish takes in the streaming thread for
 * a frame of 1920x1080 with ten objects. CUV_BENCH_BROKER=host:port names an
 * MQTT broker; without it only an absent broker is measured. */
#include <stdio.h>

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#define N 5000
#define CAPS "video/x-raw,format=NV12,width=1920,height=1080,framerate=30/1"

static GstBuffer *
frame_new (guint n)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 1920 * 1080 * 3 / 2, NULL);

  for (guint i = 0; i < 10; i++) {
    GstVideoRegionOfInterestMeta *roi =
        gst_buffer_add_video_region_of_interest_meta (
            buffer, "face", 30 * i, 20 * i, 128, 128);

    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, 0.1 + i / 100.,
            "x_max", G_TYPE_DOUBLE, 0.2, "y_min", G_TYPE_DOUBLE, 0.1, "y_max",
            G_TYPE_DOUBLE, 0.2, "confidence", G_TYPE_DOUBLE, 0.97, "label_id",
            G_TYPE_INT, 0, NULL));
  }
  GST_BUFFER_PTS (buffer) = n * GST_SECOND / 30;
  return buffer;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gint64 *first = a, *second = b;

  return *first < *second ? -1 : *first > *second;
}

static void
measure (const gchar *name, const gchar *options)
{
  g_autofree gchar *line =
      g_strdup_printf ("visionpublish source=door %s", options);
  GstHarness *h = gst_harness_new_parse (line);
  gint64 *times = g_new (gint64, N), sum = 0;

  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < N; i++) {
    GstBuffer *buffer = frame_new (i);
    gint64 start = (gint64) gst_util_get_timestamp ();

    gst_harness_push (h, buffer);
    times[i] = (gint64) gst_util_get_timestamp () - start;
    sum += times[i];
    gst_buffer_unref (gst_harness_pull (h));
    if (i % 100 == 99) /* let the other thread keep up, as at 30 frames/s */
      g_usleep (20000);
  }
  qsort (times, N, sizeof *times, compare);
  g_print ("{\"name\": \"visionpublish, 1080p, 10 objects, %s\", \"ms\": %.4f, "
           "\"ms p99\": %.4f, \"ms max\": %.4f}\n",
      name, sum / 1e6 / N, times[N * 99 / 100] / 1e6, times[N - 1] / 1e6);
  gst_harness_teardown (h);
  g_free (times);
}

int
main (int argc, char **argv)
{
  const gchar *broker = g_getenv ("CUV_BENCH_BROKER");
  g_autofree gchar *spool =
      g_build_filename (g_get_tmp_dir (), "cuv-bench-spool", NULL);
  gchar *options;

  gst_init (&argc, &argv);
  measure ("file", "file-path=/dev/null");
  measure ("mqtt, broker absent", "target=mqtt address=127.0.0.1:1");
  options =
      g_strdup_printf ("target=mqtt address=127.0.0.1:1 spool-path=%s", spool);
  measure ("mqtt, broker absent, spool", options);
  g_free (options);
  if (broker != NULL) {
    options = g_strdup_printf ("target=mqtt address=%s", broker);
    measure ("mqtt", options);
    g_free (options);
    options = g_strdup_printf (
        "target=mqtt address=%s on-full=block spool-path=%s", broker, spool);
    measure ("mqtt, spool", options);
    g_free (options);
  }
  remove (spool);
  return 0;
}
