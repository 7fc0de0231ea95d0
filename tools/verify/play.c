/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plays a case in this process. */
#include "verify.h"

#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gstcuvmeta.h"
#include "record/record.h"

/* seconds without a frame after which a case has failed */
#define PATIENCE 60

typedef struct {
  GstElement *pipeline;
  GstBus *bus;
  GstElement *sink; /* NULL: the line has a sink of its own */
  guint n_frames;
  GstClockTime first, last; /* when frames arrived at the sink */
} Play;

static gboolean
is_video (const gchar *caps)
{
  return g_str_has_prefix (caps, "video/x-raw");
}

/* ---- the pipeline ---- */

/* GStreamer's CUDA memory cannot hold spectral cubes and grey video, which
 * elements upload themselves. */
static gchar *
make_pipeline_text (const VerifyLine *line, VerifyTarget target, gboolean ends)
{
  const gboolean upload = target == ON_CUDA && is_video (line->caps)
      && strstr (line->caps, "GRAY8") == NULL;

  return g_strdup_printf (
      "appsrc name=source format=time max-bytes=0 caps=\"%s\" ! %s%s%s%s",
      line->caps, upload ? "cuvcudaupload ! " : "", line->line,
      upload && !ends ? " ! cuvcudadownload" : "",
      ends ? "" : " ! appsink name=sink sync=false");
}

/* Called in the streaming thread, so that the time excludes printing. */
static GstPadProbeReturn
note_arrival (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Play *self = data;

  self->last = gst_util_get_timestamp ();
  if (self->first == 0)
    self->first = self->last;
  return GST_PAD_PROBE_OK;
}

static void
push_frames (Play *self, const VerifyLine *line)
{
  GstElement *source = gst_bin_get_by_name (GST_BIN (self->pipeline), "source");
  GstCaps *caps = gst_caps_from_string (line->caps);

  for (guint i = 0; i < line->n_frames; i++)
    gst_app_src_push_buffer (GST_APP_SRC (source), verify_scene_draw (caps, i));
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  gst_caps_unref (caps);
  gst_object_unref (source);
}

static gchar *
play_open (
    Play *self, const VerifyLine *line, VerifyTarget target, gboolean ends)
{
  gchar *text = make_pipeline_text (line, target, ends), *problem = NULL;
  GError *error = NULL;

  self->pipeline = gst_parse_launch (text, &error);
  g_free (text);
  if (error != NULL) {
    problem = g_strdup_printf ("%s: set GST_PLUGIN_PATH to the folder of "
                               "gst-cuvision's plugins",
        error->message);
    g_error_free (error);
    g_clear_pointer (&self->pipeline, gst_object_unref);
    return problem;
  }
  self->bus = gst_element_get_bus (self->pipeline);
  self->sink = gst_bin_get_by_name (GST_BIN (self->pipeline), "sink");
  if (self->sink != NULL) {
    GstPad *pad = gst_element_get_static_pad (self->sink, "sink");

    gst_pad_add_probe (
        pad, GST_PAD_PROBE_TYPE_BUFFER, note_arrival, self, NULL);
    gst_object_unref (pad);
  }
  push_frames (self, line);
  gst_element_set_state (self->pipeline, GST_STATE_PLAYING);
  return NULL;
}

static void
play_close (Play *self)
{
  if (self->pipeline == NULL)
    return;
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  g_clear_pointer (&self->sink, gst_object_unref);
  g_clear_pointer (&self->bus, gst_object_unref);
  g_clear_pointer (&self->pipeline, gst_object_unref);
}

/* Returns the text of an error or warning: settings that an element ignores
 * would verify something else. */
