/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects that someone marked in pictures: readers of the usual formats.
 *
 *   annotations.c  the result; recognises the format by the content
 *   coco.c         COCO's JSON
 *   labelme.c      LabelMe's JSON
 *   via.c          JSON and CSV of the VGG Image Annotator
 *   records.c      JSON lines of visionpublish
 *   csv.c          CSV of visionpublish and of TensorFlow's tools
 *   xml.c          Pascal VOC and dlib
 *   cvat.c         CVAT's XML
 *   text.c         YOLO, and OpenCV's info.dat
 *   names.c        names of YOLO's classes
 *   vec.c          samples of opencv_createsamples, which have no pictures
 *
 * Readers take bytes and open no file. */
#ifndef CUV_ANNOTATIONS_H
#define CUV_ANNOTATIONS_H

#include <glib.h>

typedef struct {
  gdouble x, y, width, height; /* of the picture's pixels, or shares of its size
                                */
  const gchar *label; /* lives as long as the annotations; "" if none */
  gboolean ignore;    /* not to be learnt, but no negative either */
} CuvAnnotation;

/* The objects of a picture, or of a frame of a film. */
typedef struct {
  gchar *path;          /* as written; "": the one that belongs to the file */
  gint64 frame;         /* from 0, -1: a picture */
  gboolean shares;      /* boxes are shares of the picture's width and height */
  gint width, height;   /* of the picture that was annotated; 0: unknown */
  guint n_empty;        /* objects without an area, which are left out */
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

/* "COCO", .. */
const gchar *cuv_annotations_format_name (CuvAnnotationsFormat format);

/* Adds the objects of a file's content. labels: names of YOLO's classes, or
 * NULL: their numbers are the labels. FALSE with an error that begins with the
 * line or the object that is wrong; then what was read before is there. */
gboolean cuv_annotations_parse (CuvAnnotations *self, const gchar *bytes,
    gsize size, const gchar *const *labels, GError **error);

/* The text of a file as UTF-8 without a byte-order mark, from UTF-8, UTF-16
 * with such a mark, or the encoding that an XML declaration names. NULL with an
 * error; g_free() it. */
gchar *cuv_annotations_decode (const gchar *bytes, gsize size, GError **error);

/* The names of YOLO's classes in a decoded text: one a line, or the member
 * names of YAML. g_strfreev() them; NULL with an error. */
gchar **cuv_annotations_names (const gchar *text, GError **error);

/* The format of a file's content, FALSE if it is none of them. */
gboolean cuv_annotations_recognise (
    const gchar *bytes, gsize size, CuvAnnotationsFormat *format);

/* ---- samples without pictures ---- */

/* Grey samples of one size; of width and height only the product is known. */
typedef struct {
  gint n, n_pixels;
  const guint8 *samples; /* in the file's bytes */
} CuvVec;

/* Whether the content begins like a .vec file. */
gboolean cuv_vec_recognise (const gchar *bytes, gsize size);

/* bytes must outlive self. FALSE with an error. */
gboolean cuv_vec_parse (
    CuvVec *self, const gchar *bytes, gsize size, GError **error);

/* Copies n_pixels pixels, row by row. FALSE with an error. */
gboolean cuv_vec_sample (
    const CuvVec *self, gint i, guint8 *pixels, GError **error);

/* ---- for the readers ---- */

/* The picture, added if it is new. */
CuvAnnotated *cuv_annotations_picture (
    CuvAnnotations *self, const gchar *path, gint64 frame);

/* Boxes without an area are counted. FALSE with an error if a side is below 0
 * or not a number. */
gboolean cuv_annotated_add (
    CuvAnnotated *self, const CuvAnnotation *box, GError **error);

/* A copy that lives as long as the annotations; NULL is "". */
const gchar *cuv_annotations_label (GStringChunk *labels, const gchar *label);

/* What is not a size in pixels counts as unknown. */
void cuv_annotated_set_size (CuvAnnotated *self, gdouble width, gdouble height);

/* The smallest box around points; begins as { 0 }. */
typedef struct {
  guint n;
  gdouble left, top, right, bottom;
} CuvExtent;

void cuv_extent_add (CuvExtent *self, gdouble x, gdouble y);
void cuv_extent_to_box (const CuvExtent *self, CuvAnnotation *box);

/* Sets an error; returns FALSE. */
gboolean cuv_annotations_fail (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* A number that is all of the text, with a point in every locale. */
gboolean cuv_annotations_number (const gchar *text, gdouble *number);

/* The line at *at, which moves behind it; g_free() it. NULL at the end. */
gchar *cuv_annotations_line (const gchar **at);

/* Bytes of a line of words, each of which takes many times its size. */
#define CUV_ANNOTATIONS_MAX_LINE (1 << 20)

/* The words of a line, without empty ones; g_strfreev() them. */
gchar **cuv_annotations_words (const gchar *line);

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
