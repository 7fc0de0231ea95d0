/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-visiontrack
 * @title: visiontrack
 * @short_description: gives detected objects ids that last
 *
 * Tracks the objects that any detector upstream has attached to frames, by
 * their boxes: ByteTrack's method with exact assignment in integers. Pixels are
 * not read, so that frames may be in any memory. Of a batch (GStreamer 1.28),
 * each stream has tracks of its own.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=video.avi ! decodebin ! videoconvert !
 * waldboostdetect model=haarcascade_frontalface_alt2.xml ! visiontrack !
 * visionoverlay ! videoconvert ! autovideosink
 * ]| Gives each face an id.
 *
 * Since: 0.2
 */
#include "config.h"

#include <string.h>
#include <gst/base/gstbasetransform.h>

#include "context/gstcuvframe.h"
#include "gstcuvbatch.h"
#include "gsttrackstream.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (vision_track_debug);
#define GST_CAT_DEFAULT vision_track_debug

#define TRACK_CAPS "video/x-raw(ANY)" GST_CUV_BATCH_CAPS

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (TRACK_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (TRACK_CAPS));

typedef struct {
  guint64 frames, ids;
  guint objects, states[CUV_MOT_GONE + 1];
  gdouble microseconds, microseconds_sum;
} Counts;

struct _GstVisionTrack {
  GstBaseTransform parent;

  GstCuvSettings settings; /* GstTrackSettings */
  Counts counts;           /* under the object lock */

  /* used by the streaming thread only */
  GPtrArray *streams; /* GstTrackStream; one, or those of the batches */
  gboolean batched;   /* buffers are batches */
  gint next_id;       /* of the next track, whatever its stream */
  GstTrackObjects objects;
  gboolean warned; /* that there are too many objects */
};

#define GST_TYPE_VISION_TRACK (gst_vision_track_get_type ())
G_DECLARE_FINAL_TYPE (
    GstVisionTrack, gst_vision_track, GST, VISION_TRACK, GstBaseTransform)
#define gst_vision_track_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstVisionTrack, gst_vision_track,
    GST_TYPE_BASE_TRANSFORM,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL) GST_DEBUG_CATEGORY_INIT (
        vision_track_debug, "visiontrack", 0, "tracks of detected objects"))
GST_ELEMENT_REGISTER_DECLARE (visiontrack);
GST_ELEMENT_REGISTER_DEFINE (
    visiontrack, "visiontrack", GST_RANK_NONE, GST_TYPE_VISION_TRACK)

/* ---- results ---- */

static void
count_tracks (GstVisionTrack *self, GstTrackStream *stream,
    const CuvMotTrack *tracks, gint n, gdouble microseconds)
{
  guint states[CUV_MOT_GONE + 1] = { 0 }, n_new = 0;
  Counts *counts = &self->counts;

  for (gint i = 0; i < n; i++) {
    n_new += tracks[i].event == CUV_MOT_ACQUIRED;
    states[tracks[i].state]++;
  }
  GST_OBJECT_LOCK (self);
  counts->frames++;
  counts->ids += n_new;
  counts->objects = self->objects.detections->len;
  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    counts->states[i] += states[i] - stream->states[i];
  counts->microseconds = microseconds;
  counts->microseconds_sum += microseconds;
  GST_OBJECT_UNLOCK (self);
  memcpy (stream->states, states, sizeof states);
}

static gboolean
has_event (const CuvMotTrack *tracks, gint n)
{
  for (gint i = 0; i < n; i++) {
    if (tracks[i].event != CUV_MOT_NO_EVENT)
      return TRUE;
  }
  return FALSE;
}

static void
post_tracks (GstVisionTrack *self, const GstTrackStream *stream,
    const CuvMotTrack *tracks, gint n, GstBuffer *buffer)
{
  const GstTrackSettings *settings = self->settings.in_force;
  const GstSegment *segment = &stream->base.segment;
  GstStructure *message;

  if (settings->message == GST_TRACK_MESSAGE_NONE
      || (settings->message == GST_TRACK_MESSAGE_ON_CHANGE
          && !has_event (tracks, n)))
    return;
  message = gst_cuv_structure_new ("visiontrack", "timestamp", G_TYPE_UINT64,
      GST_BUFFER_PTS (buffer), "stream-time", G_TYPE_UINT64,
      gst_cuv_stream_time (segment, buffer), "running-time", G_TYPE_UINT64,
      gst_cuv_running_time (segment, buffer), "duration", G_TYPE_UINT64,
      GST_BUFFER_DURATION (buffer), NULL);
  if (self->batched)
    gst_cuv_structure_set (
        message, "stream", G_TYPE_UINT, stream->base.number, NULL);
  gst_track_objects_describe (&self->objects, tracks, n, message);
  gst_element_post_message (
      GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), message));
}

