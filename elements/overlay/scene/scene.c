/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scene/scene-private.h"

#include <math.h>
#include <string.h>
#include "gstcuvgroups.h"
#include "gsttrails.h"

/* ---- shapes ---- */

static gboolean
find_shape_columns (
    const GstCuvTable *table, const gchar *const *names, guint n, guint *found)
{
  for (guint i = 0; i < n; i++) {
    gint column = gst_cuv_table_column (table, names[i]);

    if (column < 0) {
      GST_DEBUG ("table %s of shape %s has no column %s: not drawn",
          table->kind, table->shape, names[i]);
      return FALSE;
    }
    found[i] = (guint) column;
  }
  return TRUE;
}

/* Scales a coordinate that counts pixel centres from one frame size to
 * another. */
static gdouble
scale_coordinate (gdouble coordinate, guint from, gint to)
{
  if (from == 0 || from == (guint) to)
    return coordinate;
  return (coordinate + 0.5) * to / from - 0.5;
}

/* Draws text on a filled rectangle whose lower edge is at y. If that does not
 * fit into the frame, its upper edge is at `inside`. */
static void
add_tag (GstCuvScene *scene, guint argb, const gchar *text, gint x, gint y,
    gint inside)
{
  CuvTextMask *mask;
  gint width;

  if (text[0] == '\0' || argb >> 24 == 0)
    return;
  mask = cuv_text_render (scene->text, text, CUV_TEXT_MAX_WIDTH);
  if (mask == NULL)
    return;
  width = mask->width + 2 * MAX (2, mask->height / 4);
  x = MAX (0, MIN (x, scene->width - width));
  y -= mask->height;
  if (y < 0)
    y = MAX (0, MIN (inside, scene->height - mask->height));
  gst_cuv_scene_add_text (scene, argb, mask, x, y, width, mask->height);
}

/* Writes the caption of a row where its shape begins, unless the row before has
 * the same one. */
static void
add_caption (GstCuvScene *scene, const GstCuvTable *table, guint row,
    guint column, gdouble x, gdouble y, guint argb)
{
  const gchar *text = gst_cuv_table_text (table, row, column);

  if (text == NULL || !(fabs (x) < 1e6 && fabs (y) < 1e6)
      || (row > 0
          && g_strcmp0 (text, gst_cuv_table_text (table, row - 1, column))
              == 0))
    return;
  add_tag (scene, argb, text, (gint) x, (gint) y, (gint) y);
}

static void
add_table (GstCuvScene *scene, const GstCuvTable *table)
{
  static const gchar *const segment[] = { "x1", "y1", "x2", "y2" };
  static const gchar *const point[] = { "x", "y" };
  gboolean segments = strcmp (table->shape, "segments") == 0;
  gint thickness = segments ? scene->thickness : 2 * scene->thickness + 1;
  guint argb = gst_cuv_scene_color (scene, table->kind, -1);
  const gint caption =
      scene->style->draw_labels ? gst_cuv_table_column (table, "caption") : -1;
  guint n = segments ? 4 : 2, column[4];
  gdouble at[4];

  if ((!segments && strcmp (table->shape, "points") != 0)
      || !find_shape_columns (table, segments ? segment : point, n, column))
    return;
  for (guint row = 0; row < table->n_rows; row++) {
    for (guint i = 0; i < n; i++)
      at[i] = scale_coordinate (gst_cuv_table_double (table, row, column[i]),
          i % 2 == 0 ? table->width : table->height,
          i % 2 == 0 ? scene->width : scene->height);
    cuv_drawing_line (
        scene->drawing, argb, at[0], at[1], at[n - 2], at[n - 1], thickness);
    if (caption >= 0)
      add_caption (scene, table, row, (guint) caption, at[0], at[1], argb);
  }
}

/* ---- trails ---- */

static gboolean
is_label_selected (const GstCuvScene *scene, const gchar *label)
{
  return scene->style->shown_labels == NULL
      || g_hash_table_contains (scene->style->shown_labels, label);
}

