/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes pictures and videos in several threads, but visits frames in the
 * order of the files: a thread waits with its first frame until all earlier
 * files are done. Other threads are decoding those, so there is no deadlock. */
#include "cuvthreads.h"
#include "picture/gstcuvpicture.h"
#include "train-tool.h"

typedef struct {
  const GPtrArray *paths;
  const DecodeVisitor *visitor;
  gpointer data;
  gint failed; /* atomic: a visit failed and set the error */
  GError *error;
  GMutex lock;
  GCond turned;
  gint turn; /* file whose frames are visited */
} Decoding;

/* A file that is decoded. */
typedef struct {
  Decoding *decoding;
  gint number;
} File;

static void
wait_for_turn (Decoding *self, gint file)
{
  g_mutex_lock (&self->lock);
  while (self->turn != file)
    g_cond_wait (&self->turned, &self->lock);
  g_mutex_unlock (&self->lock);
}

static void
end_turn (Decoding *self)
{
  g_mutex_lock (&self->lock);
  self->turn++;
  g_cond_broadcast (&self->turned);
  g_mutex_unlock (&self->lock);
}

static gboolean
decode_visit (gpointer data, GstSample *sample, gint64 frame)
{
  const File *file = data;
  Decoding *decoding = file->decoding;

  wait_for_turn (decoding, file->number);
  if (decoding->error == NULL
      && !decoding->visitor->visit (decoding->data, (guint) file->number,
          sample, frame, &decoding->error))
    g_atomic_int_set (&decoding->failed, TRUE);
  return decoding->error == NULL;
}

static void
decode_task (void *data, int worker, int task)
{
  Decoding *self = data;
  File file = { self, task };
  gchar *problem = NULL;

  if (!g_atomic_int_get (&self->failed))
    gst_cuv_picture_visit (
        self->paths->pdata[task], decode_visit, &file, &problem);
  wait_for_turn (self, task);
  if (problem != NULL && self->error == NULL)
    self->visitor->skip (self->data, (guint) task, problem);
  end_turn (self);
  g_free (problem);
}

gboolean
decode_files (const GPtrArray *paths, const DecodeVisitor *visitor,
    gpointer data, GError **error)
{
  const gint n_files = (gint) paths->len;
  const gint n_processors = (gint) g_get_num_processors ();
  const gint n = MIN (MIN (n_processors, CUV_THREADS_MAX_WORKERS), n_files);
  gchar *problem = gst_cuv_picture_check ();
  Decoding self = { .paths = paths, .visitor = visitor, .data = data };

  g_mutex_init (&self.lock);
  g_cond_init (&self.turned);
  if (problem == NULL)
    cuv_threads_run_workers (0, n, n_files, decode_task, &self);
  else
    g_set_error_literal (
        &self.error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN, problem);
  g_free (problem);
  g_cond_clear (&self.turned);
  g_mutex_clear (&self.lock);
  if (self.error != NULL)
    g_propagate_error (error, self.error);
  return self.error == NULL;
}
