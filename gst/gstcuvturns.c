/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcuvturns.h"

#define LONGEST_WAIT_TO_POST (20 * G_TIME_SPAN_MILLISECOND)
#define MAX_PIPELINES 64 /* further ones share turns */

gboolean
gst_cuv_turns_begin (GstCuvTurns *self, guint most, gint64 longest)
{
  const gint64 end = g_get_monotonic_time () + longest;
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

/* Returns the turns of the pipeline that has the element. */
static GstCuvTurns *
turns_of_pipeline (GstElement *element)
{
  static GstCuvTurns all[MAX_PIPELINES];
  GstObject *top = gst_object_ref (GST_OBJECT (element)), *parent;
  guint i;

  while ((parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
  }
  i = GPOINTER_TO_SIZE (top) / sizeof (GstPipeline) % MAX_PIPELINES;
  gst_object_unref (top);
  return &all[i];
}

/* A thread that writes to the queue of a GstBus spins until those that came
 * before it have written (gst_atomic_queue_push()). With more threads than
 * cores, the thread that the others wait for often does not run: without turns,
 * 64 threads on two cores in the end post only some 15 messages a second. */
gboolean
gst_cuv_post_in_turn (GstElement *element, GstMessage *message)
{
  static _Thread_local gboolean posting; /* a handler may post, too */
  GstElementClass *klass = g_type_class_peek (GST_TYPE_ELEMENT);
  GstCuvTurns *turns;
  gboolean begun, posted;

  if (posting)
    return klass->post_message (element, message);
  turns = turns_of_pipeline (element);
  begun = gst_cuv_turns_begin (turns, 1, LONGEST_WAIT_TO_POST);
  posting = TRUE;
  posted = klass->post_message (element, message);
  posting = FALSE;
  if (begun)
    gst_cuv_turns_end (turns);
  return posted;
}
