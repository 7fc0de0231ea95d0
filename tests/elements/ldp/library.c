/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "library.h"

#include <glib/gstdio.h>
#include <stdlib.h>

/* ---- pictures ---- */

/* Paints waves whose direction and length depend on i, and some noise. */
static void
paint (guint8 *pixels, gint i)
{
  GRand *dice = g_rand_new_with_seed ((guint32) i + 1);
  const gint dx = g_rand_int_range (dice, -9, 10);
  const gint dy = g_rand_int_range (dice, 1, 10);

  for (gint y = 0; y < SIZE; y++)
    for (gint x = 0; x < SIZE; x++)
      *pixels++ = (guint8) (ABS ((x * dx + y * dy) % 128 - 64)
          + g_rand_int_range (dice, 0, 40));
  g_rand_free (dice);
}

const guint8 *
picture (gint i)
{
  static guint8 *pictures[PICTURES];

  i %= PICTURES;
  if (pictures[i] == NULL) {
    pictures[i] = g_malloc (SIZE * SIZE);
    paint (pictures[i], i);
  }
  return pictures[i];
}

static void
show (GstVideoFrame *video, gint x, gint y, guint8 grey)
{
  const GstVideoFormatInfo *info = video->info.finfo;

  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (video); c++) {
    guint8 *data = GST_VIDEO_FRAME_COMP_DATA (video, c);

    data += (gsize) (y >> GST_VIDEO_FORMAT_INFO_H_SUB (info, c))
            * GST_VIDEO_FRAME_COMP_STRIDE (video, c)
        + (gsize) (x >> GST_VIDEO_FORMAT_INFO_W_SUB (info, c))
            * GST_VIDEO_FRAME_COMP_PSTRIDE (video, c);
    *data = GST_VIDEO_FORMAT_INFO_IS_YUV (info) && c > 0 ? 128 : grey;
  }
}

GstBuffer *
frame_with (const gchar *format, gint width, gint height, const guint8 *pixels)
{
  GstBuffer *frame = cuv_frame_new (format, width, height);
  GstVideoMeta *meta = gst_buffer_get_video_meta (frame);
  GstVideoFrame video;
  GstVideoInfo info;

  gst_video_info_set_format (&info, meta->format, meta->width, meta->height);
  fail_unless (gst_video_frame_map (&video, &info, frame, GST_MAP_WRITE));
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      show (&video, x, y, pixels[y % SIZE * SIZE + x % SIZE]);
  gst_video_frame_unmap (&video);
  return frame;
}

GstBuffer *
frame_of (const gchar *format, gint width, gint height, gint i)
{
  return frame_with (format, width, height, picture (i));
}

/* ---- descriptors ---- */

CuvLdpParams
library_params (void)
{
  return (CuvLdpParams){ .order = 3, .grid = 4, .directions = 15, .scales = 2 };
}

static uint32_t *
describe (const guint8 *pixels, gint stride, gint width, gint height,
    CuvLdpLayout *layout)
{
  const CuvLdpParams params = library_params ();
  const CuvFrame frame = { CUV_MODEL_GREY, width, height, 1,
    { { (guint8 *) pixels, stride, 1, 0, 0 } } };
  const CuvLdpRect all = { 0, 0, width, height };
  guint8 made[SIZE * SIZE];
  uint32_t *counts;

  fail_unless (cuv_ldp_layout_init (layout, &params, SIZE, SIZE) == NULL);
  counts = g_new (uint32_t, cuv_ldp_n_counts (layout));
  cuv_ldp_resize (&frame, &all, SIZE, SIZE, made);
  cuv_ldp_describe (layout, made, counts);
  return counts;
}

gdouble
similarity_to (
    const guint8 *pixels, gint stride, gint width, gint height, gint i)
{
  CuvLdpLayout layout;
  g_autofree uint32_t *a = describe (pixels, stride, width, height, &layout);
  g_autofree uint32_t *b = describe (picture (i), SIZE, SIZE, SIZE, &layout);
  const gdouble alike = cuv_ldp_similarity (&layout, a, &layout, b);

  return alike;
}

/* ---- the index ---- */

static CuvLdpIndexWriter *
open_writer (const gchar *path, const CuvLdpIndexInfo *info)
{
  char *error = NULL;
  CuvLdpIndexWriter *writer =
      cuv_ldp_index_writer_open (path, info, false, &error);

  fail_unless (writer != NULL, "%s", error);
  return writer;
}

static void
append (CuvLdpIndexWriter *writer, gint i, gint thumbnail)
{
  const gint n = thumbnail * thumbnail;
  g_autofree guint8 *pixels = g_malloc (3 * n + 1);
  g_autofree gchar *name = g_strdup_printf ("picture %d", i);
  CuvLdpLayout layout;
  g_autofree uint32_t *counts =
      describe (picture (i), SIZE, SIZE, SIZE, &layout);
  char *error = NULL;

  for (gint p = 0; p < 3 * n; p++)
    pixels[p] = (guint8) ((p % 3 + 1) * i);
  fail_unless (
      cuv_ldp_index_writer_append (writer, counts, name, pixels, &error), "%s",
      error);
}

static void
close_writer (CuvLdpIndexWriter *writer)
{
  char *error = NULL;

  fail_unless (cuv_ldp_index_writer_close (writer, &error), "%s", error);
}

gchar *
library_new (gint n, gint thumbnail)
{
  const CuvLdpParams params = library_params ();
  g_autofree gchar *folder = g_dir_make_tmp ("cuv-ldp-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "library.ldp", NULL);
  CuvLdpIndexWriter *writer;
  CuvLdpIndexInfo info;

  fail_unless (
      cuv_ldp_index_info_init (&info, &params, SIZE, SIZE, thumbnail, thumbnail)
      == NULL);
  writer = open_writer (path, &info);
  for (gint i = 0; i < n; i++)
    append (writer, i, thumbnail);
  close_writer (writer);
  return path;
}

void
library_append (const gchar *path, gint i)
{
  char *error = NULL;
  CuvLdpIndex *index = cuv_ldp_index_open (path, &error);
  CuvLdpIndexWriter *writer;

  fail_unless (index != NULL, "%s", error);
  writer = open_writer (path, cuv_ldp_index_info (index));
  append (writer, i, cuv_ldp_index_info (index)->thumbnail_width);
  close_writer (writer);
  cuv_ldp_index_free (index);
}

void
library_remove (gchar *path)
{
  g_autofree gchar *folder = g_path_get_dirname (path);

  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
}
