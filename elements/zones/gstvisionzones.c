/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-visionzones
 * @title: visionzones
 * @short_description: counts objects in zones and at lines
 *
 * Reads the objects of each frame, whichever element attached them, and reports
 * who is inside which polygon, for how long, and who crossed which line. Pixels
 * are not read; frames may be in any memory. Of a batch (GStreamer 1.28), each
 * stream has counts of its own.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -q videotestsrc num-buffers=3 ! visionzones
 * zones='{"zones": [{"name": "gate", "line": [[0, 0.5], [1, 0.5]]}]}' !
 * visionpublish ! fakesink
 * ]|
 *
 * Since: 0.1
 */
#include "config.h"

#include <gst/base/gstbasetransform.h>

#include "context/gstcuvframe.h"
#include "gstcuvbatch.h"
#include "gstcuvmeta.h"
#include "gstzonesresults.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (gst_vision_zones_debug);
#define GST_CAT_DEFAULT gst_vision_zones_debug

#define ZONES_CAPS "video/x-raw(ANY)" GST_CUV_BATCH_CAPS

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (ZONES_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (ZONES_CAPS));

typedef struct {
  guint64 frames, objects, untracked, events, microseconds;
  guint zones;
} Counts;

#define GST_TYPE_VISION_ZONES (gst_vision_zones_get_type ())
G_DECLARE_FINAL_TYPE (
    GstVisionZones, gst_vision_zones, GST, VISION_ZONES, GstBaseTransform)

struct _GstVisionZones {
  GstBaseTransform parent;

  GstCuvSettings settings; /* GstVisionZonesSettings */
  Counts counts;           /* protected by the object lock */

  /* used by the streaming thread only */
  GPtrArray *streams; /* GstZonesStream; one, or those of the batches */
  gboolean batched;   /* buffers are batches */
  GArray *objects;    /* GstCuvObject */
  GArray *boxes;      /* CuvZoneObject */
};

G_DEFINE_TYPE_WITH_CODE (GstVisionZones, gst_vision_zones,
    GST_TYPE_BASE_TRANSFORM,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL)
        GST_DEBUG_CATEGORY_INIT (gst_vision_zones_debug, "visionzones", 0,
            "counts objects in zones and at lines"))
GST_ELEMENT_REGISTER_DECLARE (visionzones);
GST_ELEMENT_REGISTER_DEFINE (
    visionzones, "visionzones", GST_RANK_NONE, GST_TYPE_VISION_ZONES)

/* ---- settings ---- */

static void
read_defaults (
    GstZonesDefaults *defaults, const GstVisionZonesSettings *settings)
{
  *defaults = (GstZonesDefaults){ .anchor = (CuvZoneAnchor) settings->anchor,
    .hysteresis = settings->hysteresis,
    .dwell = (gint64) (settings->dwell * 1e9),
    .crowd = settings->crowd };
  defaults->labels =
      gst_zones_labels_parse (settings->labels, &defaults->n_labels);
}

static gchar *
use_zones (gpointer element, gconstpointer settings, gconstpointer unused)
{
  GstVisionZones *self = element;
  GstZonesDefaults defaults;
  gchar *problem = NULL;
  guint n = 0;

  read_defaults (&defaults, settings);
  for (guint i = 0; problem == NULL && i < self->streams->len; i++) {
    GstZonesStream *stream = self->streams->pdata[i];

    if (!gst_zones_stream_is_video (stream))
      continue;
    problem = gst_zones_stream_use (stream, settings, &defaults);
    n += problem == NULL ? (guint) stream->placed->n : 0;
  }
  g_free (defaults.labels);
  GST_OBJECT_LOCK (self);
  self->counts.zones = n;
  GST_OBJECT_UNLOCK (self);
  return problem;
}

/* Puts changed settings in force, and places the zones in the frames of a
 * stream that is new or has a new size. */
static gboolean
apply_settings (GstVisionZones *self, const GstZonesStream *stream)
{
  if (stream->sized && !gst_cuv_settings_changed (&self->settings))
    return TRUE;
  if (!gst_cuv_settings_apply (&self->settings, use_zones, NULL))
    return FALSE;
  for (guint i = 0; i < self->streams->len; i++)
    ((GstZonesStream *) self->streams->pdata[i])->sized = TRUE;
  return TRUE;
}

/* ---- frames ---- */

