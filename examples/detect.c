/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds objects in pictures and videos: an example of a program that embeds the
 * detector. A single pipeline processes frames of all files, of any size. Each
 * file has its own decoder, so that a broken file does not stop the pipeline.
 *
 * cc -o detect detect.c detect-cli.c \
 *   $(pkg-config --cflags --libs gstreamer-app-1.0 gstreamer-video-1.0) */
#include <errno.h>
#include <glib/gstdio.h>
#include <gst/app/app.h>
#include <gst/video/video.h>
#include <locale.h>
#include <signal.h>

#include "detect-cli.h"

typedef struct {
  GstElement *pipeline, *detector;
  FILE *report; /* standard error, if CSV goes to standard output */

  /* used by the pipeline's thread */
  GstElement *decoder;
  GstAppSink *frames;      /* the decoder's output */
  const gchar *name;       /* of the current file; atomic */
  GstClockTime start, end; /* the file's start; the last frame's end */
  gint next_file, n_of_file, n_frames, n_objects;
  gboolean failed; /* a file could not be decoded */
} Detect;

/* The signal that stopped the program; -1: an error. Atomic. */
static gint stopped;

/* ---- results ---- */

static void
print_objects (Detect *self, GstBuffer *buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  gdouble confidence;
  GstStructure *detection;

  while ((roi = (gpointer) gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    self->n_objects++;
    detection = gst_video_region_of_interest_meta_get_param (roi, "detection");
    if (options.csv != NULL)
      continue;
    fprintf (self->report, "%s: %s %ux%u at %u,%u", self->name,
        g_quark_to_string (roi->roi_type), roi->w, roi->h, roi->x, roi->y);
    if (gst_structure_get_double (detection, "confidence", &confidence))
      fprintf (self->report, " confidence %.3f", confidence);
    fputc ('\n', self->report);
  }
}

/* A probe after the detector: stats refer to this frame. */
static GstPadProbeReturn
report (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Detect *self = user_data;
  GstStructure *stats;

  self->n_frames++;
  print_objects (self, GST_PAD_PROBE_INFO_BUFFER (info));
  g_object_get (self->detector, "stats", &stats, NULL);
  print_stats (self->report, self->name, stats);
  if (g_str_equal (options.device, "gpu")
      && g_strcmp0 (gst_structure_get_string (stats, "device"), "cuda") != 0)
    GST_ELEMENT_ERROR (self->detector, RESOURCE, NOT_FOUND,
        ("No GPU can be used; omit --device=gpu to use the CPU."), (NULL));
  if (fflush (self->report) != 0)
    GST_ELEMENT_ERROR (self->detector, RESOURCE, WRITE,
        ("Cannot print results: %s.", g_strerror (errno)), (NULL));
  gst_structure_free (stats);
  return GST_PAD_PROBE_OK;
}

/* ---- the files, in the pipeline's thread ---- */

static void
open_input (Detect *self, const gchar *name)
{
  g_atomic_pointer_set (&self->name, name);
  self->n_of_file = 0;
  self->start = self->end;
  self->decoder = gst_parse_launch (
      "filesrc name=file ! decodebin ! videoconvert "
      "! videoflip video-direction=auto "
      "! appsink name=frames sync=false max-buffers=2 caps=video/x-raw",
      NULL);
  self->frames =
      (gpointer) gst_bin_get_by_name (GST_BIN (self->decoder), "frames");
  gst_child_proxy_set (
      GST_CHILD_PROXY (self->decoder), "file::location", name, NULL);
  gst_element_set_state (self->decoder, GST_STATE_PLAYING);
}

static void
close_input (Detect *self)
{
  gst_element_set_state (self->decoder, GST_STATE_NULL);
  gst_clear_object (&self->frames);
  gst_clear_object (&self->decoder);
}

/* Returns the next frame; NULL at the end of the file, or if it cannot be
 * decoded, which some decoders do not report. */
static GstSample *
pull_frame (Detect *self)
{
  GstBus *bus = GST_ELEMENT_BUS (self->decoder);
  gint64 deadline = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;
  GstMessage *message = NULL;
  GstSample *sample = NULL;
  gboolean ended = FALSE;

  while (!sample && !message && !ended && !g_atomic_int_get (&stopped)) {
    sample = gst_app_sink_try_pull_sample (self->frames, 20 * GST_MSECOND);
    ended = !sample && gst_app_sink_is_eos (self->frames);
    if (ended && self->n_of_file == 0)
      GST_ELEMENT_ERROR (self->frames, STREAM, DECODE,
          ("The file contains no picture."), (NULL));
    if (!sample && g_get_monotonic_time () > deadline)
      GST_ELEMENT_ERROR (self->frames, STREAM, DECODE,
          ("No frame was decoded for 10 seconds."), (NULL));
    if (!sample) /* errors are posted before EOS */
      message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  }
  if (message != NULL) {
    print_message (self->name, "cannot be decoded: ", message);
    gst_message_unref (message);
    self->failed = TRUE;
  }
  return sample;
}

/* Returns FOLDER/000012-NAME.png as a printf format for multifilesink. */
static gchar *
picture_location (Detect *self)
{
  gchar *base = g_path_get_basename (self->name);
  GString *path = g_string_new (options.folder);

  g_string_append_printf (path, "/%06u-%s.png", self->n_frames, base);
  g_string_replace (path, "%", "%%", 0);
  g_free (base);
  return g_string_free (path, FALSE);
}

/* The output video has the size and rate of the first frame, or 25 frames per
 * second if that is a picture. The compositor scales frames to it, and repeats
 * them for their duration. */
static void
set_video_format (GstChildProxy *elements, GstCaps *frame_caps)
{
  GstVideoInfo info;
  gboolean has_rate;
  GstCaps *caps;

  if (!gst_video_info_from_caps (&info, frame_caps))
    return;
  has_rate = info.fps_n > info.fps_d;
  caps = gst_caps_new_simple ("video/x-raw", "width", G_TYPE_INT, info.width,
      "height", G_TYPE_INT, info.height, "pixel-aspect-ratio",
      GST_TYPE_FRACTION, info.par_n, info.par_d, "framerate", GST_TYPE_FRACTION,
      has_rate ? info.fps_n : 25, has_rate ? info.fps_d : 1, NULL);
  gst_child_proxy_set (elements, "format::caps", caps, "video::sink_0::width",
      info.width, "video::sink_0::height", info.height, NULL);
  gst_caps_unref (caps);
}

/* Prepares the elements after the detector for the next frame. */
static void
announce_frame (Detect *self, GstCaps *caps)
{
  GstChildProxy *elements = GST_CHILD_PROXY (self->pipeline);
  gchar *location;

  if (options.csv != NULL)
    gst_child_proxy_set (elements, "csv::source", self->name, NULL);
  if (options.video != NULL && self->end == 0)
    set_video_format (elements, caps);
  if (options.folder != NULL) {
    location = picture_location (self);
    gst_child_proxy_set (elements, "output::location", location, NULL);
    g_free (location);
  }
}

/* Timestamps continue from file to file; a picture lasts a second. */
static void
feed_frame (Detect *self, GstAppSrc *feed, GstSample *sample)
{
  GstBuffer *frame = gst_buffer_copy (gst_sample_get_buffer (sample));
  GstClockTime time = gst_segment_to_stream_time (
      gst_sample_get_segment (sample), GST_FORMAT_TIME, GST_BUFFER_PTS (frame));

  announce_frame (self, gst_sample_get_caps (sample));
  GST_BUFFER_PTS (frame) =
      GST_CLOCK_TIME_IS_VALID (time) ? self->start + time : self->end;
  GST_BUFFER_DTS (frame) = GST_CLOCK_TIME_NONE;
  if (!GST_BUFFER_DURATION_IS_VALID (frame))
    GST_BUFFER_DURATION (frame) = GST_SECOND;
  self->end = GST_BUFFER_PTS (frame) + GST_BUFFER_DURATION (frame);
  gst_app_src_set_caps (feed, gst_sample_get_caps (sample));
  gst_app_src_push_buffer (feed, frame);
  self->n_of_file++;
}

/* Called when the previous frame has passed the whole pipeline. */
static void
need_frame (GstAppSrc *feed, guint length, gpointer user_data)
{
  Detect *self = user_data;
  GstSample *sample = NULL;

  while (!sample && !g_atomic_int_get (&stopped)
      && (self->decoder || self->next_file < (gint) options.files->len)) {
    if (self->decoder == NULL)
      open_input (self, options.files->pdata[self->next_file++]);
    if (self->n_of_file < options.frames)
      sample = pull_frame (self);
    if (sample == NULL)
      close_input (self);
  }
  if (sample != NULL) {
    feed_frame (self, feed, sample);
    gst_sample_unref (sample);
  } else {
    gst_app_src_end_of_stream (feed);
  }
}

/* ---- the pipeline ---- */

/* Called in the thread that posts the message. */
static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  Detect *self = user_data;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING
      || (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR
          && g_atomic_int_compare_and_exchange (&stopped, 0, -1)))
    print_message (g_atomic_pointer_get (&self->name), "", message);
  return GST_BUS_PASS;
}

