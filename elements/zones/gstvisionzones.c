/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-visionzones
 * @title: visionzones
 * @short_description: counts objects in zones and at lines
 *
 * Reads the objects of each frame, whichever element attached them, and reports
 * who is inside which polygon, for how long, and who crossed which line. Pixels
 * are not read; frames may be in any memory.
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
#include "gstcuvmeta.h"
#include "gstvisionzonessettings.h"
#include "gstzonesresults.h"

GST_DEBUG_CATEGORY_STATIC (gst_vision_zones_debug);
#define GST_CAT_DEFAULT gst_vision_zones_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

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
  gint width, height;
  gboolean sized;  /* the zones are placed in frames of this size */
  CuvZones *zones; /* from start to stop */
  GstZonesPlaced *placed;
  CuvZoneHeat heat;  /* cells is NULL without a heat map */
  gint64 heat_shown; /* when the heat map was last attached, -1 = never */
  gint64 time;       /* of the last frame */
  GArray *objects;   /* GstCuvObject */
  GArray *boxes;     /* CuvZoneObject */
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

static gchar *
use_heat (GstVisionZones *self, gint cell)
{
  const gint before = self->heat.cells != NULL ? self->heat.cell : 0;

  if (cell == before && self->sized)
    return NULL;
  if (cell == 0)
    cuv_zone_heat_close (&self->heat);
  else if (!cuv_zone_heat_open (&self->heat, self->width, self->height, cell))
    return g_strdup ("out of memory for the heat map: increase heat-cell");
  self->heat_shown = -1;
  return NULL;
}

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
use_zones (gpointer element, gconstpointer data, gconstpointer unused)
{
  GstVisionZones *self = element;
  const GstVisionZonesSettings *settings = data;
  GstZonesDefaults defaults;
  GstZonesPlaced *placed;
  gchar *problem;

  read_defaults (&defaults, settings);
  placed = gst_zones_config_place (
      settings->zones != NULL ? settings->zones : settings->file, &defaults,
      self->width, self->height, &problem);
  g_free (defaults.labels);
  if (problem == NULL)
    problem = use_heat (self, settings->heat_cell);
  if (problem == NULL && !cuv_zones_set (self->zones, placed->zones, placed->n))
    problem = g_strdup ("out of memory for the zones: use fewer");
  if (problem != NULL) {
    g_clear_pointer (&placed, gst_zones_placed_free);
    return problem;
  }
  g_clear_pointer (&self->placed, gst_zones_placed_free);
  self->placed = placed;
  GST_OBJECT_LOCK (self);
  self->counts.zones = (guint) placed->n;
  GST_OBJECT_UNLOCK (self);
  return NULL;
}

/* Puts changed settings in force, and places the zones in frames of a new
 * size. */
static gboolean
apply_settings (GstVisionZones *self)
{
  if (self->sized && !gst_cuv_settings_changed (&self->settings))
    return TRUE;
  if (!gst_cuv_settings_apply (&self->settings, use_zones, NULL))
    return FALSE;
  self->sized = TRUE;
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

static GstClockTime
convert (const GstSegment *segment, GstClockTime pts, gboolean stream)
{
  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (pts)
      || (segment->rate < 0 && !GST_CLOCK_TIME_IS_VALID (segment->stop)))
    return GST_CLOCK_TIME_NONE;
  return stream ? gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts)
                : gst_segment_to_running_time (segment, GST_FORMAT_TIME, pts);
}

/* A frame without a time has that of the one before. A jump backwards is
 * another scene. */
static void
set_time (GstVisionZones *self, GstZonesFrame *frame)
{
  const GstClockTime time = GST_CLOCK_TIME_IS_VALID (frame->stream_time)
      ? frame->stream_time
      : frame->pts;

  if (GST_CLOCK_TIME_IS_VALID (time) && time <= G_MAXINT64) {
    if ((gint64) time < self->time) {
      cuv_zones_forget (self->zones);
      self->heat.begun = FALSE;
      self->heat_shown = -1;
    }
    self->time = (gint64) time;
  }
  frame->time = self->time;
}

