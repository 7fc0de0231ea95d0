/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds objects in pictures and films, as a program does that embeds the
 * detector. One pipeline runs from the first file to the last, whatever size
 * their frames have; each file gets a decoder of its own, so that one that
 * cannot be read stops nothing.
 *
 * cc -o detect detect.c \
 *   $(pkg-config --cflags --libs gstreamer-app-1.0 gstreamer-video-1.0)
 */
#include <glib/gstdio.h>
#include <gst/app/app.h>
#include <gst/video/video.h>
#include <locale.h>
#include <stdlib.h>

static struct {
  gchar **files, **listed, **settings;
  gchar *list, *model, *csv, *output, *device, *scan, *mode, *block_size;
  gboolean timing, survivors, show;
  gint frames;
} options;

/* clang-format off */
static const GOptionEntry option_entries[] = {
  { "list", 'l', 0, G_OPTION_ARG_FILENAME, &options.list,
    "Take the files that this text file names, one on each line, too", "FILE" },
  { "model", 'm', 0, G_OPTION_ARG_FILENAME, &options.model,
    "Default: lbpcascade_frontalface_improved.xml", "FILE" },
  { "csv", 'c', 0, G_OPTION_ARG_FILENAME, &options.csv,
    "Append the objects to this file as CSV, - for standard output", "FILE" },
  { "timing", 't', 0, G_OPTION_ARG_NONE, &options.timing,
    "Print the microseconds of each step", NULL },
  { "survivors", 's', 0, G_OPTION_ARG_NONE, &options.survivors,
    "Print how many windows are left after each segment", NULL },
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
    "Draw the objects: a film (.avi), or pictures in a folder", "PATH" },
  { "show", 'w', 0, G_OPTION_ARG_NONE, &options.show,
    "Draw the objects on the screen", NULL },
  { "frames", 'n', 0, G_OPTION_ARG_INT, &options.frames,
    "So many frames of each file, 0 for all", "N" },
  { "device", 'd', 0, G_OPTION_ARG_STRING, &options.device,
    "cpu, gpu or auto: a GPU where there is one", "DEVICE" },
  { "scan", 0, 0, G_OPTION_ARG_STRING, &options.scan,
    "Which windows: auto, opencv, wbd or dense", "SCAN" },
  { "mode", 0, 0, G_OPTION_ARG_STRING, &options.mode,
    "How a GPU closes up survivors: the property rearrangement", "MODE" },
  { "block-size", 'b', 0, G_OPTION_ARG_STRING, &options.block_size,
    "Side of a GPU's block of windows: 8, 16 or 32", "SIZE" },
  { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.settings,
    "Any other property, written as for gst-launch-1.0", "NAME=VALUE" },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.files,
    NULL, NULL },
  G_OPTION_ENTRY_NULL
};
/* clang-format on */

#define NAME_QUARK (g_quark_from_static_string ("detect-name"))

static const gchar *const steps[] = { "microseconds", "microseconds-pyramid",
  "microseconds-scan", "microseconds-group" };

typedef struct {
  GstElement *pipeline, *detector;
  GstAppSrc *feed;
  GstClockTime end;     /* of what was fed so far */
  FILE *report;         /* standard error, if CSV goes to standard output */
  gint failed, stopped; /* atomic: something has, the pipeline is */

  /* of the pipeline's thread */
  gchar *name; /* of the file that the frame in work is from */
  guint n_frames, n_objects;
  gdouble sums[G_N_ELEMENTS (steps)];
} Detect;

/* Takes the error. */
static void
complain (Detect *self, const gchar *name, GError *error)
{
  g_printerr (
      "detect: %s%s%s\n", name ? name : "", name ? ": " : "", error->message);
  g_error_free (error);
  g_atomic_int_set (&self->failed, 1);
}

static gboolean
into_film (void)
{
  return options.output != NULL && !options.show
      && g_str_has_suffix (options.output, ".avi");
}

static gboolean
into_folder (void)
{
  return options.output != NULL && !options.show && !into_film ();
}

/* ---- what was found ---- */

static void
print_objects (Detect *self, GstBuffer *buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gdouble confidence = 0.0;
  gpointer state = NULL;
  GstStructure *detection;

  while ((roi = (gpointer) gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    self->n_objects++;
    detection = gst_video_region_of_interest_meta_get_param (roi, "detection");
    gst_structure_get_double (detection, "confidence", &confidence);
    if (options.csv == NULL)
      fprintf (self->report, "%s: %s %ux%u at %u,%u confidence %.3f\n",
          self->name, g_quark_to_string (roi->roi_type), roi->w, roi->h, roi->x,
          roi->y, confidence);
  }
}

static void
print_timing (Detect *self, const GstStructure *stats)
{
  GValue time = G_VALUE_INIT;

  g_value_init (&time, G_TYPE_DOUBLE);
  fprintf (self->report, "%s:", self->name);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_value_transform (gst_structure_get_value (stats, steps[i]), &time);
    self->sums[i] += g_value_get_double (&time);
    fprintf (self->report, " %s %.0f", steps[i], g_value_get_double (&time));
  }
  fputc ('\n', self->report);
}

