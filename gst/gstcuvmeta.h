/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results as metadata: writing and reading. */
#ifndef GST_CUV_META_H
#define GST_CUV_META_H

#include <gst/gst.h>
#include <gst/video/video.h>
#include "cuv-api.h"
#include "cuvroi.h"

G_BEGIN_DECLS

/* ---- objects ----
 *
 * An object is written as a GstVideoRegionOfInterestMeta, its region, and with
 * GstAnalytics (GStreamer 1.24) also as a GstAnalyticsODMtd of the same label
 * and box. Other elements write either or both. */

typedef struct {
  GQuark label;                      /* 0: none */
  guint x, y, w, h;                  /* pixels; may exceed the frame */
  gint id;                           /* unique: the region's, else the ODMtd's
                                      * if no region has it */
  gint parent_id;                    /* id of the object it is in, -1: none */
  gint64 track;                      /* id of its track, -1: none */
  gdouble confidence;                /* NAN: none */
  GQuark class_label;                /* what a classifier says, 0: nothing else
                                      * than label */
  gdouble class_confidence;          /* of class_label */
  GstVideoRegionOfInterestMeta *roi; /* the region, NULL: none */
  gint od;                           /* id of the ODMtd, -1: none */
} GstCuvObject;

/* Replaces objects, an array of GstCuvObject, by those of the buffer, whatever
 * they are written as. A region and an ODMtd of the same label and box are one
 * object, where several are equal in their order. An oriented ODMtd has its
 * enclosing box, but with a region that of the region. */
CUV_API void gst_cuv_objects_read (GArray *objects, GstBuffer *buffer);

/* Whether the object has this label (0 = any) and pixels in the frame; part:
 * those. */
CUV_API gboolean gst_cuv_object_in_frame (const GstCuvObject *object,
    GQuark label, const GstVideoInfo *info, CuvRoi *part);

/* The box that encloses the object's detection, which is oriented; the object
 * has that of its region. FALSE if it is not oriented, or has no region. */
CUV_API gboolean gst_cuv_object_oriented_box (
    const GstCuvObject *object, GstBuffer *buffer, CuvRoi *box);

/* The first id that none of the objects has, an array of GstCuvObject. Python
 * finds a region by its id only, so ids must differ, whoever else added some.
 */
CUV_API gint gst_cuv_objects_next_id (const GArray *objects);

/* The same for the objects of a buffer. */
CUV_API gint gst_cuv_meta_next_id (GstBuffer *buffer);

/* A relation meta takes memory and time with the square of its entries: objects
 * are written as regions only once it has so many. */
#define GST_CUV_MAX_MTDS 1024

/* Adds an object. Its region has a "detection" structure: x_min, x_max, y_min,
 * y_max (double, 0..1 of the frame), confidence (double, absent if NAN; an
 * ODMtd, which must have one, then says 0.5), label_id (int, 0 unless extra has
 * it). parent_id is -1, for none. ids of more objects count up from
 * gst_cuv_objects_next_id(). extra: more fields for "detection", or NULL;
 * taken.
 */
CUV_API GstCuvObject gst_cuv_meta_add_object (GstBuffer *buffer,
    const GstVideoInfo *info, gint id, const gchar *label, guint x, guint y,
    guint w, guint h, gdouble confidence, GstStructure *extra);

/* The object's region; adds one if it is an ODMtd only. */
CUV_API GstVideoRegionOfInterestMeta *gst_cuv_meta_ensure_region (
    GstBuffer *buffer, const GstVideoInfo *info, GstCuvObject *object);

/* With GstAnalytics adds a ClsMtd of the object's label and confidence, unless
 * it has none, to which its ODMtd relates. To be called after the last object
 * was added, so that ids of ODMtds count up like those of regions. */
CUV_API void gst_cuv_meta_add_class (
    GstBuffer *buffer, const GstCuvObject *object);

/* Sets a region's parent. The ODMtd is part of the parent's. */
CUV_API void gst_cuv_meta_set_parent (GstBuffer *buffer,
    const GstVideoInfo *info, GstCuvObject *object, GstCuvObject *parent);

/* Marks an object as tracked: its region gets a param "object_id" (id: int,
 * from 1 up), its ODMtd relates to a TrackingMtd. Adds what is missing of both.
 * The times are those of the frames in which the track began and in which it
 * was last found, or NONE. */
CUV_API void gst_cuv_meta_set_track (GstBuffer *buffer,
    const GstVideoInfo *info, GstCuvObject *object, gint id,
    GstClockTime first_seen, GstClockTime last_seen);

/* With GstAnalytics adds a TrackingMtd that is lost. */
CUV_API void gst_cuv_meta_add_lost_track (GstBuffer *buffer, gint id,
    GstClockTime first_seen, GstClockTime last_seen);

/* ---- tables: lines, components, descriptors and others ----
 *
 * A GstCustomMeta named "GstCuv" + Kind + "Meta". If the first table of a kind
 * has coordinates (of shape "segments", or with a column x) its tags are those
 * of a region of interest: copies keep it, videoscale does, and elements that
 * cut or flip the frame move the segments or points, with columns rho and
 * theta, from GStreamer 1.28 on, or drop the table. Other kinds have no tags.
 * Its structure has: kind (string), version (uint), width and height
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

/* Registers the metas of these kinds of tables, which have coordinates, a list
 * that ends with NULL: unixfdsrc and cudaipcsrc drop those that no one has
 * registered. From then on, and from the first of this project's elements on,
 * regions of interest and GstAnalytics travel to other processes, too
 * (GStreamer 1.24). */
CUV_API void gst_cuv_meta_register_tables (const gchar *const *kinds);

/* The same for kinds without coordinates. */
CUV_API void gst_cuv_meta_register_unplaced_tables (const gchar *const *kinds);

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
