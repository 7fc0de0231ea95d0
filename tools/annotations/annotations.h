/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects that someone marked in pictures: readers of the usual formats.
 *
 *   annotations.c  the result; recognises the format by the content
 *   coco.c         COCO's JSON
 *   records.c      JSON lines and CSV of visionpublish
 *   xml.c          Pascal VOC and dlib
 *   text.c         YOLO, and OpenCV's info.dat
 *   vec.c          samples of opencv_createsamples, which have no pictures
 *
 * Readers take bytes and open no file. */
#ifndef CUV_ANNOTATIONS_H
#define CUV_ANNOTATIONS_H

#include <glib.h>

typedef struct {
  gdouble x, y, width, height; /* of the picture's pixels, or shares of its size
                                */
  const gchar *label;          /* interned; "" if there is none */
  gboolean ignore;             /* not to be learnt, but no negative either */
} CuvAnnotation;

/* The objects of a picture, or of a frame of a film. */
typedef struct {
  gchar *path;     /* as written; "": the one that belongs to the file */
  gint64 frame;    /* from 0, -1: a picture */
  gboolean shares; /* boxes are shares of the picture's width and height */
  GArray *boxes;   /* of CuvAnnotation */
} CuvAnnotated;

typedef enum {
  CUV_ANNOTATIONS_COCO,
  CUV_ANNOTATIONS_VOC,
  CUV_ANNOTATIONS_DLIB,
  CUV_ANNOTATIONS_YOLO,
  CUV_ANNOTATIONS_INFO,
  CUV_ANNOTATIONS_JSON_LINES,
  CUV_ANNOTATIONS_CSV,
  CUV_ANNOTATIONS_N_FORMATS,
} CuvAnnotationsFormat;

typedef struct {
  GPtrArray *pictures; /* of CuvAnnotated, in the order of the file */
  GHashTable *index;   /* path and frame -> CuvAnnotated */
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

/* FALSE with an error if the box has no area or is not a number. */
gboolean cuv_annotated_add (
    CuvAnnotated *self, const CuvAnnotation *box, GError **error);

/* Sets an error; returns FALSE. */
gboolean cuv_annotations_fail (GError **error, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* A number that is all of the text, with a point in every locale. */
gboolean cuv_annotations_number (const gchar *text, gdouble *number);

typedef gboolean (*CuvAnnotationsReader) (CuvAnnotations *self,
    const gchar *bytes, gsize size, const gchar *const *labels, GError **error);

gboolean cuv_read_coco (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_voc (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_dlib (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_yolo (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_info (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);
gboolean cuv_read_json_lines (CuvAnnotations *self, const gchar *bytes,
    gsize size, const gchar *const *labels, GError **error);
gboolean cuv_read_csv (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error);

#endif
