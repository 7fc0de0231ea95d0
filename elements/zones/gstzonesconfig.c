/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstzonesconfig.h"

#include <string.h>
#include "cuvjsonpoints.h"
#include "cuvjsonreader.h"

/* A value that the zone does not give is negative. */
typedef struct {
  gchar *name;
  gboolean is_line;
  GArray *points; /* CuvJsonPoint */
  gint stream;    /* of a batch; negative: all */
  gint anchor, hysteresis, crowd;
  gint64 dwell;
  GArray *labels; /* guint32 (quarks), NULL = the default */
} Zone;

struct _GstZonesConfig {
  gint refs;
  gboolean normalized;
  GPtrArray *zones; /* Zone */
};

static void
zone_free (gpointer data)
{
  Zone *self = data;

  g_free (self->name);
  g_array_unref (self->points);
  g_clear_pointer (&self->labels, g_array_unref);
  g_free (self);
}

static gpointer
config_ref (gpointer config)
{
  g_atomic_int_inc (&((GstZonesConfig *) config)->refs);
  return config;
}

static void
config_unref (gpointer config)
{
  GstZonesConfig *self = config;

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  g_ptr_array_unref (self->zones);
  g_free (self);
}

G_DEFINE_BOXED_TYPE (GstZonesConfig, gst_zones_config, config_ref, config_unref)

/* ---- values ---- */

/* *value is set only if the number is valid. */
static gchar *
read_zone_number (
    JsonNode *node, const gchar *key, gdouble low, gdouble high, gdouble *value)
{
  const gdouble number = cuv_json_number (node);

  if (number >= low && number <= high) {
    *value = number;
    return NULL;
  }
  return g_strdup_printf ("%s must be a number from %g to %g", key, low, high);
}

static const gchar *
read_text (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node)
          && json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node)
      : "";
}

static gchar *
read_anchor (Zone *self, JsonNode *node)
{
  static const gchar *const names[] = { "bottom-center", "center", "any" };
  const gint n = self->is_line ? 2 : 3;

  for (gint i = 0; i < n; i++) {
    if (strcmp (read_text (node), names[i]) == 0) {
      self->anchor = i;
      return NULL;
    }
  }
  return g_strdup_printf ("anchor must be bottom-center%s",
      self->is_line ? " or center, as it is a line" : ", center or any");
}

static gchar *
read_labels (Zone *self, JsonNode *node)
{
  JsonArray *list =
      JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  const guint n = list != NULL ? json_array_get_length (list) : 0;

  g_clear_pointer (&self->labels, g_array_unref);
  self->labels = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint i = 0; i < n; i++) {
    const gchar *text = read_text (json_array_get_element (list, i));
    const guint32 label = g_quark_from_string (text);

    if (*text == '\0')
      return g_strdup ("labels must be texts");
    g_array_append_val (self->labels, label);
  }
  return list != NULL ? NULL : g_strdup ("labels must be a list of texts");
}

/* ---- zones ---- */

static gchar *
read_member (Zone *self, const gchar *key, JsonNode *node, gboolean normalized)
{
  gdouble number = 0;
  gchar *problem;

  if (strcmp (key, "name") == 0)
    return NULL;
  if (strcmp (key, "polygon") == 0)
    return cuv_json_read_polygon (node, normalized, self->points);
  if (strcmp (key, "line") == 0)
    return cuv_json_read_line (node, normalized, self->points);
  if (strcmp (key, "anchor") == 0)
    return read_anchor (self, node);
  if (strcmp (key, "labels") == 0)
    return read_labels (self, node);
  if (strcmp (key, "hysteresis") == 0) {
    problem =
        read_zone_number (node, key, 1, GST_ZONES_MAX_HYSTERESIS, &number);
    self->hysteresis = (gint) number;
    return problem;
  }
  if (strcmp (key, "dwell") == 0) {
    problem = read_zone_number (node, key, 0, 1e9, &number);
    self->dwell = (gint64) (number * 1e9);
    return problem;
  }
  if (strcmp (key, "crowd") == 0) {
    problem = read_zone_number (node, key, 0, 1e6, &number);
    self->crowd = (gint) number;
    return problem;
  }
  if (strcmp (key, "stream") == 0) {
    problem = read_zone_number (node, key, 0, 1e6, &number);
    self->stream = (gint) number;
    return problem;
  }
  return g_strdup_printf (
      "unknown key '%s': expected name, polygon or line, anchor, labels, "
      "hysteresis, dwell, crowd, stream",
      key);
}

static gchar *
read_name (const GstZonesConfig *config, Zone *self, JsonObject *object)
{
  const gchar *name = json_object_has_member (object, "name")
      ? read_text (json_object_get_member (object, "name"))
      : "";

  self->name = g_strdup (name);
  return *name != '\0' ? NULL
                       : g_strdup_printf ("zone %u has no name: add \"name\"",
                           config->zones->len);
}

