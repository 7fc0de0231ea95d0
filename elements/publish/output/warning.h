/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports a problem once until it is resolved, and at most every ten seconds.
 */
#ifndef CUV_WARNING_H
#define CUV_WARNING_H

#include <glib.h>

G_BEGIN_DECLS

/* To be initialised with zeros; given is set to FALSE when things work again.
 */
typedef struct {
  gboolean given;
  gint64 at; /* monotonic time of the last one; 0: never */
} CuvWarning;

/* Whether to warn now, which then counts as given. */
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

G_END_DECLS

#endif