static void
print_summary (Detect *self, gdouble seconds)
{
  fprintf (self->report, "mean of %u frames:", self->n_frames);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    fprintf (self->report, " %s %.0f", steps[i],
        self->sums[i] / MAX (self->n_frames, 1));
  fprintf (self->report, "\n%u objects, %.1f frames/s with decoding\n",
      self->n_objects, self->n_frames / seconds);
}

/* How many windows are left after so many stages or weak classifiers. */
static void
print_survivors (Detect *self, const GstStructure *stats)
{
  const GValue *ends = gst_structure_get_value (stats, "segments");
  const GValue *counts = gst_structure_get_value (stats, "survivors");
  guint64 windows = 0;

  gst_structure_get_uint64 (stats, "windows", &windows);
  fprintf (self->report, "%s: windows %" G_GUINT64_FORMAT, self->name, windows);
  for (guint i = 0; i < gst_value_array_get_size (counts); i++)
    fprintf (self->report, ", after %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
        g_value_get_uint64 (gst_value_array_get_value (ends, i)),
        g_value_get_uint64 (gst_value_array_get_value (counts, i)));
  fputc ('\n', self->report);
}

/* ---- the detector's pipeline, in its thread ---- */

/* FOLDER/000012-name.png, as multifilesink reads it: a printf format. */
static gchar *
picture_location (Detect *self)
{
  gchar *base = g_path_get_basename (self->name);
  GString *path = g_string_new (options.output);

  g_string_append_printf (path, "/%06u-%s.png", self->n_frames, base);
  g_string_replace (path, "%", "%%", 0);
  g_free (base);
  return g_string_free (path, FALSE);
}

/* A frame sets out: those behind the detector learn which file it is from. */
static GstPadProbeReturn
before (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Detect *self = user_data;
  GstChildProxy *elements = GST_CHILD_PROXY (self->pipeline);
  gchar *location;

  g_free (self->name);
  self->name = gst_mini_object_steal_qdata (
      GST_MINI_OBJECT (GST_PAD_PROBE_INFO_BUFFER (info)), NAME_QUARK);
  if (options.csv != NULL)
    gst_child_proxy_set (elements, "publish::source", self->name, NULL);
  if (into_folder ()) {
    location = picture_location (self);
    gst_child_proxy_set (elements, "pictures::location", location, NULL);
    g_free (location);
  }
  return GST_PAD_PROBE_OK;
}

/* A frame was looked at: stats are about it. */
static GstPadProbeReturn
after (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Detect *self = user_data;
  GstStructure *stats;

  self->n_frames++;
  print_objects (self, GST_PAD_PROBE_INFO_BUFFER (info));
  g_object_get (self->detector, "stats", &stats, NULL);
  if (options.timing)
    print_timing (self, stats);
  if (options.survivors)
    print_survivors (self, stats);
  if (g_strcmp0 (options.device, "gpu") == 0
      && g_strcmp0 (gst_structure_get_string (stats, "device"), "cuda") != 0)
    GST_ELEMENT_ERROR (self->detector, RESOURCE, NOT_FOUND,
        ("No GPU can be used; without --device=gpu the CPU is."), (NULL));
  gst_structure_free (stats);
  return GST_PAD_PROBE_OK;
}

/* Runs in the thread that posts: of the frame in work, if there is one. */
static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  Detect *self = user_data;
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
    gst_message_parse_warning (message, &error, NULL);
    g_printerr ("detect: %s: %s\n", self->name ? self->name : "warning",
        error->message);
    g_error_free (error);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR
      && g_atomic_int_compare_and_exchange (&self->stopped, 0, 1)) {
    gst_message_parse_error (message, &error, NULL);
    complain (self, self->name, error);
    gst_app_src_end_of_stream (self->feed); /* who waits to feed it goes on */
  }
  return GST_BUS_PASS;
}

static void
append_detector (GString *line)
{
  g_string_append (line,
      "appsrc name=feed format=time block=true max-buffers=2 max-bytes=0 "
      "! videoconvert ");
  if (g_strcmp0 (options.device, "cpu") != 0)
    g_string_append (line, "! cudaupload ");
  g_string_append (line, "! waldboostdetect name=detector skip-late=false ");
  if (options.scan != NULL)
    g_string_append_printf (line, "scan=%s ", options.scan);
  if (options.mode != NULL)
    g_string_append_printf (line, "rearrangement=%s ", options.mode);
  if (options.block_size != NULL)
    g_string_append_printf (line, "block-size=%s ", options.block_size);
  for (gchar **setting = options.settings; setting && *setting; setting++)
    g_string_append_printf (line, "%s ", *setting);
}

