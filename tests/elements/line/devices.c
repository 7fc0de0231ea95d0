/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One pipeline on two GPUs: each GPU processes its own frames, with the same
 * results. CUV_TEST_H264 is an MP4 file for the hardware decoders. Skipped
 * on machines with one GPU. */
#include "config.h"
#include "cuvelements.h"

#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <string.h>

#include "context/gstcuvcontext.h"

#define DETECT                                                                 \
  "waldboostdetect model=lbpcascade_frontalface.xml min-neighbors=2 ! "        \
  "houghlines ! rcdtrack max-targets=2 ! visionoverlay ! "
#define FRAMES_OF_DEVICE(id, name)                                             \
  "queue ! cuvcudaupload cuda-device-id=" #id " ! " DETECT                     \
  "appsink sync=false name=" name " "

/* Returns the number of the GPU that a frame in CUDA memory is on. */
static gint
device_of (GstBuffer *buffer)
{
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
  guint device;

  fail_unless (gst_is_cuda_memory (memory));
  g_object_get (
      GST_CUDA_MEMORY_CAST (memory)->context, "cuda-device-id", &device, NULL);
  return (gint) device;
}

/* Returns the next sample; NULL at the end of the stream. */
static GstSample *
pull (GstElement *pipeline, const gchar *name)
{
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), name);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstSample *sample = NULL;
  gboolean eos = FALSE;
  gchar *error = NULL;

  while (sample == NULL && !eos && error == NULL) {
    g_signal_emit_by_name (sink, "try-pull-sample", GST_SECOND, &sample);
    g_object_get (sink, "eos", &eos, NULL);
    error = pop_problem (bus, GST_MESSAGE_ERROR);
  }
  fail_unless (error == NULL, "%s", error);
  return sample;
}

static guint
count_regions (GstBuffer *buffer)
{
  gpointer state = NULL;
  guint n = 0;

  while (cuv_next_region (buffer, &state) != NULL)
    n++;
  return n;
}

/* Compares regions, and pixels with the boxes drawn. Returns the regions. */
static guint
check_same (GstSample *a, GstSample *b)
{
  GstBuffer *of_a = gst_sample_get_buffer (a),
            *of_b = gst_sample_get_buffer (b);
  GstVideoRegionOfInterestMeta *region, *other;
  gpointer state_a = NULL, state_b = NULL;
  GstVideoInfo info;

  fail_unless_equals_int (device_of (of_a), 0);
  fail_unless_equals_int (device_of (of_b), 1);
  fail_unless_equals_int (count_regions (of_a), count_regions (of_b));
  while ((region = cuv_next_region (of_a, &state_a)) != NULL) {
    other = cuv_next_region (of_b, &state_b);
    fail_unless (region->x == other->x && region->y == other->y
        && region->w == other->w && region->h == other->h);
  }
  gst_video_info_from_caps (&info, gst_sample_get_caps (a));
  fail_unless (cuv_frames_equal (
      gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&info)), info.width,
      info.height, of_a, of_b));
  return count_regions (of_a);
}

static guint
compare_sinks (GstElement *pipeline)
{
  GstSample *a, *b;
  guint n = 0, frames = 0;

  while ((a = pull (pipeline, "a")) != NULL) {
    b = pull (pipeline, "b");
    fail_unless (b != NULL);
    n += check_same (a, b);
    frames++;
    gst_sample_unref (a);
    gst_sample_unref (b);
  }
  fail_unless (frames >= 30, "%u frames", frames);
  return n;
}

static void
check_line (const gchar *line)
{
  for (guint i = 0; i < 2; i++) {
    GstElement *pipeline = cuv_pipeline_new (line);

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    fail_unless (compare_sinks (pipeline) > 0, "no face: nothing was compared");
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
  }
}

CUV_TEST (each_device_has_its_frames)
{
  g_autofree gchar *film = cuv_test_file ("Megamind.avi");
  g_autofree gchar *line =
      g_strdup_printf ("filesrc location=%s ! decodebin ! "
                       "videoconvert ! video/x-raw,format=NV12 ! "
                       "tee name=t t. ! " FRAMES_OF_DEVICE (
                           0, "a") "t. ! " FRAMES_OF_DEVICE (1, "b"),
          film);

  check_line (line);
}

/* nvcodec gives the decoder of the second GPU this name. */
CUV_TEST (each_device_decodes)
{
  const gchar *film = g_getenv ("CUV_TEST_H264");
  g_autofree gchar *line = NULL;

  fail_unless (film != NULL, "no video: set CUV_TEST_H264");
  line = g_strdup_printf (
      "filesrc location=%s ! qtdemux ! h264parse ! tee name=t "
      "t. ! queue ! nvh264dec ! " DETECT "appsink sync=false name=a "
      "t. ! queue ! nvh264device1dec ! " DETECT "appsink sync=false name=b",
      film);
  check_line (line);
}

/* Frames move from one GPU to the other through the host. */
CUV_TEST (frames_change_devices)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (
      "videotestsrc num-buffers=30 ! video/x-raw,format=NV12,width=320,"
      "height=240 ! cuvcudaupload cuda-device-id=0 ! waldboostdetect ! "
      "cuvcudadownload ! video/x-raw ! cuvcudaupload cuda-device-id=1 ! "
      "houghlines ! appsink sync=false name=a");
  GstSample *sample;
  guint frames = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = pull (pipeline, "a")) != NULL) {
    fail_unless_equals_int (device_of (gst_sample_get_buffer (sample)), 1);
    gst_sample_unref (sample);
    frames++;
  }
  fail_unless_equals_int (frames, 30);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static GPtrArray *names; /* names of the elements that pass frames on */

static gboolean
has_property (const gchar *name, const gchar *property)
{
  g_autoptr (GstElement) element = cuv_element_new (name);
  const gboolean has =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), property)
      != NULL;

  return has;
}

/* An element uses the GPU that its frames are on, even if cuda-device-id names
 * the other one. */
CUV_LOOP_TEST (each_element_follows_its_frames, names->len)
{
  static const gchar *const settings[] = { "", " cuda-device-id=1",
    " cuda-device-id=0" };
  const gchar *name = names->pdata[__i__];

  if (cuv_element_is_host_only (name) || strstr (name, "cuda") != NULL
      || !has_property (name, "cuda-device-id"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    gchar *line = g_strdup_printf (
        "videotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=64,"
        "height=48 ! cuvcudaupload cuda-device-id=1 ! %s%s ! appsink "
        "sync=false name=a",
        name, settings[i]);
    GstElement *pipeline = cuv_pipeline_new (line);
    GstSample *sample;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    sample = pull (pipeline, "a");
    fail_unless (sample != NULL, "no frame: %s", line);
    if (gst_caps_features_contains (
            gst_caps_get_features (gst_sample_get_caps (sample), 0),
            CUDA_FEATURE))
      fail_unless_equals_int (device_of (gst_sample_get_buffer (sample)), 1);
    gst_sample_unref (sample);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
    g_free (line);
  }
}

CUV_BEFORE_TESTS (need_two_devices, tcase)
{
  GstCudaContext *second =
      gst_cuv_cuda_usable () ? gst_cuda_context_new (1) : NULL;

  if (second == NULL)
    cuv_tests_skip ("this test needs two GPUs");
  gst_object_unref (second);
  names = cuv_frame_element_names ();
}
