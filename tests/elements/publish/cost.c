/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints as JSON the time that visionpublish takes in the streaming thread for
 * a frame of 1920x1080 with ten objects, and for the metrics of 800 rows.
 * CUV_BENCH_BROKER=host:port names an MQTT broker; without it only an absent
 * broker is measured. */
#include <stdio.h>

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include "gstcuvmeta.h"

#define N 5000
#define N_ROWS 800 /* 200 zones, each with 3 classes */
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

/* A row changes with each frame. */
static GstBuffer *
counts_new (guint n)
{
  static const GstCuvColumn columns[] = { { "zone", GST_CUV_TYPE_TEXT },
    { "in", GST_CUV_TYPE_U32 }, { "out", GST_CUV_TYPE_U32 } };
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 1920 * 1080 * 3 / 2, NULL);
  static gchar *names[N_ROWS];
  guint32 rows[N_ROWS][3];
  GstStructure *table;

  for (guint i = 0; i < N_ROWS; i++) {
    if (names[i] == NULL)
      names[i] = g_strdup_printf ("zone %u", i);
    rows[i][0] = i;
    rows[i][1] = rows[i][2] = n / N_ROWS + (i < n % N_ROWS);
  }
  table = gst_cuv_meta_add_table (buffer, "counts", 1, 1920, 1080, "none",
      columns, G_N_ELEMENTS (columns), rows, N_ROWS);
  gst_cuv_meta_set_texts (table, (const gchar *const *) names, N_ROWS);
  gst_structure_set (
      table, "metrics", G_TYPE_STRING, "in:counter out:counter", NULL);
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
measure (const gchar *name, const gchar *options, GstBuffer *(*make) (guint n))
{
  g_autofree gchar *line =
      g_strdup_printf ("visionpublish source=door %s", options);
  GstHarness *h = gst_harness_new_parse (line);
  gint64 *times = g_new (gint64, N), sum = 0;

  gst_harness_set_src_caps_str (h, CAPS);
  for (guint i = 0; i < N; i++) {
    GstBuffer *buffer = make (i);
    gint64 start = (gint64) gst_util_get_timestamp ();

    gst_harness_push (h, buffer);
    times[i] = (gint64) gst_util_get_timestamp () - start;
    sum += times[i];
    gst_buffer_unref (gst_harness_pull (h));
    if (i % 100 == 99) /* let the other thread keep up, as at 30 frames/s */
      g_usleep (20000);
  }
  qsort (times, N, sizeof *times, compare);
  g_print ("{\"name\": \"visionpublish, 1080p, %s\", \"ms\": %.4f, "
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
  measure ("10 objects, file", "file-path=/dev/null", frame_new);
  measure ("10 objects, mqtt, broker absent", "target=mqtt address=127.0.0.1:1",
      frame_new);
  options =
      g_strdup_printf ("target=mqtt address=127.0.0.1:1 spool-path=%s", spool);
  measure ("10 objects, mqtt, broker absent, spool", options, frame_new);
  g_free (options);
  measure ("800 rows, metrics, broker absent",
      "target=mqtt address=127.0.0.1:1 metrics=only", counts_new);
  if (broker != NULL) {
    options = g_strdup_printf ("target=mqtt address=%s", broker);
    measure ("10 objects, mqtt", options, frame_new);
    g_free (options);
    options = g_strdup_printf (
        "target=mqtt address=%s on-full=block spool-path=%s", broker, spool);
    measure ("10 objects, mqtt, spool", options, frame_new);
    g_free (options);
    options = g_strdup_printf ("target=mqtt address=%s metrics=only", broker);
    measure ("800 rows, metrics", options, counts_new);
    g_free (options);
  }
  remove (spool);
  return 0;
}