static void
append_writers (GString *line)
{
  if (options.csv != NULL)
    g_string_append (line,
        "! visionpublish name=publish file-format=csv add-empty-results=true ");
  if (options.output != NULL || options.show)
    g_string_append (line, "! visionoverlay ! cudadownload ! videoconvert ");
  if (options.show)
    g_string_append (line, "! autovideosink");
  else if (into_folder ())
    g_string_append (line, "! pngenc ! multifilesink name=pictures");
  else if (into_film ())
    g_string_append (line,
        "! videoscale add-borders=true ! capsfilter name=size "
        "! capssetter name=format replace=true ! videorate ! jpegenc ! avimux "
        "! filesink name=film");
  else
    g_string_append (line, "! fakesink");
}

/* What may have any character does not go into the line. */
static void
set_paths (Detect *self)
{
  GstChildProxy *elements = GST_CHILD_PROXY (self->pipeline);

  g_object_set (self->detector, "model",
      options.model != NULL ? options.model
                            : "lbpcascade_frontalface_improved.xml",
      NULL);
  if (options.csv != NULL)
    gst_child_proxy_set (elements, "publish::file-path", options.csv, NULL);
  if (into_folder ())
    g_mkdir_with_parents (options.output, 0777);
  else if (into_film ())
    gst_child_proxy_set (elements, "film::location", options.output, NULL);
}

static void
add_probe (Detect *self, GstElement *element, GstPadProbeCallback probe)
{
  GstPad *pad = gst_element_get_static_pad (element, "src");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, probe, self, NULL);
  gst_object_unref (pad);
}

