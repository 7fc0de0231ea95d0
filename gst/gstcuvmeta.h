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
 * An object is a GstVideoRegionOfInterestMeta, its region, or with GstAnalytics
 * (GStreamer 1.24) a GstAnalyticsODMtd, or both, with the same label and box.
 * Other elements, too, write either or both. */

/* An object of a frame. */
typedef struct {
  GQuark label; /* 0: none */
  guint x;      /* left column in pixels; the box may exceed the frame */
  guint y;      /* top row */
  guint w;      /* columns */
  guint h;      /* rows */
  gint id;      /* unique: the region's, otherwise the ODMtd's if no region has
                 * it */
  gint parent_id;           /* id of the object that encloses it, -1: none */
  gint64 track;             /* id of its track, -1: none */
  gdouble confidence;       /* NAN: none */
  GQuark class_label;       /* from a classifier; 0: none, or equal to label */
  gdouble class_confidence; /* confidence of class_label */
  GstVideoRegionOfInterestMeta *roi; /* the region, NULL: none */
  gint od;                           /* id of the ODMtd, -1: none */
  const GList *params; /* GstStructures that belong to the buffer: those of the
                        * region, otherwise those of the ODMtd */
} GstCuvObject;

/* Finds a parameter of an object.
 *
 * @object: the object
 * @name: the structure's name, such as "detection"
 *
 * Returns: the structure, which belongs to the buffer; NULL if there is none */
CUV_API const GstStructure *gst_cuv_object_param (
    const GstCuvObject *object, const gchar *name);

/* Reads the objects of a buffer, whether they are regions, ODMtds or both. A
 * region and an ODMtd of the same label and box are one object; if several are
 * equal, they are matched in order. The box of an oriented ODMtd is the one
 * that encloses it, or that of its region if it has one.
 *
 * @objects: an array of GstCuvObject, whose elements are replaced
 * @buffer: the buffer */
CUV_API void gst_cuv_objects_read (GArray *objects, GstBuffer *buffer);

/* Whether an object has a label and pixels in the frame.
 *
 * @object: the object
 * @label: the label it must have, 0 = any
 * @info: the frame's video info
 * @part: set to the part of the object in the frame, in pixels
 *
 * Returns: TRUE if it has both */
CUV_API gboolean gst_cuv_object_in_frame (const GstCuvObject *object,
    GQuark label, const GstVideoInfo *info, CuvRoi *part);

/* Computes the box that encloses an oriented detection, if the object also has
 * a region: then the object's own box is that of the region.
 *
 * @object: the object
 * @buffer: the buffer it was read from
 * @box: set to the box, in pixels
 *
 * Returns: FALSE if the detection is not oriented, or the object has no region
 */
CUV_API gboolean gst_cuv_object_oriented_box (
    const GstCuvObject *object, GstBuffer *buffer, CuvRoi *box);

/* Finds the first id that none of the objects has. Python finds a region by its
 * id only, so the ids in a buffer must differ, whichever elements added them.
 *
 * @objects: an array of GstCuvObject
 *
 * Returns: an id from 0 up */
CUV_API gint gst_cuv_objects_next_id (const GArray *objects);

/* Like gst_cuv_objects_next_id() for the objects of a buffer.
 *
 * @buffer: the buffer
 *
 * Returns: an id from 0 up */
CUV_API gint gst_cuv_meta_next_id (GstBuffer *buffer);

/* The memory and time that a relation meta takes grow with the square of its
 * entries. When it has this many, further objects and tracks are regions of
 * interest only, and the log says so once. */
#define GST_CUV_MAX_MTDS 8192

/* How objects are written. */
typedef enum {
  GST_CUV_METADATA_BOTH,      /* regions, and GstAnalytics if built with it */
  GST_CUV_METADATA_ANALYTICS, /* GstAnalytics; what it cannot hold as regions */
  GST_CUV_METADATA_ROI,       /* regions */
} GstCuvMetadata;

/* Writes the objects of one buffer. Set the first fields, the others to 0:
 *
 *   GstCuvWriter writer = { buffer, info, GST_CUV_METADATA_BOTH, 2 * n };
 */
typedef struct {
  GstBuffer *buffer;        /* a writable buffer */
  const GstVideoInfo *info; /* the frame's video info */
  GstCuvMetadata metadata;
  guint n_entries; /* GstAnalytics entries that will be added, one for each new
                    * object, class and track; with more than 64 entries, 0
                    * takes long */

  gpointer relations, params; /* private */
} GstCuvWriter;

/* Adds an object with a parameter "detection", which has confidence (double,
 * absent if NAN) and label_id (int, 0 unless extra has it), and in a region
 * x_min, x_max, y_min, y_max (double, 0..1 of the frame). An ODMtd must have a
 * confidence: it is 0.5 if confidence is NAN.
 *
 * @writer: the writer
 * @id: the object's id, counting up from gst_cuv_objects_next_id()
 * @label: what it is, or NULL
 * @x: left column, in pixels
 * @y: top row
 * @w: columns
 * @h: rows
 * @confidence: usually 0..1; NAN: none
 * @extra: more fields for "detection", or NULL; the function takes ownership
 *
 * Returns: the object, whose parent_id and track are -1 */
