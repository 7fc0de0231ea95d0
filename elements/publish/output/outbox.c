/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The owner's side of a CuvOutbox: push, finish, stop. */
#include "config.h"
#include "output/outbox-private.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "output/thread.h"

/* A thread that runs longer than this after its deadline is detached. */
#define GRACE_US (500 * G_TIME_SPAN_MILLISECOND)

void
cuv_outbox_unref (CuvOutbox *self)
{
  if (!g_atomic_int_dec_and_test (&self->references))
    return;
  self->broker->klass->free (self->broker);
  g_clear_pointer (&self->spool, cuv_spool_free);
  cuv_retained_free (self->retained);
  close (self->wake_fd);
  g_free (self->slots);
  g_free (self->warning);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
}

CuvOutbox *
cuv_outbox_new (
    CuvBroker *broker, CuvSpool *spool, CuvFull on_full, GError **error)
{
  CuvOutbox *self = g_new0 (CuvOutbox, 1);

  self->references = 2;
  self->broker = broker;
  broker->outbox = self;
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->spool = spool;
  self->retained = cuv_retained_new ();
  self->on_full = on_full;
  self->counts.spooled = cuv_outbox_n_queued (self);
  self->next = cuv_spool_first (spool);
  self->slots = g_new0 (CuvOutboxSlot, broker->klass->window);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->thread = g_thread_try_new ("cuv-outbox", cuv_outbox_run, self, error);
  if (self->thread == NULL) {
    self->references = 1;
    g_clear_pointer (&self, cuv_outbox_unref);
  }
  return self;
}

gboolean
cuv_outbox_wait_connected (CuvOutbox *self, guint milliseconds, GError **error)
{
  gint64 end = g_get_monotonic_time () + milliseconds * G_TIME_SPAN_MILLISECOND;
  gboolean connected;

  g_mutex_lock (&self->lock);
  while (!self->counts.connected && !self->interrupted
      && g_cond_wait_until (&self->changed, &self->lock, end)) {
  }
  connected = self->counts.connected;
  if (!connected)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED, "%s",
        self->counts.last_error[0] != '\0' ? self->counts.last_error
                                           : "it does not answer");
  g_mutex_unlock (&self->lock);
  return connected;
}

typedef enum { ROOM, NO_ROOM, WAITED } Room;

/* Call with the lock held. */
static Room
outbox_make_room (CuvOutbox *self, gsize bytes)
{
  gint64 end =
      g_get_monotonic_time () + CUV_OUTBOX_BLOCK_MS * G_TIME_SPAN_MILLISECOND;

  if (!cuv_spool_can_hold (self->spool, bytes)) {
    cuv_outbox_warn (self, CUV_OUTBOX_DROPPING,
        "a record is larger than queue-bytes: increase queue-bytes");
    return NO_ROOM;
  }
  while (!cuv_spool_has_room (self->spool, bytes)) {
    if (self->on_full == CUV_FULL_BLOCK) {
      if (self->interrupted)
        return NO_ROOM;
      if (!g_cond_wait_until (&self->changed, &self->lock, end))
        return WAITED;
      continue;
    }
    cuv_outbox_warn (self, CUV_OUTBOX_DROPPING,
        self->counts.connected
            ? "it cannot keep up with the records, and the queue is full"
            : "there is no connection, and the queue is full");
    if (self->on_full == CUV_FULL_DROP_NEWEST)
      return NO_ROOM;
    cuv_outbox_remove_first (self, FALSE);
    cuv_outbox_remove_answered (self);
  }
  return ROOM;
}

gboolean
cuv_outbox_push (CuvOutbox *self, const CuvMessage *message)
{
  GError *error = NULL;
  Room room;

  g_mutex_lock (&self->lock);
  room = outbox_make_room (self, cuv_message_bytes (message));
  if (room == NO_ROOM) {
    self->counts.dropped++;
  } else if (room == ROOM && !cuv_spool_push (self->spool, message, &error)) {
    self->counts.dropped++;
    cuv_outbox_warn (self, CUV_OUTBOX_DROPPING, error->message);
    g_error_free (error);
  }
  g_mutex_unlock (&self->lock);
  cuv_wake (self->wake_fd);
  return room != WAITED;
}

gboolean
cuv_outbox_finish (CuvOutbox *self, guint milliseconds)
{
  gint64 start = g_get_monotonic_time ();
  gboolean in_time = TRUE, empty;

  g_mutex_lock (&self->lock);
  self->hurry = self->flush = TRUE;
  cuv_wake (self->wake_fd);
  while (in_time && !cuv_outbox_is_empty (self) && !self->interrupted) {
    guint most = self->counts.connected
        ? milliseconds
        : MIN (milliseconds, CUV_OUTBOX_ABSENT_MS);

    in_time = g_cond_wait_until (
        &self->changed, &self->lock, start + most * G_TIME_SPAN_MILLISECOND);
  }
  self->flush = FALSE;
  empty = cuv_outbox_n_queued (self) == 0;
  g_mutex_unlock (&self->lock);
  return empty;
}

void
cuv_outbox_interrupt (CuvOutbox *self, gboolean interrupt)
{
  g_mutex_lock (&self->lock);
  self->interrupted = interrupt;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

gchar *
cuv_outbox_take_warning (CuvOutbox *self)
{
  return cuv_warning_take (&self->warning, &self->lock);
}

/* Call with the lock held. */
static void
get_counts (CuvOutbox *self, CuvOutboxCounts *counts)
{
  *counts = self->counts;
  counts->queued = cuv_outbox_n_queued (self);
  counts->retained = cuv_retained_n_topics (self->retained);
}

void
cuv_outbox_get_counts (CuvOutbox *self, CuvOutboxCounts *counts)
{
  g_mutex_lock (&self->lock);
  get_counts (self, counts);
  g_mutex_unlock (&self->lock);
}

/* Call with the lock held. Closes the file even if the thread is still
 * connecting, as the element may open it again. */
static void
close_spool (CuvOutbox *self, CuvOutboxCounts *counts)
{
  get_counts (self, counts);
  counts->connected = FALSE;
  if (!cuv_spool_is_file (self->spool)) {
    counts->dropped += counts->queued;
    counts->queued = 0;
  }
  g_clear_pointer (&self->spool, cuv_spool_free);
}

void
cuv_outbox_stop (CuvOutbox *self, guint milliseconds, CuvOutboxCounts *counts,
    gchar **warning)
{
  gboolean gone;

  g_mutex_lock (&self->lock);
  self->quit = TRUE;
  self->deadline = g_get_monotonic_time ();
  if (self->counts.connected)
    self->deadline += milliseconds * G_TIME_SPAN_MILLISECOND;
  cuv_wake (self->wake_fd);
  while (!self->gone
      && g_cond_wait_until (
          &self->changed, &self->lock, self->deadline + GRACE_US)) {
  }
  gone = self->gone;
  close_spool (self, counts);
  *warning = g_steal_pointer (&self->warning);
  g_mutex_unlock (&self->lock);
  if (gone)
    g_thread_join (self->thread);
  else
    g_thread_unref (self->thread);
  cuv_outbox_unref (self);
}
