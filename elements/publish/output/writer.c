/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "output/writer.h"

#include <string.h>

#include "output/thread.h"
#include "output/warning.h"

#define RETRY_US (200 * G_TIME_SPAN_MILLISECOND)
#define RETRY_AT_END_US (20 * G_TIME_SPAN_MILLISECOND)
/* A reader that takes longer to appear causes a warning. */
#define READER_GRACE_US G_TIME_SPAN_SECOND
/* How long stop() waits after a finish() that timed out. */
#define TIMED_OUT_MS 100u
/* Beyond this time after its deadline the thread is detached. */
#define GRACE_US (500 * G_TIME_SPAN_MILLISECOND)

struct _CuvWriter {
  gint references; /* the owner's and the thread's */
  GThread *thread;
  CuvTarget *target;
  const CuvFraming *framing;

  GMutex lock;  /* of all fields down to "of the thread" */
  GCond work;   /* wakes the thread */
  GCond done;   /* wakes the owner */
  GQueue queue; /* records, GBytes */
  gsize queue_bytes;
  gboolean busy;        /* with a record that is not in the queue any more */
  gboolean finish;      /* write the end once the queue is empty */
  gboolean hurry;       /* try again now rather than later */
  gboolean reopen;      /* look whether the target has moved */
  gboolean absent;      /* the target has no reader */
  gboolean interrupted; /* finish() must not wait */
  gboolean timed_out;   /* the last finish() did */
  gboolean quit, gone;  /* stop() was called; the thread has ended */
  gint64 deadline;      /* monotonic time, if quit */
  guint failures;       /* of the target, so far */
  CuvWriterCounts counts;
  gchar *warning;
  CuvWarning warned; /* since the queue was last written completely */

  /* of the thread */
  gboolean begun, ended; /* framing written to this connection */
  guint64 n_records;     /* written to this connection */
  GString *out;          /* bytes being written */
  gsize sent;            /* number of them written */
};

static void
writer_unref (CuvWriter *self)
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

/* ---- warnings ---- */

/* Needs the lock. Only one warning until writing works again. */
static void
writer_warn (CuvWriter *self, const gchar *cause)
{
  if (!cuv_warning_is_due (&self->warned))
    return;
  g_free (self->warning);
  self->warning = g_strdup_printf (
      "Cannot write to '%s': %s. Until that works again the last %d records "
      "are kept and older ones are dropped.",
      self->target->name, cause, CUV_WRITER_MAX_RECORDS);
}

static void
report_failure (CuvWriter *self, GError *error)
{
  g_mutex_lock (&self->lock);
  self->failures++;
  writer_warn (self, error->message);
  g_cond_broadcast (&self->done);
  g_mutex_unlock (&self->lock);
  g_error_free (error);
}

static void
set_absent (CuvWriter *self, gboolean is_absent, gboolean too_long)
{
  g_mutex_lock (&self->lock);
  self->absent = is_absent;
  if (too_long)
    writer_warn (self, "nobody reads from it: start its reader");
  g_cond_broadcast (&self->done);
  g_mutex_unlock (&self->lock);
}

/* ---- the thread ---- */

/* Needs the lock. */
static void
wait_or_hurry (CuvWriter *self, gint64 microseconds)
{
  gint64 until = g_get_monotonic_time () + microseconds;

  while (!self->hurry && g_cond_wait_until (&self->work, &self->lock, until)) {
  }
  self->hurry = FALSE;
}

/* Waits before the next try. FALSE if there is no time for one. */
static gboolean
pause_after (CuvWriter *self, gboolean failure)
{
  gboolean again = TRUE;

  g_mutex_lock (&self->lock);
  if (!self->quit) {
    wait_or_hurry (self, RETRY_US);
  } else if (!failure && g_get_monotonic_time () < self->deadline) {
    wait_or_hurry (self, RETRY_AT_END_US);
  } else {
    again = FALSE;
  }
  g_mutex_unlock (&self->lock);
  return again;
}

