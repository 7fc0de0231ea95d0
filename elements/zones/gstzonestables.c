/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstzonesresults.h"

#include "gstcuvmeta.h"
#include "gstcuvstructure.h"

#include <string.h>

/* Rows and texts of a table. */
typedef struct {
  GByteArray *rows;
  gsize used; /* bytes of rows */
  GPtrArray *texts;
  GHashTable *indices; /* of texts by address */
  guint *of_zones;     /* indices of zones' names, plus 1; 0 = not yet a text */
  guint n;
} Rows;

static void
rows_begin (Rows *self, gint n_zones)
{
  self->rows = g_byte_array_new ();
  self->used = 0;
  self->texts = g_ptr_array_new ();
  self->indices = g_hash_table_new (NULL, NULL);
  self->of_zones = g_new0 (guint, n_zones);
  self->n = 0;
}

/* A frame has thousands of cells, so that each call of GLib would count. */
static inline void
add (Rows *self, gconstpointer cell, gsize size)
{
  if (self->used + size > self->rows->len)
    g_byte_array_set_size (self->rows, 2 * self->rows->len + 1024);
  memcpy (self->rows->data + self->used, cell, size);
  self->used += size;
}

static void
add_u32 (Rows *self, guint32 value)
{
  add (self, &value, sizeof value);
}

static void
add_u64 (Rows *self, guint64 value)
{
  add (self, &value, sizeof value);
}

static void
add_f32 (Rows *self, gdouble number)
{
  const gfloat value = (gfloat) number;

  add (self, &value, sizeof value);
}

/* Adds a text that no row has yet; returns its index. */
static guint
new_text (Rows *self, const gchar *text)
{
  g_ptr_array_add (self->texts, (gpointer) text);
  return self->texts->len - 1;
}

static void
add_text (Rows *self, const gchar *text)
{
  gpointer index;

  if (text == NULL)
    text = "";
  if (!g_hash_table_lookup_extended (self->indices, text, NULL, &index)) {
    index = GUINT_TO_POINTER (new_text (self, text));
    g_hash_table_insert (self->indices, (gpointer) text, index);
  }
  add_u32 (self, GPOINTER_TO_UINT (index));
}

static void
add_zone_name (Rows *self, const GstZonesStream *stream, gint zone)
{
  if (self->of_zones[zone] == 0)
    self->of_zones[zone] =
        new_text (self, stream->placed->zones[zone].name) + 1;
  add_u32 (self, self->of_zones[zone] - 1);
}

static void
add_point (Rows *self, CuvZonePoint p)
{
  add_f32 (self, (gdouble) p.x / CUV_ZONE_SCALE);
  add_f32 (self, (gdouble) p.y / CUV_ZONE_SCALE);
}

/* Adds the table, unless it is empty. */
static GstStructure *
rows_end (Rows *self, GstBuffer *buffer, const gchar *kind, gint width,
    gint height, const gchar *shape, const GstCuvColumn *columns,
    guint n_columns)
{
  GstStructure *table = NULL;

  if (self->n > 0) {
    table = gst_cuv_meta_add_table (buffer, kind, 1, (guint) width,
        (guint) height, shape, columns, n_columns, self->rows->data, self->n);
    if (self->texts->len > 0)
      gst_cuv_meta_set_texts (
          table, (const gchar *const *) self->texts->pdata, self->texts->len);
  }
  g_byte_array_unref (self->rows);
  g_ptr_array_unref (self->texts);
  g_hash_table_unref (self->indices);
  g_free (self->of_zones);
  return table;
}

#define END(rows, buffer, kind, stream, shape, columns)                        \
  rows_end (rows, buffer, kind, (stream)->base.width, (stream)->base.height,   \
      shape, columns, G_N_ELEMENTS (columns))

/* metrics: as in gstcuvmeta.h. */
static void
describe_metrics (
    GstStructure *table, const gchar *metrics, const gchar *row_names)
{
  if (table != NULL)
    gst_cuv_structure_set (table, "metrics", G_TYPE_STRING, metrics,
        "metrics_unit", G_TYPE_STRING, "objects", "row_names", G_TYPE_STRING,
        row_names, NULL);
}