static void
warn_left_out (GstVisionTrack *self)
{
  if (self->objects.n_left_out == 0 || self->warned)
    return;
  self->warned = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
      ("%u of %u objects are not tracked: at most %d are tracked in a frame. "
       "Raise the detector's threshold, or set object-class.",
          self->objects.n_left_out,
          self->objects.n_left_out + self->objects.detections->len,
          CUV_MOT_MAX_BOXES),
      (NULL));
}

/* ---- one frame ---- */

static void
mark_tracks (GstVisionTrack *self, const GstTrackStream *stream,
    const CuvMotTrack *tracks, gint n, GstBuffer *buffer)
{
  const GstTrackSettings *settings = self->settings.in_force;
  const GstVideoInfo info = { .width = stream->base.width,
    .height = stream->base.height };
  GstCuvWriter writer = {
    .buffer = buffer, .info = &info, .metadata = settings->metadata
  };

  gst_track_objects_mark (&self->objects, tracks, n, &writer);
}

/* Ids are unique over all streams. */
static gboolean
track (GstVisionTrack *self, GstTrackStream *stream, GstBuffer *buffer)
{
  const GstTrackSettings *settings = self->settings.in_force;

  gst_track_objects_read (&self->objects, settings, buffer);
  cuv_mot_set_next_id (stream->mot, self->next_id);
  if (gst_track_stream_run (stream, &self->objects, settings, buffer) != 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Tracking %u objects failed: out of memory. End another process, "
         "or raise the detector's threshold.",
            self->objects.detections->len),
        (NULL));
    return FALSE;
  }
  self->next_id = cuv_mot_next_id (stream->mot);
  return TRUE;
}

static GstFlowReturn
track_frame (GstVisionTrack *self, GstTrackStream *stream, GstBuffer *buffer)
{
  const GstClockTime start = gst_util_get_timestamp ();
  const CuvMotTrack *tracks;
  gint n;

  if (!track (self, stream, buffer))
    return GST_FLOW_ERROR;
  tracks = cuv_mot_tracks (stream->mot, &n);
  mark_tracks (self, stream, tracks, n, buffer);
  count_tracks (self, stream, tracks, n,
      (gdouble) (gst_util_get_timestamp () - start) / 1000);
  warn_left_out (self);
  post_tracks (self, stream, tracks, n, buffer);
  return GST_FLOW_OK;
}

/* ---- streams ---- */

/* Returns the nth stream, which may be new, or NULL after an element error. */
static GstTrackStream *
nth_track_stream (GstVisionTrack *self, guint n)
{
  while (self->streams->len <= n) {
    GstTrackStream *stream = gst_track_stream_new (self->streams->len);

    if (stream == NULL) {
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("Cannot create the tracker: out of memory. End another process, "
           "or use a machine with more memory."),
          (NULL));
      return NULL;
    }
    g_ptr_array_add (self->streams, stream);
  }
  return self->streams->pdata[n];
}

/* Frames that are not video pass unchanged. */
static GstFlowReturn
track_batch (GstVisionTrack *self, GstBuffer *batch)
{
  GstCuvBatchItem item = { 0 };
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && gst_cuv_batch_next (batch, &item)) {
    GstTrackStream *stream = nth_track_stream (self, item.stream);

    if (stream == NULL)
      flow = GST_FLOW_ERROR;
    else if (item.event != NULL)
      gst_track_stream_changed (
          stream, gst_cuv_stream_event (&stream->base, item.event));
    else if (stream->base.width > 0)
      flow = track_frame (
          self, stream, gst_cuv_batch_make_writable (batch, &item));
  }
  return flow;
}

static void
sync_properties (GstVisionTrack *self, GstBuffer *buffer)
{
  const GstClockTime time =
      gst_cuv_stream_time (&GST_BASE_TRANSFORM (self)->segment, buffer);

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (self), time);
}

static GstFlowReturn
gst_vision_track_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstVisionTrack *self = GST_VISION_TRACK (trans);

  sync_properties (self, buffer);
  if (!gst_cuv_settings_apply_changes (&self->settings, NULL, NULL))
    return GST_FLOW_ERROR;
  return self->batched ? track_batch (self, buffer)
                       : track_frame (self, self->streams->pdata[0], buffer);
}

