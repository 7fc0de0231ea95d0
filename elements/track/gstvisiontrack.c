/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-visiontrack
 * @title: visiontrack
 * @short_description: gives detected objects ids that last
 *
 * Tracks the objects that any detector upstream has attached to frames, by
 * their boxes: ByteTrack's method with exact assignment in integers. Pixels are
 * not read, so that frames may be in any memory.
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

#include <gst/base/gstbasetransform.h>

#include "context/gstcuvframe.h"
#include "gsttrackobjects.h"

GST_DEBUG_CATEGORY_STATIC (vision_track_debug);
#define GST_CAT_DEFAULT vision_track_debug

#define JUMP GST_SECOND
#define DEFAULT_DURATION (GST_SECOND / 30.)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

typedef struct {
  guint64 frames, ids;
  guint objects, tracked, lost, unconfirmed;
  gdouble microseconds, microseconds_sum;
} Counts;

struct _GstVisionTrack {
  GstBaseTransform parent;

  GstCuvSettings settings; /* GstTrackSettings */
  Counts counts;           /* under the object lock */

  /* used by the streaming thread only */
  CuvMot *mot; /* from start to stop */
  GstTrackObjects objects;
  GstVideoInfo info;     /* only the size is set */
  gdouble duration;      /* of a frame, in nanoseconds; 0: unknown */
  GstClockTime last_pts; /* NONE: no frame since the reset */
  gboolean warned;       /* that there are too many objects */
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

/* ---- time ---- */

static void
drop_tracks (GstVisionTrack *self)
{
  if (self->mot != NULL)
    cuv_mot_reset (self->mot);
  self->last_pts = GST_CLOCK_TIME_NONE;
}

static gdouble
frame_duration (const GstVisionTrack *self, GstBuffer *buffer)
{
  const GstClockTime duration = GST_BUFFER_DURATION (buffer);

  if (self->duration > 0)
    return self->duration;
  return GST_CLOCK_TIME_IS_VALID (duration) && duration > 0 ? (gdouble) duration
                                                            : DEFAULT_DURATION;
}

/* Returns the number of frames since the last one. A leaky queue sets DISCONT
 * on each frame after one that it dropped; only a jump in time drops tracks. */
static gdouble
frames_elapsed (GstVisionTrack *self, GstBuffer *buffer)
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

/* Converts the buffer's time, if the segment can: GStreamer logs a critical
 * message if one that is played backwards has no known end. */
static GstClockTime
convert_time (GstVisionTrack *self, GstBuffer *buffer,
    guint64 (*convert) (const GstSegment *, GstFormat, guint64))
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;

  if (segment->format != GST_FORMAT_TIME
      || (segment->rate < 0 && !GST_CLOCK_TIME_IS_VALID (segment->stop)))
    return GST_CLOCK_TIME_NONE;
  return convert (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
}

/* ---- results ---- */

static void
count_tracks (GstVisionTrack *self, const CuvMotTrack *tracks, gint n,
    gdouble microseconds)
{
  Counts now = { .objects = self->objects.detections->len };

  for (gint i = 0; i < n; i++) {
    now.ids += tracks[i].event == CUV_MOT_ACQUIRED;
    now.tracked += tracks[i].state == CUV_MOT_TRACKED;
    now.lost += tracks[i].state == CUV_MOT_LOST;
    now.unconfirmed += tracks[i].state == CUV_MOT_NEW;
  }
  GST_OBJECT_LOCK (self);
  now.frames = self->counts.frames + 1;
  now.ids += self->counts.ids;
  now.microseconds = microseconds;
  now.microseconds_sum = self->counts.microseconds_sum + microseconds;
  self->counts = now;
  GST_OBJECT_UNLOCK (self);
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
post_tracks (
    GstVisionTrack *self, const CuvMotTrack *tracks, gint n, GstBuffer *buffer)
{
  const GstTrackSettings *settings = self->settings.in_force;
  GstStructure *message;

  if (settings->message == GST_TRACK_MESSAGE_NONE
      || (settings->message == GST_TRACK_MESSAGE_ON_CHANGE
          && !has_event (tracks, n)))
    return;
  message = gst_structure_new ("visiontrack", "timestamp", G_TYPE_UINT64,
      GST_BUFFER_PTS (buffer), "stream-time", G_TYPE_UINT64,
      convert_time (self, buffer, gst_segment_to_stream_time), "running-time",
      G_TYPE_UINT64, convert_time (self, buffer, gst_segment_to_running_time),
      "duration", G_TYPE_UINT64, GST_BUFFER_DURATION (buffer), NULL);
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
mark_tracks (
    GstVisionTrack *self, const CuvMotTrack *tracks, gint n, GstBuffer *buffer)
{
  const GstTrackSettings *settings = self->settings.in_force;
  GstCuvWriter writer = {
    .buffer = buffer, .info = &self->info, .metadata = settings->metadata
  };

  gst_track_objects_mark (&self->objects, tracks, n, &writer);
}

static gboolean
track (GstVisionTrack *self, GstBuffer *buffer)
{
  const GstTrackSettings *settings = self->settings.in_force;
  const CuvMotParams params = gst_track_settings_params (settings);
  GstTrackObjects *objects = &self->objects;
  CuvMotFrame frame = { .elapsed = frames_elapsed (self, buffer),
    .time = GST_BUFFER_PTS (buffer) };

  gst_track_objects_read (objects, settings, buffer);
  frame.n = (gint) objects->detections->len;
  frame.detections = (const CuvMotDetection *) objects->detections->data;
  frame.skipped = objects->all_held || (frame.n == 0 && settings->skip_empty);
  if (cuv_mot_run (self->mot, &params, &frame) == 0)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("Tracking %d objects failed: out of memory. End another process, "
       "or raise the detector's threshold.",
          frame.n),
      (NULL));
  return FALSE;
}

static void
sync_properties (GstVisionTrack *self, GstBuffer *buffer)
{
  const GstClockTime time =
      convert_time (self, buffer, gst_segment_to_stream_time);

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (self), time);
}

static GstFlowReturn
gst_vision_track_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstVisionTrack *self = GST_VISION_TRACK (trans);
  const CuvMotTrack *tracks;
  GstClockTime start;
  gint n;

