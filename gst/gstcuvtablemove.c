/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvtablemove.h"
#include "gstcuvstructure.h"

#include <math.h>
#include <string.h>

static gboolean
copy_field (GQuark field, const GValue *value, gpointer structure)
{
  gst_structure_id_set_value (structure, field, value);
  return TRUE;
}

GstCustomMeta *
gst_cuv_table_add (
    GstBuffer *buffer, const GstMetaInfo *info, const GstStructure *fields)
{
  GstCustomMeta *meta =
      gst_buffer_add_custom_meta (buffer, g_type_name (info->type));

  gst_structure_foreach (
      fields, copy_field, gst_custom_meta_get_structure (meta));
  return meta;
}

/* Coordinates refer to the table's own width and height, so a copy stays valid
 * when the whole frame is scaled. */
static GstStructure *
copy_table (GstBuffer *to, GstCustomMeta *meta)
{
  return gst_custom_meta_get_structure (gst_cuv_table_add (
      to, meta->meta.info, gst_custom_meta_get_structure (meta)));
}

static gboolean
drop_table (GstCustomMeta *meta, const gchar *cause)
{
  static gint warned;

  if (g_atomic_int_compare_and_exchange (&warned, 0, 1))
    GST_WARNING (
        "dropped %s: its coordinates cannot be adjusted for an element "
        "that %s. Place that element before the one that adds the "
        "table. Later cases are not reported.",
        g_type_name (meta->meta.info->type), cause);
  return FALSE;
}

/* ---- scaling ---- */

/* Whether videoscale adds borders, as it does by default (add-borders) to keep
 * the display aspect ratio. A difference of one pixel is due to rounding. */
static gboolean
may_have_borders (const GstVideoInfo *in, const GstVideoInfo *out)
{
  const gdouble ratio = (gdouble) in->width * in->par_n * out->par_d
      / ((gdouble) in->height * in->par_d * out->par_n);

  return out->height - floor (out->width / ratio) > 1
      || out->width - floor (out->height * ratio) > 1;
}

static gboolean
scale_table (GstBuffer *to, GstCustomMeta *meta, const GstVideoMetaTransform *t)
{
  if (may_have_borders (t->in_info, t->out_info))
    return drop_table (meta,
        "may add borders (GStreamer before 1.28 does not "
        "report them)");
  copy_table (to, meta);
  return TRUE;
}

#if GST_CHECK_VERSION(1, 28, 0)
/* ---- cutting, borders, flips ---- */

/* x' = xx x + xy y + x0, for pixel centres */
typedef struct {
  gdouble xx, xy, x0, yx, yy, y0;
} Affine;

/* Reads a matrix. Returns FALSE unless it maps axes to axes. GStreamer's matrix
 * maps pixel centres when it flips, and edges when it scales. */
static gboolean
read_matrix (const GstVideoMetaTransformMatrix *t, Affine *to)
{
  const gfloat (*m)[3] = t->matrix;
  const gboolean turned = m[0][0] == 0;
  const gdouble sx = fabs ((gdouble) (turned ? m[0][1] : m[0][0]));
  const gdouble sy = fabs ((gdouble) (turned ? m[1][0] : m[1][1]));

  *to = (Affine){ m[0][0], m[0][1], 0, m[1][0], m[1][1], 0 };
  to->x0 = m[0][2] + (sx - 1) / 2 + t->out_rectangle.x
      - to->xx * t->in_rectangle.x - to->xy * t->in_rectangle.y;
  to->y0 = m[1][2] + (sy - 1) / 2 + t->out_rectangle.y
      - to->yx * t->in_rectangle.x - to->yy * t->in_rectangle.y;
  return m[2][0] == 0 && m[2][1] == 0 && m[2][2] == 1 && sx > 0 && sy > 0
      && (turned ? m[1][1] == 0 : m[0][1] == 0 && m[1][0] == 0);
}

static gboolean
is_whole (const GstVideoRectangle *part, const GstVideoInfo *info)
{
  return part->x == 0 && part->y == 0 && part->w == GST_VIDEO_INFO_WIDTH (info)
      && part->h == GST_VIDEO_INFO_HEIGHT (info);
}