static void
add_heat (GstVisionZones *self, GstBuffer *buffer, gint64 time)
{
  const GstVisionZonesSettings *settings = self->settings.in_force;
  const CuvZoneAnchor anchor =
      MIN ((CuvZoneAnchor) settings->anchor, CUV_ANCHOR_CENTER);

  if (self->heat.cells == NULL)
    return;
  cuv_zone_heat_add (&self->heat, (const CuvZoneObject *) self->boxes->data,
      (int) self->boxes->len, anchor, time, settings->heat_half_life);
  if (self->heat_shown >= 0
      && (gdouble) (time - self->heat_shown) < settings->heat_interval * 1e9)
    return;
  self->heat_shown = time;
  gst_zones_add_heat (buffer, &self->heat, self->width, self->height);
}

static void
count_frame (GstVisionZones *self, guint n_untracked, GstClockTime begin)
{
  gint n_events;

  cuv_zones_events (self->zones, &n_events);
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

static GstFlowReturn
gst_vision_zones_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstVisionZones *self = GST_VISION_ZONES (trans);
  const GstClockTime begin = gst_util_get_timestamp ();
  const GstClockTime pts = GST_BUFFER_PTS (buffer);
  GstZonesFrame frame = { self->zones, NULL, self->width, self->height, pts,
    GST_BUFFER_DURATION (buffer), convert (&trans->segment, pts, TRUE),
    convert (&trans->segment, pts, FALSE), 0 };
  const GstVisionZonesSettings *settings;
  guint n_untracked;

  if (GST_CLOCK_TIME_IS_VALID (frame.stream_time))
    gst_object_sync_values (GST_OBJECT (self), frame.stream_time);
  if (!apply_settings (self))
    return GST_FLOW_ERROR;
  settings = self->settings.in_force;
  frame.placed = self->placed;
  set_time (self, &frame);
  n_untracked = read_objects (self, buffer);
  if (!cuv_zones_update (self->zones, (const CuvZoneObject *) self->boxes->data,
          (int) self->boxes->len, frame.time, settings->max_lost))
    return out_of_memory (self);
  gst_zones_add_tables (buffer, &frame, settings->outlines);
  add_heat (self, buffer, frame.time);
  if (settings->message == GST_VISION_ZONES_MESSAGE_ON_CHANGE)
    gst_zones_post_events (GST_ELEMENT (self), &frame);
  count_frame (self, n_untracked, begin);
  return GST_FLOW_OK;
}

/* ---- caps and states ---- */

static gboolean
gst_vision_zones_set_caps (
    GstBaseTransform *trans, GstCaps *in_caps, GstCaps *out_caps)
{
  GstVisionZones *self = GST_VISION_ZONES (trans);
  const GstStructure *structure = gst_caps_get_structure (in_caps, 0);
  gint width, height;

  if (!gst_structure_get_int (structure, "width", &width)
      || !gst_structure_get_int (structure, "height", &height) || width < 1
      || height < 1 || width > CUV_ZONE_MAX / (4 * CUV_ZONE_SCALE)
      || height > CUV_ZONE_MAX / (4 * CUV_ZONE_SCALE))
    return FALSE;
  if (width != self->width || height != self->height)
    self->sized = FALSE;
  self->width = width;
  self->height = height;
  return TRUE;
}

static gboolean
gst_vision_zones_propose_allocation (
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  return gst_cuv_frame_propose_allocation (
      gst_vision_zones_parent_class, trans, decide_query, query);
}

static gboolean
gst_vision_zones_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstVisionZones *self = GST_VISION_ZONES (trans);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP && self->zones != NULL) {
    cuv_zones_forget (self->zones);
    self->heat.begun = FALSE;
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
  self->zones = cuv_zones_new ();
  if (self->zones == NULL) {
    gst_cuv_settings_stop (&self->settings);
    return FALSE;
  }
  self->width = self->height = 0;
  self->sized = FALSE;
  self->time = 0;
  self->heat_shown = -1;
  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_vision_zones_stop (GstBaseTransform *trans)
{
  GstVisionZones *self = GST_VISION_ZONES (trans);

  g_clear_pointer (&self->zones, cuv_zones_free);
  g_clear_pointer (&self->placed, gst_zones_placed_free);
  cuv_zone_heat_close (&self->heat);
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
      gst_structure_new ("stats", "frames", G_TYPE_UINT64, counts.frames,
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
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), FALSE);
}
