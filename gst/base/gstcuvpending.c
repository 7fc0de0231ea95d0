/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "base/gstcuvpending.h"

static _Thread_local GstCuvPending *last;

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

gboolean
gst_cuv_pending_finish (GstBuffer *buffer)
{
  GstCuvPending *self = last;
  const gboolean busy = gst_cuv_cuda_is_busy ();

  last = NULL;
  for (GstCuvPending *at = self; at != NULL; at = at->before) {
    if (at->quick && !busy)
      at->collect (at->element);
  }
  return finish_in_order (self, buffer);
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