static void
add_trail (GstCuvScene *scene, const GstCuvTrail *trail)
{
  const GstCuvPoint *points = (const GstCuvPoint *) trail->points->data;
  const gchar *label = g_quark_to_string (trail->label);
  guint argb;

  if (label == NULL || !is_label_selected (scene, label))
    return;
  argb = gst_cuv_scene_color (scene, label, trail->id);
  for (guint i = 1; i < trail->points->len; i++)
    cuv_drawing_line (scene->drawing, argb, points[i - 1].x, points[i - 1].y,
        points[i].x, points[i].y, scene->thickness);
}

/* ---- objects ---- */

static gboolean
is_shown (const GstCuvScene *scene, const GstCuvObject *object)
{
  return object->w > 0 && object->h > 0 && object->x < (guint) scene->width
      && object->y < (guint) scene->height
      && is_label_selected (scene, gst_cuv_scene_object_label (object));
}

static void
draw_object_box (GstCuvScene *scene, const GstCuvObject *object)
{
  cuv_drawing_rect (scene->drawing, gst_cuv_scene_object_color (scene, object),
      object->x, object->y, MIN (object->w, G_MAXINT32 / 4),
      MIN (object->h, G_MAXINT32 / 4), scene->thickness);
}

/* Formats a label such as "face #3 87%". */
static void
format_label (const GstCuvScene *scene, const GstCuvObject *object, gchar *out,
    gsize size)
{
  const GstCuvStyle *style = scene->style;
  gsize used = 0;

  out[0] = '\0';
  if (style->draw_labels)
    used = g_strlcpy (out, gst_cuv_scene_object_label (object), size);
  used = MIN (used, size - 1);
  if (style->draw_ids && object->track >= 0)
    used += g_snprintf (out + used, size - used, "%s#%" G_GINT64_FORMAT,
        used > 0 ? " " : "", object->track);
  used = MIN (used, size - 1);
  if (style->draw_confidence && fabs (object->confidence) < 1e6)
    g_snprintf (out + used, size - used, "%s%ld%%", used > 0 ? " " : "",
        lrint (object->confidence * 100));
}

static void
add_label (GstCuvScene *scene, const GstCuvObject *object)
{
  gchar line[256];

  format_label (scene, object, line, sizeof line);
  add_tag (scene, gst_cuv_scene_object_color (scene, object), line,
      (gint) object->x, (gint) object->y, (gint) object->y + scene->thickness);
}

static void
add_objects (
    GstCuvScene *scene, void (*add) (GstCuvScene *, const GstCuvObject *))
{
  for (guint i = 0; i < scene->objects->len; i++) {
    const GstCuvObject *object =
        &g_array_index (scene->objects, GstCuvObject, i);

    if (is_shown (scene, object))
      add (scene, object);
  }
}

/* ---- keypoints ---- */

/* Networks also place keypoints that they do not see. */
#define MIN_CONFIDENCE 0.25f

static const GstCuvKeypoint *
drawn_keypoint (const GstCuvGroup *group, guint i)
{
  const GstCuvKeypoint *keypoint =
      &g_array_index (group->keypoints, GstCuvKeypoint, i);

  return keypoint->confidence >= MIN_CONFIDENCE ? keypoint : NULL;
}

static void
add_keypoints (GstCuvScene *scene, const GstCuvGroup *group, guint argb)
{
  for (guint i = 0; i < group->links->len; i++) {
    const GstCuvLink *link = &g_array_index (group->links, GstCuvLink, i);
    const GstCuvKeypoint *a = drawn_keypoint (group, link->from);
    const GstCuvKeypoint *b = drawn_keypoint (group, link->to);

    if (a != NULL && b != NULL)
      cuv_drawing_line (
          scene->drawing, argb, a->x, a->y, b->x, b->y, scene->thickness);
  }
  for (guint i = 0; i < group->keypoints->len; i++) {
    const GstCuvKeypoint *a = drawn_keypoint (group, i);

    if (a != NULL)
      cuv_drawing_line (scene->drawing, argb, a->x, a->y, a->x, a->y,
          2 * scene->thickness + 1);
  }
}

