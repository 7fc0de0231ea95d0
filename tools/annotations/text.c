/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads text with an object or a picture per line.
 * YOLO: "class cx cy width height", or "class x y x y ...", a polygon; numbers
 * are fractions of the picture's size. info.dat: "path n x y width height x y
 * width height ...", in pixels. */
#include "annotations.h"

#include <math.h>
#include <string.h>

static gboolean
to_numbers (gchar **words, gdouble *numbers, guint n, GError **error)
{
  for (guint i = 0; i < n; i++) {
    if (!cuv_annotations_number (words[i], &numbers[i]))
      return cuv_annotations_fail (error, "'%.40s' is not a number", words[i]);
  }
  return TRUE;
}

/* names: names of the classes; may be NULL. */
typedef struct {
  const gchar *const *names;
  guint n;
} Labels;

typedef gboolean (*LineReader) (CuvAnnotations *self, const gchar *line,
    gchar **words, const Labels *labels, GError **error);

static gboolean
text_read_line (CuvAnnotations *self, const gchar *line, const Labels *labels,
    LineReader read, GError **error)
{
  gchar **words;
  gboolean ok;

  if (strlen (line) > CUV_ANNOTATIONS_MAX_LINE)
    return cuv_annotations_fail (
        error, "longer than the limit of %d bytes", CUV_ANNOTATIONS_MAX_LINE);
  words = cuv_annotations_words (line);
  ok = *words == NULL || read (self, line, words, labels, error);
  g_strfreev (words);
  return ok;
}

static gboolean
read_lines (CuvAnnotations *self, const gchar *text, const gchar *const *names,
    LineReader read, GError **error)
{
  const Labels labels = { names,
    names != NULL ? g_strv_length ((gchar **) names) : 0 };
  gboolean ok = TRUE;
  gchar *line;

  for (guint i = 1; ok && (line = cuv_annotations_line (&text)) != NULL; i++) {
    ok = text_read_line (self, line, &labels, read, error);
    if (!ok)
      g_prefix_error (error, "line %u: ", i);
    g_free (line);
  }
  return ok;
}

/* ---- YOLO ---- */

/* Returns the label of a class, whose number some programs write as 0.0. */
static const gchar *
yolo_label (CuvAnnotations *self, const gchar *number, const Labels *labels,
    GError **error)
{
  gdouble class;
  gchar text[16];

  if (!cuv_annotations_number (number, &class) || class < 0 || class > G_MAXINT
      || floor (class) != class) {
    cuv_annotations_fail (
        error, "the class '%.40s' is not a whole number", number);
    return NULL;
  }
  if (class < labels->n)
    return cuv_annotations_label (self->labels, labels->names[(guint) class]);
  g_snprintf (text, sizeof text, "%u", (guint) class);
  if (labels->names == NULL)
    return cuv_annotations_label (self->labels, text);
  cuv_annotations_fail (error,
      "class %s has no name: the last named class is %u", text, labels->n - 1);
  return NULL;
}

/* Boxes may extend beyond the picture, by rounding or by half of their size. */
static gboolean
are_shares (const gdouble *numbers, guint n, GError **error)
{
  for (guint i = 0; i < n; i++) {
    if (fabs (numbers[i]) > 2)
      return cuv_annotations_fail (error,
          "%g is not a fraction of the picture's width or height; is it in "
          "pixels?",
          numbers[i]);
  }
  return TRUE;
}

static gboolean
yolo_read_polygon (gchar **words, guint n, CuvAnnotation *box, GError **error)
{
  CuvExtent extent = { 0 };

  for (guint i = 0; i + 1 < n; i += 2) {
    gdouble point[2];

    if (!to_numbers (words + i, point, 2, error)
        || !are_shares (point, 2, error))
      return FALSE;
    cuv_extent_add (&extent, point[0], point[1]);
  }
  cuv_extent_to_box (&extent, box);
  return TRUE;
}

