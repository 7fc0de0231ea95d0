/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-visionwebsink
 * @title: visionwebsink
 * @short_description: shows frames and results in a browser
 *
 * Serves a page that shows the video with its boxes, lines and tracks, and the
 * record of each frame as visionpublish writes it. Record and picture of a
 * frame are sent as one message, so that they always match. Each viewer gets
 * the newest frame when it has taken the previous one; the pipeline never
 * waits, and nothing is compressed while nobody watches.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! waldboostdetect
 * model=haarcascade_frontalface_alt2.xml ! visionwebsink
 * ]| Open http://127.0.0.1:8080/ in a browser.
 *
 * Since: 0.1
 */
#include "config.h"

#include <gst/base/gstbasesink.h>
#include <math.h>

#include "context/gstcuvframe.h"
#include "gstvisionwebsink.h"

GST_DEBUG_CATEGORY_STATIC (gst_vision_web_sink_debug);
#define GST_CAT_DEFAULT gst_vision_web_sink_debug

/* Buffers that are held at a time: the one being compressed, the newest one,
 * and the one in render(). */
#define MIN_BUFFERS 3

#define gst_vision_web_sink_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstVisionWebSink, gst_vision_web_sink,
    GST_TYPE_BASE_SINK,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL)
        GST_DEBUG_CATEGORY_INIT (gst_vision_web_sink_debug, "visionwebsink", 0,
            "shows frames in a browser"))
GST_ELEMENT_REGISTER_DECLARE (visionwebsink);
GST_ELEMENT_REGISTER_DEFINE (
    visionwebsink, "visionwebsink", GST_RANK_NONE, GST_TYPE_VISION_WEB_SINK);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));

/* ---- frames ---- */

static gboolean
gst_vision_web_sink_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  GstVisionWebSink *self = GST_VISION_WEB_SINK (sink);

  return gst_cuv_frame_accept_caps (GST_ELEMENT (self), caps, &self->info);
}

static gboolean
gst_vision_web_sink_propose_allocation (GstBaseSink *sink, GstQuery *query)
{
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  gst_query_add_allocation_pool (
      query, NULL, (guint) GST_VIDEO_INFO_SIZE (&info), MIN_BUFFERS, 0);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static void
offer (
    GstVisionWebSink *self, GstBuffer *buffer, guint64 number, gboolean again)
{
  const GstSegment *segment = &GST_BASE_SINK (self)->segment;
  const GstVisionWebSettings *settings;

  if (gst_cuv_settings_changed (&self->settings))
    gst_cuv_settings_apply (&self->settings, NULL, NULL);
  settings = self->settings.in_force;
  cuv_web_stream_set_max_viewers (self->stream, (guint) settings->max_viewers);
  cuv_web_encoder_offer (self->encoder,
      &(CuvWebInput){
          .buffer = buffer,
          .info = self->info,
          .number = number,
          .again = again,
          .stream_time = segment->format == GST_FORMAT_TIME
              ? gst_segment_to_stream_time (
                  segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer))
              : GST_CLOCK_TIME_NONE,
          .wallclock = g_get_real_time (),
          .source = settings->source,
          .max_rate = settings->max_rate,
          .max_width = (guint) settings->max_width,
          .quality = (guint) settings->quality,
      });
}

/* Call with the object lock held. */
static void
frame_arrived (GstVisionWebSink *self, gint64 now)
{
  const GstVisionWebSettings *settings = self->settings.in_force;

  cuv_web_health_frame (
      &self->health, now, (gint64) (settings->health_timeout * G_USEC_PER_SEC));
}

