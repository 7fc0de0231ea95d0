/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "indexsink-harness.h"

#include <glib/gstdio.h>
#include <stdlib.h>

#include "context/gstcuvframe.h"

gboolean have_kernels;

/* ---- folders ---- */

static void
leave_folder (void)
{
  cuv_folder_leave ();
  if (use_cuda && !have_kernels)
    cuv_fake_check_clean ();
}

CUV_FIXTURE (cuv_folder_enter, leave_folder)

/* ---- harness ---- */

GstHarness *
line_new (const gchar *line, const gchar *format, gint width, gint height)
{
  g_autofree gchar *all =
      g_strconcat (use_cuda ? "cuvcudaupload ! " : "identity ! ", line, NULL);
  g_autoptr (GstElement) bin = cuv_bin_new (all);
  GstHarness *h = gst_harness_new_with_element (bin, "sink", NULL);

  cuv_harness_caps (h, format, width, height);
  return h;
}

GstHarness *
sink_new (const gchar *properties, const gchar *format, gint width, gint height)
{
  g_autofree gchar *line = g_strconcat (
      "ldpindexsink async=false location=" INDEX " ", properties, NULL);
  GstHarness *h = line_new (line, format, width, height);

  return h;
}

GstElement *
sink_of (GstHarness *h)
{
  return gst_harness_find_element (h, "ldpindexsink");
}

guint64
sink_stat (GstHarness *h, const gchar *field)
{
  g_autoptr (GstElement) sink = sink_of (h);
  const guint64 value = cuv_stat (sink, field);

  return value;
}

void
push (GstHarness *h, GstBuffer *frame)
{
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
}

void
push_random (
    GstHarness *h, const gchar *format, gint width, gint height, guint n)
{
  for (guint i = 0; i < n; i++)
    push (h, cuv_frame_new (format, width, height));
}

/* ---- frames ---- */

static void
map_frame (GstVideoFrame *video, GstBuffer *frame, const gchar *format,
    gint width, gint height, GstMapFlags flags)
{
  GstVideoInfo info;

  gst_video_info_set_format (&info, gst_video_format_from_string (format),
      (guint) width, (guint) height);
  fail_unless (gst_video_frame_map (video, &info, frame, flags));
}

void
add_region (
    GstBuffer *frame, gint id, guint x, guint y, guint width, guint height)
{
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (
          frame, "thing", x, y, width, height);

  roi->id = id;
}

/* Converts a colour with limited range BT.601, the default of frames of this
 * size. */
static void
values_of (const GstVideoFormatInfo *format, guint32 rgb, guint8 values[4])
{
  const gint r = rgb >> 16, g = rgb >> 8 & 0xff, b = rgb & 0xff;

  values[3] = 255;
  if (GST_VIDEO_FORMAT_INFO_IS_RGB (format)) {
    values[0] = (guint8) r;
    values[1] = (guint8) g;
    values[2] = (guint8) b;
    return;
  }
  values[0] = (guint8) (16 + (66 * r + 129 * g + 25 * b + 128) / 256);
  values[1] = (guint8) (128 + (-38 * r - 74 * g + 112 * b) / 256);
  values[2] = (guint8) (128 + (112 * r - 94 * g - 18 * b) / 256);
}

void
fill_rect (GstBuffer *frame, const gchar *format, gint width, gint height,
    const CuvLdpRect *rect, guint32 rgb)
{
  GstVideoFrame video;
  guint8 values[4];

  map_frame (&video, frame, format, width, height, GST_MAP_READWRITE);
  values_of (video.info.finfo, rgb, values);
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&video); c++) {
    const gint xsub = GST_VIDEO_FORMAT_INFO_W_SUB (video.info.finfo, c);
    const gint ysub = GST_VIDEO_FORMAT_INFO_H_SUB (video.info.finfo, c);
    guint8 *data = GST_VIDEO_FRAME_COMP_DATA (&video, c);

    for (gint y = rect->y; y < rect->y + rect->height; y++)
      for (gint x = rect->x; x < rect->x + rect->width; x++)
        data[(gsize) (y >> ysub) * GST_VIDEO_FRAME_COMP_STRIDE (&video, c)
            + (gsize) (x >> xsub) * GST_VIDEO_FRAME_COMP_PSTRIDE (&video, c)] =
            values[c];
  }
  gst_video_frame_unmap (&video);
}

/* ---- contents of an index ---- */

CuvLdpIndex *
index_open (const gchar *path, guint64 n)
{
  char *error = NULL;
  CuvLdpIndex *index = cuv_ldp_index_open (path, &error);

  fail_unless (index != NULL, "%s", error);
  fail_unless_equals_uint64 (cuv_ldp_index_n_entries (index), n);
  fail_unless (cuv_ldp_index_check (index, &error), "%s", error);
  return index;
}

void
expect_names (const gchar *expected)
{
  GString *names = g_string_new (NULL);
  char *error = NULL;
  CuvLdpIndex *index = cuv_ldp_index_open (INDEX, &error);

  fail_unless (index != NULL, "%s", error);
  for (guint64 i = 0; i < cuv_ldp_index_n_entries (index); i++)
    g_string_append_printf (
        names, "%s%s", i > 0 ? "|" : "", cuv_ldp_index_name (index, i));
  fail_unless_equals_string (names->str, expected);
  cuv_ldp_index_free (index);
  g_string_free (names, TRUE);
}

void
expect_same_files (const gchar *a, const gchar *b)
{
  gchar *bytes[2];
  gsize sizes[2];

  fail_unless (g_file_get_contents (a, &bytes[0], &sizes[0], NULL), "%s", a);
  fail_unless (g_file_get_contents (b, &bytes[1], &sizes[1], NULL), "%s", b);
  fail_unless_equals_uint64 (sizes[0], sizes[1]);
  fail_unless (memcmp (bytes[0], bytes[1], sizes[0]) == 0);
  g_free (bytes[1]);
  g_free (bytes[0]);
}

/* ---- the reference ---- */

void
expect_described (const CuvLdpIndex *index, guint64 i, GstBuffer *buffer,
    const gchar *format, gint width, gint height, const CuvLdpRect *rect)
{
  const CuvLdpLayout *layout = &cuv_ldp_index_info (index)->layout;
  const gsize n = cuv_ldp_n_counts (layout);
  g_autofree guint8 *picture =
      g_malloc ((gsize) layout->width * (gsize) layout->height);
  g_autofree guint32 *expected = g_new0 (guint32, n);
  g_autofree guint32 *counts = g_new (guint32, n);
  const CuvLdpRect all = { 0, 0, width, height };
  GstVideoFrame video;
  CuvFrame frame;

  map_frame (&video, buffer, format, width, height, GST_MAP_READ);
  frame = gst_cuv_frame_of_video (&video);
  cuv_ldp_resize (&frame, rect != NULL ? rect : &all, layout->width,
      layout->height, picture);
  gst_video_frame_unmap (&video);
  cuv_ldp_describe (layout, picture, expected);
  cuv_ldp_index_unpack (layout, cuv_ldp_index_descriptor (index, i), counts);
  fail_unless (memcmp (counts, expected, n * sizeof *counts) == 0,
      "entry %" G_GUINT64_FORMAT " of %s %dx%d has other counts", i, format,
      width, height);
}