  sync_properties (self, buffer);
  if (!gst_cuv_settings_apply_changes (&self->settings, NULL, NULL))
    return GST_FLOW_ERROR;
  start = gst_util_get_timestamp ();
  if (!track (self, buffer))
    return GST_FLOW_ERROR;
  tracks = cuv_mot_tracks (self->mot, &n);
  mark_tracks (self, tracks, n, buffer);
  count_tracks (
      self, tracks, n, (gdouble) (gst_util_get_timestamp () - start) / 1000);
  warn_left_out (self);
  post_tracks (self, tracks, n, buffer);
  return GST_FLOW_OK;
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
  const GstStructure *structure = gst_caps_get_structure (in_caps, 0);
  gint width = 0, height = 0, numerator = 0, denominator = 1;

  if (!gst_structure_get_int (structure, "width", &width)
      || !gst_structure_get_int (structure, "height", &height))
    return FALSE;
  gst_structure_get_fraction (structure, "framerate", &numerator, &denominator);
  if (width != self->info.width || height != self->info.height)
    drop_tracks (self);
  gst_video_info_init (&self->info);
  self->info.width = width;
  self->info.height = height;
  self->duration =
      numerator > 0 ? (gdouble) GST_SECOND * denominator / numerator : 0;
  return TRUE;
}

/* Whether an event begins another part of the stream. A segment is sent again
 * with new caps, for example. */
static gboolean
is_jump (const GstBaseTransform *trans, GstEvent *event)
{
  GstSegment segment;

  if (GST_EVENT_TYPE (event) != GST_EVENT_SEGMENT)
    return GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP;
  gst_event_copy_segment (event, &segment);
  segment.position = trans->segment.position;
  return !gst_segment_is_equal (&trans->segment, &segment);
}

static gboolean
gst_vision_track_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  if (is_jump (trans, event))
    drop_tracks (GST_VISION_TRACK (trans));
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
  self->mot = cuv_mot_new ();
  if (self->mot == NULL) {
    gst_cuv_settings_stop (&self->settings);
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Cannot create the tracker: out of memory. End another process, "
         "or use a machine with more memory."),
        (NULL));
    return FALSE;
  }
  cuv_mot_set_next_id (self->mot,
      ((const GstTrackSettings *) self->settings.in_force)->first_id);
  gst_video_info_init (&self->info);
  self->last_pts = GST_CLOCK_TIME_NONE;
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

  g_clear_pointer (&self->mot, cuv_mot_free);
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
      gst_structure_new ("stats", "frames", G_TYPE_UINT64, counts.frames, "ids",
          G_TYPE_UINT64, counts.ids, "objects", G_TYPE_UINT, counts.objects,
          "tracked", G_TYPE_UINT, counts.tracked, "lost", G_TYPE_UINT,
          counts.lost, "unconfirmed", G_TYPE_UINT, counts.unconfirmed,
          "microseconds", G_TYPE_DOUBLE, counts.microseconds,
          "microseconds-mean", G_TYPE_DOUBLE,
          counts.microseconds_sum / (gdouble) MAX (counts.frames, 1), NULL));
}

/* ---- class ---- */

static void
gst_vision_track_finalize (GObject *object)
{
  gst_track_objects_clear (&GST_VISION_TRACK (object)->objects);
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
  self->last_pts = GST_CLOCK_TIME_NONE;
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