static gchar *
pop_problem (Play *self, GstClockTime timeout, gboolean *eos)
{
  GstMessage *message = gst_bus_timed_pop_filtered (self->bus, timeout,
      GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_EOS);
  GError *error = NULL;
  gchar *text = NULL, *debug = NULL;

  *eos = message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
  if (message != NULL && !*eos) {
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, &debug);
    else
      gst_message_parse_warning (message, &error, &debug);
    text = g_strdup_printf ("%s: %s (%s)", GST_MESSAGE_SRC_NAME (message),
        error->message, debug != NULL ? debug : "no details");
    g_error_free (error);
    g_free (debug);
  }
  gst_clear_message (&message);
  return text;
}

/* ---- frames as text ---- */

static void
add_samples (GChecksum *sum, GstVideoFrame *frame)
{
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    const gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c);

    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (frame, c); y++) {
      const guint8 *row = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c)
          + y * GST_VIDEO_FRAME_COMP_STRIDE (frame, c);

      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (frame, c); x++)
        g_checksum_update (sum, row + x * step, 1);
    }
  }
}

static void
add_video (GChecksum *sum, const GstCaps *caps, GstBuffer *buffer)
{
  GstVideoInfo info;
  GstVideoFrame frame;

  if (!gst_video_info_from_caps (&info, caps)
      || !gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ))
    return;
  add_samples (sum, &frame);
  gst_video_frame_unmap (&frame);
}

static void
add_cube (GChecksum *sum, GstBuffer *buffer)
{
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return;
  g_checksum_update (sum, map.data, (gssize) map.size);
  gst_buffer_unmap (buffer, &map);
}

/* Returns the SHA-256 of the samples, without padding. */
static gchar *
digest_samples (GstSample *sample)
{
  const GstCaps *caps = gst_sample_get_caps (sample);
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  gchar *text;

  if (is_video (gst_structure_get_name (gst_caps_get_structure (caps, 0))))
    add_video (sum, caps, gst_sample_get_buffer (sample));
  else
    add_cube (sum, gst_sample_get_buffer (sample));
  text = g_strdup (g_checksum_get_string (sum));
  g_checksum_free (sum);
  return text;
}

static void
add_record (CuvJson *json, GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  const GstStructure *caps =
      gst_caps_get_structure (gst_sample_get_caps (sample), 0);
  CuvRecordFrame frame = { .stream_time = GST_BUFFER_PTS (buffer),
    .wallclock = -1 };

  gst_structure_get (caps, "width", G_TYPE_INT, &frame.width, "height",
      G_TYPE_INT, &frame.height, NULL);
  frame.objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  gst_cuv_objects_read ((GArray *) frame.objects, buffer);
  cuv_record_to_json (json, &frame, buffer);
  g_array_unref ((GArray *) frame.objects);
}

/* Clears json. */
static void
print_json (CuvJson *json)
{
  gchar *text;
  gsize size;

  cuv_json_end_object (json);
  text = cuv_json_steal (json, &size);
  puts (text);
  g_free (text);
  cuv_json_clear (json);
}

static void
print_frame (GstSample *sample)
{
  gchar *digest = digest_samples (sample);
  CuvJson json;

  cuv_json_init (&json);
  cuv_json_begin_object (&json);
  cuv_json_key (&json, "record");
  add_record (&json, sample);
  cuv_json_string_member (&json, "samples", digest);
  print_json (&json);
  g_free (digest);
}

/* ---- what the elements ran on ---- */

/* Whether all elements that can use the GPU did; without such elements FALSE.
 */
static gboolean
ran_on_gpu (GstElement *pipeline)
{
  gboolean cuda = FALSE, cpu = FALSE;

  for (GList *l = GST_BIN_CHILDREN (pipeline); l != NULL; l = l->next) {
    GstStructure *stats = NULL;
    const gchar *device = NULL;

    if (g_object_class_find_property (G_OBJECT_GET_CLASS (l->data), "stats"))
      g_object_get (l->data, "stats", &stats, NULL);
    if (stats != NULL)
      device = gst_structure_get_string (stats, "device");
    cuda |= g_strcmp0 (device, "cuda") == 0;
    cpu |= g_strcmp0 (device, "cpu") == 0;
    g_clear_pointer (&stats, gst_structure_free);
  }
  return cuda && !cpu;
}

