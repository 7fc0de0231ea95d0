/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results as metadata: writing and reading. */
#ifndef GST_CUV_META_H
#define GST_CUV_META_H

#include <gst/gst.h>
#include <gst/video/video.h>
#include "cuv-api.h"
#include "cuvroi.h"

G_BEGIN_DECLS

/* ---- objects: regions of interest ---- */

/* The first id that no region of the buffer has. Python finds a region by its
 * id only, so ids must differ, whoever else added some. */
CUV_API gint gst_cuv_meta_next_id (GstBuffer *buffer);

/* Adds a GstVideoRegionOfInterestMeta with a "detection" structure:
 * x_min, x_max, y_min, y_max (double, 0..1 of the frame), confidence (double,
 * absent if NAN; an ODMtd, which must have one, then says 0.5), label_id (int,
 * 0 unless extra has it). parent_id is -1, for none. ids of more objects count
 * up from gst_cuv_meta_next_id(). With GstAnalytics an ODMtd of the same id and
 * place is added too. extra: more fields for "detection", or NULL; taken. */
CUV_API GstVideoRegionOfInterestMeta *gst_cuv_meta_add_object (
    GstBuffer *buffer, const GstVideoInfo *info, gint id, const gchar *label,
    guint x, guint y, guint w, guint h, gdouble confidence,
    GstStructure *extra);

/* Marks a region as that of a tracked object, whose ids count from 1 up, with a
 * param "object_id" (id: int). With GstAnalytics a TrackingMtd is related to
 * the ODMtd that has the region's id. first_seen: the time of the frame in
 * which the track began. */
CUV_API void gst_cuv_meta_set_track (GstBuffer *buffer,
    GstVideoRegionOfInterestMeta *roi, gint id, GstClockTime first_seen);

/* Steps through the regions of this label, 0 = any, that have pixels in the
 * frame, and says which; state starts as NULL. */
CUV_API GstVideoRegionOfInterestMeta *gst_cuv_meta_next_region (
    GstBuffer *buffer, gpointer *state, GQuark label, const GstVideoInfo *info,
    CuvRoi *part);

/* ---- tables: lines, components, descriptors and others ----
 *
 * A GstCustomMeta without tags, so that copies keep it, named "GstCuv" + Kind +
 * "Meta". Its structure has: kind (string), version (uint), width and height
 * (uint, the frame the coordinates refer to), shape (string: "segments" with
 * columns x1 y1 x2 y2, "points" with columns x y, "pictures": one for each row,
 * or "none"), rows (uint), columns (GstValueArray of strings "name:type", type
 * one of f32 f64 i32 u32 i64 u64 u16 u8 text), data (GBytes: the rows, packed,
 * little endian), key (string, optional: what JSON calls it, else its kind),
 * and any scalars. A text is an u32, its number in texts (GstValueArray of
 * strings). Pictures are in pictures (GBytes: R, G, B of each pixel, row by
 * row, picture after picture), all of picture_width x picture_height (uint). */
typedef enum {
  GST_CUV_TYPE_F32,
  GST_CUV_TYPE_F64,
  GST_CUV_TYPE_I32,
  GST_CUV_TYPE_U32,
  GST_CUV_TYPE_I64,
  GST_CUV_TYPE_U64,
  GST_CUV_TYPE_U16,
  GST_CUV_TYPE_U8,
  GST_CUV_TYPE_TEXT, /* guint32 */
} GstCuvType;

typedef struct {
  const gchar *name;
  GstCuvType type;
} GstCuvColumn;

/* Adds a table. rows are n_rows packed rows, native byte order = little
 * endian. Scalars may be added to the structure that comes back. */
CUV_API GstStructure *gst_cuv_meta_add_table (GstBuffer *buffer,
    const gchar *kind, guint version, guint width, guint height,
    const gchar *shape, const GstCuvColumn *columns, guint n_columns,
    gconstpointer rows, guint n_rows);

/* The texts that columns of GST_CUV_TYPE_TEXT index. Invalid UTF-8 is made
 * valid.
 */
CUV_API void gst_cuv_meta_set_texts (
    GstStructure *table, const gchar *const *texts, guint n);

#define GST_CUV_MAX_COLUMNS 64

/* A table as a reader sees it. Strings and bytes belong to the buffer. */
typedef struct {
  const GstStructure *structure;
  const gchar *kind;
  const gchar *key; /* the kind where there is none */
  const gchar *shape;
  guint width, height;
  guint n_rows, n_columns, row_size;
  struct {
    const gchar *name; /* interned */
    GstCuvType type;
    guint offset;
  } columns[GST_CUV_MAX_COLUMNS];
  const guint8 *data;
} GstCuvTable;

/* Steps through the buffer's tables, whoever wrote them; state starts as NULL.
 * Custom metas that are no table, or a broken one, are passed over. */
CUV_API gboolean gst_cuv_meta_next_table (
    GstBuffer *buffer, gpointer *state, GstCuvTable *table);

/* The column's index, -1 if there is none of this name. */
CUV_API gint gst_cuv_table_column (const GstCuvTable *table, const gchar *name);

/* A value as double; as integer (exact for all integer types). */
CUV_API gdouble gst_cuv_table_double (
    const GstCuvTable *table, guint row, guint column);
CUV_API gint64 gst_cuv_table_int (
    const GstCuvTable *table, guint row, guint column);

/* The text of a cell; NULL if there is none. */
CUV_API const gchar *gst_cuv_table_text (
    const GstCuvTable *table, guint row, guint column);

/* The pixels of all pictures, row after row of the table, and the size of each;
 * NULL if there are none, or not as many as rows. */
CUV_API const guint8 *gst_cuv_table_pictures (
    const GstCuvTable *table, guint *width, guint *height);

/* TRUE for the fields that describe a table, FALSE for its scalars. */
CUV_API gboolean gst_cuv_table_is_layout (const gchar *field);

G_END_DECLS

#endif