static gboolean
start (Detect *self)
{
  GString *line = g_string_new (NULL);
  GError *error = NULL;
  GstBus *bus;

  append_detector (line);
  append_writers (line);
  self->pipeline = gst_parse_launch_full (
      line->str, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  g_string_free (line, TRUE);
  if (self->pipeline == NULL) {
    complain (self, NULL, error);
    return FALSE;
  }
  self->feed =
      (gpointer) gst_bin_get_by_name (GST_BIN (self->pipeline), "feed");
  self->detector = gst_bin_get_by_name (GST_BIN (self->pipeline), "detector");
  set_paths (self);
  add_probe (self, GST_ELEMENT (self->feed), before);
  add_probe (self, self->detector, after);
  bus = gst_element_get_bus (self->pipeline);
  gst_bus_set_sync_handler (bus, on_message, self, NULL);
  gst_object_unref (bus);
  return gst_element_set_state (self->pipeline, GST_STATE_PLAYING)
      != GST_STATE_CHANGE_FAILURE;
}

/* Once all that was fed is written, or something broke. */
static void
stop (Detect *self)
{
  GstBus *bus = gst_element_get_bus (self->pipeline);

  gst_app_src_end_of_stream (self->feed);
  if (self->end > 0)
    gst_message_unref (gst_bus_timed_pop_filtered (
        bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_object_unref (bus);
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_object_unref (self->feed);
  gst_object_unref (self->detector);
  gst_object_unref (self->pipeline);
  g_free (self->name);
}

/* ---- the decoders ---- */

/* An AVI file has one size and rate: those of the first frame, 25/s if that is
 * a picture. videorate would lose a frame whenever its caps change. */
static void
set_film_format (Detect *self, GstCaps *frame_caps)
{
  GstChildProxy *elements = GST_CHILD_PROXY (self->pipeline);
  GstVideoInfo info;
  GstCaps *caps;
  gboolean has_rate;

  if (!gst_video_info_from_caps (&info, frame_caps))
    return;
  has_rate = info.fps_n > info.fps_d;
  caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "I420",
      "width", G_TYPE_INT, info.width, "height", G_TYPE_INT, info.height,
      "pixel-aspect-ratio", GST_TYPE_FRACTION, info.par_n, info.par_d, NULL);
  gst_child_proxy_set (elements, "size::caps", caps, NULL);
  caps = gst_caps_make_writable (caps);
  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION,
      has_rate ? info.fps_n : 25, has_rate ? info.fps_d : 1, NULL);
  gst_child_proxy_set (elements, "format::caps", caps, NULL);
  gst_caps_unref (caps);
}

/* The times of a file go behind those of the file before. */
static void
feed (Detect *self, const gchar *name, GstSample *sample, GstClockTime start)
{
  GstBuffer *frame = gst_buffer_copy (gst_sample_get_buffer (sample));
  GstClockTime time = gst_segment_to_stream_time (
      gst_sample_get_segment (sample), GST_FORMAT_TIME, GST_BUFFER_PTS (frame));

  if (into_film () && self->end == 0)
    set_film_format (self, gst_sample_get_caps (sample));
  GST_BUFFER_PTS (frame) =
      GST_CLOCK_TIME_IS_VALID (time) ? start + time : self->end;
  GST_BUFFER_DTS (frame) = GST_CLOCK_TIME_NONE;
  if (!GST_BUFFER_DURATION_IS_VALID (frame))
    GST_BUFFER_DURATION (frame) = GST_SECOND;
  self->end = GST_BUFFER_PTS (frame) + GST_BUFFER_DURATION (frame);
  gst_mini_object_set_qdata (
      GST_MINI_OBJECT (frame), NAME_QUARK, g_strdup (name), g_free);
  gst_app_src_set_caps (self->feed, gst_sample_get_caps (sample));
  gst_app_src_push_buffer (self->feed, frame);
}

/* Until the file ends, cannot be decoded, or that is enough of it. */
static void
feed_frames (Detect *self, const gchar *name, GstAppSink *frames, GstBus *bus)
{
  GstClockTime start = self->end;
  GstMessage *message = NULL;
  GError *error = NULL;
  gboolean ended = FALSE;
  GstSample *sample;
  gint n = 0;

  while (!g_atomic_int_get (&self->stopped)
      && (options.frames <= 0 || n < options.frames)) {
    sample = gst_app_sink_try_pull_sample (frames, 20 * GST_MSECOND);
    if (sample != NULL) {
      feed (self, name, sample, start);
      gst_sample_unref (sample);
      n++;
    } else {
      ended = gst_app_sink_is_eos (frames); /* an error comes before the end */
      message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
      if (ended || message != NULL)
        break;
    }
  }
  if (message != NULL) {
    gst_message_parse_error (message, &error, NULL);
    gst_message_unref (message);
  } else if (ended && n == 0) {
    error = g_error_new_literal (GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "There is no picture in it.");
  }
  if (error != NULL)
    complain (self, name, error);
}

static void
feed_file (Detect *self, const gchar *name)
{
  GstElement *decoder = gst_parse_launch (
      "filesrc name=file ! decodebin "
      "! appsink name=frames sync=false max-buffers=2 caps=video/x-raw",
      NULL);
  GstElement *frames = gst_bin_get_by_name (GST_BIN (decoder), "frames");
  GstBus *bus = gst_element_get_bus (decoder);

  gst_child_proxy_set (GST_CHILD_PROXY (decoder), "file::location", name, NULL);
  gst_element_set_state (decoder, GST_STATE_PLAYING);
  feed_frames (self, name, GST_APP_SINK (frames), bus);
  gst_element_set_state (decoder, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (frames);
  gst_object_unref (decoder);
}

static void
feed_files (Detect *self, gchar **names)
{
  for (; names != NULL && *names != NULL; names++) {
    if (**names != '\0' && !g_atomic_int_get (&self->stopped))
      feed_file (self, *names);
  }
}

/* Ends the program if there is nothing it could do. */
static void
parse_options (int *argc, char ***argv)
{
  static const gchar *const devices[] = { "cpu", "gpu", "auto", NULL };
  GOptionContext *context =
      g_option_context_new ("[FILE...] - find objects in pictures and films");
  GError *error = NULL;
  gchar *text = NULL;

  g_option_context_add_main_entries (context, option_entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, argc, argv, &error)
      || (options.list != NULL
          && !g_file_get_contents (options.list, &text, NULL, &error))) {
    g_printerr ("detect: %s\n", error->message);
    exit (2);
  }
  if (text != NULL)
    options.listed = g_strsplit_set (text, "\r\n", -1);
  if ((options.files == NULL && text == NULL)
      || (options.device && !g_strv_contains (devices, options.device))) {
    g_printerr ("detect: %s; see detect --help\n",
        options.files == NULL && text == NULL ? "no files"
                                              : "there is no such --device");
    exit (2);
  }
  g_option_context_free (context);
  g_free (text);
}

int
main (int argc, char **argv)
{
  Detect self = { .report = stdout };
  gint64 begin = g_get_monotonic_time ();

  setlocale (LC_CTYPE, "");
  parse_options (&argc, &argv);
  if (g_strcmp0 (options.csv, "-") == 0)
    self.report = stderr;
  if (start (&self)) {
    feed_files (&self, options.listed);
    feed_files (&self, options.files);
  }
  if (self.pipeline != NULL)
    stop (&self);
  if (options.timing)
    print_summary (&self, (g_get_monotonic_time () - begin) / 1e6);
  g_strfreev (options.listed);
  g_strfreev (options.files);
  gst_deinit ();
  return self.failed;
}
