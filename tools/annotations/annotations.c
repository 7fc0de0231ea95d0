/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "annotations.h"

#include <math.h>
#include <string.h>

static const struct {
  const gchar *name;
  CuvAnnotationsReader read;
} formats[CUV_ANNOTATIONS_N_FORMATS] = {
  [CUV_ANNOTATIONS_COCO] = { "COCO", cuv_read_coco },
  [CUV_ANNOTATIONS_VOC] = { "Pascal VOC", cuv_read_voc },
  [CUV_ANNOTATIONS_DLIB] = { "dlib", cuv_read_dlib },
  [CUV_ANNOTATIONS_YOLO] = { "YOLO", cuv_read_yolo },
  [CUV_ANNOTATIONS_INFO] = { "info.dat", cuv_read_info },
  [CUV_ANNOTATIONS_JSON_LINES] = { "JSON lines", cuv_read_json_lines },
  [CUV_ANNOTATIONS_CSV] = { "CSV", cuv_read_csv },
};

const gchar *
cuv_annotations_format_name (CuvAnnotationsFormat format)
{
  return formats[format].name;
}

/* ---- pictures ---- */

static void
annotated_free (gpointer data)
{
  CuvAnnotated *self = data;

  g_free (self->path);
  g_array_unref (self->boxes);
  g_free (self);
}

static guint
annotated_hash (gconstpointer key)
{
  const CuvAnnotated *self = key;

  return g_str_hash (self->path) ^ g_int64_hash (&self->frame);
}

static gboolean
annotated_equal (gconstpointer a, gconstpointer b)
{
  const CuvAnnotated *one = a, *other = b;

  return one->frame == other->frame && g_str_equal (one->path, other->path);
}

CuvAnnotations *
cuv_annotations_new (void)
{
  CuvAnnotations *self = g_new (CuvAnnotations, 1);

  self->pictures = g_ptr_array_new_with_free_func (annotated_free);
  self->index = g_hash_table_new (annotated_hash, annotated_equal);
  return self;
}

void
cuv_annotations_free (CuvAnnotations *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->index);
  g_ptr_array_unref (self->pictures);
  g_free (self);
}

CuvAnnotated *
cuv_annotations_picture (CuvAnnotations *self, const gchar *path, gint64 frame)
{
  const CuvAnnotated key = { .path = (gchar *) path, .frame = frame };
  CuvAnnotated *picture = g_hash_table_lookup (self->index, &key);

  if (picture != NULL)
    return picture;
  picture = g_new (CuvAnnotated, 1);
  *picture = (CuvAnnotated){ g_strdup (path), frame, FALSE,
    g_array_new (FALSE, FALSE, sizeof (CuvAnnotation)) };
  g_ptr_array_add (self->pictures, picture);
  g_hash_table_add (self->index, picture);
  return picture;
}

gboolean
cuv_annotated_add (CuvAnnotated *self, const CuvAnnotation *box, GError **error)
{
  if (!isfinite (box->x) || !isfinite (box->y) || !isfinite (box->width)
      || !isfinite (box->height))
    return cuv_annotations_fail (error, "a box is not made of numbers");
  if (box->width <= 0 || box->height <= 0)
    return cuv_annotations_fail (
        error, "a box of %g x %g has no area", box->width, box->height);
  g_array_append_val (self->boxes, *box);
  return TRUE;
}

/* ---- errors and numbers ---- */

gboolean
cuv_annotations_fail (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL && *error == NULL)
    *error = g_error_new_valist (
        g_quark_from_static_string ("cuv-annotations"), 0, format, args);
  va_end (args);
  return FALSE;
}

gboolean
cuv_annotations_number (const gchar *text, gdouble *number)
{
  gchar *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && isfinite (*number);
}

/* ---- formats ---- */

static const gchar *
skip_space (const gchar *at, const gchar *end)
{
  while (at < end && g_ascii_isspace (*at))
    at++;
  return at;
}

static gboolean
has (const gchar *at, const gchar *end, const gchar *word)
{
  return g_strstr_len (at, end - at, word) != NULL;
}

/* A line of YOLO has five numbers, one of info.dat a path first. */
static CuvAnnotationsFormat
format_of_words (const gchar *at, const gchar *end)
{
  const gchar *line_end = memchr (at, '\n', (gsize) (end - at));
  gchar *line = g_strndup (at, (gsize) ((line_end ? line_end : end) - at));
  gchar **words = g_strsplit_set (g_strstrip (line), " \t", 0);
  gdouble number;
  gboolean numbers = g_strv_length (words) >= 5;

  for (gchar **word = words; numbers && *word != NULL; word++)
    numbers = **word == '\0' || cuv_annotations_number (*word, &number);
  g_strfreev (words);
  g_free (line);
  return numbers ? CUV_ANNOTATIONS_YOLO : CUV_ANNOTATIONS_INFO;
}

gboolean
cuv_annotations_recognise (
    const gchar *bytes, gsize size, CuvAnnotationsFormat *format)
{
  const gchar *end = bytes + size, *at = skip_space (bytes, end);

  if (at == end || memchr (bytes, '\0', size) != NULL)
    return FALSE;
  if (*at == '<' && has (at, end, "<annotation"))
    *format = CUV_ANNOTATIONS_VOC;
  else if (*at == '<' && has (at, end, "<dataset"))
    *format = CUV_ANNOTATIONS_DLIB;
  else if (*at == '{' && has (at, end, "\"annotations\""))
    *format = CUV_ANNOTATIONS_COCO;
  else if (*at == '{' && has (at, end, "\"frame_num\""))
    *format = CUV_ANNOTATIONS_JSON_LINES;
  else if (end - at >= 5 && memcmp (at, "kind,", 5) == 0)
    *format = CUV_ANNOTATIONS_CSV;
  else if (*at != '{' && *at != '<' && *at != '[')
    *format = format_of_words (at, end);
  else
    return FALSE;
  return TRUE;
}

gboolean
cuv_annotations_parse (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  CuvAnnotationsFormat format;
  gchar *text;
  gboolean ok;

  if (!cuv_annotations_recognise (bytes, size, &format))
    return cuv_annotations_fail (error,
        "the content is neither COCO, Pascal VOC, YOLO, dlib, info.dat nor "
        "what visionpublish writes");
  text = g_strndup (bytes, size); /* ends with a NUL */
  ok = g_utf8_validate (text, -1, NULL)
      ? formats[format].read (self, text, size, labels, error)
      : cuv_annotations_fail (error, "the text is not UTF-8");
  g_free (text);
  return ok;
}
