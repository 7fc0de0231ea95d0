/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-envisink
 * @title: envisink
 * @short_description: writes spectral images as ENVI files
 *
 * Writes each cube as an ENVI header and a file of samples beside it. Both
 * files get their names when they are complete, so that a reader never sees a
 * partial file.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 envisrc location=cube.hdr ! envisink location=copy.hdr
 * ]| Rewrites a cube with little-endian samples of 8 or 16 bits or floats.
 *
 * Since: 0.1
 */
#include "config.h"

#include <gst/base/gstbasesink.h>
#include "gstenvifile.h"
#include "settings/gstcuvsettings.h"
#include "spectral/gstcuvspectralheader.h"

GST_DEBUG_CATEGORY_STATIC (envi_sink_debug);
#define GST_CAT_DEFAULT envi_sink_debug

typedef struct {
  gchar *location;
} Settings;

#define GST_TYPE_ENVI_SINK (gst_envi_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstEnviSink, gst_envi_sink, GST, ENVI_SINK, GstBaseSink)

struct _GstEnviSink {
  GstBaseSink parent;

  GstCuvSettings settings;
  GstEnviCounts counts; /* cubes and bytes written */

  const gchar *location; /* set from start to stop */
  guint next;            /* number of the next cube */
  GstCuvSpectralInfo info;
};

#define gst_envi_sink_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstEnviSink, gst_envi_sink, GST_TYPE_BASE_SINK,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL))
GST_ELEMENT_REGISTER_DECLARE (envisink);
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
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("The caps do not describe a spectral image: %s.", problem), (NULL));
  g_free (problem);
  return FALSE;
}

/* Returns the path of the next cube, or NULL after an element error if location
 * names only one. */
static gchar *
next_path (GstEnviSink *self)
{
  if (self->next == 0 || gst_envi_location_is_pattern (self->location))
    return gst_envi_location_expand (self->location, self->next);
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
      ("A second cube has arrived, but location '%s' names a single file: add "
       "a placeholder for a number, as in cube%%05d.hdr, or send only one cube "
       "(envisrc num-buffers=1).",
          self->location),
      (NULL));
  return NULL;
}

static GstFlowReturn
write_cube (GstEnviSink *self, const gchar *path, GstBuffer *buffer,
    gconstpointer samples)
{
  gchar *extra_keys = gst_cuv_spectral_header_text (buffer, &self->info);
  GError *error = NULL;
  gboolean ok;
  CuvEnvi envi;

  gst_envi_from_info (&envi, &self->info);
  ok = gst_envi_file_write (path, &envi, extra_keys, samples, &error);
  g_free (extra_keys);
  if (!ok) {
    gst_envi_post_error (GST_ELEMENT (self), error);
    return GST_FLOW_ERROR;
  }
  self->next++;
  gst_envi_counts_add (
      &self->counts, GST_ELEMENT (self), cuv_envi_data_size (&envi));
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
        ("A buffer has %" G_GSIZE_FORMAT
         " bytes, but its caps need %" G_GSIZE_FORMAT
         ": send whole cubes, without padding.",
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
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("Cannot map a buffer for reading: the previous element sends memory "
         "that the CPU cannot read. Put cudadownload or another copying "
         "element before this one."),
        (NULL));
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

  if (!gst_cuv_settings_start (&self->settings)
      || !gst_cuv_settings_apply (&self->settings, NULL, NULL))
    return FALSE;
  self->location = ((const Settings *) self->settings.in_force)->location;
  self->next = 0;
  GST_OBJECT_LOCK (self);
  self->counts = (GstEnviCounts){ 0 };
  GST_OBJECT_UNLOCK (self);
  if (gst_envi_location_check (self->location, &error))
    return TRUE;
  gst_envi_post_error (GST_ELEMENT (self), error);
  gst_cuv_settings_stop (&self->settings);
  return FALSE;
}

static gboolean
gst_envi_sink_stop (GstBaseSink *sink)
{
  gst_cuv_settings_stop (&GST_ENVI_SINK (sink)->settings);
  return TRUE;
}

/* ---- properties ---- */

static void
gst_envi_sink_get_stats (GstElement *element, GValue *value)
{
  gst_envi_counts_get (&GST_ENVI_SINK (element)->counts, element, value);
}

/**
 * GstEnviSink:location:
 *
 * The header, or the file of samples, to write; the other is named after it.
 * With %d or %05d in it, each cube has files of its own, numbered from 0.
 * Used at the next start.
 *
 * Since: 0.1
 */
/**
 * GstEnviSink:stats:
 *
 * cubes, bytes (guint64): what was written since the start, headers not
 * counted.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "location", "Location",
      "Path of the header to write, or of the file of samples (the other file "
      "is named after it); with %05d for a sequence of cubes",
      .offset = G_STRUCT_OFFSET (Settings, location), .type = G_TYPE_STRING,
      .at_start = TRUE },
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type, .get = gst_envi_sink_get_stats },
};

static const GstCuvSettingsTable table = {
  GST_CUV_SETTINGS (Settings, list),
};

/* ---- class ---- */

static void
gst_envi_sink_class_init (GstEnviSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (envi_sink_debug, "envisink", 0, "writes ENVI files");
  sink_class->start = GST_DEBUG_FUNCPTR (gst_envi_sink_start);
  sink_class->stop = GST_DEBUG_FUNCPTR (gst_envi_sink_stop);
  sink_class->set_caps = GST_DEBUG_FUNCPTR (gst_envi_sink_set_caps);
  sink_class->render = GST_DEBUG_FUNCPTR (gst_envi_sink_render);
  gst_cuv_settings_class_install (object_class, &table);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "ENVI sink",
      "Sink/File/Video", "Writes spectral images as ENVI files",
      "The gst-cuvision authors");
}

static void
gst_envi_sink_init (GstEnviSink *self)
{
  gst_cuv_settings_init (&self->settings, self, &table);
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
}