CUV_API GstCuvObject gst_cuv_meta_add_object (GstCuvWriter *writer, gint id,
    const gchar *label, guint x, guint y, guint w, guint h, gdouble confidence,
    GstStructure *extra);

/* Adds a parameter to an object: to its region, otherwise to its ODMtd, which
 * has no parameters before GStreamer 1.26.
 *
 * @writer: the writer
 * @object: an object of the buffer, updated
 * @param: the parameter; the function takes ownership */
CUV_API void gst_cuv_meta_add_param (
    GstCuvWriter *writer, GstCuvObject *object, GstStructure *param);

/* With GstAnalytics, adds a ClsMtd with the object's label and confidence, if
 * it has them, and relates its ODMtd to it. Call it after the last object was
 * added, so that ids of ODMtds count up like those of regions.
 *
 * @writer: the writer
 * @object: an object of the buffer */
CUV_API void gst_cuv_meta_add_class (
    GstCuvWriter *writer, const GstCuvObject *object);

/* Sets the parent of an object: of its region, and of its ODMtd, which becomes
 * part of the parent's. Adds those that are missing.
 *
 * @writer: the writer
 * @object: an object of the buffer, updated
 * @parent: the object that encloses it, updated */
CUV_API void gst_cuv_meta_set_parent (
    GstCuvWriter *writer, GstCuvObject *object, GstCuvObject *parent);

/* Marks an object as tracked: its region gets a parameter "object_id" with the
 * id, and its ODMtd is related to a TrackingMtd. Adds those that are missing.
 *
 * @writer: the writer
 * @object: an object of the buffer, updated; NULL: the track is lost, which
 * only GstAnalytics records
 * @id: the track's id, from 1 up
 * @first_seen: PTS of the frame in which the track began, or NONE
 * @last_seen: PTS of the frame in which it was last found, or NONE */
CUV_API void gst_cuv_meta_set_track (GstCuvWriter *writer, GstCuvObject *object,
    gint id, GstClockTime first_seen, GstClockTime last_seen);

/* ---- tables: lines, components, descriptors and others ----
 *
 * A table is a GstCustomMeta named "GstCuv" + Kind + "Meta". Its structure has:
 *
 *   kind            string
 *   version         uint
 *   width, height   uint: size of the frame that coordinates refer to
 *   shape           string: "segments" (with columns x1 y1 x2 y2),
 *                   "points" (with columns x y), both optionally with a
 *                   text column caption, "pictures" (one for each row) or
 *                   "none"
 *   rows            uint
 *   columns         GstValueArray of strings "name:type", where type is one
 *                   of f32 f64 i32 u32 i64 u64 u16 u8 text
 *   data            GBytes: the rows, packed, little endian
 *   key             string, optional: name in JSON; by default the kind
 *   texts           GstValueArray of strings; a cell of type text is an u32,
 *                   the index of its text
 *   pictures        GBytes: R, G, B of each pixel, row by row, picture by
 *                   picture
 *   picture_width, picture_height
 *                   uint: the size of each picture
 *   metrics         string, optional: names of columns, separated by spaces,
 *                   that visionwebsink serves to Prometheus and visionpublish
 *                   sends by MQTT: gauges, or with ":counter" after the name
 *                   counters. A row that a later table lacks is gone
 *   metrics_unit    string, optional: the unit of the metrics, as in "objects"
 *   row_names       string, optional: names of the columns of text, separated
 *                   by spaces, that identify a row; by default all columns of
 *                   text
 *   any other       a scalar
 *
 * If the first table of a kind has coordinates (shape "segments", or a column
 * x), the meta has the tags of a region of interest: copies and videoscale keep
 * it; elements that cut or flip the frame move the segments or points, and
 * columns rho and theta, from GStreamer 1.28 on, and drop the table before.
 * Other kinds have no tags. */

/* The type of a column's cells. */
typedef enum {
  GST_CUV_TYPE_F32,  /* gfloat */
  GST_CUV_TYPE_F64,  /* gdouble */
  GST_CUV_TYPE_I32,  /* gint32 */
  GST_CUV_TYPE_U32,  /* guint32 */
  GST_CUV_TYPE_I64,  /* gint64 */
  GST_CUV_TYPE_U64,  /* guint64 */
  GST_CUV_TYPE_U16,  /* guint16 */
  GST_CUV_TYPE_U8,   /* guint8 */
  GST_CUV_TYPE_TEXT, /* guint32, the index of a text */
} GstCuvType;

/* A column of a table. */
typedef struct {
  const gchar *name; /* as in "rho" */
  GstCuvType type;   /* type of its cells */
} GstCuvColumn;

