/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "base/gstcuvpending.h"
#include "gstcuvturns.h"

/* Threads that have frames on a GPU at a time. With more of them the GPU is not
 * faster, but they wait for the driver's lock, and their kernels for each
 * other. */
#define FRAMES_AT_ONCE 8
#define LONGEST_WAIT (20 * G_TIME_SPAN_MILLISECOND)
#define MAX_DEVICES 16 /* further devices share turns */

static _Thread_local GstCuvPending *last;

static GstCuvTurns turns[MAX_DEVICES];
static _Thread_local gboolean asked;     /* for a turn */
static _Thread_local GstCuvTurns *taken; /* the thread has a turn of these */

void
gst_cuv_pending_take_turn (guint device)
{
  GstCuvTurns *of_device = &turns[device % MAX_DEVICES];

  if (asked)
    return;
  asked = TRUE;
  if (gst_cuv_turns_begin (of_device, FRAMES_AT_ONCE, LONGEST_WAIT))
    taken = of_device;
}

void
gst_cuv_pending_end_turn (void)
{
  if (taken != NULL)
    gst_cuv_turns_end (taken);
  taken = NULL;
  asked = FALSE;
}

void
gst_cuv_pending_add (GstCuvPending *self)
{
  self->before = last;
  last = self;
}

/* Finishes an analysis, after those that were added before it. */
static gboolean
finish_in_order (GstCuvPending *self, GstBuffer *buffer)
{
  gboolean ok;

  if (self == NULL)
    return TRUE;
  ok = finish_in_order (self->before, buffer);
  return self->finish (self->element, ok ? buffer : NULL) && ok;
}

/* Takes the analyses off the list, and reads the quick results. */
static GstCuvPending *
take_pending (void)
{
  GstCuvPending *self = last;
  const gboolean busy = gst_cuv_cuda_is_busy ();

  last = NULL;
  for (GstCuvPending *at = self; at != NULL; at = at->before) {
    if (at->quick && !busy)
      at->collect (at->element);
  }
  return self;
}

gboolean
gst_cuv_pending_finish_in_turn (GstBuffer *buffer)
{
  return finish_in_order (take_pending (), buffer);
}

gboolean
gst_cuv_pending_finish (GstBuffer *buffer)
{
  GstCuvPending *self = take_pending ();
  gboolean ok;

  if (self == NULL) {
    gst_cuv_pending_end_turn ();
    return TRUE;
  }
  ok = finish_in_order (self->before, buffer);
  self->collect (self->element);
  /* handlers of the messages that are posted now may take long */
  gst_cuv_pending_end_turn ();
  return self->finish (self->element, ok ? buffer : NULL) && ok;
}

gboolean
gst_cuv_pending_any (void)
{
  return last != NULL;
}

gboolean
gst_cuv_pending_has (GType type)
{
  const GstCuvPending *pending = last;

  while (pending != NULL && G_OBJECT_TYPE (pending->element) != type)
    pending = pending->before;
  return pending != NULL;
}

static gboolean
pushes_unseen (GstPad *pad)
{
  gboolean unseen;

  GST_OBJECT_LOCK (pad);
  unseen = GST_PAD_MODE (pad) == GST_PAD_MODE_PUSH && pad->probes.hooks == NULL;
  GST_OBJECT_UNLOCK (pad);
  return unseen;
}

/* A transform that has to negotiate before it handles a frame may wait for
 * long, with what the GPU works on. */
static gboolean
negotiates (GstElement *element)
{
  return gst_pad_needs_reconfigure (
      GST_BASE_TRANSFORM_SRC_PAD (GST_BASE_TRANSFORM (element)));
}

gboolean
gst_cuv_pending_passes_on (GstBaseTransform *trans)
{
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (trans);
  GstPad *peer = gst_pad_get_peer (pad);
  GstElement *next = NULL;
  gboolean passes_on;

  if (peer != NULL && pushes_unseen (pad) && pushes_unseen (peer))
    next = gst_pad_get_parent_element (peer);
  passes_on = GST_IS_CUV_TRANSFORM (next)
      && GST_CUV_TRANSFORM_GET_CLASS (next)->finishes_pending
      && !negotiates (next);
  gst_clear_object (&next);
  gst_clear_object (&peer);
  return passes_on;
}