/* Reads a box. A sixth word is a confidence, which is ignored. */
static gboolean
read_centre (gchar **words, CuvAnnotation *box, GError **error)
{
  gdouble numbers[4];

  if (!to_numbers (words, numbers, 4, error) || !are_shares (numbers, 4, error))
    return FALSE;
  box->x = numbers[0] - numbers[2] / 2;
  box->y = numbers[1] - numbers[3] / 2;
  box->width = numbers[2];
  box->height = numbers[3];
  return TRUE;
}

static gboolean
read_yolo_line (CuvAnnotations *self, const gchar *line, gchar **words,
    const Labels *labels, GError **error)
{
  CuvAnnotated *picture = cuv_annotations_picture (self, "", -1);
  CuvAnnotation box = { 0 };
  const guint n = g_strv_length (words);

  if (n < 5 || (n > 6 && n % 2 == 0))
    return cuv_annotations_fail (error,
        "expected a class and the four numbers of a box, or the points of a "
        "polygon, but found %u words",
        n);
  box.label = yolo_label (self, words[0], labels, error);
  if (box.label == NULL
      || !(n > 6 ? yolo_read_polygon (words + 1, n - 1, &box, error)
                 : read_centre (words + 1, &box, error)))
    return FALSE;
  picture->shares = TRUE;
  return cuv_annotated_add (picture, &box, error);
}

gboolean
cuv_read_yolo (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  return read_lines (self, bytes, labels, read_yolo_line, error);
}

/* ---- info.dat ---- */

/* Returns the index of the word that is the number of boxes, since a path may
 * contain blanks and numbers; 1 if none fits. */
static guint
find_count (gchar **words, guint n)
{
  for (guint k = 1; k < n; k++) {
    guint64 n_boxes;

    if (g_ascii_string_to_unsigned (words[k], 10, 0, n, &n_boxes, NULL)
        && n - k - 1 == 4 * n_boxes)
      return k;
  }
  return 1;
}

/* Returns the line without its last n words. */
static gchar *
path_before (const gchar *line, guint n)
{
  gchar *path = g_strstrip (g_strdup (line));

  for (gchar *end = path + strlen (path); n > 0; n--) {
    while (end > path && !g_ascii_isspace (end[-1]))
      end--;
    while (end > path && g_ascii_isspace (end[-1]))
      end--;
    *end = '\0';
  }
  return path;
}

static gboolean
read_boxes (
    CuvAnnotated *picture, gchar **words, guint64 n_boxes, GError **error)
{
  for (; n_boxes > 0; n_boxes--, words += 4) {
    CuvAnnotation box = { .label = "" };
    gdouble numbers[4];

    if (!to_numbers (words, numbers, 4, error))
      return FALSE;
    box.x = numbers[0];
    box.y = numbers[1];
    box.width = numbers[2];
    box.height = numbers[3];
    if (!cuv_annotated_add (picture, &box, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_info_line (CuvAnnotations *self, const gchar *line, gchar **words,
    const Labels *labels, GError **error)
{
  const guint n = g_strv_length (words), count = find_count (words, n);
  CuvAnnotated *picture;
  guint64 n_boxes;
  gchar *path;

  if (n < 2
      || !g_ascii_string_to_unsigned (
          words[count], 10, 0, G_MAXUINT / 4, &n_boxes, NULL))
    return cuv_annotations_fail (error,
        "no number of boxes after '%.40s'; use --negatives for a list of "
        "pictures without objects",
        words[0]);
  if (n - count - 1 != 4 * n_boxes)
    return cuv_annotations_fail (error,
        "found %u numbers instead of four for each of %" G_GUINT64_FORMAT
        " boxes",
        n - count - 1, n_boxes);
  path = path_before (line, n - count);
  picture = cuv_annotations_picture (self, path, -1);
  g_free (path);
  return read_boxes (picture, words + count + 1, n_boxes, error);
}

gboolean
cuv_read_info (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  return read_lines (self, bytes, labels, read_info_line, error);
}
