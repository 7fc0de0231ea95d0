/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread of a CuvOutbox: connects, sends, and waits for the broker. */
#include "config.h"
#include "output/outbox-private.h"

#include <poll.h>
#include <string.h>

#include "output/thread.h"

/* Limits of the pause between two attempts to connect. It is doubled each time
 * and shortened by up to half at random, so that many clients do not reconnect
 * at the same moment. */
#define MIN_PAUSE_MS 250
#define MAX_PAUSE_MS 30000
/* The broker's run() is called at least this often, for its timers. */
#define RUN_MS 1000

/* No message is sent while this many bytes or more are in flight. */
#define MAX_FLIGHT_BYTES (4 << 20)

/* Call with the lock held. */
static gboolean
may_send (CuvOutbox *self)
{
  return self->spool != NULL && self->counts.connected
      && self->next < cuv_spool_end (self->spool)
      && cuv_outbox_slot (self, self->next)->state == CUV_SLOT_FREE
      && self->unanswered_bytes < MAX_FLIGHT_BYTES;
}

/* Call with the lock held. Reads the next message. An unreadable message is
 * dropped once it is the first. */
static gboolean
read_next (CuvOutbox *self, CuvMessage *message)
{
  GError *error = NULL;

  if (cuv_spool_read (self->spool, self->next, message, &error))
    return TRUE;
  cuv_outbox_warn (self, CUV_OUTBOX_DROPPING, error->message);
  g_error_free (error);
  if (self->next == cuv_spool_first (self->spool))
    cuv_outbox_remove_first (self, FALSE);
  return FALSE;
}

/* Call with the lock held; releases it while sending. */
static CuvSend
send_next (CuvOutbox *self, const CuvMessage *message, GError **error)
{
  guint64 number = self->next++;
  CuvOutboxSlot *slot = cuv_outbox_slot (self, number);
  CuvSend outcome;

  *slot = (CuvOutboxSlot){ CUV_SLOT_IN_FLIGHT, cuv_message_bytes (message) };
  self->unanswered_bytes += slot->bytes;
  g_mutex_unlock (&self->lock);
  outcome = self->broker->klass->send (self->broker, number, message, error);
  g_mutex_lock (&self->lock);
  if (outcome == CUV_SEND_OK) {
    self->counts.sent++;
    self->counts.bytes += message->size;
    return outcome;
  }
  self->unanswered_bytes -= slot->bytes;
  slot->state = CUV_SLOT_FREE;
  if (self->spool != NULL && number >= cuv_spool_first (self->spool)) {
    if (outcome == CUV_SEND_REFUSED)
      slot->state = CUV_SLOT_REFUSED;
    else
      self->next = number;
    cuv_outbox_remove_answered (self);
  }
  return outcome;
}

/* Returns FALSE if the connection is lost. */
static gboolean
send_waiting (CuvOutbox *self, GError **error)
{
  CuvSend outcome = CUV_SEND_OK;
  CuvMessage message;
  GError *refusal = NULL;

  g_mutex_lock (&self->lock);
  while (
      outcome == CUV_SEND_OK && may_send (self) && read_next (self, &message)) {
    outcome = send_next (self, &message, &refusal);
    cuv_message_clear (&message);
    if (outcome == CUV_SEND_REFUSED) {
      cuv_outbox_warn (self, CUV_OUTBOX_DROPPING, refusal->message);
      g_clear_error (&refusal);
      outcome = CUV_SEND_OK;
    }
  }
  g_mutex_unlock (&self->lock);
  if (refusal != NULL)
    g_propagate_error (error, refusal);
  return outcome != CUV_SEND_LOST;
}

/* Whether the thread has nothing left to do. */
static gboolean
outbox_is_over (CuvOutbox *self)
{
  gboolean over;

  g_mutex_lock (&self->lock);
  over = self->quit
      && (!self->counts.connected || self->spool == NULL
          || cuv_outbox_is_empty (self)
          || g_get_monotonic_time () >= self->deadline);
  g_mutex_unlock (&self->lock);
  return over;
}

/* Marks all messages as not sent, after the connection has ended. */
static void
return_messages (CuvOutbox *self)
{
  g_mutex_lock (&self->lock);
  self->counts.connected = FALSE;
  self->unanswered_bytes = 0;
  memset (self->slots, 0, self->broker->klass->window * sizeof *self->slots);
  cuv_retained_renew (self->retained, TRUE, g_get_monotonic_time ());
  if (self->spool != NULL)
    self->next = cuv_spool_first (self->spool);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static gint
run_milliseconds (CuvOutbox *self)
{
  gint64 end = G_MAXINT64, left;

  g_mutex_lock (&self->lock);
  if (self->counts.connected)
    end = cuv_retained_due (self->retained);
  if (self->quit)
    end = MIN (end, self->deadline);
  g_mutex_unlock (&self->lock);
  left = CLAMP (
      end - g_get_monotonic_time (), 0, RUN_MS * G_TIME_SPAN_MILLISECOND);
  left += G_TIME_SPAN_MILLISECOND - 1; /* rounds up */
  return (gint) (left / G_TIME_SPAN_MILLISECOND);
}

static void
connection_failed (CuvOutbox *self, GError *error)
{
  cuv_outbox_failed (self, error != NULL ? error->message : "connection lost");
  g_clear_error (&error);
}

/* Serves one connection, from its beginning to its end. */
static void
outbox_serve (CuvOutbox *self)
{
  CuvBroker *broker = self->broker;
  GError *error = NULL;
  gboolean ok = broker->klass->open (broker, &error);

  while (ok && !outbox_is_over (self)) {
    ok = send_waiting (self, &error) && cuv_outbox_send_retained (self, &error)
        && broker->klass->run (
            broker, self->wake_fd, run_milliseconds (self), &error);
    cuv_clear_wake (self->wake_fd);
  }
  broker->klass->close (broker, ok);
  return_messages (self);
  if (!ok)
    connection_failed (self, error);
}

/* Whether finish() wants an attempt to connect now. */
static gboolean
take_hurry (CuvOutbox *self)
{
  gboolean hurry;

  g_mutex_lock (&self->lock);
  hurry = self->hurry;
  self->hurry = FALSE;
  g_mutex_unlock (&self->lock);
  if (hurry)
    self->pause_ms = 0;
  return hurry;
}

/* Waits before the next attempt to connect. A push also wakes the thread, but
 * does not end the pause. */
static void
pause_before_next (CuvOutbox *self)
{
  struct pollfd ready = { self->wake_fd, POLLIN, 0 };
  gint64 now = g_get_monotonic_time (), end;

  self->pause_ms = CLAMP (2 * self->pause_ms, MIN_PAUSE_MS, MAX_PAUSE_MS);
  end = now
      + g_random_int_range (self->pause_ms / 2, self->pause_ms + 1)
          * G_TIME_SPAN_MILLISECOND;
  while (now < end && !outbox_is_over (self) && !take_hurry (self)) {
    poll (&ready, 1, (int) ((end - now) / G_TIME_SPAN_MILLISECOND) + 1);
    cuv_clear_wake (self->wake_fd);
    now = g_get_monotonic_time ();
  }
}

gpointer
cuv_outbox_run (gpointer data)
{
  CuvOutbox *self = data;

  cuv_block_signals ();
  while (!outbox_is_over (self)) {
    outbox_serve (self);
    if (!outbox_is_over (self))
      pause_before_next (self);
  }
  g_mutex_lock (&self->lock);
  self->gone = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  cuv_outbox_unref (self);
  return NULL;
}