static void
add_zones (GstBuffer *buffer, const GstZonesStream *stream)
{
  static const GstCuvColumn columns[] = { { "zone", GST_CUV_TYPE_TEXT },
    { "type", GST_CUV_TYPE_TEXT }, { "inside", GST_CUV_TYPE_U32 },
    { "in", GST_CUV_TYPE_U64 }, { "out", GST_CUV_TYPE_U64 } };
  Rows rows;

  rows_begin (&rows, stream->placed->n);
  for (gint i = 0; i < stream->placed->n; i++, rows.n++) {
    const CuvZoneTotals totals = cuv_zones_totals (stream->zones, i);

    add_zone_name (&rows, stream, i);
    add_text (&rows, stream->placed->zones[i].is_line ? "line" : "polygon");
    add_u32 (&rows, (guint32) totals.inside);
    add_u64 (&rows, totals.in);
    add_u64 (&rows, totals.out);
  }
  describe_metrics (END (&rows, buffer, "zones", stream, "none", columns),
      "inside in:counter out:counter", "zone");
}

static void
add_label_counts (GstBuffer *buffer, const GstZonesStream *stream)
{
  static const GstCuvColumn columns[] = { { "zone", GST_CUV_TYPE_TEXT },
    { "label", GST_CUV_TYPE_TEXT }, { "in", GST_CUV_TYPE_U64 },
    { "out", GST_CUV_TYPE_U64 } };
  Rows rows;

  rows_begin (&rows, stream->placed->n);
  for (gint i = 0; i < stream->placed->n; i++) {
    const CuvZoneTotals totals = cuv_zones_totals (stream->zones, i);

    for (gint k = 0; k < totals.n_counts; k++, rows.n++) {
      add_zone_name (&rows, stream, i);
      add_text (&rows, g_quark_to_string (totals.counts[k].label));
      add_u64 (&rows, totals.counts[k].in);
      add_u64 (&rows, totals.counts[k].out);
    }
  }
  describe_metrics (END (&rows, buffer, "zone_counts", stream, "none", columns),
      "in:counter out:counter", "zone label");
}

static void
add_inside_objects (GstBuffer *buffer, const GstZonesStream *stream)
{
  static const GstCuvColumn columns[] = { { "zone", GST_CUV_TYPE_TEXT },
    { "id", GST_CUV_TYPE_I64 }, { "label", GST_CUV_TYPE_TEXT },
    { "since", GST_CUV_TYPE_U64 }, { "dwell", GST_CUV_TYPE_U64 },
    { "x", GST_CUV_TYPE_F32 }, { "y", GST_CUV_TYPE_F32 } };
  gint n;
  const CuvZoneInside *inside = cuv_zones_inside (stream->zones, &n);
  Rows rows;

  rows_begin (&rows, stream->placed->n);
  for (gint i = 0; i < n; i++, rows.n++) {
    add_zone_name (&rows, stream, inside[i].zone);
    add_u64 (&rows, (guint64) inside[i].id);
    add_text (&rows, g_quark_to_string (inside[i].label));
    add_u64 (&rows, (guint64) inside[i].since);
    add_u64 (&rows, (guint64) (stream->time - inside[i].since));
    add_point (&rows, inside[i].at);
  }
  END (&rows, buffer, "zone_objects", stream, "points", columns);
}

static void
add_events (GstBuffer *buffer, const GstZonesStream *stream)
{
  static const GstCuvColumn columns[] = { { "event", GST_CUV_TYPE_TEXT },
    { "time", GST_CUV_TYPE_U64 }, { "zone", GST_CUV_TYPE_TEXT },
    { "id", GST_CUV_TYPE_I64 }, { "label", GST_CUV_TYPE_TEXT },
    { "direction", GST_CUV_TYPE_TEXT }, { "dwell", GST_CUV_TYPE_U64 },
    { "count", GST_CUV_TYPE_U32 }, { "x", GST_CUV_TYPE_F32 },
    { "y", GST_CUV_TYPE_F32 } };
  gint n;
  const CuvZoneEvent *events = cuv_zones_events (stream->zones, &n);
  Rows rows;

  rows_begin (&rows, stream->placed->n);
  for (gint i = 0; i < n; i++, rows.n++) {
    add_text (&rows, gst_zones_event_name (events[i].type));
    add_u64 (&rows, (guint64) stream->time);
    add_zone_name (&rows, stream, events[i].zone);
    add_u64 (&rows, (guint64) events[i].id);
    add_text (&rows, g_quark_to_string (events[i].label));
    add_text (&rows, gst_zones_direction_name (events[i].direction));
    add_u64 (&rows, (guint64) events[i].dwell);
    add_u32 (&rows, (guint32) events[i].count);
    add_point (&rows, events[i].at);
  }
  END (&rows, buffer, "zone_events", stream, "points", columns);
}