static gint32
to_zone_units (guint64 pixels)
{
  return (gint32) MIN (pixels * CUV_ZONE_SCALE, CUV_ZONE_MAX);
}

/* Converts the buffer's objects; returns how many have no id. */
static guint
read_objects (GstVisionZones *self, GstBuffer *buffer)
{
  guint n_untracked = 0;

  gst_cuv_objects_read (self->objects, buffer);
  g_array_set_size (self->boxes, 0);
  for (guint i = 0; i < self->objects->len; i++) {
    const GstCuvObject *object =
        &g_array_index (self->objects, GstCuvObject, i);
    const CuvZoneObject box = { object->track, object->label,
      { to_zone_units (object->x), to_zone_units (object->y),
          to_zone_units ((guint64) object->x + object->w),
          to_zone_units ((guint64) object->y + object->h) } };

    n_untracked += box.id < 0;
    if (box.box.right > box.box.left && box.box.bottom > box.box.top)
      g_array_append_val (self->boxes, box);
  }
  return n_untracked;
}

static void
count_frame (GstVisionZones *self, const GstZonesStream *stream,
    guint n_untracked, GstClockTime begin)
{
  gint n_events;

  cuv_zones_events (stream->zones, &n_events);
  GST_OBJECT_LOCK (self);
  self->counts.frames++;
  self->counts.objects += self->boxes->len;
  self->counts.untracked += n_untracked;
  self->counts.events += (guint64) n_events;
  self->counts.microseconds = (gst_util_get_timestamp () - begin) / GST_USECOND;
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
out_of_memory (GstVisionZones *self)
{
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("Out of memory for the tracks of %u objects: use fewer zones.",
          self->boxes->len),
      (NULL));
  return GST_FLOW_ERROR;
}

static void
publish (GstVisionZones *self, GstZonesStream *stream, GstBuffer *buffer)
{
  const GstVisionZonesSettings *settings = self->settings.in_force;

  gst_zones_add_tables (buffer, stream, settings->outlines);
  if (gst_zones_stream_add_heat (stream, settings,
          (const CuvZoneObject *) self->boxes->data, (gint) self->boxes->len))
    gst_zones_add_heat (buffer, stream);
  if (settings->message == GST_VISION_ZONES_MESSAGE_ON_CHANGE)
    gst_zones_post_events (GST_ELEMENT (self), stream, buffer, self->batched);
}

static GstFlowReturn
transform_frame (
    GstVisionZones *self, GstZonesStream *stream, GstBuffer *buffer)
{
  const GstClockTime begin = gst_util_get_timestamp ();
  const GstVisionZonesSettings *settings;
  guint n_untracked;

  if (!apply_settings (self, stream))
    return GST_FLOW_ERROR;
  settings = self->settings.in_force;
  gst_zones_stream_set_time (stream, buffer);
  n_untracked = read_objects (self, buffer);
  if (!cuv_zones_update (stream->zones,
          (const CuvZoneObject *) self->boxes->data, (int) self->boxes->len,
          stream->time, settings->max_lost))
    return out_of_memory (self);
  publish (self, stream, buffer);
  count_frame (self, stream, n_untracked, begin);
  return GST_FLOW_OK;
}

/* ---- streams ---- */

/* Returns the nth stream, which may be new, or NULL after an element error. */
static GstZonesStream *
nth_zones_stream (GstVisionZones *self, guint n)
{
  while (self->streams->len <= n) {
    GstZonesStream *stream = gst_zones_stream_new (self->streams->len);

    if (stream == NULL) {
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("Out of memory for the zones of a stream: end another process, or "
           "use a machine with more memory."),
          (NULL));
      return NULL;
    }
    g_ptr_array_add (self->streams, stream);
  }
  return self->streams->pdata[n];
}

/* Frames that are not video pass unchanged. */
static GstFlowReturn
transform_batch (GstVisionZones *self, GstBuffer *batch)
{
  GstCuvBatchItem item = { 0 };
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && gst_cuv_batch_next (batch, &item)) {
    GstZonesStream *stream = nth_zones_stream (self, item.stream);

    if (stream == NULL)
      flow = GST_FLOW_ERROR;
    else if (item.event != NULL)
      gst_zones_stream_changed (
          stream, gst_cuv_stream_event (&stream->base, item.event));
    else if (gst_zones_stream_is_video (stream))
      flow = transform_frame (
          self, stream, gst_cuv_batch_make_writable (batch, &item));
  }
  return flow;
}

