/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "scene.h"

#include <string.h>

CuvLive
scene_new (
    const gchar *properties, const gchar *format, gint width, gint height)
{
  return cuv_live_new ("visionmotion", properties, format, width, height);
}

/* ---- frames ---- */

static void
paint_component (GstVideoFrame *video, guint c, Box box, guint8 value)
{
  const GstVideoFormatInfo *format = video->info.finfo;
  const gint xsub = GST_VIDEO_FORMAT_INFO_W_SUB (format, c);
  const gint ysub = GST_VIDEO_FORMAT_INFO_H_SUB (format, c);

  for (gint y = box.y; y < box.y + box.height; y++) {
    guint8 *row = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (video, c)
        + (gsize) (y >> ysub) * GST_VIDEO_FRAME_COMP_STRIDE (video, c);

    for (gint x = box.x; x < box.x + box.width; x++)
      row[(x >> xsub) * GST_VIDEO_FRAME_COMP_PSTRIDE (video, c)] = value;
  }
}

void
scene_paint_color (GstBuffer *frame, Box box, const guint8 *color)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (frame);
  GstVideoFrame video;
  GstVideoInfo info;

  gst_video_info_set_format (&info, meta->format, meta->width, meta->height);
  fail_unless (gst_video_frame_map (&video, &info, frame, GST_MAP_READWRITE));
  for (guint c = 0; c < MIN (3, GST_VIDEO_FRAME_N_COMPONENTS (&video)); c++)
    paint_component (&video, c, box,
        GST_VIDEO_INFO_IS_YUV (&info) && c > 0 ? 128 : color[c]);
  gst_video_frame_unmap (&video);
}

void
scene_paint (GstBuffer *frame, Box box, guint8 grey)
{
  scene_paint_color (frame, box, (const guint8[]){ grey, grey, grey });
}

GstBuffer *
scene_frame (CuvLive *self, guint8 grey)
{
  GstBuffer *frame = cuv_frame_new (self->format, self->width, self->height);

  scene_paint (frame, (Box){ 0, 0, self->width, self->height }, grey);
  GST_BUFFER_PTS (frame) = self->n++ * GST_SECOND / 25;
  GST_BUFFER_DURATION (frame) = GST_SECOND / 25;
  return frame;
}

/* ---- results ---- */

GstCuvTable
scene_table (GstBuffer *buffer)
{
  static const gchar *const names[] = { "x", "y", "width", "height", "area",
    "frames" };
  gpointer state = NULL;
  GstCuvTable table, other;

  fail_unless (gst_cuv_meta_next_table (buffer, &state, &table), "no table");
  fail_unless_equals_string (table.kind, "motion");
  fail_unless_equals_int (table.n_columns, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    fail_unless_equals_string (table.columns[i].name, names[i]);
  fail_if (gst_cuv_meta_next_table (buffer, &state, &other), "two tables");
  return table;
}

static guint
cell (const GstCuvTable *table, guint row, guint column)
{
  return (guint) gst_cuv_table_double (table, row, column);
}

static void
append_row (GString *text, const GstCuvTable *table, guint i,
    const GstCuvObject *object)
{
  const GstStructure *detection = gst_cuv_object_param (object, "detection");
  gint area, frames;

  fail_unless (object->x == cell (table, i, 0)
          && object->y == cell (table, i, 1) && object->w == cell (table, i, 2)
          && object->h == cell (table, i, 3),
      "object %u: %u,%u %ux%u is not that of the table", i, object->x,
      object->y, object->w, object->h);
  fail_unless (gst_structure_get (detection, "area", G_TYPE_INT, &area,
      "frames", G_TYPE_INT, &frames, NULL));
  fail_unless_equals_int (area, cell (table, i, 4));
  fail_unless_equals_int (frames, cell (table, i, 5));
  g_string_append_printf (text, "%u,%u %ux%u area %d frames %d\n", object->x,
      object->y, object->w, object->h, area, frames);
}

gchar *
scene_text (GstBuffer *buffer)
{
  g_autoptr (GArray) objects =
      g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  GString *text = g_string_new ("");
  const GstCuvTable table = scene_table (buffer);
  gboolean changed;

  gst_cuv_objects_read (objects, buffer);
  fail_unless_equals_int (objects->len, table.n_rows);
  fail_unless (
      gst_structure_get_boolean (table.structure, "scene_change", &changed));
  if (changed)
    g_string_append (text, "scene change\n");
  for (guint i = 0; i < objects->len; i++)
    append_row (text, &table, i, &g_array_index (objects, GstCuvObject, i));
  return g_string_free (text, FALSE);
}

gchar *
scene_push (CuvLive *self, GstBuffer *frame)
{
  g_autoptr (GstBuffer) out = cuv_live_push (self, frame);
  gchar *text = scene_text (out);

  device_check (self->h, "visionmotion");
  return text;
}

void
scene_expect (CuvLive *self, GstBuffer *frame, const gchar *text)
{
  g_autofree gchar *found = scene_push (self, frame);

  fail_unless (strcmp (found, text) == 0,
      "%s %dx%d, frame %u: found:\n%sexpected:\n%s", self->format, self->width,
      self->height, self->n, found, text);
}

void
scene_expect_empty (CuvLive *self)
{
  scene_expect (self, scene_frame (self, BACKGROUND), "");
}

void
scene_expect_box (CuvLive *self, Box box, guint8 grey, const gchar *text)
{
  GstBuffer *frame = scene_frame (self, BACKGROUND);

  scene_paint (frame, box, grey);
  scene_expect (self, frame, text);
}

void
scene_learn (CuvLive *self, guint n)
{
  for (guint i = 0; i < n; i++)
    scene_expect_empty (self);
}
