/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pca-scene.h"

#include <math.h>

guint16
pca_sample (gint x, gint y, gint b, guint frame)
{
  gdouble s = 3000 + 2000 * sin (0.3 * x) * (b < 3 ? 1 : -1)
      + 900 * cos (0.2 * y + 0.1 * frame) * (b % 2 ? 1 : -1) + 150 * (b == 2);

  return (guint16) (s + (x * 7 + y * 13 + b * 5) % 11);
}

GstBuffer *
pca_cube_new (guint frame)
{
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * BANDS * 2, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gint i = 0; i < WIDTH * HEIGHT * BANDS; i++) {
    gint x = i % WIDTH, b = i / WIDTH % BANDS, y = i / WIDTH / BANDS;

    ((guint16 *) map.data)[i] = pca_sample (x, y, b, frame);
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = frame * GST_SECOND / 30;
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 30;
  return buffer;
}

GstHarness *
pca_harness_new (const gchar *line, const gchar *caps)
{
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (h, caps);
  return h;
}

GstBuffer *
pca_push (GstHarness *h, guint frame)
{
  GstBuffer *out;

  fail_unless_equals_int (
      gst_harness_push (h, pca_cube_new (frame)), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), frame * GST_SECOND / 30);
  device_check (h, "spectralpca");
  return out;
}

void
pca_table_of (GstBuffer *buffer, GstCuvTable *table)
{
  gpointer state = NULL;

  fail_unless (gst_cuv_meta_next_table (buffer, &state, table));
  fail_unless_equals_string (table->kind, "pca");
  fail_unless_equals_string (table->key, "spectral");
}

static GBytes *
pixels_of (GstBuffer *buffer)
{
  gpointer copy;
  gsize size;

  gst_buffer_extract_dup (buffer, 0, (gsize) -1, &copy, &size);
  return g_bytes_new_take (copy, size);
}

void
pca_check_same (GstBuffer *a, GstBuffer *b, gboolean same)
{
  GBytes *x = pixels_of (a), *y = pixels_of (b);

  fail_unless (g_bytes_equal (x, y) == same);
  g_bytes_unref (x);
  g_bytes_unref (y);
}

gdouble
pca_number (const GValue *array, guint i)
{
  return g_value_get_double (gst_value_array_get_value (array, i));
}

void
pca_expect_error (
    const gchar *line, const gchar *caps, GstBuffer *buffer, const gchar *part)
{
  g_autoptr (GstHarness) h = gst_harness_new_parse (line);
  GstBus *bus = cuv_harness_watch (h);

  gst_harness_set_src_caps_str (h, caps);
  fail_if (gst_harness_push (h, buffer) == GST_FLOW_OK);
  expect_problem (bus, GST_MESSAGE_ERROR, part);
  cuv_harness_unwatch (h, bus);
}
