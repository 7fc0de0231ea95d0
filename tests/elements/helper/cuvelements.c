/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "cuvelements.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MODEL "lbpcascade_frontalface.xml"

void
cuv_test_failed (const gchar *file, gint line, const gchar *expression, ...)
{
  const gchar *format;
  gchar *text = NULL;
  va_list rest;

  va_start (rest, expression);
  format = va_arg (rest, const gchar *);
  if (format != NULL)
    text = g_strdup_vprintf (format, rest);
  va_end (rest);
  g_print ("%s:%d: %s\n", file, line, text != NULL ? text : expression);
  fflush (NULL);
  _exit (1);
}

guint
cuv_rounds (guint few, guint all)
{
  return g_getenv ("CUV_CHECK_FEW") != NULL ? few : all;
}

/* G_DEBUG=fatal-criticals would end the test. */
GLogLevelFlags
cuv_expect_report (void)
{
  _gst_check_expecting_log = TRUE;
  _gst_check_raised_warning = _gst_check_raised_critical = FALSE;
  return g_log_set_always_fatal (G_LOG_FATAL_MASK);
}

gboolean
cuv_reported (GLogLevelFlags fatal)
{
  g_log_set_always_fatal (fatal);
  _gst_check_expecting_log = FALSE;
  return _gst_check_raised_warning || _gst_check_raised_critical;
}

static gboolean
is_ours (GstPluginFeature *feature, gpointer unused)
{
  GstPlugin *plugin;
  gboolean ours;

  if (!GST_IS_ELEMENT_FACTORY (feature))
    return FALSE;
  plugin = gst_plugin_feature_get_plugin (feature);
  ours = plugin != NULL
      && strcmp (gst_plugin_get_package (plugin), GST_PACKAGE_NAME) == 0;
  gst_clear_object (&plugin);
  return ours;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(gchar **) a, *(gchar **) b);
}

GPtrArray *
cuv_element_names (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  GList *features =
      gst_registry_feature_filter (gst_registry_get (), is_ours, FALSE, NULL);

  for (GList *l = features; l != NULL; l = l->next)
    g_ptr_array_add (names, g_strdup (gst_plugin_feature_get_name (l->data)));
  gst_plugin_feature_list_free (features);
  g_ptr_array_sort (names, compare_names);
  return names;
}

static gboolean
has_pad_for (const gchar *name, const gchar *format,
    gboolean (*can) (GstElementFactory *, const GstCaps *))
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  g_autoptr (GstCaps) caps = gst_caps_new_simple (
      "video/x-raw", "format", G_TYPE_STRING, format, NULL);
  gboolean has = can (factory, caps);

  return has;
}

gboolean
cuv_element_takes (const gchar *name, const gchar *format)
{
  return has_pad_for (name, format, gst_element_factory_can_sink_any_caps);
}

gboolean
cuv_element_makes (const gchar *name, const gchar *format)
{
  return has_pad_for (name, format, gst_element_factory_can_src_any_caps);
}

/* Leaves out visioncrop, which makes a frame of each object. */
GPtrArray *
cuv_frame_element_names (void)
{
  GPtrArray *all = cuv_element_names (), *names = g_ptr_array_new ();

  for (guint i = 0; i < all->len; i++)
    if (cuv_element_takes (all->pdata[i], "NV12")
        && cuv_element_makes (all->pdata[i], "NV12")
        && strcmp (all->pdata[i], "visioncrop") != 0)
      g_ptr_array_add (names, all->pdata[i]);
  return names;
}

gboolean
cuv_element_is_host_only (const gchar *name)
{
  static const gchar *const names[] = { "envisink", "envisrc",
    "spectralreflectance", "spectralrgb", NULL };

  return g_strv_contains (names, name);
}

