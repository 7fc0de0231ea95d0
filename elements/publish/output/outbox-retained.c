/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of an outbox that the broker retains. */
#include "config.h"
#include "output/outbox-private.h"

#include "output/thread.h"

/* Pause before a message that could not be sent yet is tried again. */
#define LATER_US (10 * G_TIME_SPAN_MILLISECOND)

void
cuv_outbox_retain (
    CuvOutbox *self, const gchar *topic, const gchar *text, gint64 interval)
{
  g_mutex_lock (&self->lock);
  cuv_retained_set (
      self->retained, topic, text, interval, g_get_monotonic_time ());
  g_mutex_unlock (&self->lock);
  cuv_wake (self->wake_fd);
}

void
cuv_outbox_renew_retained (CuvOutbox *self)
{
  g_mutex_lock (&self->lock);
  cuv_retained_renew (self->retained, FALSE, g_get_monotonic_time ());
  g_mutex_unlock (&self->lock);
}

/* Call with the lock held. */
static void
warn_refused (CuvOutbox *self, const gchar *topic, const gchar *problem)
{
  gchar *cause = g_strdup_printf ("topic '%s': %s", topic, problem);

  cuv_outbox_warn (self, CUV_OUTBOX_REFUSING, cause);
  g_free (cause);
}

void
cuv_outbox_retained_answered (
    CuvOutbox *self, guint64 number, const gchar *problem)
{
  const gchar *topic = cuv_retained_answered (
      self->retained, number, FALSE, g_get_monotonic_time ());

  if (topic != NULL && problem != NULL)
    warn_refused (self, topic, problem);
}

/* Call with the lock held; releases it while sending. */
static CuvSend
send_retained (
    CuvOutbox *self, guint64 number, const CuvMessage *message, GError **error)
{
  CuvSend outcome;
  GError *problem = NULL;

  g_mutex_unlock (&self->lock);
  outcome = self->broker->klass->send (self->broker, number, message, &problem);
  g_mutex_lock (&self->lock);
  if (outcome == CUV_SEND_OK) {
    self->counts.retained_sent++;
    return outcome;
  }
  cuv_retained_answered (self->retained, number, outcome != CUV_SEND_REFUSED,
      g_get_monotonic_time () + LATER_US);
  if (outcome == CUV_SEND_REFUSED) {
    warn_refused (self, message->topic, problem->message);
    g_clear_error (&problem);
    return CUV_SEND_OK;
  }
  if (problem != NULL)
    g_propagate_error (error, problem);
  return outcome;
}

gboolean
cuv_outbox_send_retained (CuvOutbox *self, GError **error)
{
  CuvSend outcome = CUV_SEND_OK;
  CuvMessage message;
  guint64 number;

  g_mutex_lock (&self->lock);
  while (outcome == CUV_SEND_OK && self->counts.connected
      && cuv_retained_take (self->retained, g_get_monotonic_time (),
          self->flush || self->quit, &message, &number)) {
    outcome = send_retained (self, number, &message, error);
    cuv_message_clear (&message);
  }
  g_mutex_unlock (&self->lock);
  return outcome != CUV_SEND_LOST;
}