/* written by the streaming thread only */
static GstFlowReturn
gst_vision_web_sink_preroll (GstBaseSink *sink, GstBuffer *buffer)
{
  GstVisionWebSink *self = GST_VISION_WEB_SINK (sink);

  offer (self, buffer, self->frames, FALSE);
  self->prerolled = TRUE;
  GST_OBJECT_LOCK (self);
  frame_arrived (self, g_get_monotonic_time ());
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

/* Seconds from the frame's timestamp until now, by the pipeline's clock. NAN:
 * unknown, or the frame is early. */
static gdouble
latency_of (GstVisionWebSink *self, GstBuffer *buffer)
{
  const GstSegment *segment = &GST_BASE_SINK (self)->segment;
  GstClock *clock = gst_element_get_clock (GST_ELEMENT (self));
  GstClockTime due = GST_CLOCK_TIME_NONE, now;

  if (clock == NULL)
    return NAN;
  if (segment->format == GST_FORMAT_TIME)
    due = gst_segment_to_running_time (
        segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  now = gst_clock_get_time (clock)
      - gst_element_get_base_time (GST_ELEMENT (self));
  gst_object_unref (clock);
  return GST_CLOCK_TIME_IS_VALID (due) && now >= due
      ? (gdouble) (now - due) / GST_SECOND
      : NAN;
}

static GstFlowReturn
gst_vision_web_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  GstVisionWebSink *self = GST_VISION_WEB_SINK (sink);
  struct timespec start;
  guint64 number;
  gint64 now; /* the same clock as g_get_monotonic_time() */
  gfloat us;

  clock_gettime (CLOCK_MONOTONIC, &start);
  now = start.tv_sec * G_USEC_PER_SEC + start.tv_nsec / 1000;
  number = self->frames; /* written by this thread only */
  offer (self, buffer, number, self->prerolled);
  self->prerolled = FALSE;
  if (cuv_web_tally_is_wanted (self->tally))
    cuv_web_tally_frame (self->tally, buffer, latency_of (self, buffer), now);
  us = cuv_microseconds_since (&start);
  GST_OBJECT_LOCK (self);
  frame_arrived (self, now);
  self->frames = number + 1;
  self->render_us += (gdouble) us;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static void
flush (GstVisionWebSink *self)
{
  cuv_web_encoder_flush (self->encoder);
  cuv_web_stream_flush (self->stream);
}

/* The base class waits for the end of the stream. */
static gboolean
gst_vision_web_sink_event (GstBaseSink *sink, GstEvent *event)
{
  GstVisionWebSink *self = GST_VISION_WEB_SINK (sink);
  const GstEventType type = GST_EVENT_TYPE (event);
  gboolean ok;

  if (type == GST_EVENT_FLUSH_STOP)
    flush (self);
  ok = GST_BASE_SINK_CLASS (parent_class)->event (sink, event);
  GST_OBJECT_LOCK (self);
  if (type == GST_EVENT_FLUSH_STOP || type == GST_EVENT_STREAM_START)
    cuv_web_health_restart (&self->health, g_get_monotonic_time ());
  else if (type == GST_EVENT_EOS && ok)
    cuv_web_health_end (&self->health, g_get_monotonic_time ());
  GST_OBJECT_UNLOCK (self);
  return ok;
}

/* ---- states ---- */

/* Called in the server's thread. */
static void
wake (gpointer data, gboolean wanted)
{
  GstVisionWebSink *self = data;

  if (wanted)
    cuv_web_encoder_wake (self->encoder);
  else
    cuv_web_encoder_flush (self->encoder);
}

/* Called in the encoder's thread. */
static void
post_warning (gpointer data, const gchar *problem)
{
  GST_ELEMENT_WARNING (
      data, STREAM, ENCODE, ("A frame cannot be shown: %s.", problem), (NULL));
}

/* Called in the encoder's thread. */
static void
take_frame (gpointer data, const CuvWebInput *input, CuvWebFrame *frame)
{
  GstVisionWebSink *self = data;

  if (self->teach != NULL)
    cuv_teach_frame (self->teach, input->number,
        GST_VIDEO_INFO_WIDTH (&input->info),
        GST_VIDEO_INFO_HEIGHT (&input->info), frame);
}

static void
take_client (gpointer data, guint64 client)
{
  GstVisionWebSink *self = data;

  cuv_controls_join (self->controls, client);
  if (self->teach != NULL)
    cuv_teach_join (self->teach, client);
}

static void
leave_clients (gpointer data)
{
  GstVisionWebSink *self = data;

  if (self->teach != NULL)
    cuv_teach_leave (self->teach);
}

static GBytes *
get_training_report (gpointer data, gboolean json)
{
  GstVisionWebSink *self = data;

  return self->teach != NULL ? cuv_teach_report (self->teach, json) : NULL;
}

static gchar *
take_message (
    gpointer data, CuvWebClient *client, const gchar *text, gsize size)
{
  return cuv_controls_message (
      GST_VISION_WEB_SINK (data)->controls, client, text, size);
}

#define CALLS                                                                  \
  .wake = wake, .metrics = gst_vision_web_sink_metrics,                        \
  .health = gst_vision_web_sink_health
static const CuvWebCalls calls = { CALLS };
static const CuvWebCalls calls_with_controls = { CALLS, .join = take_client,
  .message = take_message, .leave = leave_clients,
  .training_report = get_training_report };

static void
start_failed (GstVisionWebSink *self, GError *error)
{
  const GstVisionWebSettings *settings = self->settings.in_force;

  GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
      ("Cannot serve at address %s, port %d: %s.", settings->address,
          settings->port, error->message),
      (NULL));
  g_error_free (error);
}

static gboolean
open_folder (GstVisionWebSink *self)
{
  const GstVisionWebSettings *settings = self->settings.in_force;
  const gchar *folder = gst_vision_web_settings_save_folder (settings);
  gchar *problem;

  if (folder == NULL)
    return TRUE;
  self->teach = cuv_teach_new (
      folder, gst_vision_web_settings_teach (settings), &problem);
  if (self->teach == NULL)
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ_WRITE,
        ("save-folder '%s' cannot be used: %s.", folder, problem), (NULL));
  g_free (problem);
  return self->teach != NULL;
}

