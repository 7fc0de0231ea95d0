/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "health.h"

void
cuv_web_health_begin (CuvWebHealth *self, gboolean stopped, gint64 now)
{
  self->stopped = stopped;
  self->changed = self->began = now;
}

void
cuv_web_health_restart (CuvWebHealth *self, gint64 now)
{
  self->began = now;
  self->ended = 0;
}

void
cuv_web_health_frame (CuvWebHealth *self, gint64 now, gint64 limit)
{
  if (self->received < self->began || now - self->received >= limit)
    self->flowing = now;
  self->received = now;
  self->ended = 0;
}

void
cuv_web_health_end (CuvWebHealth *self, gint64 now)
{
  self->ended = now;
}

CuvWebStatus
cuv_web_health_get (const CuvWebHealth *self, gboolean playing, gint64 now,
    gint64 limit, gint64 *since)
{
  const gint64 last = MAX (self->received, self->began);

  *since = self->changed;
  if (self->stopped)
    return CUV_WEB_STOPPED;
  if (self->ended != 0) {
    *since = self->ended;
    return CUV_WEB_ENDED;
  }
  if (!playing)
    return CUV_WEB_PAUSED;
  if (now - last >= limit) {
    *since = last;
    return CUV_WEB_STALLED;
  }
  *since = self->received < self->began ? self->began : self->flowing;
  return self->received < self->began ? CUV_WEB_STARTING : CUV_WEB_RECEIVING;
}

const gchar *
cuv_web_status_name (CuvWebStatus status)
{
  static const gchar *const names[CUV_WEB_N_STATUSES] = {
    [CUV_WEB_STOPPED] = "stopped",
    [CUV_WEB_STARTING] = "starting",
    [CUV_WEB_RECEIVING] = "receiving",
    [CUV_WEB_STALLED] = "stalled",
    [CUV_WEB_PAUSED] = "paused",
    [CUV_WEB_ENDED] = "ended",
  };

  return names[status];
}

gboolean
cuv_web_status_is_healthy (CuvWebStatus status)
{
  return status == CUV_WEB_STARTING || status == CUV_WEB_RECEIVING
      || status == CUV_WEB_PAUSED;
}