/* Returns what is written at the zone, such as "gate: 3 in, 1 out"; free it. */
static gchar *
caption_of (const GstZonesStream *stream, gint zone)
{
  const CuvZone *of = &stream->placed->zones[zone];
  const CuvZoneTotals totals = cuv_zones_totals (stream->zones, zone);

  return of->is_line
      ? g_strdup_printf ("%s: %" G_GUINT64_FORMAT " in, %" G_GUINT64_FORMAT
                         " out",
          of->name, totals.in, totals.out)
      : g_strdup_printf ("%s: %d inside", of->name, totals.inside);
}

static void
add_outline (Rows *rows, const CuvZone *zone, const gchar *caption)
{
  const guint name_index = new_text (rows, zone->name);
  const guint caption_index = new_text (rows, caption);

  for (gint k = zone->is_line; k < zone->n_points; k++, rows->n++) {
    add_u32 (rows, name_index);
    add_u32 (rows, caption_index);
    add_point (rows, zone->points[(k + zone->n_points - 1) % zone->n_points]);
    add_point (rows, zone->points[k]);
  }
}

static void
add_outlines (GstBuffer *buffer, const GstZonesStream *stream)
{
  static const GstCuvColumn columns[] = { { "zone", GST_CUV_TYPE_TEXT },
    { "caption", GST_CUV_TYPE_TEXT }, { "x1", GST_CUV_TYPE_F32 },
    { "y1", GST_CUV_TYPE_F32 }, { "x2", GST_CUV_TYPE_F32 },
    { "y2", GST_CUV_TYPE_F32 } };
  GPtrArray *captions = g_ptr_array_new_with_free_func (g_free);
  Rows rows;

  rows_begin (&rows, stream->placed->n);
  for (gint i = 0; i < stream->placed->n; i++) {
    gchar *caption = caption_of (stream, i);

    g_ptr_array_add (captions, caption);
    add_outline (&rows, &stream->placed->zones[i], caption);
  }
  END (&rows, buffer, "zone_outlines", stream, "segments", columns);
  g_ptr_array_unref (captions);
}

void
gst_zones_add_tables (
    GstBuffer *buffer, const GstZonesStream *stream, gboolean outlines)
{
  add_zones (buffer, stream);
  add_label_counts (buffer, stream);
  add_inside_objects (buffer, stream);
  add_events (buffer, stream);
  if (outlines)
    add_outlines (buffer, stream);
}

/* Seconds below this are left out of the table. */
#define LEAST_HEAT 0.001

void
gst_zones_add_heat (GstBuffer *buffer, const GstZonesStream *stream)
{
  const CuvZoneHeat *heat = &stream->heat;
  static const GstCuvColumn columns[] = { { "column", GST_CUV_TYPE_U32 },
    { "row", GST_CUV_TYPE_U32 }, { "seconds", GST_CUV_TYPE_F32 } };
  GstStructure *table;
  Rows rows;

  rows_begin (&rows, stream->placed->n);
  for (gint i = 0; i < heat->columns * heat->rows; i++) {
    if (heat->cells[i] < LEAST_HEAT)
      continue;
    add_u32 (&rows, (guint32) (i % heat->columns));
    add_u32 (&rows, (guint32) (i / heat->columns));
    add_f32 (&rows, heat->cells[i]);
    rows.n++;
  }
  table = END (&rows, buffer, "zone_heat", stream, "none", columns);
  if (table != NULL)
    gst_cuv_structure_set (table, "cell", G_TYPE_UINT, heat->cell, NULL);
}
