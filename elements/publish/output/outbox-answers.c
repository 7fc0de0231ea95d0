/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a broker reports while the outbox's thread runs it: connections,
 * acknowledgements, problems. */
#include "config.h"
#include "output/outbox-private.h"

#include <string.h>

/* ---- problems ---- */

void
cuv_outbox_warn (CuvOutbox *self, CuvOutboxProblem problem, const gchar *cause)
{
  static const gchar *const consequences[] = {
    [CUV_OUTBOX_WAITING] =
        "Records wait in the queue until the connection works",
    [CUV_OUTBOX_DROPPING] = "Records are dropped",
    [CUV_OUTBOX_REFUSING] = "The broker does not have this message",
  };
  gsize size = strlen (cause);

  size -= size > 0 && cause[size - 1] == '.';
  g_snprintf (self->counts.last_error, sizeof self->counts.last_error, "%.*s",
      (int) size, cause);
  if (!cuv_warning_is_due (&self->warnings[problem]))
    return;
  g_free (self->warning);
  self->warning = g_strdup_printf ("Cannot send to '%s': %.*s. %s.",
      self->broker->name, (int) size, cause, consequences[problem]);
}

void
cuv_outbox_failed (CuvOutbox *self, const gchar *problem)
{
  g_mutex_lock (&self->lock);
  cuv_outbox_warn (self, CUV_OUTBOX_WAITING, problem);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* ---- messages, all under the lock ---- */

guint64
cuv_outbox_n_queued (CuvOutbox *self)
{
  return cuv_spool_end (self->spool) - cuv_spool_first (self->spool);
}

CuvOutboxSlot *
cuv_outbox_slot (CuvOutbox *self, guint64 number)
{
  return &self->slots[number % self->broker->klass->window];
}

void
cuv_outbox_remove_first (CuvOutbox *self, gboolean acknowledged)
{
  guint64 first = cuv_spool_first (self->spool), n = cuv_outbox_n_queued (self);

  cuv_spool_pop (self->spool);
  self->counts.acknowledged += acknowledged;
  self->counts.dropped += n - cuv_outbox_n_queued (self) - acknowledged;
  for (; first < self->next && first < cuv_spool_first (self->spool); first++) {
    if (cuv_outbox_slot (self, first)->state != CUV_SLOT_IN_FLIGHT)
      cuv_outbox_slot (self, first)->state = CUV_SLOT_FREE;
  }
  self->next = MAX (self->next, cuv_spool_first (self->spool));
  g_cond_broadcast (&self->changed);
}

void
cuv_outbox_remove_answered (CuvOutbox *self)
{
  while (cuv_spool_first (self->spool) < self->next) {
    CuvSlotState state =
        cuv_outbox_slot (self, cuv_spool_first (self->spool))->state;

    if (state == CUV_SLOT_IN_FLIGHT)
      return;
    cuv_outbox_remove_first (self, state == CUV_SLOT_ACKNOWLEDGED);
  }
  if (cuv_outbox_n_queued (self) == 0)
    self->warnings[CUV_OUTBOX_WAITING].given =
        self->warnings[CUV_OUTBOX_DROPPING].given = FALSE;
}

gboolean
cuv_outbox_is_empty (CuvOutbox *self)
{
  return cuv_outbox_n_queued (self) == 0
      && cuv_retained_is_sent (self->retained);
}

void
cuv_outbox_connected (CuvOutbox *self)
{
  g_mutex_lock (&self->lock);
  self->counts.connected = TRUE;
  self->counts.reconnects += self->was_connected;
  self->was_connected = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

void
cuv_outbox_disconnected (CuvOutbox *self)
{
  g_mutex_lock (&self->lock);
  self->counts.connected = FALSE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Call with the lock held. */
static void
record_answered (CuvOutbox *self, guint64 number, const gchar *problem)
{
  CuvOutboxSlot *slot = cuv_outbox_slot (self, number);

  self->unanswered_bytes -= slot->bytes;
  if (problem != NULL)
    cuv_outbox_warn (self, CUV_OUTBOX_DROPPING, problem);
  if (self->spool != NULL && number >= cuv_spool_first (self->spool)) {
    slot->state = problem == NULL ? CUV_SLOT_ACKNOWLEDGED : CUV_SLOT_REFUSED;
    cuv_outbox_remove_answered (self);
  } else { /* it was dropped after it was sent */
    slot->state = CUV_SLOT_FREE;
    self->counts.dropped -= problem == NULL;
    self->counts.acknowledged += problem == NULL;
  }
}

void
cuv_outbox_acknowledged (CuvOutbox *self, guint64 number, const gchar *problem)
{
  g_mutex_lock (&self->lock);
  self->pause_ms = 0;
  if ((number & CUV_RETAINED_NUMBER) != 0)
    cuv_outbox_retained_answered (self, number, problem);
  else
    record_answered (self, number, problem);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}
