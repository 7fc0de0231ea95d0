/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thumbnails of ldpindexsink. */
#include "config.h"
#include "indexsink-harness.h"

#include <glib/gstdio.h>

#define RED 0xc81e28
#define BLUE 0x2832c8

/* Cheap parameters that fit every frame. */
#define TINY "grid=1 descriptor-width=16 descriptor-height=16 "

static void
expect_pixel_of (
    const CuvLdpIndex *index, guint64 i, gint x, gint y, guint32 rgb)
{
  const gint width = cuv_ldp_index_info (index)->thumbnail_width;
  const guint8 *pixel = cuv_ldp_index_thumbnail (index, i)
      + 3 * ((gsize) y * (gsize) width + (gsize) x);

  for (guint c = 0; c < 3; c++)
    fail_unless (ABS (pixel[c] - (gint) (rgb >> (16 - 8 * c) & 0xff)) <= 6,
        "%d,%d is %02x%02x%02x, not %06x", x, y, pixel[0], pixel[1], pixel[2],
        rgb);
}

static void
expect_pixel (const CuvLdpIndex *index, gint x, gint y, guint32 rgb)
{
  expect_pixel_of (index, 0, x, y, rgb);
}

/* Indexes a frame that is red on the left and blue on the right. */
static CuvLdpIndex *
index_two (
    const gchar *properties, const gchar *format, gint width, gint height)
{
  GstHarness *h = sink_new (properties, format, width, height);
  GstBuffer *frame = cuv_frame_new (format, width, height);
  const CuvLdpRect left = { 0, 0, width / 2, height };
  const CuvLdpRect right = { width / 2, 0, width - width / 2, height };

  fill_rect (frame, format, width, height, &left, RED);
  fill_rect (frame, format, width, height, &right, BLUE);
  push (h, frame);
  gst_harness_teardown (h);
  return index_open (INDEX, 1);
}

static void
close_index (CuvLdpIndex *index)
{
  cuv_ldp_index_free (index);
  g_remove (INDEX);
}

CUV_TEST (colours)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    CuvLdpIndex *index = index_two (TINY, formats[i], 128, 128);

    for (gint y = 0; y < 64; y += 21) {
      expect_pixel (index, 0, y, RED);
      expect_pixel (index, 29, y, RED);
      expect_pixel (index, 34, y, BLUE);
      expect_pixel (index, 63, y, BLUE);
    }
    close_index (index);
  }
}

CUV_TEST (black_bars)
{
  CuvLdpIndex *index = index_two (TINY, "RGB", 128, 64);

  expect_pixel (index, 10, 15, 0); /* 64x32 in the middle of 64x64 */
  expect_pixel (index, 10, 16, RED);
  expect_pixel (index, 50, 47, BLUE);
  expect_pixel (index, 50, 48, 0);
  close_index (index);
  index =
      index_two (TINY "thumbnail-width=90 thumbnail-height=20", "NV12", 64, 64);
  expect_pixel (index, 34, 10, 0); /* 20x20 in the middle of 90x20 */
  expect_pixel (index, 35, 10, RED);
  expect_pixel (index, 54, 19, BLUE);
  expect_pixel (index, 55, 10, 0);
  close_index (index);
}

CUV_TEST (non_square_pixels)
{
  GstHarness *h = sink_new (TINY, "RGB", 64, 64);
  GstBuffer *frame = cuv_frame_new ("RGB", 64, 64);
  const CuvLdpRect all = { 0, 0, 64, 64 };
  CuvLdpIndex *index;

  gst_harness_set_src_caps_str (h,
      "video/x-raw,format=RGB,width=64,height=64,framerate=30/1,"
      "pixel-aspect-ratio=2/1");
  fill_rect (frame, "RGB", 64, 64, &all, RED);
  push (h, frame);
  gst_harness_teardown (h);
  index = index_open (INDEX, 1);
  expect_pixel (index, 30, 15, 0);
  expect_pixel (index, 0, 16, RED);
  expect_pixel (index, 63, 47, RED);
  expect_pixel (index, 30, 48, 0);
  close_index (index);
}