static gboolean
is_in_stream (const Zone *self, gint stream)
{
  return self->stream < 0 || stream < 0 || self->stream == stream;
}

/* Checks the last zone. Zones of different streams may have the same name. */
static gchar *
check_zone_name (const GstZonesConfig *config, const Zone *self)
{
  for (guint i = 0; i + 1 < config->zones->len; i++) {
    const Zone *other = config->zones->pdata[i];

    if (strcmp (other->name, self->name) == 0
        && is_in_stream (other, self->stream))
      return g_strdup_printf (
          "two zones are called '%s': names must differ", self->name);
  }
  return NULL;
}

static gchar *
read_members (Zone *self, JsonObject *object, gboolean normalized)
{
  const gboolean polygon = json_object_has_member (object, "polygon");
  JsonObjectIter iter;
  const gchar *key;
  JsonNode *node;
  gchar *problem = NULL;

  self->is_line = json_object_has_member (object, "line");
  if (polygon == self->is_line)
    return g_strdup ("expected either \"polygon\" or \"line\"");
  json_object_iter_init (&iter, object);
  while (problem == NULL && json_object_iter_next (&iter, &key, &node))
    problem = read_member (self, key, node, normalized);
  return problem;
}

static gchar *
add_zone (GstZonesConfig *self, JsonNode *node)
{
  Zone *zone = g_new0 (Zone, 1);
  gchar *problem, *text;

  zone->points = g_array_new (FALSE, FALSE, sizeof (CuvJsonPoint));
  zone->stream = zone->anchor = zone->hysteresis = zone->crowd = -1;
  zone->dwell = -1;
  g_ptr_array_add (self->zones, zone);
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return g_strdup_printf (
        "zone %u is not an object {\"name\": ...}", self->zones->len);
  problem = read_name (self, zone, json_node_get_object (node));
  if (problem != NULL)
    return problem;
  problem = read_members (zone, json_node_get_object (node), self->normalized);
  if (problem == NULL)
    return check_zone_name (self, zone);
  text = g_strdup_printf ("zone '%s': %s", zone->name, problem);
  g_free (problem);
  return text;
}

static gchar *
read_zones (GstZonesConfig *self, JsonObject *object)
{
  JsonNode *list = json_object_get_member (object, "zones");
  JsonNode *units = json_object_get_member (object, "units");
  JsonArray *zones;
  gchar *problem = cuv_json_read_units (object, &self->normalized);

  if (problem != NULL)
    return problem;
  if (list == NULL || !JSON_NODE_HOLDS_ARRAY (list))
    return g_strdup ("expected {\"zones\": [...]}");
  if (json_object_get_size (object) > (units != NULL ? 2u : 1u))
    return g_strdup ("unknown key: expected only \"units\" and \"zones\"");
  zones = json_node_get_array (list);
  if (json_array_get_length (zones) > GST_ZONES_MAX)
    return g_strdup_printf ("more than %d zones", GST_ZONES_MAX);
  for (guint i = 0; problem == NULL && i < json_array_get_length (zones); i++)
    problem = add_zone (self, json_array_get_element (zones, i));
  return problem;
}

static GstZonesConfig *
config_new (JsonNode *node, GError *error, gchar **problem)
{
  GstZonesConfig *self = g_new0 (GstZonesConfig, 1);

  self->refs = 1;
  self->zones = g_ptr_array_new_with_free_func (zone_free);
  *problem = node != NULL ? read_zones (self, json_node_get_object (node))
                          : g_strdup (error->message);
  g_clear_pointer (&node, json_node_unref);
  g_clear_error (&error);
  if (*problem == NULL)
    return self;
  config_unref (self);
  return NULL;
}

#define MAX_VALUES (GST_ZONES_MAX * CUV_JSON_MAX_POINTS)

GstZonesConfig *
gst_zones_config_parse (const gchar *text, gchar **problem)
{
  GError *error = NULL;
  JsonNode *node = cuv_json_parse_object (text, MAX_VALUES, &error);

  return config_new (node, error, problem);
}

GstZonesConfig *
gst_zones_config_load (const gchar *path, gchar **problem)
{
  GError *error = NULL;
  JsonNode *node =
      cuv_json_load_object (path, CUV_JSON_MAX_BYTES, MAX_VALUES, &error);

  return config_new (node, error, problem);
}

/* ---- place ---- */

G_STATIC_ASSERT (CUV_ZONE_SCALE == CUV_JSON_POINT_SCALE);