static GstFlowReturn
gst_vision_zones_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstVisionZones *self = GST_VISION_ZONES (trans);
  const GstClockTime time = gst_cuv_stream_time (&trans->segment, buffer);

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (self), time);
  return self->batched
      ? transform_batch (self, buffer)
      : transform_frame (self, self->streams->pdata[0], buffer);
}

/* ---- caps and states ---- */

static gboolean
gst_vision_zones_set_caps (
    GstBaseTransform *trans, GstCaps *in_caps, GstCaps *out_caps)
{
  GstVisionZones *self = GST_VISION_ZONES (trans);
  GstZonesStream *first = self->streams->pdata[0];

  self->batched = gst_cuv_caps_are_batch (in_caps);
  if (self->batched)
    return TRUE;
  gst_zones_stream_changed (
      first, gst_cuv_stream_set_caps (&first->base, in_caps));
  return gst_zones_stream_is_video (first);
}

static gboolean
gst_vision_zones_propose_allocation (
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  return gst_cuv_frame_propose_allocation (
      gst_vision_zones_parent_class, trans, decide_query, query);
}

/* A batch has the segments of its streams. */
static gboolean
gst_vision_zones_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstVisionZones *self = GST_VISION_ZONES (trans);
  const gboolean flush = GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP;
  const gboolean segment =
      GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT && !self->batched;

  for (guint i = 0; (flush || segment) && i < self->streams->len; i++) {
    GstZonesStream *stream = self->streams->pdata[i];

    gst_zones_stream_changed (
        stream, gst_cuv_stream_event (&stream->base, event));
  }
  return GST_BASE_TRANSFORM_CLASS (gst_vision_zones_parent_class)
      ->sink_event (trans, event);
}

static gboolean
gst_vision_zones_start (GstBaseTransform *trans)
{
  GstVisionZones *self = GST_VISION_ZONES (trans);

  if (!gst_cuv_settings_start (&self->settings))
    return FALSE;
  if (nth_zones_stream (self, 0) == NULL) {
    gst_cuv_settings_stop (&self->settings);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_vision_zones_stop (GstBaseTransform *trans)
{
  GstVisionZones *self = GST_VISION_ZONES (trans);

  g_ptr_array_set_size (self->streams, 0);
  gst_cuv_settings_stop (&self->settings);
  return TRUE;
}

/* ---- statistics ---- */

void
gst_vision_zones_get_stats (GstElement *element, GValue *value)
{
  GstVisionZones *self = GST_VISION_ZONES (element);
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  g_value_take_boxed (value,
      gst_cuv_structure_new ("stats", "frames", G_TYPE_UINT64, counts.frames,
          "objects", G_TYPE_UINT64, counts.objects, "untracked", G_TYPE_UINT64,
          counts.untracked, "events", G_TYPE_UINT64, counts.events, "zones",
          G_TYPE_UINT, counts.zones, "microseconds", G_TYPE_UINT64,
          counts.microseconds, NULL));
}

/* ---- class ---- */

static void
gst_vision_zones_finalize (GObject *object)
{
  GstVisionZones *self = GST_VISION_ZONES (object);

  g_array_unref (self->objects);
  g_array_unref (self->boxes);
  g_ptr_array_unref (self->streams);
  G_OBJECT_CLASS (gst_vision_zones_parent_class)->finalize (object);
}

static void
gst_vision_zones_class_init (GstVisionZonesClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->finalize = gst_vision_zones_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_vision_zones_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_vision_zones_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_vision_zones_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_vision_zones_sink_event);
  trans_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_vision_zones_propose_allocation);
  trans_class->prepare_output_buffer =
      GST_DEBUG_FUNCPTR (gst_cuv_frame_prepare_output_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_vision_zones_transform_ip);
  trans_class->transform_ip_on_passthrough = FALSE;
  gst_cuv_settings_class_install (object_class, &gst_vision_zones_settings);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Vision zones",
      "Filter/Analyzer/Video", "Counts objects in zones and at lines",
      "The gst-cuvision authors");
}

static void
gst_vision_zones_init (GstVisionZones *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_vision_zones_settings);
  self->objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  self->boxes = g_array_new (FALSE, FALSE, sizeof (CuvZoneObject));
  self->streams = g_ptr_array_new_with_free_func (gst_zones_stream_free);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), FALSE);
}
