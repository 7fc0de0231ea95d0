/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* add: decodes each picture separately, so that frames and names match, and
 * pushes all of them into one ldpindexsink. */
#include "config.h"
#include "cuvision-index.h"
#include "picture/gstcuvpicture.h"

#include <gst/gst.h>
#include <string.h>

typedef struct {
  GstElement *pipeline, *sink;
  GstPad *pad;   /* pushes pictures to the sink */
  GstCaps *caps; /* of the last picture; NULL: none yet */
} Adder;

/* New entries get the parameters of the existing ones. */
static void
take_settings (GstElement *sink, const CuvLdpIndexInfo *info)
{
  const CuvLdpParams *params = &info->layout.params;

  g_object_set (sink, "order", params->order, "block", params->block,
      "directions", params->directions, "merge-directions", params->is_merged,
      "border", params->border, "bins", params->bins, "scales", params->scales,
      "descriptor-width", info->layout.width, "descriptor-height",
      info->layout.height, "thumbnail-width", info->thumbnail_width,
      "thumbnail-height", info->thumbnail_height, NULL);
  if (params->block == 0)
    g_object_set (sink, "grid", params->grid, NULL);
  if (params->bins == CUV_LDP_BINS_LEVELS)
    g_object_set (sink, "levels", params->levels, NULL);
}

static gboolean
set_property (GstElement *sink, const gchar *setting)
{
  const gchar *value = strchr (setting, '=');
  gchar *name = g_strndup (setting, value != NULL ? value - setting : 0);
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (sink), name);
  GValue parsed = G_VALUE_INIT;
  gboolean ok = FALSE;

  if (pspec != NULL) {
    g_value_init (&parsed, pspec->value_type);
    ok = gst_value_deserialize_with_pspec (&parsed, value + 1, pspec)
        && !g_param_value_validate (pspec, &parsed);
    if (ok)
      g_object_set_property (G_OBJECT (sink), name, &parsed);
    g_value_unset (&parsed);
  }
  if (!ok)
    g_printerr ("cuvision-index: --set %s: ldpindexsink has no such property, "
                "or the value is invalid (see gst-inspect-1.0 "
                "ldpindexsink)\n",
        setting);
  g_free (name);
  return ok;
}

/* The parameters that recognise scenes best: docs/accuracy.md. */
static const CuvLdpParams add_defaults = {
  .order = 3, .block = 16, .directions = 15, .scales = 3
};
enum { DEFAULT_SIZE = 64, GRID_SIZE = 128 };

gboolean
has_add_defaults (const CuvLdpLayout *layout)
{
  CuvLdpLayout wanted;

  cuv_ldp_layout_init (&wanted, &add_defaults, DEFAULT_SIZE, DEFAULT_SIZE);
  return memcmp (&wanted, layout, sizeof wanted) == 0;
}

/* Sets the defaults of a new index. Blocks have 16 pixels on each side, unless
 * --set gives a grid; then pictures are described in more detail as well:
 * materials need a single block, and all the detail of a patch. */
static void
set_add_defaults (GstElement *sink)
{
  gboolean has_grid = FALSE;
  gint size;

  for (gchar **s = option_set; s != NULL && *s != NULL; s++)
    has_grid = has_grid || g_str_has_prefix (*s, "grid=");
  size = has_grid ? GRID_SIZE : DEFAULT_SIZE;
  g_object_set (
      sink, "descriptor-width", size, "descriptor-height", size, NULL);
  if (!has_grid)
    g_object_set (
        sink, "block", add_defaults.block, "scales", add_defaults.scales, NULL);
}

static gboolean
adder_configure (GstElement *sink, const gchar *path)
{
  char *problem;
  CuvLdpIndex *index;

  g_object_set (sink, "location", path, "progress-interval", 0, NULL);
  if (g_file_test (path, G_FILE_TEST_EXISTS)) {
    index = cuv_ldp_index_open (path, &problem);
    if (index == NULL)
      return print_error (problem);
    take_settings (sink, cuv_ldp_index_info (index));
    cuv_ldp_index_free (index);
  } else {
    set_add_defaults (sink);
  }
  for (gchar **setting = option_set; setting != NULL && *setting != NULL;
       setting++) {
    if (!set_property (sink, *setting))
      return FALSE;
  }
  return TRUE;
}

