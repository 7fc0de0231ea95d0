/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether frames arrive, and since when. Times are monotonic, in microseconds.
 */
#ifndef CUV_WEB_HEALTH_H
#define CUV_WEB_HEALTH_H

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  CUV_WEB_STOPPED,   /* the sink is in READY */
  CUV_WEB_STARTING,  /* no frame yet, within the limit */
  CUV_WEB_RECEIVING, /* frames arrive */
  CUV_WEB_STALLED,   /* no frame within the limit */
  CUV_WEB_PAUSED,
  CUV_WEB_ENDED, /* end of stream */
  CUV_WEB_N_STATUSES,
} CuvWebStatus;

typedef struct {
  gboolean stopped;
  gint64 changed;  /* when the state changed last */
  gint64 began;    /* when the sink began to wait for frames */
  gint64 received; /* when the newest frame arrived; 0: none yet */
  gint64 flowing;  /* when the first frame after a gap arrived */
  gint64 ended;    /* when the stream ended; 0: it has not */
} CuvWebHealth;

/* The state changes. Unless stopped, the sink waits for frames from now on. */
void cuv_web_health_begin (CuvWebHealth *self, gboolean stopped, gint64 now);
/* A stream starts: earlier frames and the end of an earlier stream no longer
 * count. */
void cuv_web_health_restart (CuvWebHealth *self, gint64 now);
/* A frame. limit: time without a frame that is a gap */
void cuv_web_health_frame (CuvWebHealth *self, gint64 now, gint64 limit);
/* The end of the stream. */
void cuv_web_health_end (CuvWebHealth *self, gint64 now);

/* Returns the status, and since when it has been so.
 *
 * playing: whether the pipeline plays or is about to */
CuvWebStatus cuv_web_health_get (const CuvWebHealth *self, gboolean playing,
    gint64 now, gint64 limit, gint64 *since);

const gchar *cuv_web_status_name (CuvWebStatus status);
/* Whether a monitor has nothing to do: frames arrive or are expected soon, or
 * the application has paused the pipeline. */
gboolean cuv_web_status_is_healthy (CuvWebStatus status);

G_END_DECLS

#endif