/* Needs the lock. */
static gboolean
is_past_deadline (CuvWriter *self)
{
  return self->quit && g_get_monotonic_time () >= self->deadline;
}

static gboolean
is_time_up (CuvWriter *self)
{
  gboolean over;

  g_mutex_lock (&self->lock);
  over = is_past_deadline (self);
  g_mutex_unlock (&self->lock);
  return over;
}

static gboolean
connect_target (CuvWriter *self)
{
  gint64 start = g_get_monotonic_time ();

  while (!self->target->connected) {
    GError *error = NULL;
    CuvTargetState state = self->target->klass->open (self->target, &error);

    self->begun = self->ended = FALSE;
    self->n_records = 0;
    if (state == CUV_TARGET_FAILED)
      report_failure (self, error);
    else
      set_absent (self, state == CUV_TARGET_NOT_YET,
          state == CUV_TARGET_NOT_YET
              && g_get_monotonic_time () > start + READER_GRACE_US);
    if (state != CUV_TARGET_OPEN
        && !pause_after (self, state == CUV_TARGET_FAILED))
      return FALSE;
  }
  return TRUE;
}

static void
count_sent (CuvWriter *self, gsize n)
{
  self->sent += n;
  g_mutex_lock (&self->lock);
  self->counts.bytes += n;
  g_mutex_unlock (&self->lock);
}