/* Prepends the scaling from the table's reference size to the frame's. */
static void
from_reference (Affine *a, const GstCuvTable *table, const GstVideoInfo *info)
{
  const gdouble sx = (gdouble) GST_VIDEO_INFO_WIDTH (info) / table->width;
  const gdouble sy = (gdouble) GST_VIDEO_INFO_HEIGHT (info) / table->height;

  a->x0 += a->xx * (sx - 1) / 2 + a->xy * (sy - 1) / 2;
  a->y0 += a->yx * (sx - 1) / 2 + a->yy * (sy - 1) / 2;
  a->xx *= sx;
  a->xy *= sy;
  a->yx *= sx;
  a->yy *= sy;
}

typedef struct {
  const GstCuvTable *table;
  Affine map;
  gdouble right, bottom; /* the frame's last column and row */
  gint columns[6];       /* x1 y1 x2 y2 rho theta, or x y; -1: none */
  guint n_points;
} Move;

static void
write_cell (const Move *self, guint8 *row, gint column, gdouble value)
{
  guint8 *at = row + self->table->columns[column].offset;
  const gfloat single = (gfloat) value;
  const gint64 whole = llrint (value);

  switch (self->table->columns[column].type) {
    case GST_CUV_TYPE_F32:
      memcpy (at, &single, sizeof single);
      break;
    case GST_CUV_TYPE_F64:
      memcpy (at, &value, sizeof value);
      break;
    case GST_CUV_TYPE_U8:
      *at = (guint8) CLAMP (whole, 0, G_MAXUINT8);
      break;
    case GST_CUV_TYPE_U16:
      memcpy (at, &(guint16){ (guint16) CLAMP (whole, 0, G_MAXUINT16) }, 2);
      break;
    case GST_CUV_TYPE_I32:
      memcpy (at, &(gint32){ (gint32) CLAMP (whole, G_MININT, G_MAXINT) }, 4);
      break;
    case GST_CUV_TYPE_U32:
      memcpy (at, &(guint32){ (guint32) CLAMP (whole, 0, G_MAXUINT) }, 4);
      break;
    case GST_CUV_TYPE_I64:
    case GST_CUV_TYPE_U64:
      memcpy (at, &whole, sizeof whole);
      break;
    case GST_CUV_TYPE_TEXT:
      break;
  }
}

/* Clips the segment to 0 .. end on one axis (0: x, 1: y); FALSE if nothing is
 * left. */
static gboolean
clip_segment (gdouble at[4], guint axis, gdouble end)
{
  for (guint i = 0; i < 2; i++) {
    gdouble *near = &at[2 * i], *far = &at[2 - 2 * i];
    const gdouble bound = CLAMP (near[axis], 0, end);
    const gdouble part = (bound - near[axis]) / (far[axis] - near[axis]);

    if (bound == near[axis])
      continue;
    if (!(part >= 0 && part <= 1)) /* NaN if parallel */
      return FALSE;
    near[!axis] += part * (far[!axis] - near[!axis]);
    near[axis] = bound;
  }
  return TRUE;
}

/* Moves a line's normal: n p = rho becomes m p' = rho + m t, where p' = A p +
 * t, m = A^-T n. */
static void
move_normal (const Move *self, guint8 *row, guint nth)
{
  const gint column_rho = self->columns[4], column_theta = self->columns[5];
  const Affine *a = &self->map;
  const gdouble det = a->xx * a->yy - a->xy * a->yx;
  gdouble rho, theta, c, s, mx, my, size;

  if (column_rho < 0 || column_theta < 0)
    return;
  rho = gst_cuv_table_double (self->table, nth, (guint) column_rho);
  theta = gst_cuv_table_double (self->table, nth, (guint) column_theta);
  c = cos (theta), s = sin (theta);
  mx = (a->yy * c - a->yx * s) / det;
  my = (a->xx * s - a->xy * c) / det;
  size = hypot (mx, my);
  rho = (rho + mx * a->x0 + my * a->y0) / size;
  theta = atan2 (my, mx);
  if (theta < -G_PI_2 - 1e-6
      || theta > G_PI_2 - 1e-6) { /* the range of theta */
    theta += theta > 0 ? -G_PI : G_PI;
    rho = -rho;
  }
  write_cell (self, row, column_rho, rho);
  write_cell (self, row, column_theta, theta);
}