/* Returns TRUE if the property exists and has its default value. */
static gboolean
is_unset (GstElement *element, const gchar *name)
{
  GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  GValue value = G_VALUE_INIT;
  gboolean unset;

  if (spec == NULL)
    return FALSE;
  g_value_init (&value, spec->value_type);
  g_object_get_property (G_OBJECT (element), name, &value);
  unset = g_param_value_defaults (spec, &value);
  g_value_unset (&value);
  return unset;
}

void
cuv_element_configure (GstElement *element)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);

  if (GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SINK)
      && g_object_class_find_property (klass, "model") != NULL)
    g_object_set (element, "model", cuv_output_path (), NULL);
  else if (g_object_class_find_property (klass, "model") != NULL)
    g_object_set (element, "model", MODEL, NULL);
  if (is_unset (element, "index"))
    g_object_set (element, "index", cuv_index_path (), NULL);
  if (g_object_class_find_property (klass, "file-path") != NULL)
    g_object_set (element, "file-path", "/dev/null", NULL);
  if (g_object_class_find_property (klass, "port") != NULL)
    g_object_set (element, "port", 0, NULL);
  if (is_unset (element, "grid"))
    g_object_set (element, "grid", 1, NULL);
}

GstElement *
cuv_element_new (const gchar *name)
{
  GstElement *element = gst_element_factory_make (name, NULL);

  fail_unless (element != NULL, "no element %s", name);
  cuv_element_configure (element);
  return element;
}

void
cuv_element_set (GstElement *element, const gchar *settings)
{
  gchar **parts = NULL;

  g_shell_parse_argv (
      settings, NULL, &parts, NULL); /* fails if there are none */
  for (guint i = 0; parts != NULL && parts[i] != NULL; i++) {
    gchar **pair = g_strsplit (parts[i], "=", 2);

    gst_util_set_object_arg (G_OBJECT (element), pair[0], pair[1]);
    g_strfreev (pair);
  }
  g_strfreev (parts);
}

void
cuv_expect_parse_error (const gchar *element, const gchar *setting)
{
  g_autofree gchar *line = g_strdup_printf ("%s %s", element, setting);
  g_autofree gchar *name = g_strndup (setting, strcspn (setting, "="));
  GError *error = NULL;
  GstElement *parsed = gst_parse_launch (line, &error);

  fail_unless (error != NULL && strstr (error->message, name) != NULL, "%s: %s",
      line, error != NULL ? error->message : "no error");
  g_clear_error (&error);
  gst_clear_object (&parsed);
}

static void
configure_ours (const GValue *item, gpointer unused)
{
  GstElement *element = g_value_get_object (item);
  GstElementFactory *factory = gst_element_get_factory (element);

  if (factory != NULL && is_ours (GST_PLUGIN_FEATURE (factory), NULL))
    cuv_element_configure (element);
}

static GstElement *
configure (GstElement *bin, const gchar *line, const GError *error)
{
  GstIterator *iterator;

  fail_unless (bin != NULL && error == NULL, "%s: %s", line,
      error ? error->message : "");
  iterator = gst_bin_iterate_elements (GST_BIN (bin));
  gst_iterator_foreach (iterator, configure_ours, NULL);
  gst_iterator_free (iterator);
  return bin;
}

GstElement *
cuv_pipeline_new (const gchar *line)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);

  return configure (pipeline, line, error);
}

GstElement *
cuv_bin_new (const gchar *line)
{
  GError *error = NULL;
  GstElement *bin = gst_parse_bin_from_description (line, TRUE, &error);

  return gst_object_ref_sink (configure (bin, line, error));
}

gchar *
cuv_pipeline_play (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  gchar *text = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "neither EOS nor an error within 60 s");
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    GError *error;

    gst_message_parse_error (message, &error, NULL);
    text = g_strdup (error->message);
    g_error_free (error);
  }
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return text;
}

/* Returns the time of an analysis from a statistics message; 0 for other
 * messages. */
