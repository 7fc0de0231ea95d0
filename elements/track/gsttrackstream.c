/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gsttrackstream.h"

#define JUMP GST_SECOND
#define DEFAULT_DURATION (GST_SECOND / 30.)

GstTrackStream *
gst_track_stream_new (guint number)
{
  GstTrackStream *self = g_new0 (GstTrackStream, 1);

  gst_cuv_stream_init (&self->base, number);
  self->last_pts = GST_CLOCK_TIME_NONE;
  self->mot = cuv_mot_new ();
  if (self->mot == NULL)
    g_clear_pointer (&self, gst_track_stream_free);
  return self;
}

void
gst_track_stream_free (gpointer data)
{
  GstTrackStream *self = data;

  cuv_mot_free (self->mot);
  gst_cuv_stream_clear (&self->base);
  g_free (self);
}

static void
drop_tracks (GstTrackStream *self)
{
  cuv_mot_reset (self->mot);
  self->last_pts = GST_CLOCK_TIME_NONE;
}

void
gst_track_stream_changed (GstTrackStream *self, GstCuvStreamChange change)
{
  if (change != GST_CUV_STREAM_SAME)
    drop_tracks (self);
}

static gdouble
frame_duration (const GstTrackStream *self, GstBuffer *buffer)
{
  const GstClockTime duration = GST_BUFFER_DURATION (buffer);

  if (self->base.duration > 0)
    return self->base.duration;
  return GST_CLOCK_TIME_IS_VALID (duration) && duration > 0 ? (gdouble) duration
                                                            : DEFAULT_DURATION;
}

/* Returns the number of frames since the last one. A leaky queue sets DISCONT
 * on each frame after one that it dropped; only a jump in time drops tracks. */
static gdouble
frames_elapsed (GstTrackStream *self, GstBuffer *buffer)
{
  const GstClockTime pts = GST_BUFFER_PTS (buffer), last = self->last_pts;

  if (!GST_CLOCK_TIME_IS_VALID (pts))
    return 1;
  if (GST_BUFFER_IS_DISCONT (buffer) && GST_CLOCK_TIME_IS_VALID (last)
      && (pts < last || pts - last > JUMP))
    drop_tracks (self);
  self->last_pts = pts;
  return GST_CLOCK_TIME_IS_VALID (last) && pts > last
      ? (gdouble) (pts - last) / frame_duration (self, buffer)
      : 1;
}

gint
gst_track_stream_run (GstTrackStream *self, const GstTrackObjects *objects,
    const GstTrackSettings *settings, GstBuffer *buffer)
{
  const CuvMotParams params = gst_track_settings_params (settings);
  CuvMotFrame frame = { .elapsed = frames_elapsed (self, buffer),
    .time = GST_BUFFER_PTS (buffer),
    .n = (gint) objects->detections->len,
    .detections = (const CuvMotDetection *) objects->detections->data };

  frame.skipped = objects->all_held || (frame.n == 0 && settings->skip_empty);
  return cuv_mot_run (self->mot, &params, &frame);
}
