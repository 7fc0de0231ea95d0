/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* YOLO: "class cx cy width height", shares of the picture's size.
 * info.dat: "path n x y width height x y width height ..", pixels. */
#include "annotations.h"

#include <string.h>

/* ---- words ---- */

/* The words of a line, without empty ones. */
static gchar **
split (const gchar *line)
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

static gboolean
to_numbers (gchar **words, gdouble *numbers, guint n, GError **error)
{
  for (guint i = 0; i < n; i++) {
    if (!cuv_annotations_number (words[i], &numbers[i]))
      return cuv_annotations_fail (error, "'%.40s' is no number", words[i]);
  }
  return TRUE;
}

typedef gboolean (*LineReader) (CuvAnnotations *self, gchar **words, guint n,
    const gchar *const *labels, GError **error);

static gboolean
read_lines (CuvAnnotations *self, const gchar *text, const gchar *const *labels,
    LineReader read, GError **error)
{
  gchar **lines = g_strsplit (text, "\n", 0);
  gboolean ok = TRUE;

  for (guint i = 0; ok && lines[i] != NULL; i++) {
    gchar **words = split (lines[i]);
    const guint n = g_strv_length (words);

    ok = n == 0 || read (self, words, n, labels, error);
    if (!ok)
      g_prefix_error (error, "line %u: ", i + 1);
    g_strfreev (words);
  }
  g_strfreev (lines);
  return ok;
}

/* ---- YOLO ---- */

static const gchar *
label_of (const gchar *number, const gchar *const *labels, GError **error)
{
  const guint n = labels != NULL ? g_strv_length ((gchar **) labels) : 0;
  guint64 class;

  if (!g_ascii_string_to_unsigned (number, 10, 0, G_MAXUINT, &class, NULL))
    cuv_annotations_fail (error, "the class '%.40s' is no number", number);
  else if (labels != NULL && class >= n)
    cuv_annotations_fail (
        error, "there is no class %s: the names end with %u", number, n - 1);
  else
    return labels != NULL ? g_intern_string (labels[class])
                          : g_intern_string (number);
  return NULL;
}

/* More than five words are a polygon or a confidence, which is left out. */
static gboolean
read_yolo_line (CuvAnnotations *self, gchar **words, guint n,
    const gchar *const *labels, GError **error)
{
  CuvAnnotated *picture = cuv_annotations_picture (self, "", -1);
  CuvAnnotation box = { 0 };
  gdouble numbers[4];

  if (n != 5 && n != 6)
    return cuv_annotations_fail (
        error, "%u words instead of a class and the four numbers of a box", n);
  box.label = label_of (words[0], labels, error);
  if (box.label == NULL || !to_numbers (words + 1, numbers, 4, error))
    return FALSE;
  picture->shares = TRUE;
  box.x = numbers[0] - numbers[2] / 2;
  box.y = numbers[1] - numbers[3] / 2;
  box.width = numbers[2];
  box.height = numbers[3];
  return cuv_annotated_add (picture, &box, error);
}

gboolean
cuv_read_yolo (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  return read_lines (self, bytes, labels, read_yolo_line, error);
}

/* ---- info.dat ---- */

static gboolean
read_info_line (CuvAnnotations *self, gchar **words, guint n,
    const gchar *const *labels, GError **error)
{
  CuvAnnotated *picture;
  guint64 n_boxes;

  if (n < 2
      || !g_ascii_string_to_unsigned (
          words[1], 10, 0, G_MAXUINT / 4, &n_boxes, NULL))
    return cuv_annotations_fail (
        error, "after '%.40s' there is no number of boxes", words[0]);
  if (n != 2 + 4 * n_boxes)
    return cuv_annotations_fail (error,
        "%u numbers instead of four for each of %" G_GUINT64_FORMAT " boxes",
        n - 2, n_boxes);
  picture = cuv_annotations_picture (self, words[0], -1);
  for (guint i = 2; i < n; i += 4) {
    CuvAnnotation box = { .label = "" };
    gdouble numbers[4];

    if (!to_numbers (words + i, numbers, 4, error))
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

gboolean
cuv_read_info (CuvAnnotations *self, const gchar *bytes, gsize size,
    const gchar *const *labels, GError **error)
{
  return read_lines (self, bytes, labels, read_info_line, error);
}
