/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports a problem once until it is resolved, and at most every ten seconds.
 */
#ifndef CUV_WARNING_H
#define CUV_WARNING_H

#include <glib.h>

G_BEGIN_DECLS

/* All zeros at first. Set given to FALSE when the problem is resolved. */
typedef struct {
  gboolean given;
  gint64 at; /* monotonic time of the last warning; 0: none yet */
} CuvWarning;

/* Whether to warn now; if so, marks the warning as given. */
static inline gboolean
cuv_warning_is_due (CuvWarning *self)
{
  gint64 now = g_get_monotonic_time ();

  if (self->given
      || (self->at != 0 && now < self->at + 10 * G_TIME_SPAN_SECOND))
    return FALSE;
  self->given = TRUE;
  self->at = now;
  return TRUE;
}

/* Returns the text of the pending warning, which the lock protects, and sets it
 * to NULL; the caller frees it. */
static inline gchar *
cuv_warning_take (gchar **text, GMutex *lock)
{
  gchar *taken;

  g_mutex_lock (lock);
  taken = g_steal_pointer (text);
  g_mutex_unlock (lock);
  return taken;
}

G_END_DECLS

#endif
