/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each thread decodes the next file, but frames are visited in the order of the
 * files: a thread waits with its first frame until all files before are done.
 */
#include "picture.h"
#include "train-tool.h"

typedef struct {
  const GPtrArray *paths;
  const DecodeVisitor *visitor;
  gpointer data;
  gint next;   /* atomic: file to decode */
  gint failed; /* atomic: a visit did, with the error */
  GError *error;
  GMutex lock;
  GCond turned;
  gint turn; /* file whose frames are visited */
} Decoding;

typedef struct {
  Decoding *decoding;
  GstElement *decoder;
  gint file;
  GThread *thread;
} Worker;

static void
wait_for_turn (const Worker *self)
{
  Decoding *decoding = self->decoding;

  g_mutex_lock (&decoding->lock);
  while (decoding->turn != self->file)
    g_cond_wait (&decoding->turned, &decoding->lock);
  g_mutex_unlock (&decoding->lock);
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
visit (gpointer data, GstSample *sample, gint64 frame)
{
  const Worker *self = data;
  Decoding *decoding = self->decoding;

  wait_for_turn (self);
  if (decoding->error == NULL
      && !decoding->visitor->visit (
          decoding->data, (guint) self->file, sample, frame, &decoding->error))
    g_atomic_int_set (&decoding->failed, TRUE);
  return decoding->error == NULL;
}

static void
decode (Worker *self)
{
  Decoding *decoding = self->decoding;
  gchar *problem = NULL;

  if (!g_atomic_int_get (&decoding->failed))
    picture_visit_frames (self->decoder, decoding->paths->pdata[self->file],
        visit, self, &problem);
  wait_for_turn (self);
  if (problem != NULL && decoding->error == NULL)
    decoding->visitor->skip (decoding->data, (guint) self->file, problem);
  end_turn (decoding);
  g_free (problem);
}

static gpointer
decode_some (gpointer data)
{
  Worker *self = data;
  Decoding *decoding = self->decoding;

  while ((self->file = g_atomic_int_add (&decoding->next, 1))
      < (gint) decoding->paths->len)
    decode (self);
  return NULL;
}

/* FALSE if an element is missing. */
static gboolean
make_decoders (Worker *workers, guint n, Decoding *decoding)
{
  for (guint i = 0; i < n; i++) {
    workers[i] =
        (Worker){ decoding, picture_decoder_new ("cuvision-train"), 0, NULL };
    if (workers[i].decoder == NULL)
      return FALSE;
  }
  return TRUE;
}

gboolean
decode_files (const GPtrArray *paths, const DecodeVisitor *visitor,
    gpointer data, GError **error)
{
  const guint n = MIN (g_get_num_processors (), paths->len);
  Worker *workers = g_new0 (Worker, n);
  Decoding self = { .paths = paths, .visitor = visitor, .data = data };

  g_mutex_init (&self.lock);
  g_cond_init (&self.turned);
  if (!make_decoders (workers, n, &self)) {
    g_set_error_literal (&self.error, GST_CORE_ERROR,
        GST_CORE_ERROR_MISSING_PLUGIN, "pictures cannot be decoded");
  } else {
    for (guint i = 0; i < n; i++)
      workers[i].thread = g_thread_new ("decode", decode_some, &workers[i]);
    for (guint i = 0; i < n; i++)
      g_thread_join (workers[i].thread);
  }
  for (guint i = 0; i < n; i++)
    gst_clear_object (&workers[i].decoder);
  g_cond_clear (&self.turned);
  g_mutex_clear (&self.lock);
  g_free (workers);
  if (self.error != NULL)
    g_propagate_error (error, self.error);
  return self.error == NULL;
}