CUV_TEST (no_thumbnails)
{
  CuvLdpIndex *index =
      index_two (TINY "thumbnail-width=0 thumbnail-height=0", "NV12", 64, 64);

  fail_unless (cuv_ldp_index_thumbnail (index, 0) == NULL);
  close_index (index);
}

/* Thumbnails show the regions, even if the frame was larger when it was
 * described. */
CUV_TEST (regions)
{
  static const gchar *const lines[] = { "ldpindexsink region=roi-list " TINY
                                        "async=false location=" INDEX,
    "ldpdescriptor message=none region=roi-list " TINY
    "! ldpindexsink async=false location=" INDEX,
    "ldpdescriptor message=none region=roi-list " TINY
    "! cuvcudadownload ! videoscale ! video/x-raw,width=64,height=60 "
    "! ldpindexsink async=false location=" INDEX };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    GstHarness *h = line_new (lines[i], "RGB", 128, 120);
    GstBuffer *frame = cuv_frame_new ("RGB", 128, 120);
    const CuvLdpRect all = { 0, 0, 128, 120 }, part = { 40, 60, 40, 40 };
    CuvLdpIndex *index;

    fill_rect (frame, "RGB", 128, 120, &all, BLUE);
    fill_rect (frame, "RGB", 128, 120, &part, RED);
    add_region (frame, 0, 40, 60, 40, 40);
    add_region (frame, 1, 0, 20, 40, 40);
    push (h, frame);
    gst_harness_teardown (h);
    index = index_open (INDEX, 2);
    for (gint y = 2; y < 64; y += 5)
      for (gint x = 2; x < 64; x += 5) {
        expect_pixel_of (index, 0, x, y, RED);
        expect_pixel_of (index, 1, x, y, BLUE);
      }
    close_index (index);
  }
}

/* Thumbnails of frames of one colour and any size show that colour, and
 * black bars. */
static void
check_size (const gchar *format, gint width, gint height, gint thumbnail)
{
  g_autofree gchar *properties = g_strdup_printf (TINY "thumbnail-width=%d "
                                                       "thumbnail-height=%d",
      thumbnail, thumbnail);
  GstHarness *h = sink_new (properties, format, width, height);
  GstBuffer *frame = cuv_frame_new (format, width, height);
  const CuvLdpRect all = { 0, 0, width, height };
  CuvLdpIndex *index;

  fill_rect (frame, format, width, height, &all, RED);
  push (h, frame);
  gst_harness_teardown (h);
  index = index_open (INDEX, 1);
  expect_pixel (index, thumbnail / 2, thumbnail / 2, RED);
  expect_pixel (index, 0, thumbnail - 1, RED);
  close_index (index);
}

CUV_TEST (sizes)
{
  static const gchar *const formats[] = { "NV12", "I420", "YUY2", "UYVY", "RGB",
    "BGRA" };
  static const gint sizes[][2] = { { 1, 1 }, { 3, 3 }, { 17, 17 }, { 2, 2 },
    { 500, 500 } };
  static const gint thumbnails[] = { 1, 2, 33, 64, 1024 };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      for (guint t = 0; t < G_N_ELEMENTS (thumbnails); t++)
        if (!use_cuda || sizes[s][1] % 2 == 0 || formats[f][0] != 'I')
          check_size (formats[f], sizes[s][0], sizes[s][1], thumbnails[t]);
}

CUV_TEST (extreme_aspect_ratios)
{
  static const gint sizes[][2] = { { 4000, 2 }, { 2, 4000 }, { 301, 1 },
    { 1, 300 } };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    CuvLdpIndex *index = index_two (TINY, "NV12", sizes[s][0], sizes[s][1]);

    expect_pixel (index, 0, 0, 0);
    expect_pixel (index, 63, 63, 0);
    close_index (index);
  }
}
