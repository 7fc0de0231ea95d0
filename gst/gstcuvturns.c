/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcuvturns.h"

#define LONGEST_WAIT (20 * G_TIME_SPAN_MILLISECOND)

gboolean
gst_cuv_turns_begin (GstCuvTurns *self, guint most)
{
  const gint64 end = g_get_monotonic_time () + LONGEST_WAIT;
  gboolean begun;

  g_mutex_lock (&self->lock);
  while (
      self->n >= most && g_cond_wait_until (&self->one_less, &self->lock, end))
    ;
  begun = self->n < most;
  if (begun)
    self->n++;
  g_mutex_unlock (&self->lock);
  return begun;
}

void
gst_cuv_turns_end (GstCuvTurns *self)
{
  g_mutex_lock (&self->lock);
  self->n--;
  g_cond_signal (&self->one_less);
  g_mutex_unlock (&self->lock);
}

/* A thread that writes to the queue of a GstBus spins until those that came
 * before it have written (gst_atomic_queue_push()). With more threads than
 * cores, the thread that the others wait for often does not run: without turns,
 * 64 threads on two cores post some 15 messages a second. */
gboolean
gst_cuv_post_in_turn (GstElement *element, GstMessage *message)
{
  static GstCuvTurns turns;
  static _Thread_local gboolean posting; /* a handler of a message posts one */
  GstElementClass *klass = g_type_class_peek (GST_TYPE_ELEMENT);
  const gboolean waits = !posting;
  const gboolean begun = waits && gst_cuv_turns_begin (&turns, 1);
  gboolean posted;

  posting = TRUE;
  posted = klass->post_message (element, message);
  posting = !waits;
  if (begun)
    gst_cuv_turns_end (&turns);
  return posted;
}