/* Prints an error and returns NULL on failure. The compositor gets a fixed
 * format, as it misinterprets changes of format; the colorimetry is JPEG's. */
static GstElement *
build_pipeline (void)
{
  const gchar *upload =
      g_str_equal (options.device, "cpu") ? "" : "! cudaupload";
  const gchar *csv = options.csv
      ? "! visionpublish name=csv file-format=csv add-empty-results=true"
      : "";
  const gchar *draw = options.output || options.show
      ? "! visionoverlay ! cudadownload ! videoconvert"
      : "";
  const gchar *sink = options.show ? "autovideosink"
      : options.folder             ? "pngenc ! multifilesink name=output"
      : options.video
      ? "video/x-raw,format=I420,colorimetry=1:4:0:0 ! compositor name=video "
        "background=black sink_0::sizing-policy=keep-aspect-ratio "
        "! capsfilter name=format ! jpegenc ! avimux ! filesink name=output"
      : "fakesink";
  gchar *more = options.settings ? g_strjoinv (" ", options.settings) : NULL;
  gchar *line = g_strdup_printf (
      "appsrc name=feed format=time ! videoconvert %s "
      "! waldboostdetect name=detector skip-late=false scan=%s "
      "rearrangement=%s block-size=%s %s %s %s ! %s",
      upload, options.scan, options.mode, options.block_size, more ? more : "",
      csv, draw, sink);
  GError *error = NULL;
  GstElement *pipeline =
      gst_parse_launch_full (line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);

  if (pipeline == NULL)
    print_parse_error (error);
  g_clear_error (&error);
  g_free (more);
  g_free (line);
  return pipeline;
}

