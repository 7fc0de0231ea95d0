/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread of a CuvWriter: opens the target and writes the queue. */
#include "config.h"
#include "output/writer-private.h"

#include <string.h>

#include "output/thread.h"

#define RETRY_US (200 * G_TIME_SPAN_MILLISECOND)
#define RETRY_AT_END_US (20 * G_TIME_SPAN_MILLISECOND)
/* A reader that takes longer to appear causes a warning. */
#define READER_GRACE_US G_TIME_SPAN_SECOND

static void
report_failure (CuvWriter *self, GError *error)
{
  g_mutex_lock (&self->lock);
  self->failures++;
  cuv_writer_warn (self, error->message);
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
    cuv_writer_warn (self, "no process reads from it: start its reader");
  g_cond_broadcast (&self->done);
  g_mutex_unlock (&self->lock);
}

/* Call with the lock held. */
static void
wait_or_hurry (CuvWriter *self, gint64 microseconds)
{
  gint64 until = g_get_monotonic_time () + microseconds;

  while (!self->hurry && g_cond_wait_until (&self->work, &self->lock, until)) {
  }
  self->hurry = FALSE;
}

/* Waits before the next attempt. Returns FALSE if there is no time for one. */
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

/* Call with the lock held. */
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

/* Fills out with the framing that this connection still needs, and the record,
 * or the end of the framing if record is NULL. */
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

/* Writes out until all of it is written, the connection is lost or the deadline
 * has passed; tries at least once. */
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

/* Writes a record, or the end of the framing if NULL. A new reader gets the
 * whole text; a part that cannot be completed is removed where possible. */
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

/* Call with the lock held; releases it while it works. */
static void
reopen (CuvWriter *self)
{
  self->reopen = FALSE;
  g_mutex_unlock (&self->lock);
  leave_if_moved (self);
  connect_target (self);
  g_mutex_lock (&self->lock);
}

/* Call with the lock held. Waits for the next record. Returns NULL and sets
 * *end to TRUE if the end of the framing is to be written, or to FALSE to
 * quit. */
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

gpointer
cuv_writer_run (gpointer data)
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
  cuv_writer_drop_queue (self);
  g_mutex_unlock (&self->lock);
  deliver (self, NULL);
  g_mutex_lock (&self->lock);
  self->gone = TRUE;
  g_cond_broadcast (&self->done);
  g_mutex_unlock (&self->lock);
  cuv_writer_unref (self);
  return NULL;
}
