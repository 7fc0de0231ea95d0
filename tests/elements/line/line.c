/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A whole pipeline from a video to boxes and tracks: with cudaupload and
 * cudadownload it gives the same boxes and pixels as without them, on machines
 * with and without a GPU. CUV_TEST_CUDA=1 requires a CUDA device and its use.
 * CUV_TEST_FILM is the video, opencv-doc's Megamind.avi by default;
 * CUV_TEST_H264 an MP4 file for the hardware decoder, made by x264enc if that
 * is installed. */
#include "config.h"
#include "cuvelements.h"

#include <glib/gstdio.h>
#include <gmodule.h>
#include <string.h>

#define N_FRAMES 12
/* the video's first seconds show no face */
#define DETECT                                                                 \
  "waldboostdetect name=d model=lbpcascade_frontalface.xml min-neighbors=2 ! " \
  "rcdtrack max-targets=2 name=t "

static gboolean use_cuda; /* CUV_TEST_CUDA is set */

/* ---- the output of a pipeline ---- */

typedef struct {
  GPtrArray *checksums; /* checksum of each frame's pixels */
  GString *boxes;
  guint n_boxes, n_tracks;
} Outcome;

static void
note_boxes (Outcome *outcome, GstBuffer *buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  g_string_append (outcome->boxes, "|");
  while ((roi = cuv_next_region (buffer, &state)) != NULL) {
    const GstStructure *track =
        gst_video_region_of_interest_meta_get_param (roi, "object_id");
    gchar *detection = gst_structure_to_string (
        gst_video_region_of_interest_meta_get_param (roi, "detection"));
    gint id = 0;

    if (track != NULL)
      gst_structure_get_int (track, "id", &id);
    outcome->n_tracks += id > 0;
    g_string_append_printf (outcome->boxes, " %u,%u,%u,%u #%d %s", roi->x,
        roi->y, roi->w, roi->h, id, detection);
    g_free (detection);
    outcome->n_boxes++;
  }
}

/* Returns a checksum of the pixels only: padding differs between pools. */
static gchar *
checksum (GstSample *sample)
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  GstVideoInfo info;
  GstVideoFrame frame;
  gchar *text;

  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  fail_unless (gst_video_frame_map (
      &frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++) {
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++) {
      const guchar *row = GST_VIDEO_FRAME_COMP_DATA (&frame, c)
          + (gsize) y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c);

      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++)
        g_checksum_update (
            sum, row + (gsize) x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c), 1);
    }
  }
  gst_video_frame_unmap (&frame);
  text = g_strdup (g_checksum_get_string (sum));
  g_checksum_free (sum);
  return text;
}

static gchar *
film_path (void)
{
  const gchar *given = g_getenv ("CUV_TEST_FILM");

  return given != NULL ? g_strdup (given) : cuv_test_file ("Megamind.avi");
}

static Outcome
play (const gchar *format, const gchar *before, const gchar *after,
    const gchar *device)
{
  g_autofree gchar *film = film_path ();
  g_autofree gchar *line = g_strdup_printf (
      "filesrc location=%s ! decodebin ! videoconvert ! videoscale ! "
      "video/x-raw,format=%s,width=361,height=264 ! %s " DETECT
      "! visionoverlay ! %s appsink name=sink sync=false "
      "max-buffers=2",
      film, format, before, after);
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (line);
  g_autoptr (GstElement) d = gst_bin_get_by_name (GST_BIN (pipeline), "d");
  Outcome outcome = { g_ptr_array_new_with_free_func (g_free),
    g_string_new (NULL), 0, 0 };
  GstStructure *stats;
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (outcome.checksums->len < N_FRAMES) {
    sample = cuv_pull_sample (pipeline);
    note_boxes (&outcome, gst_sample_get_buffer (sample));
    g_ptr_array_add (outcome.checksums, checksum (sample));
    gst_sample_unref (sample);
  }
  g_object_get (d, "stats", &stats, NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  assert_equals_string (gst_structure_get_string (stats, "device"), device);
  gst_structure_free (stats);
  return outcome;
}

static void
outcome_clear (Outcome *outcome)
{
  g_ptr_array_unref (outcome->checksums);
  g_string_free (outcome->boxes, TRUE);
}

/* ---- tests ---- */

CUV_TEST (same_output_with_and_without_upload)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA" };
  guint n_boxes = 0, n_tracks = 0;

  for (guint i = 0; i < G_N_ELEMENTS (formats); i += cuv_rounds (3, 1)) {
    Outcome plain = play (formats[i], "", "", "cpu");
    Outcome moved = play (formats[i], "cuvcudaupload !", "cuvcudadownload !",
        use_cuda ? "cuda" : "cpu");

    assert_equals_string (plain.boxes->str, moved.boxes->str);
    for (guint f = 0; f < N_FRAMES; f++)
      fail_unless (
          strcmp (plain.checksums->pdata[f], moved.checksums->pdata[f]) == 0,
          "%s: frame %u differs", formats[i], f);
    n_boxes += plain.n_boxes;
    n_tracks += plain.n_tracks;
    outcome_clear (&plain);
    outcome_clear (&moved);
  }
  fail_unless (n_boxes > 0 && n_tracks > 0,
      "no box or no track in any frame: nothing was compared");
}