static gboolean
retract (CuvWriter *self, gsize n)
{
  if (!self->target->klass->retract (self->target, n))
    return FALSE;
  g_mutex_lock (&self->lock);
  self->counts.bytes -= n;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* Fills out with the record, or the end if NULL, and the framing that this
 * connection still needs before it. */
static void
compose (CuvWriter *self, GBytes *record)
{
  const CuvFraming *framing = self->framing;
  gsize end_size = strlen (framing->end), size;
  const gchar *data;

  self->sent = 0;
  g_string_truncate (self->out, 0);
  if (self->ended && end_size > 0 && !retract (self, end_size)) {
    self->begun = FALSE;
    self->n_records = 0;
  }
  self->ended = FALSE;
  if (!self->begun && self->target->empty)
    g_string_append (self->out, framing->begin);
  if (record == NULL) {
    g_string_append (self->out, framing->end);
    return;
  }
  if (self->n_records > 0)
    g_string_append (self->out, framing->between);
  data = g_bytes_get_data (record, &size);
  g_string_append_len (self->out, data, (gssize) size);
}

typedef enum { SENT, LOST, GIVEN_UP } Outcome;

/* Writes out until it is complete, the connection is lost or the deadline has
 * passed; tries at least once. */
static Outcome
send_out (CuvWriter *self)
{
  while (self->sent < self->out->len) {
    GError *error = NULL;
    gssize n = self->target->klass->write (self->target,
        self->out->str + self->sent, self->out->len - self->sent, &error);

    if (n >= 0) {
      count_sent (self, (gsize) n);
      if (self->sent < self->out->len && is_time_up (self))
        return GIVEN_UP;
      continue;
    }
    report_failure (self, error);
    if (!pause_after (self, TRUE))
      return GIVEN_UP;
    if (!self->target->connected)
      return LOST;
  }
  return SENT;
}

/* Writes a record, or the end if NULL. A new reader gets it from its first
 * byte; a part that cannot be completed is removed again where possible. */
static gboolean
deliver (CuvWriter *self, GBytes *record)
{
  Outcome outcome = LOST;

  if (record == NULL && (self->ended || !self->target->connected))
    return TRUE;
  while (outcome == LOST && connect_target (self)) {
    compose (self, record);
    outcome = send_out (self);
  }
  if (outcome == SENT) {
    self->begun = TRUE;
    self->ended = record == NULL;
    self->n_records += record != NULL;
  } else if (outcome == GIVEN_UP && self->sent > 0) {
    retract (self, self->sent);
  }
  return outcome == SENT;
}

static void
leave_if_moved (CuvWriter *self)
{
  CuvTarget *target = self->target;

  if (!target->connected || target->klass->moved == NULL
      || !target->klass->moved (target))
    return;
  deliver (self, NULL);
  target->connected = FALSE;
}

/* Needs the lock, which it releases while it works. */
static void
reopen (CuvWriter *self)
{
  self->reopen = FALSE;
  g_mutex_unlock (&self->lock);
  leave_if_moved (self);
  connect_target (self);
  g_mutex_lock (&self->lock);
}

/* Needs the lock. Waits for the next record. NULL with *end TRUE: write the
 * end; NULL with *end FALSE: the thread must quit. */
static GBytes *
next_work (CuvWriter *self, gboolean *end)
{
  GBytes *record;

  while (g_queue_is_empty (&self->queue) && !self->finish && !self->quit) {
    if (self->reopen)
      reopen (self);
    else
      g_cond_wait (&self->work, &self->lock);
  }
  record = g_queue_pop_head (&self->queue);
  *end = record == NULL && self->finish;
  self->busy = record != NULL;
  if (record != NULL)
    self->queue_bytes -= g_bytes_get_size (record);
  return record;
}

static void
finish_work (CuvWriter *self, gboolean ok, gboolean end)
{
  self->busy = FALSE;
  if (end)
    self->finish = FALSE;
  else if (ok)
    self->counts.records++;
  else
    self->counts.dropped++;
  if (ok && g_queue_is_empty (&self->queue))
    self->warned.given = FALSE;
  g_cond_broadcast (&self->done);
}

/* Needs the lock. */
static void
drop_queue (CuvWriter *self)
{
  guint n = g_queue_get_length (&self->queue);

  self->counts.dropped += n;
  self->queue_bytes = 0;
  g_queue_clear_full (&self->queue, (GDestroyNotify) g_bytes_unref);
  if (n > 0)
    writer_warn (self, "its reader did not take the last records in time");
}

static gpointer
writer_run (gpointer data)
{
  CuvWriter *self = data;
  gboolean ok = TRUE, end = FALSE;
  GBytes *record;

  cuv_block_signals ();
  g_mutex_lock (&self->lock);
  while ((record = next_work (self, &end)) != NULL || end) {
    g_mutex_unlock (&self->lock);
    if (record != NULL)
      leave_if_moved (self);
    ok = deliver (self, record);
    g_clear_pointer (&record, g_bytes_unref);
    g_mutex_lock (&self->lock);
    finish_work (self, ok, end);
    if ((!ok && self->quit) || is_past_deadline (self))
      break;
  }
  drop_queue (self);
  g_mutex_unlock (&self->lock);
  deliver (self, NULL);
  g_mutex_lock (&self->lock);
  self->gone = TRUE;
  g_cond_broadcast (&self->done);
  g_mutex_unlock (&self->lock);
  writer_unref (self);
  return NULL;
}

/* ---- the owner's side ---- */

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
  self->thread = g_thread_try_new ("cuv-writer", writer_run, self, error);
  if (self->thread == NULL) {
    self->references = 1;
    g_clear_pointer (&self, writer_unref);
  }
  return self;
}

/* Needs the lock. */
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
    writer_warn (self,
        self->absent ? "nobody reads from it: start its reader"
                     : "it does not take records as fast as they come");
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

/* Needs the lock. FALSE once the time is over. */
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
  gchar *warning;

  g_mutex_lock (&self->lock);
  warning = g_steal_pointer (&self->warning);
  g_mutex_unlock (&self->lock);
  return warning;
}

void
cuv_writer_get_counts (CuvWriter *self, CuvWriterCounts *counts)
{
  g_mutex_lock (&self->lock);
  *counts = self->counts;
  counts->queue = g_queue_get_length (&self->queue) + self->busy;
  g_mutex_unlock (&self->lock);
}

/* A write to a hanging file system never returns. The thread is then detached,
 * and frees the writer if the write does return. */
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
    drop_queue (self);
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
  writer_unref (self);
}
