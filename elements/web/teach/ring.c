/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "teach/ring.h"

static void
frame_clear (gpointer data)
{
  cuv_web_frame_unref (((CuvRingFrame *) data)->frame);
}

static GArray *
new_list (void)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (CuvRingFrame));

  g_array_set_clear_func (list, frame_clear);
  return list;
}

void
cuv_ring_init (CuvRing *self)
{
  self->recent = new_list ();
  self->held = new_list ();
  self->bytes = 0;
  g_mutex_init (&self->lock);
}

void
cuv_ring_clear (CuvRing *self)
{
  g_array_unref (self->recent);
  g_array_unref (self->held);
  g_mutex_clear (&self->lock);
}

static gsize
jpeg_size (const CuvRingFrame *frame)
{
  gsize size;

  cuv_web_frame_jpeg (frame->frame, &size);
  return size;
}

static void
ring_append (GArray *list, CuvRingFrame frame)
{
  cuv_web_frame_ref (frame.frame);
  g_array_append_val (list, frame);
}

void
cuv_ring_add (CuvRing *self, const CuvRingFrame *frame)
{
  g_mutex_lock (&self->lock);
  ring_append (self->recent, *frame);
  self->bytes += jpeg_size (frame);
  while (self->recent->len > CUV_RING_MAX_FRAMES
      || (self->bytes > CUV_RING_MAX_BYTES && self->recent->len > 1)) {
    self->bytes -= jpeg_size (&g_array_index (self->recent, CuvRingFrame, 0));
    g_array_remove_index (self->recent, 0);
  }
  g_mutex_unlock (&self->lock);
}

void
cuv_ring_empty_recent (CuvRing *self)
{
  g_mutex_lock (&self->lock);
  g_array_set_size (self->recent, 0);
  self->bytes = 0;
  g_mutex_unlock (&self->lock);
}

void
cuv_ring_empty (CuvRing *self)
{
  cuv_ring_empty_recent (self);
  g_mutex_lock (&self->lock);
  g_array_set_size (self->held, 0);
  g_mutex_unlock (&self->lock);
}

/* Call with the lock held. Returns the newest frame of this number, or NULL. */
static const CuvRingFrame *
find (const CuvRing *self, gint64 number)
{
  const GArray *const lists[] = { self->recent, self->held };

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++) {
    for (guint i = lists[l]->len; i > 0; i--) {
      const CuvRingFrame *frame =
          &g_array_index (lists[l], CuvRingFrame, i - 1);

      if (frame->number == number)
        return frame;
    }
  }
  return NULL;
}

/* Call with the lock held. */
static void
release (CuvRing *self, guint64 client)
{
  for (guint i = self->held->len; i > 0; i--)
    if (g_array_index (self->held, CuvRingFrame, i - 1).client == client)
      g_array_remove_index (self->held, i - 1);
  if (self->held->len == CUV_RING_MAX_HELD)
    g_array_remove_index (self->held, 0);
}

gboolean
cuv_ring_hold (CuvRing *self, gint64 number, guint64 client)
{
  const CuvRingFrame *found;

  g_mutex_lock (&self->lock);
  found = find (self, number);
  if (found != NULL) {
    CuvRingFrame frame = *found;

    frame.client = client;
    cuv_web_frame_ref (frame.frame); /* release() may drop the last one */
    release (self, client);
    g_array_append_val (self->held, frame);
  }
  g_mutex_unlock (&self->lock);
  return found != NULL;
}

gchar *
cuv_ring_missing (gint64 number)
{
  return g_strdup_printf ("frame %" G_GINT64_FORMAT
                          " is no longer kept: mark a newer frame, or hold "
                          "this one in time",
      number);
}

gboolean
cuv_ring_find (CuvRing *self, gint64 number, CuvRingFrame *found)
{
  const CuvRingFrame *frame;

  g_mutex_lock (&self->lock);
  frame = find (self, number);
  if (frame != NULL) {
    *found = *frame;
    cuv_web_frame_ref (found->frame);
  }
  g_mutex_unlock (&self->lock);
  return frame != NULL;
}
