/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The owner's side of a CuvWriter: push, finish, stop. */
#include "config.h"
#include "output/writer-private.h"

/* How long stop() waits after a finish() that timed out. */
#define TIMED_OUT_MS 100u
/* A thread that runs longer than this after its deadline is detached. */
#define GRACE_US (500 * G_TIME_SPAN_MILLISECOND)

void
cuv_writer_unref (CuvWriter *self)
{
  if (!g_atomic_int_dec_and_test (&self->references))
    return;
  self->target->klass->free (self->target);
  g_queue_clear_full (&self->queue, (GDestroyNotify) g_bytes_unref);
  g_string_free (self->out, TRUE);
  g_free (self->warning);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->work);
  g_cond_clear (&self->done);
  g_free (self);
}

void
cuv_writer_warn (CuvWriter *self, const gchar *cause)
{
  if (!cuv_warning_is_due (&self->warned))
    return;
  g_free (self->warning);
  self->warning = g_strdup_printf (
      "Cannot write to '%s': %s. Until it can be written to again, the last %d "
      "records are kept and older ones are dropped.",
      self->target->name, cause, CUV_WRITER_MAX_RECORDS);
}

void
cuv_writer_drop_queue (CuvWriter *self)
{
  guint n = g_queue_get_length (&self->queue);

  self->counts.dropped += n;
  self->queue_bytes = 0;
  g_queue_clear_full (&self->queue, (GDestroyNotify) g_bytes_unref);
  if (n > 0)
    cuv_writer_warn (self, "its reader did not read the last records in time");
}

CuvWriter *
cuv_writer_new (CuvTarget *target, const CuvFraming *framing, GError **error)
{
  const CuvTargetState state = target->klass->open (target, error);
  CuvWriter *self;

  if (state == CUV_TARGET_FAILED) {
    target->klass->free (target);
    return NULL;
  }
  self = g_new0 (CuvWriter, 1);
  self->references = 2;
  self->target = target;
  self->framing = framing;
  self->absent = state == CUV_TARGET_NOT_YET;
  self->out = g_string_new (NULL);
  g_queue_init (&self->queue);
  g_mutex_init (&self->lock);
  g_cond_init (&self->work);
  g_cond_init (&self->done);
  self->thread = g_thread_try_new ("cuv-writer", cuv_writer_run, self, error);
  if (self->thread == NULL) {
    self->references = 1;
    g_clear_pointer (&self, cuv_writer_unref);
  }
  return self;
}

/* Call with the lock held. */
static void
writer_make_room (CuvWriter *self, gsize size)
{
  while (g_queue_get_length (&self->queue) >= CUV_WRITER_MAX_RECORDS
      || (self->queue_bytes + size > CUV_WRITER_MAX_BYTES
          && !g_queue_is_empty (&self->queue))) {
    GBytes *oldest = g_queue_pop_head (&self->queue);

    self->queue_bytes -= g_bytes_get_size (oldest);
    g_bytes_unref (oldest);
    self->counts.dropped++;
    cuv_writer_warn (self,
        self->absent ? "no process reads from it: start its reader"
                     : "it cannot keep up with the records");
  }
}

void
cuv_writer_push (CuvWriter *self, gchar *text, gsize size)
{
  g_mutex_lock (&self->lock);
  writer_make_room (self, size);
  g_queue_push_tail (&self->queue, g_bytes_new_take (text, size));
  self->queue_bytes += size;
  self->finish = self->timed_out = FALSE;
  g_cond_signal (&self->work);
  g_mutex_unlock (&self->lock);
}

void
cuv_writer_reopen (CuvWriter *self)
{
  g_mutex_lock (&self->lock);
  self->reopen = TRUE;
  g_cond_signal (&self->work);
  g_mutex_unlock (&self->lock);
}

static gboolean
is_idle (CuvWriter *self)
{
  return self->gone
      || (g_queue_is_empty (&self->queue) && !self->busy && !self->finish);
}

/* Call with the lock held. Returns FALSE if the deadline has passed. */
static gboolean
wait_for_thread (CuvWriter *self, gint64 start, guint milliseconds)
{
  if (self->absent)
    milliseconds = MIN (milliseconds, CUV_WRITER_ABSENT_MS);
  return g_cond_wait_until (
      &self->done, &self->lock, start + milliseconds * G_TIME_SPAN_MILLISECOND);
}

gboolean
cuv_writer_finish (CuvWriter *self, guint milliseconds)
{
  gint64 start = g_get_monotonic_time ();
  guint failures;
  gboolean ok;

  g_mutex_lock (&self->lock);
  failures = self->failures;
  self->finish = self->hurry = TRUE;
  g_cond_signal (&self->work);
  while (!is_idle (self) && !self->interrupted && self->failures == failures
      && wait_for_thread (self, start, milliseconds)) {
  }
  ok = is_idle (self);
  self->timed_out = !ok && !self->interrupted;
  g_mutex_unlock (&self->lock);
  return ok;
}

void
cuv_writer_interrupt (CuvWriter *self, gboolean interrupt)
{
  g_mutex_lock (&self->lock);
  self->interrupted = interrupt;
  g_cond_broadcast (&self->done);
  g_mutex_unlock (&self->lock);
}

gchar *
cuv_writer_take_warning (CuvWriter *self)
{
  return cuv_warning_take (&self->warning, &self->lock);
}

void
cuv_writer_get_counts (CuvWriter *self, CuvWriterCounts *counts)
{
  g_mutex_lock (&self->lock);
  *counts = self->counts;
  counts->queue = g_queue_get_length (&self->queue) + self->busy;
  g_mutex_unlock (&self->lock);
}

/* A write to a hanging file system may never return. The thread is then
 * detached, and frees the writer if it does return. */
void
cuv_writer_stop (CuvWriter *self, guint milliseconds, CuvWriterCounts *counts,
    gchar **warning)
{
  gboolean gone;

  g_mutex_lock (&self->lock);
  if (self->timed_out)
    milliseconds = MIN (milliseconds, TIMED_OUT_MS);
  self->quit = self->finish = self->hurry = TRUE;
  self->deadline =
      g_get_monotonic_time () + milliseconds * G_TIME_SPAN_MILLISECOND;
  g_cond_signal (&self->work);
  while (!self->gone
      && g_cond_wait_until (
          &self->done, &self->lock, self->deadline + GRACE_US)) {
  }
  gone = self->gone;
  if (!gone) {
    cuv_writer_drop_queue (self);
    self->counts.dropped += self->busy;
    self->busy = FALSE;
  }
  g_mutex_unlock (&self->lock);
  cuv_writer_get_counts (self, counts);
  *warning = cuv_writer_take_warning (self);
  if (gone)
    g_thread_join (self->thread);
  else
    g_thread_unref (self->thread);
  cuv_writer_unref (self);
}
