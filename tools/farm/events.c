/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queues events in any thread, and calls StoreEvents for them in the main
 * context, in their order. */
#include "store-private.h"

/* The arguments of a call of StoreEvents: of entry() if entry is set, of
 * ready() if is_ready, otherwise of lost(). */
typedef struct {
  StoreEntry *entry;
  gboolean is_ready, ready;
  StoreBucket bucket;
} Event;

static void
event_free (Event *self)
{
  if (self->entry != NULL)
    store_entry_free (self->entry);
  g_free (self);
}

/* ---- in the main context ---- */

static gboolean
has_events (GSource *source, gint *timeout)
{
  Store *const *self = (Store *const *) (source + 1);

  *timeout = -1;
  return g_async_queue_length ((*self)->queue) > 0;
}

static gboolean
check_events (GSource *source)
{
  gint timeout;

  return has_events (source, &timeout);
}

static gboolean
dispatch_event (GSource *source, GSourceFunc callback, gpointer data)
{
  Store *self = *(Store **) (source + 1);
  Event *event = g_async_queue_try_pop (self->queue);

  if (event == NULL)
    return G_SOURCE_CONTINUE;
  if (event->entry != NULL)
    self->events->entry (self->data, event->entry);
  else if (event->is_ready)
    self->events->ready (self->data, event->ready);
  else
    self->events->lost (self->data, event->bucket);
  event_free (event);
  return G_SOURCE_CONTINUE;
}

void
events_open (Store *self)
{
  static GSourceFuncs functions = { has_events, check_events, dispatch_event,
    NULL, NULL, NULL };

  self->source = g_source_new (&functions, sizeof (GSource) + sizeof (Store *));
  *(Store **) (self->source + 1) = self;
  self->queue = g_async_queue_new_full ((GDestroyNotify) event_free);
  g_source_attach (self->source, NULL);
}

void
events_close (Store *self)
{
  g_source_destroy (self->source);
  g_source_unref (self->source);
  g_async_queue_unref (self->queue);
}

/* ---- in any thread ---- */

static void
post_event (Store *self, Event event)
{
  Event *copy = g_new (Event, 1);

  *copy = event;
  g_async_queue_push (self->queue, copy);
  g_main_context_wakeup (NULL);
}

void
events_post_entry (Store *self, StoreEntry *entry)
{
  post_event (self, (Event){ .entry = entry });
}

void
events_post_ready (Store *self, gboolean ready)
{
  post_event (self, (Event){ .is_ready = TRUE, .ready = ready });
}

void
events_post_lost (Store *self, StoreBucket bucket)
{
  post_event (self, (Event){ .bucket = bucket });
}
