/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recognises the format of annotations and calls its reader. Also has what the
 * readers share: pictures, boxes, errors, numbers, encodings. */
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
  [CUV_ANNOTATIONS_LABELME] = { "LabelMe", cuv_read_labelme },
  [CUV_ANNOTATIONS_CVAT] = { "CVAT", cuv_read_cvat },
  [CUV_ANNOTATIONS_VIA_JSON] = { "VIA JSON", cuv_read_via_json },
  [CUV_ANNOTATIONS_VIA_CSV] = { "VIA CSV", cuv_read_via_csv },
  [CUV_ANNOTATIONS_TENSORFLOW_CSV] = { "TensorFlow CSV",
      cuv_read_tensorflow_csv },
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
  self->labels = g_string_chunk_new (1024);
  return self;
}

void
cuv_annotations_free (CuvAnnotations *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->index);
  g_ptr_array_unref (self->pictures);
  g_string_chunk_free (self->labels);
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
  *picture = (CuvAnnotated){ .path = g_strdup (path),
    .frame = frame,
    .boxes = g_array_new (FALSE, FALSE, sizeof (CuvAnnotation)),
    .labels = self->labels };
  g_ptr_array_add (self->pictures, picture);
  g_hash_table_add (self->index, picture);
  return picture;
}

gboolean
cuv_annotated_add (CuvAnnotated *self, const CuvAnnotation *box, GError **error)
{
  if (!isfinite (box->x) || !isfinite (box->y) || !isfinite (box->width)
      || !isfinite (box->height))
    return cuv_annotations_fail (
        error, "a box has a side that is not a number");
  if (box->width < 0 || box->height < 0)
    return cuv_annotations_fail (
        error, "a box of %g x %g has a negative side", box->width, box->height);
  if (box->width == 0 || box->height == 0)
    self->n_empty++;
  else
    g_array_append_val (self->boxes, *box);
  return TRUE;
}

const gchar *
cuv_annotations_label (GStringChunk *labels, const gchar *label)
{
  return g_string_chunk_insert_const (labels, label != NULL ? label : "");
}

void
cuv_annotated_set_size (CuvAnnotated *self, gdouble width, gdouble height)
{
  const gboolean known =
      width >= 1 && width < G_MAXINT && height >= 1 && height < G_MAXINT;

  self->width = known ? (gint) width : 0;
  self->height = known ? (gint) height : 0;
}

void
cuv_extent_add (CuvExtent *self, gdouble x, gdouble y)
{
  const gboolean first = self->n++ == 0;

  self->left = first ? x : MIN (self->left, x);
  self->top = first ? y : MIN (self->top, y);
  self->right = first ? x : MAX (self->right, x);
  self->bottom = first ? y : MAX (self->bottom, y);
}