/* Paths are set as properties, as they may contain any character. */
static void
set_paths (GstChildProxy *elements)
{
  gst_child_proxy_set (elements, "detector::model", options.model, NULL);
  if (options.csv != NULL)
    gst_child_proxy_set (elements, "csv::file-path", options.csv, NULL);
  if (options.video != NULL)
    gst_child_proxy_set (elements, "output::location", options.video, NULL);
  if (options.folder != NULL)
    g_mkdir_with_parents (options.folder, 0777);
}

static void
attach_callbacks (Detect *self)
{
  GstAppSrcCallbacks callbacks = { .need_data = need_frame };
  GstElement *feed = gst_bin_get_by_name (GST_BIN (self->pipeline), "feed");
  GstPad *pad;

  gst_app_src_set_callbacks (GST_APP_SRC (feed), &callbacks, self, NULL);
  gst_object_unref (feed);
  self->detector = gst_bin_get_by_name (GST_BIN (self->pipeline), "detector");
  pad = gst_element_get_static_pad (self->detector, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, report, self, NULL);
  gst_object_unref (pad);
  gst_bus_set_sync_handler (
      GST_ELEMENT_BUS (self->pipeline), on_message, self, NULL);
}

/* Runs until all files are processed, or an error. */
static void
run_detect (Detect *self)
{
  GstBus *bus = GST_ELEMENT_BUS (self->pipeline);

  if (gst_element_set_state (self->pipeline, GST_STATE_PLAYING)
      != GST_STATE_CHANGE_FAILURE)
    gst_message_unref (gst_bus_timed_pop_filtered (
        bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  if (self->decoder != NULL)
    close_input (self);
  gst_object_unref (self->detector);
  gst_object_unref (self->pipeline);
}

/* The first signal completes the output files; a second one kills the program.
 */
static void
on_signal (int number)
{
  g_atomic_int_set (&stopped, number);
  signal (number, SIG_DFL);
}

int
main (int argc, char **argv)
{
  Detect self = { .report = stdout };
  gint64 begin = g_get_monotonic_time ();

  setlocale (LC_CTYPE, "");
  /* for decodebin to read the orientation of photographs */
  g_setenv ("GST_PLUGIN_FEATURE_RANK", "jpegparse:MAX", FALSE);
  parse_options (&argc, &argv);
  if (g_strcmp0 (options.csv, "-") == 0)
    self.report = stderr;
  self.pipeline = build_pipeline ();
  if (self.pipeline == NULL)
    return 1;
  signal (SIGINT, on_signal);
  signal (SIGTERM, on_signal);
  set_paths (GST_CHILD_PROXY (self.pipeline));
  attach_callbacks (&self);
  run_detect (&self);
  print_means (
      self.report, self.n_objects, (g_get_monotonic_time () - begin) / 1e6);
  g_ptr_array_unref (options.files);
  gst_deinit ();
  if (stopped > 0) {
    fflush (NULL);
    raise (stopped);
  }
  return stopped != 0 || self.failed;
}
