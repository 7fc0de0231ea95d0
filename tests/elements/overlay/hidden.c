/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hidden.h"

GstHarness *
new_harness (void)
{
  GstHarness *h = overlay_new ("RGB", W, H, NULL);

  g_object_set (h->element, "draw-boxes", FALSE, "trail-length", 0,
      "fill-color", 0xffffffu, "fill-margin", 0.0, "hold-regions", 0, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "fill", "solid");
  return h;
}

GstBuffer *
grey_frame_of (const gchar *format, gint width)
{
  GstBuffer *buffer = cuv_frame_new (format, width, H);

  gst_buffer_memset (buffer, 0, GREY, -1);
  return buffer;
}

GstBuffer *
grey_frame (void)
{
  return grey_frame_of ("RGB", W);
}

GstBuffer *
frame_with (const gchar *label, guint x, guint y, guint w, guint h)
{
  GstBuffer *buffer = grey_frame ();

  overlay_add_region (buffer, label, x, y, w, h, -1);
  return buffer;
}

gboolean *
hidden_pixels (GstHarness *h, GstBuffer *out)
{
  g_autofree guint8 *samples = overlay_samples (h, out, 0);
  gboolean *hidden = g_new (gboolean, W * H);

  for (gint i = 0; i < W * H; i++) {
    if (samples[i] != GREY && samples[i] != 0xff)
      fail ("%u at %d,%d", samples[i], i % W, i / W);
    hidden[i] = samples[i] == 0xff;
  }
  return hidden;
}

gboolean
is_hidden (GstHarness *h, GstBuffer *out, gint x, gint y)
{
  return overlay_sample (h, out, 0, x, y) == 0xff;
}

void
check_rect (GstHarness *h, GstBuffer *in, gint x, gint y, gint w, gint height)
{
  GstBuffer *out = overlay_draw (h, in);
  g_autofree gboolean *hidden = hidden_pixels (h, out);

  for (gint row = 0; row < H; row++) {
    for (gint column = 0; column < W; column++) {
      gboolean inside =
          column >= x && column < x + w && row >= y && row < y + height;

      if (hidden[row * W + column] != inside)
        fail ("%d,%d with %d,%d %dx%d", column, row, x, y, w, height);
    }
  }
  gst_buffer_unref (out);
  gst_buffer_unref (in);
}

void
check_none (GstHarness *h, GstBuffer *in)
{
  check_rect (h, in, 0, 0, 0, 0);
}