static void
place_points (const GstZonesConfig *config, const Zone *zone, CuvZone *placed,
    CuvZonePoint *points, gint width, gint height)
{
  CuvZoneBox *box = &placed->bounds;

  *box = (CuvZoneBox){ G_MAXINT32, G_MAXINT32, G_MININT32, G_MININT32 };
  for (gint i = 0; i < placed->n_points; i++) {
    const CuvJsonPoint *from = &g_array_index (zone->points, CuvJsonPoint, i);
    CuvZonePoint *p = &points[i];

    p->x = cuv_json_place (from->x, config->normalized, width);
    p->y = cuv_json_place (from->y, config->normalized, height);
    *box = (CuvZoneBox){ MIN (box->left, p->x), MIN (box->top, p->y),
      MAX (box->right, p->x), MAX (box->bottom, p->y) };
  }
}

static gchar *
check_extent (const CuvZone *zone, gint width, gint height)
{
  const CuvZonePoint *p = zone->points;
  gint k = 1;
  gboolean ok;

  while (k < zone->n_points && p[k].x == p[0].x && p[k].y == p[0].y)
    k++;
  ok = k < zone->n_points && zone->is_line;
  for (gint i = k; !ok && i < zone->n_points; i++)
    ok = cuv_zone_side (p[0], p[k], p[i]) != 0;
  return ok ? NULL
            : g_strdup_printf ("zone '%s': %s in frames of %dx%d: correct its "
                               "points",
                zone->name,
                zone->is_line ? "both points are the same"
                              : "all points are on one line",
                width, height);
}

static void
place_rules (
    const Zone *zone, const GstZonesDefaults *defaults, CuvZone *placed)
{
  placed->name = zone->name;
  placed->is_line = zone->is_line;
  placed->n_points = (gint) zone->points->len;
  placed->anchor =
      zone->anchor >= 0 ? (CuvZoneAnchor) zone->anchor : defaults->anchor;
  if (zone->is_line && placed->anchor == CUV_ANCHOR_ANY)
    placed->anchor = CUV_ANCHOR_BOTTOM_CENTER;
  placed->hysteresis =
      zone->hysteresis >= 0 ? zone->hysteresis : defaults->hysteresis;
  placed->dwell = zone->dwell >= 0 ? zone->dwell : defaults->dwell;
  placed->crowd = zone->crowd >= 0 ? zone->crowd : defaults->crowd;
  placed->n_labels =
      zone->labels != NULL ? (gint) zone->labels->len : defaults->n_labels;
}

/* Points, labels and the name of a zone, all of which it may outlive. */
static void
place_zone (const GstZonesConfig *config, const Zone *zone,
    const GstZonesDefaults *defaults, CuvZone *placed, GPtrArray *memory,
    gint width, gint height)
{
  const guint32 *labels = zone->labels != NULL
      ? (const guint32 *) zone->labels->data
      : defaults->labels;
  CuvZonePoint *points;

  place_rules (zone, defaults, placed);
  points = g_new0 (CuvZonePoint, placed->n_points);
  place_points (config, zone, placed, points, width, height);
  placed->points = points;
  placed->name = g_strdup (zone->name);
  placed->labels =
      g_memdup2 (labels, (gsize) placed->n_labels * sizeof (guint32));
  g_ptr_array_add (memory, points);
  g_ptr_array_add (memory, (gpointer) placed->name);
  g_ptr_array_add (memory, (gpointer) placed->labels);
}

GstZonesPlaced *
gst_zones_config_place (const GstZonesConfig *config,
    const GstZonesDefaults *defaults, guint stream, gint width, gint height,
    gchar **problem)
{
  GstZonesPlaced *self = g_new0 (GstZonesPlaced, 1);
  const guint n = config != NULL ? config->zones->len : 0;

  *problem = NULL;
  self->zones = g_new0 (CuvZone, n);
  self->memory = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; *problem == NULL && i < n; i++) {
    const Zone *zone = config->zones->pdata[i];
    CuvZone *placed = &self->zones[self->n];

    if (!is_in_stream (zone, (gint) stream))
      continue;
    place_zone (config, zone, defaults, placed, self->memory, width, height);
    *problem = check_extent (placed, width, height);
    self->n++;
  }
  if (*problem == NULL)
    return self;
  gst_zones_placed_free (self);
  return NULL;
}

void
gst_zones_placed_free (GstZonesPlaced *self)
{
  g_ptr_array_unref (self->memory);
  g_free (self->zones);
  g_free (self);
}

guint32 *
gst_zones_labels_parse (const gchar *text, gint *n)
{
  gchar **names = g_strsplit (text != NULL ? text : "", ",", -1);
  guint32 *labels = g_new0 (guint32, g_strv_length (names));

  *n = 0;
  for (gchar **name = names; *name != NULL; name++) {
    g_strstrip (*name);
    if (**name != '\0')
      labels[(*n)++] = g_quark_from_string (*name);
  }
  g_strfreev (names);
  return labels;
}
