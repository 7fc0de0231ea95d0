/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcuvpost.h"

/* A thread that writes to the queue of a GstBus spins until those that came
 * before it have written (gst_atomic_queue_push()). With more threads than
 * cores, the thread that the others wait for often does not run: without turns,
 * 64 threads on two cores post a few messages a second. Threads that wait for
 * their turn sleep. */
static struct {
  GMutex lock;
  GCond over;
  GThread *owner; /* NULL: nobody's turn */
} turn;

/* in microseconds: the application's handlers of messages run in the thread
 * that has the turn, and may wait for another one */
#define LONGEST_WAIT (20 * G_TIME_SPAN_MILLISECOND)

/* Returns whether it is the thread's turn now. */
static gboolean
take_turn (void)
{
  const gint64 end = g_get_monotonic_time () + LONGEST_WAIT;
  GThread *self = g_thread_self ();
  gboolean taken;

  g_mutex_lock (&turn.lock);
  while (turn.owner != NULL && turn.owner != self
      && g_cond_wait_until (&turn.over, &turn.lock, end))
    ;
  taken = turn.owner == NULL;
  if (taken)
    turn.owner = self;
  g_mutex_unlock (&turn.lock);
  return taken;
}

static void
end_turn (void)
{
  g_mutex_lock (&turn.lock);
  turn.owner = NULL;
  g_cond_signal (&turn.over);
  g_mutex_unlock (&turn.lock);
}

gboolean
gst_cuv_post_in_turn (GstElement *element, GstMessage *message)
{
  GstElementClass *klass = g_type_class_peek (GST_TYPE_ELEMENT);
  const gboolean has_turn = take_turn ();
  const gboolean posted = klass->post_message (element, message);

  if (has_turn)
    end_turn ();
  return posted;
}