static GstClockTime
analysis_time (GstMessage *message)
{
  guint64 microseconds = 0;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT)
    gst_structure_get_uint64 (
        gst_message_get_structure (message), "microseconds", &microseconds);
  return microseconds * GST_USECOND;
}

GstClockTime
cuv_pipeline_play_live (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstClockTime longest = 0;
  GstMessageType type;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  do {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 100 * GST_SECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_LATENCY
            | GST_MESSAGE_ELEMENT);

    fail_unless (message != NULL, "no EOS within 100 s");
    type = GST_MESSAGE_TYPE (message);
    fail_if (type == GST_MESSAGE_ERROR);
    longest = MAX (longest, analysis_time (message));
    gst_message_unref (message);
    if (type == GST_MESSAGE_LATENCY)
      gst_bin_recalculate_latency (GST_BIN (pipeline));
  } while (type != GST_MESSAGE_EOS);
  return longest;
}

void
cuv_play (const gchar *line)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (line);
  gchar *error = cuv_pipeline_play (pipeline);

  fail_unless (error == NULL, "%s: %s", line, error);
}

void
cuv_expect_error (const gchar *line, const gchar *part)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (line);
  g_autofree gchar *text = cuv_pipeline_play (pipeline);

  fail_unless (text != NULL && strstr (text, part) != NULL,
      "%s: expected an error with '%s', got '%s'", line, part, text);
}

static void
fail_on_error (GstBus *bus)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;
  gchar *debug = NULL;

  if (message == NULL)
    return;
  gst_message_parse_error (message, &error, &debug);
  fail_unless (FALSE, "no frame: %s (%s)", error->message, debug);
}

GstSample *
cuv_pull_sample (GstElement *pipeline)
{
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstSample *sample = NULL;
  gboolean ended = FALSE;

  while (TRUE) {
    g_signal_emit_by_name (sink, "try-pull-sample", 20 * GST_MSECOND, &sample);
    if (sample != NULL)
      break;
    fail_on_error (bus); /* an error comes before the end */
    g_object_get (sink, "eos", &ended, NULL);
    fail_if (ended, "no frame: end of stream");
  }
  return sample;
}

gboolean
cuv_pad_has_cuda (GstElement *element, const gchar *name)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, name);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  gboolean cuda;

  fail_unless (
      caps != NULL, "%s:%s has no caps", GST_OBJECT_NAME (element), name);
  cuda = gst_caps_features_contains (
      gst_caps_get_features (caps, 0), CUDA_FEATURE);
  return cuda;
}

gboolean
cuv_stat_is (GstElement *element, const gchar *field, const gchar *text)
{
  GstStructure *stats;
  gboolean same;

  g_object_get (element, "stats", &stats, NULL);
  same = g_strcmp0 (gst_structure_get_string (stats, field), text) == 0;
  gst_structure_free (stats);
  return same;
}

guint64
cuv_stat (GstElement *element, const gchar *field)
{
  GstStructure *stats = NULL;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (stats != NULL && gst_structure_get_uint64 (stats, field, &value),
      "no %s in stats", field);
  gst_structure_free (stats);
  return value;
}

guint
cuv_stat_uint (GstElement *element, const gchar *field)
{
  GstStructure *stats = NULL;
  guint value = 0;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (stats != NULL && gst_structure_get_uint (stats, field, &value),
      "no %s in stats", field);
  gst_structure_free (stats);
  return value;
}

/* ---- frames ---- */

static GstVideoInfo
frame_info (const gchar *format, gint width, gint height)
{
  GstVideoInfo info;

  fail_unless (gst_video_info_set_format (
      &info, gst_video_format_from_string (format), width, height));
  return info;
}