/* Returns FALSE if the row's segment or point is outside the frame. */
static gboolean
move_row (const Move *self, guint8 *row, guint nth)
{
  gdouble at[4];

  for (guint i = 0; i < self->n_points; i++) {
    const gint *column = &self->columns[2 * i];
    const gdouble x =
        gst_cuv_table_double (self->table, nth, (guint) column[0]);
    const gdouble y =
        gst_cuv_table_double (self->table, nth, (guint) column[1]);

    at[2 * i] = self->map.xx * x + self->map.xy * y + self->map.x0;
    at[2 * i + 1] = self->map.yx * x + self->map.yy * y + self->map.y0;
  }
  if (self->n_points == 1)
    memcpy (&at[2], at, 2 * sizeof *at);
  if (!clip_segment (at, 0, self->right) || !clip_segment (at, 1, self->bottom))
    return FALSE;
  for (guint i = 0; i < 2 * self->n_points; i++)
    write_cell (self, row, self->columns[i], at[i]);
  move_normal (self, row, nth);
  return TRUE;
}

static gboolean
find_coordinates (Move *self)
{
  static const gchar *const names[] = { "x1", "y1", "x2", "y2", "rho",
    "theta" };
  const GstCuvTable *table = self->table;
  const gboolean point = strcmp (table->shape, "points") == 0;

  if (!point && strcmp (table->shape, "segments") != 0)
    return FALSE;
  self->n_points = point ? 1 : 2;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    self->columns[i] = point ? -1 : gst_cuv_table_column (table, names[i]);
  if (point) {
    self->columns[0] = gst_cuv_table_column (table, "x");
    self->columns[1] = gst_cuv_table_column (table, "y");
  }
  for (guint i = 0; i < 2 * self->n_points; i++) {
    if (self->columns[i] < 0)
      return FALSE;
  }
  return table->width > 0 && table->height > 0;
}

static void
move_rows (const Move *self, GstStructure *to, const GstVideoInfo *info)
{
  const guint size = self->table->row_size;
  guint8 *rows =
      g_memdup2 (self->table->data, (gsize) size * self->table->n_rows);
  guint kept = 0;
  GBytes *data;

  for (guint i = 0; i < self->table->n_rows; i++) {
    guint8 *row = rows + (gsize) kept * size;

    memmove (row, rows + (gsize) i * size, size);
    kept += move_row (self, row, i);
  }
  data = g_bytes_new_take (rows, (gsize) kept * size);
  gst_cuv_structure_set (to, "width", G_TYPE_UINT,
      (guint) GST_VIDEO_INFO_WIDTH (info), "height", G_TYPE_UINT,
      (guint) GST_VIDEO_INFO_HEIGHT (info), "rows", G_TYPE_UINT, kept, "data",
      G_TYPE_BYTES, data, NULL);
  g_bytes_unref (data);
}

static gboolean
move_table (
    GstBuffer *to, GstCustomMeta *meta, const GstVideoMetaTransformMatrix *t)
{
  GstCuvTable table;
  Move self = { .table = &table,
    .right = GST_VIDEO_INFO_WIDTH (t->out_info) - 1,
    .bottom = GST_VIDEO_INFO_HEIGHT (t->out_info) - 1 };

  if (!read_matrix (t, &self.map))
    return drop_table (meta, "turns or distorts the frame");
  if (is_whole (&t->in_rectangle, t->in_info)
      && is_whole (&t->out_rectangle, t->out_info) && self.map.xx > 0
      && self.map.yy > 0) {
    copy_table (to, meta);
    return TRUE;
  }
  if (!gst_cuv_table_parse (&table, gst_custom_meta_get_structure (meta))
      || !find_coordinates (&self))
    return drop_table (meta, "cuts, flips or adds borders");
  from_reference (&self.map, &table, t->in_info);
  move_rows (&self, copy_table (to, meta), t->out_info);
  return TRUE;
}
#endif

/* ---- metas ---- */

static gboolean
transform_table (GstBuffer *to, GstCustomMeta *meta, GstBuffer *from,
    GQuark type, gpointer data, gpointer user_data)
{
  if (GST_META_TRANSFORM_IS_COPY (type)) {
    copy_table (to, meta);
    return TRUE;
  }
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    return scale_table (to, meta, data);
#if GST_CHECK_VERSION(1, 28, 0)
  if (GST_VIDEO_META_TRANSFORM_IS_MATRIX (type))
    return move_table (to, meta, data);
#endif
  return drop_table (meta, "moves pixels in an unknown way");
}

const GstMetaInfo *
gst_cuv_table_register_placed (const gchar *name)
{
  const gchar *tags[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
    GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };

  return gst_meta_register_custom (name, tags, transform_table, NULL, NULL);
}