static gboolean
find_controls (GstVisionWebSink *self)
{
  const GstVisionWebSettings *settings = self->settings.in_force;
  const gchar *names = gst_vision_web_settings_controls (settings);
  const CuvControlsTeach teach = { gst_vision_web_settings_teach (settings),
    cuv_teach_message, self->teach };
  gchar *problem;

  if (names == NULL && self->teach == NULL)
    return TRUE;
  self->controls =
      cuv_controls_new (GST_ELEMENT (self), names != NULL ? names : "",
          settings->settings_file != NULL && *settings->settings_file != '\0'
              ? settings->settings_file
              : NULL,
          self->teach != NULL ? &teach : NULL, &problem);
  if (self->controls == NULL)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s.", problem), (NULL));
  else if (problem != NULL)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", problem), (NULL));
  g_free (problem);
  return self->controls != NULL;
}

static gboolean
start_controls (GstVisionWebSink *self)
{
  gchar *problem;

  cuv_controls_start (self->controls, self->stream);
  problem = cuv_controls_settle (self->controls);
  if (problem == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s.", problem), (NULL));
  g_free (problem);
  return FALSE;
}

static gboolean
open_stream (GstVisionWebSink *self)
{
  const GstVisionWebSettings *settings = self->settings.in_force;
  const CuvWebConfig config = gst_vision_web_settings_config (settings);
  GError *error = NULL;

  self->server = cuv_web_server_open (&config, &error);
  g_object_unref (config.address);
  if (self->server != NULL) {
    self->encoder = cuv_web_encoder_new (post_warning, take_frame, self);
    self->tally = cuv_web_tally_new ();
    self->stream = cuv_web_stream_new (self->server, settings->path,
        (guint) settings->max_viewers,
        self->controls != NULL ? &calls_with_controls : &calls, self, &error);
  }
  if (self->stream == NULL) {
    start_failed (self, error);
    return FALSE;
  }
  if (self->teach != NULL)
    cuv_teach_start (self->teach, self->stream, self->controls);
  cuv_web_encoder_start (self->encoder, self->stream);
  return self->controls == NULL || start_controls (self);
}

/* Frees the encoder after the stream, which may wake it until it is freed. */
static void
close_stream (GstVisionWebSink *self)
{
  if (self->encoder != NULL)
    cuv_web_encoder_stop (self->encoder);
  if (self->controls != NULL)
    cuv_controls_stop (self->controls);
  if (self->teach != NULL)
    cuv_teach_stop (self->teach);
  g_clear_pointer (&self->stream, cuv_web_stream_free);
  g_clear_pointer (&self->teach, cuv_teach_free);
  g_clear_pointer (&self->controls, cuv_controls_unref);
  g_clear_pointer (&self->encoder, cuv_web_encoder_free);
  g_clear_pointer (&self->tally, cuv_web_tally_free);
  g_clear_pointer (&self->server, cuv_web_server_close);
}

/* gst-launch-1.0 prints the second text. */
static void
announce (GstVisionWebSink *self, const gchar *url)
{
  const GstVisionWebSettings *settings = self->settings.in_force;
  const gchar *token = gst_vision_web_settings_token (settings) != NULL
      ? "?token= and the token"
      : "";

  GST_ELEMENT_INFO (self, RESOURCE, OPEN_WRITE, ("Open %s%s", url, token),
      ("Open %s%s", url, token));
  if (gst_vision_web_settings_is_open (settings))
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("Everybody who can reach address %s of this machine can watch: set "
         "token-file or token-env, or address=127.0.0.1.",
            settings->address),
        (NULL));
}

