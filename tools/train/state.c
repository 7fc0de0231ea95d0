/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files from which --resume continues: OUTPUT.state of patterns,
 * OUTPUT.trees of trees on channels. */
#include "train-tool.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>
#include "cuvfile.h"

enum { MAX_BYTES = 256 << 20 }; /* 65536 weak classifiers take 80 MB */

struct _StateFile {
  const StateKind *kind;
  gpointer data;
  gchar *path;
  int file;
  guint8 *record; /* scratch memory */
};

static const StateKind *const kinds[] = { &state_of_patterns,
  &state_of_channels };

static gchar *
state_path (const StateKind *kind, const gchar *output)
{
  return g_strconcat (output, kind->suffix, NULL);
}

static gboolean
state_fail (const StateFile *self, GError **error)
{
  const gint number = errno;

  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (number),
      "%s: %s; when that is fixed, continue with --resume", self->path,
      g_strerror (number));
  return FALSE;
}

/* ---- opening ---- */

/* *used: valid bytes of the file; what follows is cut off. */
static gboolean
restore_state (const StateFile *self, gsize *used, GError **error)
{
  gchar *bytes, problem[CUV_TRAIN_PROBLEM] = "";
  gsize size;
  gint n;

  if (!cuv_file_read (self->path, MAX_BYTES, &bytes, &size, error))
    return FALSE;
  *used = self->kind->restore (
      self->data, (const guint8 *) bytes, size, &n, problem);
  g_free (bytes);
  if (*used == 0) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "%s: %s; remove the file to start from the beginning", self->path,
        problem);
    return FALSE;
  }
  g_printerr ("continuing after weak classifier %d%s\n", n,
      size - *used >= self->kind->record_size (self->data)
          ? ": the records after it are damaged"
          : "");
  return TRUE;
}

static gboolean
begin_state (const StateFile *self, GError **error)
{
  const gsize size = self->kind->header_size;
  gchar *header = g_malloc (size);
  gboolean ok;

  self->kind->save_header (self->data, (guint8 *) header);
  ok = g_file_set_contents (self->path, header, (gssize) size, error);
  g_free (header);
  return ok;
}

static gboolean
open_end (StateFile *self, gsize end, GError **error)
{
  self->file = g_open (self->path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
  if (self->file < 0 || ftruncate (self->file, (off_t) end) != 0)
    return state_fail (self, error);
  return TRUE;
}

/* Returns the first file that exists, or NULL. */
static gchar *
find_state (const gchar *output)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    gchar *path = state_path (kinds[i], output);

    if (g_file_test (path, G_FILE_TEST_EXISTS))
      return path;
    g_free (path);
  }
  return NULL;
}

gboolean
state_file_check (const gchar *output, gboolean resume, GError **error)
{
  gchar *path = find_state (output);
  const gboolean exists = path != NULL;

  if (exists && !resume)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
        "a training run of this model was stopped: continue with --resume, or "
        "remove %s",
        path);
  else if (resume && !exists)
    g_printerr (
        "no %s.state or .trees: training starts from the beginning\n", output);
  g_free (path);
  return resume || !exists;
}

StateFile *
state_file_new (
    const StateKind *kind, gpointer data, const gchar *output, GError **error)
{
  StateFile *self = g_new0 (StateFile, 1);
  gsize end = kind->header_size;
  gboolean ok;

  self->kind = kind;
  self->data = data;
  self->path = state_path (kind, output);
  self->file = -1;
  self->record = g_malloc (kind->record_size (data));
  ok = g_file_test (self->path, G_FILE_TEST_EXISTS)
      ? restore_state (self, &end, error)
      : begin_state (self, error);
  if (ok && open_end (self, end, error))
    return self;
  state_file_free (self);
  return NULL;
}

void
state_file_free (StateFile *self)
{
  if (self == NULL)
    return;
  if (self->file >= 0)
    close (self->file);
  g_free (self->path);
  g_free (self->record);
  g_free (self);
}

/* ---- records ---- */

gboolean
state_file_add (StateFile *self, GError **error)
{
  const gsize size = self->kind->record_size (self->data);
  gssize n;

  self->kind->save_record (self->data, self->record);
  do
    n = write (self->file, self->record, size);
  while (n < 0 && errno == EINTR);
  if (n >= 0 && (gsize) n < size)
    errno = ENOSPC;
  return n == (gssize) size || state_fail (self, error);
}

void
state_file_remove (const StateFile *self)
{
  g_unlink (self->path);
}

void
state_files_remove (const gchar *output)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    gchar *path = state_path (kinds[i], output);

    g_unlink (path);
    g_free (path);
  }
}