static gchar *
message_text (GstMessage *message)
{
  GError *error;
  gchar *text;

  gst_message_parse_error (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  return text;
}

/* Prints why the sink failed. Returns FALSE. */
static gboolean
print_sink_error (Adder *self, GstFlowReturn flow)
{
  GstBus *bus = gst_element_get_bus (self->pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gchar *text = message != NULL
      ? message_text (message)
      : g_strdup_printf ("ldpindexsink failed: %s", gst_flow_get_name (flow));

  g_printerr ("cuvision-index: %s\n", text);
  g_free (text);
  gst_clear_message (&message);
  gst_object_unref (bus);
  return FALSE;
}

static gboolean
adder_start (Adder *self, const gchar *path)
{
  GstPad *peer;
  gchar *problem;

  self->sink = gst_element_factory_make ("ldpindexsink", NULL);
  if (self->sink == NULL) {
    g_printerr ("cuvision-index: no element ldpindexsink: set GST_PLUGIN_PATH "
                "to the folder of gst-cuvision's plugins\n");
    return FALSE;
  }
  self->pipeline = gst_pipeline_new (NULL);
  gst_bin_add (GST_BIN (self->pipeline), self->sink);
  problem = gst_cuv_picture_check ();
  if (problem != NULL) {
    g_printerr ("cuvision-index: %s\n", problem);
    g_free (problem);
    return FALSE;
  }
  if (!adder_configure (self->sink, path))
    return FALSE;
  self->pad = gst_pad_new ("src", GST_PAD_SRC);
  peer = gst_element_get_static_pad (self->sink, "sink");
  gst_pad_link (self->pad, peer);
  gst_object_unref (peer);
  gst_pad_set_active (self->pad, TRUE);
  if (gst_element_set_state (self->pipeline, GST_STATE_PLAYING)
          == GST_STATE_CHANGE_FAILURE
      || !gst_pad_push_event (
          self->pad, gst_event_new_stream_start ("pictures")))
    return print_sink_error (self, GST_FLOW_ERROR);
  return TRUE;
}

static void
adder_stop (Adder *self)
{
  if (self->pipeline != NULL) {
    gst_element_set_state (self->pipeline, GST_STATE_NULL);
    gst_object_unref (self->pipeline);
  }
  gst_clear_object (&self->pad);
  gst_clear_caps (&self->caps);
}

static void
push_caps (Adder *self, GstCaps *caps)
{
  const gboolean is_first = self->caps == NULL;
  GstSegment segment;

  if (!is_first && gst_caps_is_equal (self->caps, caps))
    return;
  gst_caps_replace (&self->caps, caps);
  gst_pad_push_event (self->pad, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (is_first)
    gst_pad_push_event (self->pad, gst_event_new_segment (&segment));
}

/* The title tag, which names the entry, is for this frame only. */
static GstFlowReturn
push (Adder *self, GstSample *sample, const gchar *name)
{
  GstTagList *tags = gst_tag_list_new (GST_TAG_TITLE, name, NULL);

  push_caps (self, gst_sample_get_caps (sample));
  gst_tag_list_set_scope (tags, GST_TAG_SCOPE_STREAM);
  gst_pad_push_event (self->pad, gst_event_new_tag (tags));
  return gst_pad_push (
      self->pad, gst_buffer_ref (gst_sample_get_buffer (sample)));
}

/* Adds a picture. Returns FALSE if no more pictures can be added. */
static gboolean
adder_add (Adder *self, const gchar *path, guint *n_skipped)
{
  gchar *problem = NULL, *name = g_filename_display_name (path);
  GstSample *sample = gst_cuv_picture_load (path, &problem);
  GstFlowReturn flow = GST_FLOW_OK;

  if (sample == NULL) {
    g_printerr ("skipped: %s: %s\n", name, problem);
    (*n_skipped)++;
  } else {
    flow = push (self, sample, name);
  }
  g_clear_pointer (&sample, gst_sample_unref);
  g_free (problem);
  g_free (name);
  return flow == GST_FLOW_OK || print_sink_error (self, flow);
}

gboolean
command_add (gchar **arguments)
{
  Adder adder = { 0 };
  gchar **paths = names_expand (arguments + 1, TRUE);
  guint n_skipped = 0;
  gboolean ok;

  gst_init (NULL, NULL);
  ok = paths != NULL && adder_start (&adder, arguments[0]);
  for (gchar **path = paths; ok && *path != NULL; path++)
    ok = adder_add (&adder, *path, &n_skipped);
  adder_stop (&adder);
  g_strfreev (paths);
  return ok && n_skipped == 0;
}
