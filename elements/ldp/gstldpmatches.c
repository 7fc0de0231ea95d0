/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstldpmatches.h"

#include "gstcuvmeta.h"
#include "gstcuvstructure.h"

/* A row of the table, without padding. */
typedef struct __attribute__ ((packed)) {
  gint32 region_id;
  guint32 rank;
  guint64 entry;
  gdouble similarity;
  guint32 name;
} Row;

static const GstCuvColumn columns[] = {
  { "region_id", GST_CUV_TYPE_I32 },
  { "rank", GST_CUV_TYPE_U32 },
  { "entry", GST_CUV_TYPE_U64 },
  { "similarity", GST_CUV_TYPE_F64 },
  { "name", GST_CUV_TYPE_TEXT },
};

/* ---- collecting ---- */

void
gst_ldp_matches_init (GstLdpMatches *self)
{
  *self = (GstLdpMatches){ 0 };
  self->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->pictures = g_byte_array_new ();
}

void
gst_ldp_matches_clear (GstLdpMatches *self)
{
  g_array_unref (self->rows);
  g_ptr_array_unref (self->names);
  g_byte_array_unref (self->pictures);
  g_clear_pointer (&self->attached, g_bytes_unref);
}

void
gst_ldp_matches_begin (GstLdpMatches *self, guint index)
{
  g_array_set_size (self->rows, 0);
  g_ptr_array_set_size (self->names, 0);
  g_byte_array_set_size (self->pictures, 0);
  g_clear_pointer (&self->attached, g_bytes_unref);
  self->too_large = FALSE;
  self->best_hash = index;
}

static void
gst_ldp_matches_add_picture (
    GstLdpMatches *self, CuvLdpIndex *index, guint64 entry)
{
  const CuvLdpIndexInfo *info = cuv_ldp_index_info (index);
  const guint8 *picture = cuv_ldp_index_thumbnail (index, entry);
  const guint size =
      3 * (guint) info->thumbnail_width * (guint) info->thumbnail_height;

  if (picture == NULL || self->too_large)
    return;
  self->too_large = self->pictures->len + size > GST_LDP_MATCHES_MAX_PICTURES;
  if (self->too_large) {
    g_byte_array_set_size (self->pictures, 0);
    return;
  }
  self->picture_width = (guint) info->thumbnail_width;
  self->picture_height = (guint) info->thumbnail_height;
  g_byte_array_append (self->pictures, picture, size);
}

/* Continues an FNV-1a hash. */
static guint
hash_value (guint hash, guint64 value)
{
  for (gint i = 0; i < 8; i++, value >>= 8)
    hash = (hash ^ (guint) (value & 255)) * 16777619u;
  return hash;
}

void
gst_ldp_matches_add (GstLdpMatches *self, const GstLdpRegion *region,
    const CuvLdpQuery *query, CuvLdpIndex *index, gboolean thumbnails)
{
  for (gint i = 0; i < query->n_matches; i++) {
    const CuvLdpMatch *match = &query->matches[i];
    const gchar *name = cuv_ldp_index_name (index, match->entry);
    const Row row = { region->id, (guint32) i + 1, match->entry,
      match->similarity, self->names->len };

    g_array_append_val (self->rows, row);
    g_ptr_array_add (self->names, g_strdup (name != NULL ? name : ""));
    if (thumbnails)
      gst_ldp_matches_add_picture (self, index, match->entry);
  }
  self->best_hash = hash_value (self->best_hash, (guint64) region->id);
  self->best_hash = hash_value (self->best_hash,
      query->n_matches > 0 ? query->matches[0].entry : G_MAXUINT64);
}

/* ---- publishing ---- */

/* Results that are held share the bytes of the first buffer. */
static void
set_pictures (GstLdpMatches *self, GstStructure *table)
{
  if (self->attached == NULL)
    self->attached = g_bytes_new (self->pictures->data, self->pictures->len);
  gst_cuv_structure_set (table, "pictures", G_TYPE_BYTES, self->attached,
      "picture_width", G_TYPE_UINT, self->picture_width, "picture_height",
      G_TYPE_UINT, self->picture_height, NULL);
}

GstStructure *
gst_ldp_matches_attach (
    GstLdpMatches *self, GstBuffer *buffer, guint width, guint height)
{
  const gboolean pictures = self->pictures->len > 0;
  GstStructure *table = gst_cuv_meta_add_table (buffer, "matches", 1, width,
      height, pictures ? "pictures" : "none", columns, G_N_ELEMENTS (columns),
      self->rows->data, self->rows->len);

  gst_cuv_meta_set_texts (
      table, (const gchar *const *) self->names->pdata, self->names->len);
  if (pictures)
    set_pictures (self, table);
  return table;
}

void
gst_ldp_matches_list (const GstLdpMatches *self, GstStructure *message)
{
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  for (guint i = 0; i < self->rows->len; i++) {
    const Row *row = &g_array_index (self->rows, Row, i);
    GValue value = G_VALUE_INIT;

    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value,
        gst_cuv_structure_new ("match", "region-id", G_TYPE_INT, row->region_id,
            "rank", G_TYPE_UINT, row->rank, "entry", G_TYPE_UINT64, row->entry,
            "similarity", G_TYPE_DOUBLE, row->similarity, "name", G_TYPE_STRING,
            g_ptr_array_index (self->names, row->name), NULL));
    gst_value_list_append_and_take_value (&list, &value);
  }
  gst_cuv_structure_take_value (message, "matches", &list);
}
