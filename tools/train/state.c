/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file OUTPUT.state, from which --resume continues: a header, then a record
 * for each weak classifier. */
#include "train-tool.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>
#include "cuvfile.h"

enum { MAX_BYTES = 256 << 20 }; /* 65536 weak classifiers take 80 MB */

struct _StateFile {
  const CuvTrainer *trainer;
  gchar *path;
  int file;
  guint8 *record; /* scratch memory */
};

static gchar *
state_path (const gchar *output)
{
  return g_strconcat (output, ".state", NULL);
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
restore_state (
    const StateFile *self, CuvTrainer *trainer, gsize *used, GError **error)
{
  gchar *bytes, problem[CUV_TRAIN_PROBLEM] = "";
  gsize size;

  if (!cuv_file_read (self->path, MAX_BYTES, &bytes, &size, error))
    return FALSE;
  *used = cuv_trainer_restore (trainer, (const guint8 *) bytes, size, problem);
  g_free (bytes);
  if (*used == 0) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "%s: %s; remove the file to start from the beginning", self->path,
        problem);
    return FALSE;
  }
  g_printerr ("continuing after weak classifier %d%s\n",
      cuv_trainer_classifier (trainer).n_weak,
      size - *used >= cuv_trainer_record_size (trainer)
          ? ": the records after it are damaged"
          : "");
  return TRUE;
}

static gboolean
begin_state (const StateFile *self, GError **error)
{
  gchar header[CUV_TRAIN_HEADER];

  cuv_trainer_save_header (self->trainer, (guint8 *) header);
  return g_file_set_contents (self->path, header, sizeof header, error);
}

static gboolean
open_end (StateFile *self, gsize end, GError **error)
{
  self->file = g_open (self->path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
  if (self->file < 0 || ftruncate (self->file, (off_t) end) != 0)
    return state_fail (self, error);
  return TRUE;
}

gboolean
state_file_check (const gchar *output, gboolean resume, GError **error)
{
  gchar *path = state_path (output);
  const gboolean exists = g_file_test (path, G_FILE_TEST_EXISTS);

  if (exists && !resume)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
        "a training of this model was stopped: continue with --resume, or "
        "remove %s",
        path);
  else if (resume && !exists)
    g_printerr ("no %s: training starts from the beginning\n", path);
  g_free (path);
  return resume || !exists;
}

StateFile *
state_file_new (CuvTrainer *trainer, const gchar *output, GError **error)
{
  StateFile *self = g_new0 (StateFile, 1);
  gsize end = CUV_TRAIN_HEADER;
  gboolean ok;

  self->trainer = trainer;
  self->path = state_path (output);
  self->file = -1;
  self->record = g_malloc (cuv_trainer_record_size (trainer));
  ok = g_file_test (self->path, G_FILE_TEST_EXISTS)
      ? restore_state (self, trainer, &end, error)
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
  const gsize size = cuv_trainer_record_size (self->trainer);
  const gint n_weak = cuv_trainer_classifier (self->trainer).n_weak;
  gssize n;

  cuv_trainer_save_record (self->trainer, n_weak - 1, self->record);
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
