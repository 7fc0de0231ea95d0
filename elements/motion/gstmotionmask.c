/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstmotionmask.h"

#include "cuvjsonpoints.h"
#include "cuvjsonreader.h"

struct _GstMotionMask {
  gint refs;
  gboolean normalized;
  GPtrArray *polygons; /* GArray of CuvJsonPoint */
};

static gpointer
mask_ref (gpointer mask)
{
  g_atomic_int_inc (&((GstMotionMask *) mask)->refs);
  return mask;
}

static void
mask_unref (gpointer mask)
{
  GstMotionMask *self = mask;

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  g_ptr_array_unref (self->polygons);
  g_free (self);
}

G_DEFINE_BOXED_TYPE (GstMotionMask, gst_motion_mask, mask_ref, mask_unref)

/* ---- parse ---- */

static gchar *
add_polygon (GstMotionMask *self, JsonNode *node)
{
  GArray *points = g_array_new (FALSE, FALSE, sizeof (CuvJsonPoint));
  g_autofree gchar *problem =
      cuv_json_read_polygon (node, self->normalized, points);

  g_ptr_array_add (self->polygons, points);
  return problem == NULL
      ? NULL
      : g_strdup_printf ("polygon %u: %s", self->polygons->len, problem);
}

static gchar *
read_polygons (GstMotionMask *self, JsonObject *object)
{
  JsonNode *node = json_object_get_member (object, "polygons");
  const guint n_known = 1 + json_object_has_member (object, "units");
  gchar *problem = cuv_json_read_units (object, &self->normalized);
  JsonArray *list;

  if (problem != NULL)
    return problem;
  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return g_strdup ("expected {\"polygons\": [[[x, y], ...], ...]}");
  if (json_object_get_size (object) > n_known)
    return g_strdup ("unknown key: expected only \"units\" and \"polygons\"");
  list = json_node_get_array (node);
  if (json_array_get_length (list) > GST_MOTION_MASK_MAX)
    return g_strdup_printf ("more than %d polygons", GST_MOTION_MASK_MAX);
  for (guint i = 0; problem == NULL && i < json_array_get_length (list); i++)
    problem = add_polygon (self, json_array_get_element (list, i));
  return problem;
}

GstMotionMask *
gst_motion_mask_parse (const gchar *text, gchar **problem)
{
  GstMotionMask *self = g_new0 (GstMotionMask, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) node = cuv_json_parse_object (
      text, GST_MOTION_MASK_MAX * CUV_JSON_MAX_POINTS, &error);

  self->refs = 1;
  self->polygons =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  *problem = node != NULL ? read_polygons (self, json_node_get_object (node))
                          : g_strdup (error->message);
  if (*problem == NULL)
    return self;
  mask_unref (self);
  return NULL;
}

/* ---- draw ---- */

static void
place_polygon (const GstMotionMask *self, const GArray *polygon, gint width,
    gint height, CuvMotionPoint *points)
{
  G_STATIC_ASSERT (CUV_MOTION_POINT_SCALE == CUV_JSON_POINT_SCALE);

  for (guint i = 0; i < polygon->len; i++) {
    const CuvJsonPoint *from = &g_array_index (polygon, CuvJsonPoint, i);

    points[i] =
        (CuvMotionPoint){ cuv_json_place (from->x, self->normalized, width),
          cuv_json_place (from->y, self->normalized, height) };
  }
}

static void
unmask_all (const CuvMotionBits *bits)
{
  for (gint y = 0; y < bits->height; y++) {
    for (gint x = 0; x < bits->width; x++)
      bits->words[(gsize) y * (gsize) bits->stride + (gsize) x / 64] |=
          G_GUINT64_CONSTANT (1) << x % 64;
  }
}

static gint64
count_unmasked (const CuvMotionBits *bits)
{
  gint64 n = 0;

  for (gsize i = 0; i < (gsize) bits->height * (gsize) bits->stride; i++)
    n += __builtin_popcountll (bits->words[i]);
  return n;
}

guint64 *
gst_motion_mask_draw (const GstMotionMask *self, const CuvMotionConfig *config,
    gint width, gint height, gint64 *n)
{
  CuvMotionBits bits = { NULL, cuv_motion_n_values (config, width),
    cuv_motion_n_values (config, height), 0 };
  CuvMotionPoint points[CUV_JSON_MAX_POINTS];
  uint64_t *row;

  bits.stride = cuv_motion_n_words (bits.width);
  bits.words = g_new0 (uint64_t, (gsize) bits.stride * (gsize) bits.height);
  row = g_new (uint64_t, bits.stride);
  unmask_all (&bits);
  for (guint i = 0; i < self->polygons->len; i++) {
    const GArray *polygon = self->polygons->pdata[i];

    place_polygon (self, polygon, width, height, points);
    cuv_motion_mask_polygon (&bits, points, (gint) polygon->len,
        MIN (config->scale, width), MIN (config->scale, height), row);
  }
  g_free (row);
  *n = count_unmasked (&bits);
  return bits.words;
}