/* Returns the path of an MP4 file, or NULL if none is given and none can be
 * made; free it. */
static gchar *
h264_film (gboolean *made)
{
  const gchar *given = g_getenv ("CUV_TEST_H264");
  gchar *path, *line;

  *made = given == NULL;
  if (given != NULL)
    return g_strdup (given);
  if (gst_element_factory_find ("x264enc") == NULL)
    return NULL;
  path = g_build_filename (g_get_tmp_dir (), "cuv-line-XXXXXX.mp4", NULL);
  g_close (g_mkstemp (path), NULL);
  line = g_strdup_printf (
      "videotestsrc num-buffers=30 pattern=ball ! "
      "video/x-raw,format=I420,width=640,height=480 ! x264enc ! mp4mux ! "
      "filesink location=%s",
      path);
  cuv_play (line);
  g_free (line);
  return path;
}

/* Frames are decoded by hardware and analysed without leaving CUDA memory. */
CUV_TEST_IF (frames_stay_in_cuda_memory_from_decoder_to_boxes, use_cuda)
{
  gboolean made;
  gchar *film = h264_film (&made), *line, *error;
  GstElement *pipeline, *d, *dec;

  fail_unless (film != NULL, "no video: set CUV_TEST_H264");
  line = g_strdup_printf ("filesrc location=%s ! qtdemux ! h264parse ! "
                          "nvh264dec name=dec ! " DETECT "! fakesink name=s",
      film);
  pipeline = cuv_pipeline_new (line);
  d = gst_bin_get_by_name (GST_BIN (pipeline), "d");
  dec = gst_bin_get_by_name (GST_BIN (pipeline), "dec");
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (
      gst_element_get_state (pipeline, NULL, NULL, 30 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  fail_unless (cuv_pad_has_cuda (dec, "src"));
  fail_unless (cuv_pad_has_cuda (d, "sink"));
  fail_unless (cuv_pad_has_cuda (d, "src"));
  error = cuv_pipeline_play (pipeline);
  fail_unless (error == NULL, "%s", error);
  gst_object_unref (dec);
  gst_object_unref (d);
  gst_object_unref (pipeline);
  if (made)
    g_remove (film);
  g_free (line);
  g_free (film);
}

/* The CUDA runtime survives the end of a context. */
CUV_TEST (pipelines_run_one_after_the_other)
{
  for (guint i = 0; i < 3; i++)
    cuv_play ("videotestsrc num-buffers=3 ! "
              "video/x-raw,format=NV12,width=320,height=240 ! cuvcudaupload ! "
              "waldboostdetect ! visionoverlay ! cuvcudadownload ! fakesink");
}

static void
push_host (GstHarness *h)
{
  g_autoptr (GstBuffer) out = NULL;

  cuv_harness_caps (h, "NV12", 320, 240);
  out = gst_harness_push_and_pull (h, cuv_frame_new ("NV12", 320, 240));
  fail_unless (out != NULL);
}

static void
push_device (GstHarness *h, GstHarness *upload)
{
  GstBuffer *frame =
      gst_harness_push_and_pull (upload, cuv_frame_new ("NV12", 320, 240));
  GstCaps *caps = gst_pad_get_current_caps (upload->sinkpad);

  fail_unless (cuv_pad_has_cuda (upload->element, "src"));
  gst_harness_set_src_caps (h, caps);
  frame = gst_harness_push_and_pull (h, frame);
  fail_unless (frame != NULL);
  gst_buffer_unref (frame);
}

/* Frames in CUDA memory and in host memory alternate. */
CUV_TEST_IF (memory_type_changes_between_frames, use_cuda)
{
  static const gchar *const names[] = { "houghlines", "ldpdescriptor",
    "ldpretrieve", "rcdtrack", "waldboostdetect" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GstHarness *h = cuv_element_harness (names[i]);
    GstHarness *upload = gst_harness_new ("cuvcudaupload");

    cuv_harness_caps (upload, "NV12", 320, 240);
    for (guint n = 0; n < 3; n++) {
      push_device (h, upload);
      fail_unless (cuv_stat_is (h->element, "device", "cuda"), "%s", names[i]);
      push_host (h);
      fail_unless (cuv_stat_is (h->element, "device", "cpu"), "%s", names[i]);
    }
    gst_harness_teardown (h);
    gst_harness_teardown (upload);
  }
}

/* Unlike device.c: with a driver, an unusable device is a failure. */
CUV_BEFORE_TESTS (need_driver, tcase)
{
  GModule *driver = g_module_open ("libcuda.so.1", G_MODULE_BIND_LAZY);

  use_cuda = g_getenv ("CUV_TEST_CUDA") != NULL;
  if (use_cuda && driver == NULL)
    cuv_tests_skip ("no CUDA driver");
}