static gboolean
gst_vision_track_propose_allocation (
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  return gst_cuv_frame_propose_allocation (
      parent_class, trans, decide_query, query);
}

/* ---- caps and events ---- */

static gboolean
gst_vision_track_set_caps (
    GstBaseTransform *trans, GstCaps *in_caps, GstCaps *out_caps)
{
  GstVisionTrack *self = GST_VISION_TRACK (trans);
  GstTrackStream *first = self->streams->pdata[0];

  self->batched = gst_cuv_caps_are_batch (in_caps);
  if (self->batched)
    return TRUE;
  gst_track_stream_changed (
      first, gst_cuv_stream_set_caps (&first->base, in_caps));
  return first->base.width > 0;
}

/* A batch has the segments of its streams. */
static gboolean
gst_vision_track_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstVisionTrack *self = GST_VISION_TRACK (trans);
  const gboolean flush = GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP;
  const gboolean segment =
      GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT && !self->batched;

  for (guint i = 0; (flush || segment) && i < self->streams->len; i++) {
    GstTrackStream *stream = self->streams->pdata[i];

    gst_track_stream_changed (
        stream, gst_cuv_stream_event (&stream->base, event));
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

/* ---- states ---- */

static gboolean
gst_vision_track_start (GstBaseTransform *trans)
{
  GstVisionTrack *self = GST_VISION_TRACK (trans);

  if (!gst_cuv_settings_start (&self->settings))
    return FALSE;
  if (!gst_cuv_settings_apply (&self->settings, NULL, NULL)) {
    gst_cuv_settings_stop (&self->settings);
    return FALSE;
  }
  if (nth_track_stream (self, 0) == NULL) {
    gst_cuv_settings_stop (&self->settings);
    return FALSE;
  }
  self->next_id =
      ((const GstTrackSettings *) self->settings.in_force)->first_id;
  self->warned = FALSE;
  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_vision_track_stop (GstBaseTransform *trans)
{
  GstVisionTrack *self = GST_VISION_TRACK (trans);

  g_ptr_array_set_size (self->streams, 0);
  g_hash_table_remove_all (self->objects.groups);
  g_array_set_size (self->objects.labels, 0);
  gst_cuv_settings_stop (&self->settings);
  return TRUE;
}

void
gst_vision_track_get_stats (GstElement *element, GValue *value)
{
  GstVisionTrack *self = GST_VISION_TRACK (element);
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  g_value_take_boxed (value,
      gst_cuv_structure_new ("stats", "frames", G_TYPE_UINT64, counts.frames,
          "ids", G_TYPE_UINT64, counts.ids, "objects", G_TYPE_UINT,
          counts.objects, "tracked", G_TYPE_UINT,
          counts.states[CUV_MOT_TRACKED], "lost", G_TYPE_UINT,
          counts.states[CUV_MOT_LOST], "unconfirmed", G_TYPE_UINT,
          counts.states[CUV_MOT_NEW], "microseconds", G_TYPE_DOUBLE,
          counts.microseconds, "microseconds-mean", G_TYPE_DOUBLE,
          counts.microseconds_sum / (gdouble) MAX (counts.frames, 1), NULL));
}

/* ---- class ---- */

static void
gst_vision_track_finalize (GObject *object)
{
  GstVisionTrack *self = GST_VISION_TRACK (object);

  gst_track_objects_clear (&self->objects);
  g_ptr_array_unref (self->streams);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_vision_track_class_init (GstVisionTrackClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_vision_track_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_vision_track_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_vision_track_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_vision_track_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_vision_track_sink_event);
  trans_class->prepare_output_buffer =
      GST_DEBUG_FUNCPTR (gst_cuv_frame_prepare_output_buffer);
  trans_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_vision_track_propose_allocation);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_vision_track_transform_ip);
  trans_class->transform_ip_on_passthrough = TRUE;
  gst_cuv_settings_class_install (G_OBJECT_CLASS (klass), &gst_track_settings);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Tracker of detected objects", "Filter/Analyzer/Video",
      "Gives the objects of any detector ids that last",
      "The gst-cuvision authors");
}

static void
gst_vision_track_init (GstVisionTrack *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_track_settings);
  gst_track_objects_init (&self->objects);
  self->streams = g_ptr_array_new_with_free_func (gst_track_stream_free);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