static void
print_run (const Play *self)
{
  CuvJson json;

  cuv_json_init (&json);
  cuv_json_begin_object (&json);
  cuv_json_key (&json, "milliseconds");
  cuv_json_double (&json,
      self->n_frames < 2 ? 0
                         : (gdouble) (self->last - self->first) / GST_MSECOND
              / (self->n_frames - 1));
  cuv_json_key (&json, "on_gpu");
  cuv_json_boolean (&json, ran_on_gpu (self->pipeline));
  print_json (&json);
}

/* ---- playing ---- */

/* Plays a line that ends in a sink of its own. */
static gchar *
play_before (const VerifyLine *line, VerifyTarget target)
{
  Play self = { 0 };
  gchar *problem = play_open (&self, line, target, TRUE);
  gboolean eos;

  if (problem == NULL) {
    problem = pop_problem (&self, PATIENCE * GST_SECOND, &eos);
    if (problem == NULL && !eos)
      problem = g_strdup_printf ("no end after %d s", PATIENCE);
  }
  play_close (&self);
  return problem;
}

/* Prints frames until the stream ends. */
static gchar *
print_frames (Play *self)
{
  GstAppSink *sink = GST_APP_SINK (self->sink);
  gchar *problem = NULL;
  gboolean eos;

  for (guint waits = 0; waits < 10 * PATIENCE && problem == NULL; waits++) {
    GstSample *sample = gst_app_sink_try_pull_sample (sink, GST_SECOND / 10);

    problem = pop_problem (self, 0, &eos);
    if (sample != NULL) {
      print_frame (sample);
      gst_sample_unref (sample);
      self->n_frames++;
      waits = 0;
    } else if (problem == NULL && gst_app_sink_is_eos (sink)) {
      return NULL;
    }
  }
  return problem != NULL ? problem
                         : g_strdup_printf ("no frame for %d s", PATIENCE);
}

static gchar *
write_model (const VerifyCase *self)
{
  GError *error = NULL;
  gchar *problem;

  if (self->model == MODEL_NONE || verify_model_write (self->model, &error))
    return NULL;
  problem = g_strdup (error->message);
  g_error_free (error);
  return problem;
}

static gchar *
play_case (const VerifyCase *self, VerifyTarget target)
{
  Play play = { 0 };
  gchar *problem = write_model (self);

  for (guint i = 0; i < G_N_ELEMENTS (self->before); i++) {
    if (problem == NULL && self->before[i].n_frames > 0)
      problem = play_before (&self->before[i], target);
  }
  if (problem == NULL)
    problem = play_open (&play, &self->main, target, FALSE);
  if (problem == NULL)
    problem = print_frames (&play);
  if (problem == NULL)
    print_run (&play);
  play_close (&play);
  return problem;
}

/* ---- the folder of files ---- */

static void
remove_folder (const gchar *folder)
{
  GDir *files = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while (files != NULL && (name = g_dir_read_name (files)) != NULL) {
    gchar *path = g_build_filename (folder, name, NULL);

    g_remove (path);
    g_free (path);
  }
  g_clear_pointer (&files, g_dir_close);
  g_rmdir (folder);
}

int
verify_play (const VerifyCase *self, VerifyTarget target)
{
  GError *error = NULL;
  gchar *folder = g_dir_make_tmp ("cuvision-verify-XXXXXX", &error), *problem;

  if (folder == NULL || chdir (folder) != 0) {
    problem = g_strdup_printf ("no folder for temporary files: %s",
        error != NULL ? error->message : g_strerror (errno));
  } else {
    problem = play_case (self, target);
    remove_folder (folder);
  }
  if (problem != NULL)
    g_printerr ("cuvision-verify: %s: %s\n", self->name, problem);
  g_clear_error (&error);
  g_free (folder);
  fflush (stdout);
  if (problem == NULL)
    return VERIFY_SAME;
  g_free (problem);
  return VERIFY_TROUBLE;
}
