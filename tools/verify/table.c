/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of docs/verified.md. meson.build copies its rows into the program;
 * they look like this:
 *
 *   | `lines` | 8.1 | 2.3 | 0.2 | 0a1b2c3d 4e5f6071 |
 *
 * with milliseconds on C, SIMD and CUDA ("-": not measured), and the digests of
 * the frames. */
#include "verify.h"

#include <stdio.h>
#include <string.h>

#include "cuvfile.h"
#include "verified-rows.h"

#define DIGITS 8 /* of a digest; enough to notice a change */
enum { NAME = 1, TIMES, DIGESTS = TIMES + N_TARGETS, COLUMNS };

static void
row_free (gpointer data)
{
  VerifyRow *self = data;

  for (guint t = 0; t < N_TARGETS; t++)
    g_free (self->milliseconds[t]);
  g_strfreev (self->digests);
  g_free (self->name);
  g_free (self);
}

/* Returns NULL for a line that is not a row. */
static VerifyRow *
row_parse (const gchar *line)
{
  gchar **cells = g_strsplit (line, "|", -1);
  VerifyRow *self = NULL;

  for (gchar **cell = cells; *cell != NULL; cell++)
    g_strstrip (*cell);
  if (g_strv_length (cells) == COLUMNS + 1 && cells[NAME][0] == '`') {
    self = g_new0 (VerifyRow, 1);
    self->name = g_strndup (cells[NAME] + 1, strcspn (cells[NAME] + 1, "`"));
    for (guint t = 0; t < N_TARGETS; t++)
      self->milliseconds[t] = g_strdup (cells[TIMES + t]);
    self->digests = g_strsplit (cells[DIGESTS], " ", -1);
  }
  g_strfreev (cells);
  return self;
}

GPtrArray *
verify_table_read (const gchar *path, GError **error)
{
  GPtrArray *table;
  gchar *text = NULL, **lines;

  if (path == NULL)
    text = g_strdup (verified_rows);
  else if (!cuv_file_read (path, CUV_FILE_MAX_TEXT, &text, NULL, error))
    return NULL;
  table = g_ptr_array_new_with_free_func (row_free);
  lines = g_strsplit (text, "\n", -1);
  for (gchar **line = lines; *line != NULL; line++) {
    VerifyRow *row = row_parse (*line);

    if (row != NULL)
      g_ptr_array_add (table, row);
  }
  g_strfreev (lines);
  g_free (text);
  if (table->len > 0)
    return table;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
      "'%s' has no rows like those of docs/verified.md",
      path != NULL ? path : "the built-in table");
  g_ptr_array_unref (table);
  return NULL;
}

const VerifyRow *
verify_table_find (const GPtrArray *table, const gchar *name)
{
  for (guint i = 0; i < table->len; i++) {
    const VerifyRow *row = table->pdata[i];

    if (g_str_equal (row->name, name))
      return row;
  }
  return NULL;
}

gchar *
verify_digest (const gchar *frame)
{
  gchar *text = g_compute_checksum_for_string (G_CHECKSUM_SHA256, frame, -1);

  text[DIGITS] = '\0';
  return text;
}

void
verify_table_print (const gchar *name, VerifyRun *const runs[N_TARGETS])
{
  const GPtrArray *frames = NULL;

  printf ("| `%s` |", name);
  for (guint t = 0; t < N_TARGETS; t++) {
    if (runs[t] != NULL)
      printf (" %.1f |", runs[t]->milliseconds);
    else
      printf (" - |");
    if (runs[t] != NULL && frames == NULL)
      frames = runs[t]->frames;
  }
  for (guint i = 0; frames != NULL && i < frames->len; i++) {
    gchar *digest = verify_digest (frames->pdata[i]);

    printf (" %s", digest);
    g_free (digest);
  }
  printf (" |\n");
}
