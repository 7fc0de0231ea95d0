/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-envisink
 * @title: envisink
 * @short_description: writes spectral images as ENVI files
 *
 * Writes each cube as an ENVI header and a file of samples beside it. Both get
 * their names when they are complete, so that a reader never sees a part of
 * one.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 envisrc location=cube.hdr ! envisink location=copy.hdr
 * ]| Writes a cube anew, as little endian samples of 8 or 16 bits or floats.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstenvisink.h"

#include "gstenvifile.h"
#include "spectral/gstcuvspectralheader.h"

GST_DEBUG_CATEGORY_STATIC (envi_sink_debug);
#define GST_CAT_DEFAULT envi_sink_debug

enum {
  PROP_0,
  PROP_LOCATION,
  PROP_STATS,
};

struct _GstEnviSink {
  GstBaseSink parent;

  gchar *location;      /* under the object lock, as are */
  guint64 cubes, bytes; /* that were written */

  gchar *running; /* the location from start to stop */
  guint next;     /* number of the next cube */
  GstCuvSpectralInfo info;
};

#define gst_envi_sink_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstEnviSink, gst_envi_sink, GST_TYPE_BASE_SINK,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL))
GST_ELEMENT_REGISTER_DEFINE (
    envisink, "envisink", GST_RANK_NONE, GST_TYPE_ENVI_SINK)

/* clang-format off */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_SPECTRAL_CAPS));
/* clang-format on */

/* ---- a cube ---- */

static gboolean
gst_envi_sink_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  GstEnviSink *self = GST_ENVI_SINK (sink);
  gchar *problem;

  if (gst_cuv_spectral_info_from_caps (&self->info, caps, &problem))
    return TRUE;
  GST_ELEMENT_ERROR (
      self, STREAM, FORMAT, ("The caps cannot be used: %s.", problem), (NULL));
  g_free (problem);
  return FALSE;
}

/* NULL if it has been written or cannot be. */
static gchar *
next_path (GstEnviSink *self)
{
  if (self->next == 0 || gst_envi_location_is_pattern (self->running))
    return gst_envi_location_expand (self->running, self->next);
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
      ("A second cube came, and location '%s' names one file: put a number "
       "into it, as in cube%%05d.hdr, or send one cube (envisrc "
       "num-buffers=1).",
          self->running),
      (NULL));
  return NULL;
}

static GstFlowReturn
write_cube (GstEnviSink *self, const gchar *path, GstBuffer *buffer,
    gconstpointer samples)
{
  gchar *kept = gst_cuv_spectral_header_text (buffer, &self->info);
  GError *error = NULL;
  gboolean ok;
  CuvEnvi envi;

  gst_envi_from_info (&envi, &self->info);
  ok = gst_envi_file_write (path, &envi, kept, samples, &error);
  g_free (kept);
  if (!ok) {
    gst_envi_post_error (GST_ELEMENT (self), error);
    return GST_FLOW_ERROR;
  }
  self->next++;
  GST_OBJECT_LOCK (self);
  self->cubes++;
  self->bytes += cuv_envi_data_size (&envi);
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static GstFlowReturn
render_mapped (GstEnviSink *self, GstBuffer *buffer, const GstMapInfo *map)
{
  gsize size = gst_cuv_spectral_info_size (&self->info);
  GstFlowReturn flow = GST_FLOW_ERROR;
  gchar *path = NULL;

  if (map->size != size)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A buffer has %" G_GSIZE_FORMAT " bytes; by the caps it should have "
         "%" G_GSIZE_FORMAT ", its rows packed.",
            map->size, size),
        (NULL));
  else
    path = next_path (self);
  if (path != NULL)
    flow = write_cube (self, path, buffer, map->data);
  g_free (path);
  return flow;
}

static GstFlowReturn
gst_envi_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  GstEnviSink *self = GST_ENVI_SINK (sink);
  GstFlowReturn flow;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (
        self, RESOURCE, READ, ("A buffer cannot be mapped."), (NULL));
    return GST_FLOW_ERROR;
  }
  flow = render_mapped (self, buffer, &map);
  gst_buffer_unmap (buffer, &map);
  return flow;
}

/* ---- states ---- */

static gboolean
gst_envi_sink_start (GstBaseSink *sink)
{
  GstEnviSink *self = GST_ENVI_SINK (sink);
  GError *error = NULL;

  self->next = 0;
  GST_OBJECT_LOCK (self);
  self->running = g_strdup (self->location);
  self->cubes = self->bytes = 0;
  GST_OBJECT_UNLOCK (self);
  if (gst_envi_location_check (self->running, &error))
    return TRUE;
  gst_envi_post_error (GST_ELEMENT (self), error);
  g_clear_pointer (&self->running, g_free);
  return FALSE;
}

static gboolean
gst_envi_sink_stop (GstBaseSink *sink)
{
  g_clear_pointer (&GST_ENVI_SINK (sink)->running, g_free);
  return TRUE;
}

/* ---- properties ---- */

static void
gst_envi_sink_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstEnviSink *self = GST_ENVI_SINK (object);

  if (id != PROP_LOCATION) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  g_free (self->location);
  self->location = g_value_dup_string (value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_envi_sink_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstEnviSink *self = GST_ENVI_SINK (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LOCATION:
      g_value_set_string (value, self->location);
      break;
    case PROP_STATS:
      g_value_take_boxed (value,
          gst_structure_new ("stats", "cubes", G_TYPE_UINT64, self->cubes,
              "bytes", G_TYPE_UINT64, self->bytes, NULL));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_envi_sink_finalize (GObject *object)
{
  g_free (GST_ENVI_SINK (object)->location);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  /**
   * GstEnviSink:location:
   *
   * The header, or the file of samples, to write; the other is named after it.
   * With %d or %05d in it, each cube has files of its own, numbered from 0.
   * Used at the next start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_LOCATION,
      g_param_spec_string ("location", "Location",
          "Header or samples to write; with %05d, for a sequence of cubes",
          NULL,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY
              | G_PARAM_STATIC_STRINGS));
  /**
   * GstEnviSink:stats:
   *
   * cubes, bytes (guint64): what was written since the start, headers not
   * counted.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "What the element did",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_envi_sink_class_init (GstEnviSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      envi_sink_debug, "envisink", 0, "ENVI files, written");
  object_class->set_property = gst_envi_sink_set_property;
  object_class->get_property = gst_envi_sink_get_property;
  object_class->finalize = gst_envi_sink_finalize;
  sink_class->start = GST_DEBUG_FUNCPTR (gst_envi_sink_start);
  sink_class->stop = GST_DEBUG_FUNCPTR (gst_envi_sink_stop);
  sink_class->set_caps = GST_DEBUG_FUNCPTR (gst_envi_sink_set_caps);
  sink_class->render = GST_DEBUG_FUNCPTR (gst_envi_sink_render);
  install_properties (object_class);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "ENVI sink",
      "Sink/File/Video", "Writes spectral images as ENVI files",
      "The gst-cuvision authors");
}

static void
gst_envi_sink_init (GstEnviSink *self)
{
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
}