static void
add_groups (GstCuvScene *scene)
{
  GstCuvGroups groups;

  gst_cuv_groups_read (&groups, scene->objects, scene->buffer);
  for (guint i = 0; i < groups.n; i++) {
    const GstCuvGroup *group = &groups.groups[i];

    if (group->object == NULL)
      add_keypoints (scene, group,
          gst_cuv_scene_color (
              scene, group->tag != NULL ? group->tag : "keypoints", -1));
    else if (is_shown (scene, group->object))
      add_keypoints (
          scene, group, gst_cuv_scene_object_color (scene, group->object));
  }
  gst_cuv_groups_clear (&groups);
}

/* ---- scene ---- */

static CuvColourSpace
colour_space (const GstVideoInfo *info)
{
  const GstVideoColorimetry *c = &info->colorimetry;
  GstVideoColorMatrix matrix = c->matrix;
  gdouble kr, kb;

  /* GStreamer's default if the caps name no matrix */
  if (!gst_video_color_matrix_get_Kr_Kb (matrix, &kr, &kb)
      && !gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_INFO_HEIGHT (info) > 576
              ? GST_VIDEO_COLOR_MATRIX_BT709
              : GST_VIDEO_COLOR_MATRIX_BT601,
          &kr, &kb))
    kr = kb = 0;
  return (CuvColourSpace){
    .model = GST_VIDEO_INFO_IS_RGB (info) ? CUV_MODEL_RGB
        : GST_VIDEO_INFO_IS_GRAY (info)   ? CUV_MODEL_GREY
                                          : CUV_MODEL_YUV,
    .kr = (gint32) lrint (kr * 10000),
    .kb = (gint32) lrint (kb * 10000),
    .limited = c->range == GST_VIDEO_COLOR_RANGE_16_235
        || (c->range == GST_VIDEO_COLOR_RANGE_UNKNOWN
            && GST_VIDEO_INFO_IS_YUV (info)),
  };
}

static void
add_tables (
    GstCuvScene *scene, void (*add) (GstCuvScene *, const GstCuvTable *))
{
  gpointer state = NULL;
  GstCuvTable table;

  while (scene->style->draw_shapes
      && gst_cuv_meta_next_table (scene->buffer, &state, &table))
    add (scene, &table);
}

gboolean
gst_cuv_scene_build (CuvDrawing *drawing, CuvText *text,
    const GstCuvStyle *style, GArray *hidden, const GArray *trails,
    const GArray *objects, GstBuffer *buffer, const GstVideoInfo *info)
{
  CuvColourSpace space = colour_space (info);
  gint width = GST_VIDEO_INFO_WIDTH (info);
  gint height = GST_VIDEO_INFO_HEIGHT (info);
  gint thickness =
      style->thickness > 0 ? (gint) style->thickness : height / 300 + 1;
  GstCuvScene scene = { drawing, text, style, objects, buffer, width, height,
    MIN (thickness, 64), height };

  cuv_drawing_begin (drawing, &space, width, height);
  if (!gst_cuv_scene_add_fills (&scene, hidden))
    return FALSE;
  if (style->opacity <= 0)
    return TRUE;
  cuv_text_set_font (text, style->font, MAX (11, height / 36));
  add_tables (&scene, add_table);
  for (guint i = 0; i < trails->len; i++)
    add_trail (&scene, &g_array_index (trails, GstCuvTrail, i));
  if (style->draw_boxes)
    add_objects (&scene, draw_object_box);
  if (style->draw_shapes)
    add_groups (&scene);
  if (style->draw_labels || style->draw_confidence || style->draw_ids)
    add_objects (&scene, add_label);
  if (!gst_cuv_style_hides (style)) /* pictures may show what is hidden */
    add_tables (&scene, gst_cuv_scene_add_strips);
  return TRUE;
}