GstBuffer *
cuv_frame_new (const gchar *format, gint width, gint height)
{
  GstVideoInfo info = frame_info (format, width, height);
  GstVideoAlignment align;
  GstBuffer *buffer;
  GstMapInfo map;

  gst_video_alignment_reset (&align);
  align.padding_right = 37;
  align.padding_bottom = 2;
  fail_unless (gst_video_info_align (&info, &align));
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8) g_random_int ();
  gst_buffer_unmap (buffer, &map);
  gst_buffer_add_video_meta_full (buffer, 0, GST_VIDEO_INFO_FORMAT (&info),
      width, height, GST_VIDEO_INFO_N_PLANES (&info), info.offset, info.stride);
  GST_BUFFER_PTS (buffer) = 0;
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 30;
  return buffer;
}

/* Compares one component's samples. YUY2's last V counts even if the width is
 * odd. */
static gboolean
component_equal (const GstVideoFrame *a, const GstVideoFrame *b, gint c)
{
  const GstVideoFormatInfo *format = a->info.finfo;
  gsize bytes = (GST_VIDEO_FORMAT_INFO_DEPTH (format, c)
                    + GST_VIDEO_FORMAT_INFO_SHIFT (format, c) + 7)
      / 8;
  gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (a, c);

  for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (a, c); y++) {
    const guint8 *row_a = GST_VIDEO_FRAME_COMP_DATA (a, c);
    const guint8 *row_b = GST_VIDEO_FRAME_COMP_DATA (b, c);

    row_a += (gsize) y * GST_VIDEO_FRAME_COMP_STRIDE (a, c);
    row_b += (gsize) y * GST_VIDEO_FRAME_COMP_STRIDE (b, c);
    for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (a, c); x++)
      if (memcmp (row_a + x * step, row_b + x * step, bytes) != 0)
        return FALSE;
  }
  return TRUE;
}

gboolean
cuv_frames_equal (
    const gchar *format, gint width, gint height, GstBuffer *a, GstBuffer *b)
{
  GstVideoInfo info = frame_info (format, width, height);
  GstVideoFrame frame_a, frame_b;
  gboolean equal = TRUE;

  fail_unless (gst_video_frame_map (&frame_a, &info, a, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&frame_b, &info, b, GST_MAP_READ));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame_a) && equal; c++)
    equal = component_equal (&frame_a, &frame_b, (gint) c);
  gst_video_frame_unmap (&frame_b);
  gst_video_frame_unmap (&frame_a);
  return equal;
}

GstVideoRegionOfInterestMeta *
cuv_next_region (GstBuffer *buffer, gpointer *state)
{
  return (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (
      buffer, state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

/* ---- the stand-in driver ---- */

static gpointer
fake_symbol (const gchar *name)
{
  void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void *symbol = library != NULL ? dlsym (library, name) : NULL;

  fail_unless (symbol != NULL, "libcuda.so.1 is not the stand-in driver");
  dlclose (library);
  return symbol;
}

FakecudaCounts
cuv_fake_counts (void)
{
  FakecudaCounts counts;

  ((FakecudaCount) fake_symbol ("fakecuda_count")) (&counts);
  return counts;
}

void
cuv_fake_fail_allocation (int n)
{
  ((FakecudaFail) fake_symbol ("fakecuda_fail_allocation")) (n);
}

void
cuv_fake_fail_copy (int n)
{
  ((FakecudaFail) fake_symbol ("fakecuda_fail_copy")) (n);
}

/* The thread of an asynchronous state change may keep the pipeline a little
 * longer. */
void
cuv_fake_check_clean (void)
{
  FakecudaCounts counts = cuv_fake_counts ();

  for (guint i = 0; i < 2000 && counts.contexts > 0; i++) {
    g_usleep (10000);
    counts = cuv_fake_counts ();
  }
  fail_unless_equals_int (counts.misuses, 0);
  fail_unless_equals_int (counts.abandoned_streams, 0);
  fail_unless_equals_int (counts.contexts, 0);
  fail_unless_equals_int (counts.streams, 0);
  fail_unless_equals_int (counts.device_blocks, 0);
  fail_unless_equals_int (counts.pinned_blocks, 0);
}
