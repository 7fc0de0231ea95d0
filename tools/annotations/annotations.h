/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Readers of annotations, objects marked in pictures, in the usual formats; and
 * a map of this folder. cuvision-train calls cuv_annotations_parse(), which
 * recognises the format and calls one of the readers.
 *
 *   annotations.c  recognises the format by the content; what readers share
 *   coco.c         COCO's JSON
 *   labelme.c      LabelMe's JSON
 *   via.c          JSON and CSV of the VGG Image Annotator
 *   records.c      JSON lines of visionpublish
 *   csv.c          CSV of visionpublish and of TensorFlow's tools
 *   xml.c          Pascal VOC and dlib
 *   cvat.c         CVAT's XML
 *   text.c         YOLO, and OpenCV's info.dat
 *   names.c        names of YOLO's classes
 *   json.c, csv.c, xml.c   also what the readers of these formats share
 *   vec.c          samples of opencv_createsamples, which have no pictures
 *
 * Readers take bytes and open no file. */
#ifndef CUV_ANNOTATIONS_H
#define CUV_ANNOTATIONS_H

#include <glib.h>

typedef struct {
  gdouble x, y, width, height; /* pixels, or fractions of the picture's size */
  const gchar *label; /* lives as long as the annotations; "" if none */
  gboolean ignore;    /* neither an object to learn nor a negative */
} CuvAnnotation;

/* The objects of a picture, or of a frame of a video. */
typedef struct {
  gchar *path;     /* as written; "": the picture of this file */
  gint64 frame;    /* from 0; -1: a picture */
  gboolean shares; /* boxes are fractions of the picture's width and height */
  gint width, height;   /* size of the annotated picture; 0: unknown */
  guint n_empty;        /* objects without an area, which are not in `boxes` */
  GArray *boxes;        /* of CuvAnnotation */
  GStringChunk *labels; /* of all pictures */
} CuvAnnotated;

typedef enum {
  CUV_ANNOTATIONS_COCO,
  CUV_ANNOTATIONS_VOC,
  CUV_ANNOTATIONS_DLIB,
  CUV_ANNOTATIONS_YOLO,
  CUV_ANNOTATIONS_INFO,
  CUV_ANNOTATIONS_JSON_LINES,
  CUV_ANNOTATIONS_CSV,
  CUV_ANNOTATIONS_LABELME,
  CUV_ANNOTATIONS_CVAT,
  CUV_ANNOTATIONS_VIA_JSON,
  CUV_ANNOTATIONS_VIA_CSV,
  CUV_ANNOTATIONS_TENSORFLOW_CSV,
  CUV_ANNOTATIONS_N_FORMATS,
} CuvAnnotationsFormat;

typedef struct {
  GPtrArray *pictures; /* of CuvAnnotated, in the order of the file */
  GHashTable *index;   /* path and frame -> CuvAnnotated */
  GStringChunk *labels;
} CuvAnnotations;

CuvAnnotations *cuv_annotations_new (void);
void cuv_annotations_free (CuvAnnotations *self); /* NULL is allowed */

/* Returns the name of a format: "COCO", "Pascal VOC", ... */
const gchar *cuv_annotations_format_name (CuvAnnotationsFormat format);

/* Adds the objects of a file's content. labels: names of YOLO's classes; NULL:
 * use their numbers. Returns FALSE with an error that begins with the line or
 * object that is wrong; what was read before it remains. */
gboolean cuv_annotations_parse (CuvAnnotations *self, const gchar *bytes,
    gsize size, const gchar *const *labels, GError **error);

/* Returns the text of a file as UTF-8 without a byte-order mark, from UTF-8,
 * UTF-16 with such a mark, or the encoding that an XML declaration names.
 * Returns NULL with an error; g_free() it. */
gchar *cuv_annotations_decode (const gchar *bytes, gsize size, GError **error);

/* Returns the names of YOLO's classes in a decoded text: one per line, or the
 * member `names` of YAML. g_strfreev() them. Returns NULL with an error. */
gchar **cuv_annotations_names (const gchar *text, GError **error);

/* Sets the format of a file's content. Returns FALSE if it is none of them. */
gboolean cuv_annotations_recognise (
    const gchar *bytes, gsize size, CuvAnnotationsFormat *format);

/* ---- samples without pictures ---- */

/* Grey samples of one size. Only their number of pixels is known, not width and
 * height. */
typedef struct {
  gint n, n_pixels;
  const guint8 *samples; /* in the file's bytes */
} CuvVec;

/* Whether the content begins like a .vec file. */
gboolean cuv_vec_recognise (const gchar *bytes, gsize size);

/* Reads the header. bytes must outlive self. Returns FALSE with an error. */
gboolean cuv_vec_parse (
    CuvVec *self, const gchar *bytes, gsize size, GError **error);

/* Copies the n_pixels pixels of sample i, row by row. Returns FALSE with an
 * error. */
gboolean cuv_vec_sample (
    const CuvVec *self, gint i, guint8 *pixels, GError **error);

/* ---- for the readers ---- */

/* Returns the picture, which is added if it is new. */
CuvAnnotated *cuv_annotations_picture (
    CuvAnnotations *self, const gchar *path, gint64 frame);

/* Adds a box, or counts it in n_empty if it has no area. Returns FALSE with an
 * error if a side is negative or not a number. */
gboolean cuv_annotated_add (
    CuvAnnotated *self, const CuvAnnotation *box, GError **error);

/* Returns a copy that lives as long as the annotations; NULL becomes "". */
const gchar *cuv_annotations_label (GStringChunk *labels, const gchar *label);

/* Sets the size; an invalid one counts as unknown. */
void cuv_annotated_set_size (CuvAnnotated *self, gdouble width, gdouble height);

/* The smallest box around points; initialize with { 0 }. */
typedef struct {
  guint n;
  gdouble left, top, right, bottom;
} CuvExtent;

void cuv_extent_add (CuvExtent *self, gdouble x, gdouble y);
void cuv_extent_to_box (const CuvExtent *self, CuvAnnotation *box);

/* Sets an error; returns FALSE. */
gboolean cuv_annotations_fail (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Parses a number, with a decimal point in every locale. Returns FALSE for
 * other texts. */
gboolean cuv_annotations_number (const gchar *text, gdouble *number);

/* Returns the line at *at and sets *at to the next one; g_free() it. Returns
 * NULL at the end. */
gchar *cuv_annotations_line (const gchar **at);

/* Maximum length of a line in bytes: its words take many times its size in
 * memory. */
#define CUV_ANNOTATIONS_MAX_LINE (1 << 20)

/* Returns the words of a line, without empty ones; g_strfreev() them. */
gchar **cuv_annotations_words (const gchar *line);

/* A reader of one format, with the arguments of cuv_annotations_parse(); bytes
 * are decoded text that ends with a 0. */
typedef gboolean (*CuvAnnotationsReader) (CuvAnnotations *self,
    const gchar *bytes, gsize size, const gchar *const *labels, GError **error);

gboolean cuv_read_coco (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_labelme (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_via_json (CuvAnnotations *self, const gchar *bytes,
    gsize size, const gchar *const *labels, GError **error);
gboolean cuv_read_json_lines (CuvAnnotations *self, const gchar *bytes,
    gsize size, const gchar *const *labels, GError **error);
gboolean cuv_read_csv (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_tensorflow_csv (CuvAnnotations *self, const gchar *bytes,
    gsize size, const gchar *const *labels, GError **error);
gboolean cuv_read_via_csv (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_voc (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_dlib (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_cvat (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_yolo (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_info (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);

#endif
