/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the progress of a phase, from a thread of its own. */
#include "train-tool.h"

#include <unistd.h>

/* Time between updates on a terminal, where each overwrites the last one. */
#define TERMINAL_INTERVAL G_USEC_PER_SEC

struct _Progress {
  const gchar *phase;
  gint *at, first;
  guint n;
  gint64 start;
  gboolean terminal, printed;
  GThread *thread;
  GMutex lock;
  GCond ended;
  gboolean end;
};

static void
print_line (Progress *self)
{
  const guint done = (guint) (g_atomic_int_get (self->at) - self->first);
  const gdouble seconds =
      (gdouble) (g_get_monotonic_time () - self->start) / G_USEC_PER_SEC;

  g_printerr ("%s%s: %u", self->terminal ? "\r" : "", self->phase, done);
  if (self->n > 0)
    g_printerr (" of %u", self->n);
  if (done > 0 && done < self->n)
    g_printerr (", %.0f s left", seconds / done * (self->n - done));
  g_printerr (self->terminal ? "\033[K" : "\n");
  self->printed = TRUE;
}

static gpointer
progress_thread (gpointer data)
{
  Progress *self = data;
  const gint64 interval =
      self->terminal ? TERMINAL_INTERVAL : options_progress_interval ();
  gint64 next = self->start + interval;

  g_mutex_lock (&self->lock);
  while (!self->end) {
    if (g_cond_wait_until (&self->ended, &self->lock, next))
      continue;
    print_line (self);
    next += interval;
  }
  g_mutex_unlock (&self->lock);
  return NULL;
}

Progress *
progress_begin (const gchar *phase, gint *at, guint n)
{
  Progress *self = g_new0 (Progress, 1);

  self->phase = phase;
  self->at = at;
  self->first = g_atomic_int_get (at);
  self->n = n;
  self->start = g_get_monotonic_time ();
  self->terminal = isatty (STDERR_FILENO);
  g_mutex_init (&self->lock);
  g_cond_init (&self->ended);
  if (self->terminal && n > 0)
    print_line (self);
  self->thread = g_thread_new ("progress", progress_thread, self);
  return self;
}

void
progress_end (Progress *self)
{
  g_mutex_lock (&self->lock);
  self->end = TRUE;
  g_cond_signal (&self->ended);
  g_mutex_unlock (&self->lock);
  g_thread_join (self->thread);
  if (self->printed && self->terminal)
    g_printerr ("\r\033[K");
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->ended);
  g_free (self);
}