void
cuv_extent_to_box (const CuvExtent *self, CuvAnnotation *box)
{
  box->x = self->left;
  box->y = self->top;
  box->width = self->right - self->left;
  box->height = self->bottom - self->top;
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

gchar *
cuv_annotations_line (const gchar **at)
{
  const gchar *line = *at;
  const gsize n = strcspn (line, "\n");

  if (*line == '\0')
    return NULL;
  *at = line + n + (line[n] == '\n');
  return g_strndup (line, n);
}

gchar **
cuv_annotations_words (const gchar *line)
{
  GStrvBuilder *builder = g_strv_builder_new ();
  gchar **all = g_strsplit_set (line, " \t\r", 0), **words;

  for (gchar **word = all; *word != NULL; word++) {
    if (**word != '\0')
      g_strv_builder_add (builder, *word);
  }
  g_strfreev (all);
  words = g_strv_builder_end (builder);
  g_strv_builder_unref (builder);
  return words;
}

/* ---- encodings ---- */

/* Returns the encoding that an XML declaration names, or NULL for UTF-8. */
static gchar *
declared_encoding (const gchar *bytes, gsize size)
{
  static const gchar pattern[] =
      "\\A\\s*<\\?xml[^>]*\\sencoding\\s*=\\s*[\"']([\\w.:-]+)[\"']";
  gchar *begin = g_strndup (bytes, MIN (size, 200)), *encoding = NULL;
  GRegex *regex = g_regex_new (pattern, G_REGEX_RAW, 0, NULL);
  GMatchInfo *match;

  if (g_regex_match (regex, begin, 0, &match))
    encoding = g_match_info_fetch (match, 1);
  g_match_info_free (match);
  g_regex_unref (regex);
  g_free (begin);
  return encoding;
}

static gchar *
convert_to_utf8 (
    const gchar *bytes, gsize size, const gchar *from, GError **error)
{
  GError *problem = NULL;
  gchar *text =
      g_convert (bytes, (gssize) size, "UTF-8", from, NULL, NULL, &problem);

  if (text == NULL)
    cuv_annotations_fail (
        error, "the text is not valid %s: %s", from, problem->message);
  g_clear_error (&problem);
  return text;
}

gchar *
cuv_annotations_decode (const gchar *bytes, gsize size, GError **error)
{
  gchar *encoding, *text = NULL;

  if (size >= 2 && memcmp (bytes, "\377\376", 2) == 0)
    return convert_to_utf8 (bytes + 2, size - 2, "UTF-16LE", error);
  if (size >= 2 && memcmp (bytes, "\376\377", 2) == 0)
    return convert_to_utf8 (bytes + 2, size - 2, "UTF-16BE", error);
  if (size >= 3 && memcmp (bytes, "\357\273\277", 3) == 0) {
    bytes += 3;
    size -= 3;
  }
  if (g_utf8_validate (bytes, (gssize) size, NULL))
    return g_strndup (bytes, size);
  encoding = declared_encoding (bytes, size);
  if (encoding != NULL)
    text = convert_to_utf8 (bytes, size, encoding, error);
  else
    cuv_annotations_fail (error, "the text is not UTF-8");
  g_free (encoding);
  return text;
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

static gboolean
is_number (const gchar *text)
{
  gdouble number;

  return cuv_annotations_number (text, &number);
}

/* Whether a path is followed by a number of boxes and four numbers for each
 * box. The total need not be right: the reader reports that. */
static gboolean
is_info (gchar **words, guint n)
{
  guint first = n;

  while (first > 1 && is_number (words[first - 1]))
    first--;
  for (guint k = first; k < n; k++) {
    guint64 n_boxes;

    if (g_ascii_string_to_unsigned (words[k], 10, 0, n, &n_boxes, NULL)
        && (n - k - 1 >= 4 || n - k - 1 == 4 * n_boxes))
      return TRUE;
  }
  return FALSE;
}

/* Looks at the first line that is not blank: YOLO has at least five numbers,
 * info.dat begins with a path. */
static gboolean
recognise_words (const gchar *at, CuvAnnotationsFormat *format)
{
  gchar *line = cuv_annotations_line (&at);
  const gboolean is_long = strlen (line) > CUV_ANNOTATIONS_MAX_LINE;
  gchar **words = cuv_annotations_words (is_long ? "" : line);
  const guint n = g_strv_length (words);
  const gboolean yolo = n >= 5 && is_number (words[0]) && is_number (words[1]);
  const gboolean known = yolo || is_info (words, n);

  *format = yolo ? CUV_ANNOTATIONS_YOLO : CUV_ANNOTATIONS_INFO;
  g_strfreev (words);
  g_free (line);
  return known;
}

static gboolean
recognise_csv (const gchar *at, const gchar *end, CuvAnnotationsFormat *format)
{
  const gchar *line_end = memchr (at, '\n', (gsize) (end - at));

  end = line_end != NULL ? line_end : end;
  if (end - at >= 5 && memcmp (at, "kind,", 5) == 0)
    *format = CUV_ANNOTATIONS_CSV;
  else if (has (at, end, "region_shape_attributes"))
    *format = CUV_ANNOTATIONS_VIA_CSV;
  else if (has (at, end, "filename") && has (at, end, ",")
      && has (at, end, "xmin"))
    *format = CUV_ANNOTATIONS_TENSORFLOW_CSV;
  else
    return FALSE;
  return TRUE;
}

static gboolean
recognise_json (const gchar *at, const gchar *end, CuvAnnotationsFormat *format)
{
  if (has (at, end, "\"shapes\"") && has (at, end, "\"imagePath\""))
    *format = CUV_ANNOTATIONS_LABELME;
  else if (has (at, end, "\"shape_attributes\""))
    *format = CUV_ANNOTATIONS_VIA_JSON;
  else if (has (at, end, "\"annotations\""))
    *format = CUV_ANNOTATIONS_COCO;
  else if (has (at, end, "\"frame_num\""))
    *format = CUV_ANNOTATIONS_JSON_LINES;
  else
    return FALSE;
  return TRUE;
}

static gboolean
recognise_xml (const gchar *at, const gchar *end, CuvAnnotationsFormat *format)
{
  if (has (at, end, "<annotations"))
    *format = CUV_ANNOTATIONS_CVAT;
  else if (has (at, end, "<annotation"))
    *format = CUV_ANNOTATIONS_VOC;
  else if (has (at, end, "<dataset"))
    *format = CUV_ANNOTATIONS_DLIB;
  else
    return FALSE;
  return TRUE;
}

static gboolean
recognise_text (
    const gchar *bytes, const gchar *end, CuvAnnotationsFormat *format)
{
  const gchar *at = skip_space (bytes, end);

  if (at == end || memchr (at, '\0', (gsize) (end - at)) != NULL || *at == '[')
    return FALSE;
  if (*at == '{')
    return recognise_json (at, end, format);
  if (*at == '<')
    return recognise_xml (at, end, format);
  return recognise_csv (at, end, format) || recognise_words (at, format);
}

gboolean
cuv_annotations_recognise (
    const gchar *bytes, gsize size, CuvAnnotationsFormat *format)
{
  gchar *text = cuv_annotations_decode (bytes, size, NULL);
  const gboolean known =
      text != NULL && recognise_text (text, text + strlen (text), format);

  g_free (text);
  return known;
}

gboolean
cuv_annotations_parse (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  CuvAnnotationsFormat format = CUV_ANNOTATIONS_N_FORMATS;
  gchar *text = cuv_annotations_decode (bytes, size, error);
  gboolean ok = text != NULL;

  if (ok && !recognise_text (text, text + strlen (text), &format)
      && format != CUV_ANNOTATIONS_INFO)
    ok = cuv_annotations_fail (error,
        "unknown format: not COCO, Pascal VOC, YOLO, dlib, LabelMe, CVAT, VIA, "
        "TensorFlow's CSV, info.dat, or JSON lines or CSV of visionpublish");
  ok = ok && formats[format].read (self, text, strlen (text), labels, error);
  g_free (text);
  return ok;
}