/* Adds a table.
 *
 * @buffer: a writable buffer
 * @kind: what it contains, such as "lines"
 * @version: version of this kind's columns and scalars
 * @width: columns of the frame that coordinates refer to
 * @height: rows of that frame
 * @shape: "segments", "points", "pictures" or "none"
 * @columns: names and types of the columns
 * @n_columns: number of columns
 * @rows: packed rows, in the byte order of the machine, which is little endian
 * @n_rows: number of rows
 *
 * Returns: the table's structure, to which scalars may be added; it belongs to
 * the buffer */
CUV_API GstStructure *gst_cuv_meta_add_table (GstBuffer *buffer,
    const gchar *kind, guint version, guint width, guint height,
    const gchar *shape, const GstCuvColumn *columns, guint n_columns,
    gconstpointer rows, guint n_rows);

/* Registers the metas of kinds of tables with coordinates: unixfdsrc and
 * cudaipcsrc drop metas that are not registered. After this call, or when the
 * first of this project's elements exists, regions of interest and GstAnalytics
 * are sent to other processes, too (GStreamer 1.24).
 *
 * @kinds: a list that ends with NULL */
CUV_API void gst_cuv_meta_register_tables (const gchar *const *kinds);

/* Registers the metas of kinds of tables without coordinates; see
 * gst_cuv_meta_register_tables().
 *
 * @kinds: a list that ends with NULL */
CUV_API void gst_cuv_meta_register_unplaced_tables (const gchar *const *kinds);

/* Sets the texts that columns of GST_CUV_TYPE_TEXT refer to. Invalid UTF-8 is
 * made valid.
 *
 * @table: a table's structure
 * @texts: the texts
 * @n: number of texts */
CUV_API void gst_cuv_meta_set_texts (
    GstStructure *table, const gchar *const *texts, guint n);

/* Tables with more columns are not valid. */
#define GST_CUV_MAX_COLUMNS 64

/* A table as a reader sees it. Strings and bytes belong to the buffer. */
typedef struct {
  const GstStructure *structure; /* structure of the meta */
  const gchar *kind;             /* such as "lines" */
  const gchar *key;              /* name in JSON; by default the kind */
  const gchar *shape;            /* "segments", "points", "pictures", "none" */
  guint width;     /* columns of the frame that coordinates refer to */
  guint height;    /* rows of that frame */
  guint n_rows;    /* rows */
  guint n_columns; /* columns */
  guint row_size;  /* bytes of a row */
  struct {
    const gchar *name;            /* interned */
    GstCuvType type;              /* type of its cells */
    guint offset;                 /* bytes from the row's beginning */
  } columns[GST_CUV_MAX_COLUMNS]; /* the first n_columns are set */
  const guint8 *data;             /* the rows, packed */
} GstCuvTable;

/* Steps through the tables of a buffer, whichever element wrote them. Skips
 * custom metas that are not valid tables.
 *
 * @buffer: the buffer
 * @state: NULL before the first call
 * @table: set to the next table
 *
 * Returns: FALSE if there are no more */
CUV_API gboolean gst_cuv_meta_next_table (
    GstBuffer *buffer, gpointer *state, GstCuvTable *table);

/* Looks up a column.
 *
 * @table: a table
 * @name: the column's name
 *
 * Returns: the index, -1 if there is no column of this name */
CUV_API gint gst_cuv_table_column (const GstCuvTable *table, const gchar *name);

/* Reads a cell as a double.
 *
 * @table: a table
 * @row: 0 .. n_rows - 1
 * @column: 0 .. n_columns - 1
 *
 * Returns: the value */
CUV_API gdouble gst_cuv_table_double (
    const GstCuvTable *table, guint row, guint column);
/* Reads a cell as an integer, without loss for all integer types; the value of
 * a u64 must be cast to guint64.
 *
 * @table: a table
 * @row: 0 .. n_rows - 1
 * @column: 0 .. n_columns - 1
 *
 * Returns: the value */
CUV_API gint64 gst_cuv_table_int (
    const GstCuvTable *table, guint row, guint column);

/* Reads the text of a cell.
 *
 * @table: a table
 * @row: 0 .. n_rows - 1
 * @column: 0 .. n_columns - 1
 *
 * Returns: the text, which belongs to the buffer; NULL if there is none */
CUV_API const gchar *gst_cuv_table_text (
    const GstCuvTable *table, guint row, guint column);

/* Returns the pictures of a table, one for each row.
 *
 * @table: a table
 * @width: set to the columns of each picture
 * @height: set to the rows of each picture
 *
 * Returns: R, G, B of each pixel, row by row, picture by picture; NULL if there
 * are none, or not one for each row */
CUV_API const guint8 *gst_cuv_table_pictures (
    const GstCuvTable *table, guint *width, guint *height);

/* Whether a field of a table's structure describes the table.
 *
 * @field: the field's name
 *
 * Returns: FALSE for scalars */
CUV_API gboolean gst_cuv_table_is_layout (const gchar *field);

G_END_DECLS

#endif