static void
set_url (GstVisionWebSink *self, gchar *url)
{
  GST_OBJECT_LOCK (self);
  g_free (self->url);
  self->url = url;
  self->is_open = url != NULL;
  GST_OBJECT_UNLOCK (self);
  g_object_notify (G_OBJECT (self), "url");
}

static void
begin (GstVisionWebSink *self, gboolean stopped)
{
  GST_OBJECT_LOCK (self);
  cuv_web_health_begin (&self->health, stopped, g_get_monotonic_time ());
  GST_OBJECT_UNLOCK (self);
}

/* Resets the counts. The sink is started in NULL, and may change from READY to
 * PAUSED several times until it is stopped. */
static void
reset_stats (GstVisionWebSink *self)
{
  GstVisionWebCounts counts;

  GST_OBJECT_LOCK (self);
  self->counts = self->before = (GstVisionWebCounts){ 0 };
  gst_vision_web_sink_get_counts (self, &counts);
  self->before = counts;
  self->frames = 0;
  self->render_us = 0;
  self->health = (CuvWebHealth){ 0 };
  GST_OBJECT_UNLOCK (self);
  cuv_web_tally_reset (self->tally);
  self->prerolled = FALSE;
}

static gboolean
gst_vision_web_sink_start (GstBaseSink *sink)
{
  GstVisionWebSink *self = GST_VISION_WEB_SINK (sink);
  const GstVisionWebSettings *settings;
  gchar *url;

  if (!gst_cuv_settings_start (&self->settings))
    return FALSE;
  if (!gst_cuv_settings_apply (&self->settings, NULL, NULL)
      || !open_folder (self) || !find_controls (self) || !open_stream (self)) {
    close_stream (self);
    gst_cuv_settings_stop (&self->settings);
    return FALSE;
  }
  reset_stats (self);
  begin (self, TRUE);
  settings = self->settings.in_force;
  url = g_strdup_printf ("%s%s/", cuv_web_server_url (self->server),
      g_str_equal (settings->path, "/") ? "" : settings->path);
  announce (self, url);
  set_url (self, url);
  return TRUE;
}

static gboolean
gst_vision_web_sink_stop (GstBaseSink *sink)
{
  GstVisionWebSink *self = GST_VISION_WEB_SINK (sink);
  GstVisionWebCounts counts;

  GST_OBJECT_LOCK (self);
  gst_vision_web_sink_get_counts (self, &counts);
  self->counts = counts;
  self->counts.viewers = 0;
  GST_OBJECT_UNLOCK (self);
  set_url (self, NULL);
  close_stream (self);
  gst_cuv_settings_stop (&self->settings);
  return TRUE;
}

static GstStateChangeReturn
gst_vision_web_sink_change_state (
    GstElement *element, GstStateChange transition)
{
  GstVisionWebSink *self = GST_VISION_WEB_SINK (element);
  GstStateChangeReturn result;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    reset_stats (self);
    if (self->teach != NULL)
      cuv_teach_restart (self->teach);
  }
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED
      || transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING)
    begin (self, FALSE);
  result = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    flush (self);
  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    begin (self, FALSE);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    begin (self, TRUE);
  return result;
}

/* ---- class ---- */

static void
gst_vision_web_sink_class_init (GstVisionWebSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  element_class->change_state =
      GST_DEBUG_FUNCPTR (gst_vision_web_sink_change_state);
  sink_class->start = GST_DEBUG_FUNCPTR (gst_vision_web_sink_start);
  sink_class->stop = GST_DEBUG_FUNCPTR (gst_vision_web_sink_stop);
  sink_class->event = GST_DEBUG_FUNCPTR (gst_vision_web_sink_event);
  sink_class->set_caps = GST_DEBUG_FUNCPTR (gst_vision_web_sink_set_caps);
  sink_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_vision_web_sink_propose_allocation);
  sink_class->preroll = GST_DEBUG_FUNCPTR (gst_vision_web_sink_preroll);
  sink_class->render = GST_DEBUG_FUNCPTR (gst_vision_web_sink_render);
  gst_cuv_settings_class_install (object_class, &gst_vision_web_settings_table);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "Vision web sink",
      "Sink/Video/Network", "Shows frames and analysis results in a browser",
      "The gst-cuvision authors");
}

static void
gst_vision_web_sink_init (GstVisionWebSink *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_vision_web_settings_table);
  /* the last sample would hold a frame of the pool */
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}
