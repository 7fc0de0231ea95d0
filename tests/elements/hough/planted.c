/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "planted.h"

#include <math.h>
#include <string.h>

/* ---- frames ---- */

GstBuffer *
black_frame (const gchar *format, gint width, gint height)
{
  GstBuffer *frame = cuv_frame_new (format, width, height);

  fill (frame, -1, -1, -1, -1);
  return frame;
}

static void
set_pixel (GstVideoFrame *video, gint x, gint y, guint8 grey)
{
  const GstVideoFormatInfo *info = video->info.finfo;

  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (video); c++) {
    guint8 *data = GST_VIDEO_FRAME_COMP_DATA (video, c);
    gboolean chroma = GST_VIDEO_FORMAT_INFO_IS_YUV (info) && c > 0;

    data += (gsize) (y >> GST_VIDEO_FORMAT_INFO_H_SUB (info, c))
            * GST_VIDEO_FRAME_COMP_STRIDE (video, c)
        + (gsize) (x >> GST_VIDEO_FORMAT_INFO_W_SUB (info, c))
            * GST_VIDEO_FRAME_COMP_PSTRIDE (video, c);
    *data = chroma ? 128 : grey;
  }
}

static void
map_frame (GstVideoFrame *video, GstBuffer *frame, GstMapFlags flags)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (frame);
  GstVideoInfo info;

  fail_unless (meta != NULL);
  gst_video_info_set_format (&info, meta->format, meta->width, meta->height);
  fail_unless (gst_video_frame_map (video, &info, frame, flags));
}

/* Fills a rectangle with grey 200, and the rest with black. */
void
fill (GstBuffer *frame, gint left, gint top, gint right, gint bottom)
{
  GstVideoFrame video;

  map_frame (&video, frame, GST_MAP_WRITE);
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (&video); y++)
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (&video); x++)
      set_pixel (&video, x, y,
          x >= left && x < right && y >= top && y < bottom ? 200 : 0);
  gst_video_frame_unmap (&video);
}

void
stroke (GstBuffer *frame, gint x1, gint y1, gint x2, gint y2)
{
  gint steps = MAX (ABS (x2 - x1), ABS (y2 - y1));
  GstVideoFrame video;

  map_frame (&video, frame, GST_MAP_READWRITE);
  for (gint i = 0; i <= steps; i++)
    set_pixel (&video, x1 + (x2 - x1) * i / MAX (steps, 1),
        y1 + (y2 - y1) * i / MAX (steps, 1), 200);
  gst_video_frame_unmap (&video);
}

guint8
grey_at (GstBuffer *frame, gint x, gint y)
{
  GstVideoFrame video;
  guint8 *data, grey;

  map_frame (&video, frame, GST_MAP_READ);
  data = GST_VIDEO_FRAME_COMP_DATA (&video, 0);
  grey = data[(gsize) y * GST_VIDEO_FRAME_COMP_STRIDE (&video, 0)
      + (gsize) x * GST_VIDEO_FRAME_COMP_PSTRIDE (&video, 0)];
  gst_video_frame_unmap (&video);
  return grey;
}

/* ---- harnesses ---- */

GstHarness *
new_line (const gchar *line, const gchar *format, gint width, gint height)
{
  g_autofree gchar *whole = g_strdup_printf (
      use_cuda ? "cuvcudaupload ! %s ! cuvcudadownload" : "%s", line);
  GstHarness *h = gst_harness_new_parse (whole);

  cuv_harness_caps (h, format, width, height);
  return h;
}

GstHarness *
new_harness (
    const gchar *properties, const gchar *format, gint width, gint height)
{
  g_autofree gchar *line = g_strdup_printf ("houghlines name=d %s", properties);
  GstHarness *h = new_line (line, format, width, height);

  return h;
}

const gchar *
grey_format (void)
{
  return use_cuda ? "RGB" : "GRAY8";
}

GstElement *
detector (GstHarness *h)
{
  return gst_bin_get_by_name (GST_BIN (h->element), "d");
}

GstBuffer *
push (GstHarness *h, GstBuffer *frame)
{
  GstBuffer *out = gst_harness_push_and_pull (h, gst_buffer_copy_deep (frame));

  fail_if (out == NULL);
  return out;
}

/* ---- tables ---- */

guint
scalar_of (const GstCuvTable *table, const gchar *name)
{
  const GValue *value = gst_structure_get_value (table->structure, name);

  fail_unless (value != NULL, "no %s", name);
  return G_VALUE_HOLDS_UINT64 (value) ? (guint) g_value_get_uint64 (value)
                                      : g_value_get_uint (value);
}

static void
check_columns (const GstCuvTable *table)
{
  static const gchar *const names[] = { "rho", "theta", "votes", "x1", "y1",
    "x2", "y2" };

  fail_unless_equals_int (table->n_columns, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    fail_unless_equals_string (table->columns[i].name, names[i]);
    fail_unless_equals_int (
        table->columns[i].type, i == 2 ? GST_CUV_TYPE_U32 : GST_CUV_TYPE_F32);
  }
}

GArray *
lines_of (GstBuffer *buffer, GstCuvTable *table)
{
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (Line));
  gpointer state = NULL;
  GstCuvTable other;

  fail_unless (gst_cuv_meta_next_table (buffer, &state, table), "no table");
  fail_unless_equals_string (table->kind, "lines");
  fail_unless_equals_string (table->shape, "segments");
  check_columns (table);
  for (guint row = 0; row < table->n_rows; row++) {
    gdouble v[7];

    for (guint i = 0; i < 7; i++)
      v[i] = gst_cuv_table_double (table, row, i);
    g_array_append_val (
        lines, ((Line){ v[0], v[1], (guint) v[2], v[3], v[4], v[5], v[6] }));
  }
  fail_if (gst_cuv_meta_next_table (buffer, &state, &other), "two tables");
  return lines;
}

GArray *
lines_in (GstHarness *h, GstBuffer *frame)
{
  g_autoptr (GstBuffer) buffer = push (h, frame);
  GstCuvTable table;
  GArray *lines = lines_of (buffer, &table);

  return lines;
}

static gboolean
near_point (gdouble x, gdouble y, gdouble other_x, gdouble other_y)
{
  return fabs (x - other_x) < 1e-3 && fabs (y - other_y) < 1e-3;
}

void
check_line (GArray *lines, guint i, Line e)
{
  const Line *l;
  gboolean ends;

  fail_unless (i < lines->len, "only %u lines", lines->len);
  l = &g_array_index (lines, Line, i);
  ends = near_point (l->x1, l->y1, e.x1, e.y1)
      && near_point (l->x2, l->y2, e.x2, e.y2);
  ends = ends
      || (near_point (l->x1, l->y1, e.x2, e.y2)
          && near_point (l->x2, l->y2, e.x1, e.y1));
  fail_unless (ends && l->votes == e.votes && fabs (l->rho - e.rho) < 1e-3
          && fabs (l->theta - e.theta) < 1e-5,
      "line %u: rho %g theta %g votes %u, %g,%g to %g,%g", i, l->rho, l->theta,
      l->votes, l->x1, l->y1, l->x2, l->y2);
}

gchar *
text_of (GArray *lines)
{
  GString *text = g_string_new ("");

  for (guint i = 0; i < lines->len; i++) {
    const Line *l = &g_array_index (lines, Line, i);

    g_string_append_printf (text, "%.9g %.9g %u %.9g %.9g %.9g %.9g\n", l->rho,
        l->theta, l->votes, l->x1, l->y1, l->x2, l->y2);
  }
  return g_string_free (text, FALSE);
}
