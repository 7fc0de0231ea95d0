/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares nvJPEG's pictures of frames in CUDA memory with the CPU's. Needs a
 * device and libnvjpeg: exits 77 without. usage: gpu [--bench] */
#include "config.h"
#include <stdlib.h>
#include "cuvelements.h"
#include "context/gstcuvcontext.h"
#include "picture.h"

#define WIDTH 1280
#define HEIGHT 720

static const gchar *const formats[] = { "NV12", "I420", "YUY2", "BGRx", "RGB" };

/* Returns a frame of a test pattern in CUDA memory. */
static GstSample *
sample_new (const gchar *format, gint width, gint height, const gchar *color)
{
  g_autofree gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=1 pattern=smpte75 ! "
      "video/x-raw,format=%s,width=%d,height=%d%s ! cuvcudaupload ! appsink "
      "name=sink caps=video/x-raw(memory:CUDAMemory)",
      format, width, height, color);
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, NULL);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return sample;
}

/* Compresses and decompresses. */
static guint8 *
picture_of (CuvPicture *picture, GstSample *sample, GstVideoInfo *info)
{
  gsize size, n = 3 * (gsize) info->width * (gsize) info->height;
  guint8 *pixels = g_malloc (n);
  tjhandle decompressor = tjInitDecompress ();
  gint width, height, sampling;

  fail_unless (cuv_picture_encode (
                   picture, info, gst_sample_get_buffer (sample), 0, 90, &size)
      == NULL);
  fail_unless (tjDecompressHeader2 (decompressor, picture->jpeg, size, &width,
                   &height, &sampling)
      == 0);
  fail_unless_equals_int (width, info->width);
  fail_unless_equals_int (height, info->height);
  fail_unless_equals_int (sampling, TJSAMP_420);
  fail_unless (tjDecompress2 (decompressor, picture->jpeg, size, pixels, width,
                   0, height, TJPF_RGB, 0)
      == 0);
  tjDestroy (decompressor);
  return pixels;
}

static gint
compare_bytes (gconstpointer a, gconstpointer b)
{
  return *(const guint8 *) a - *(const guint8 *) b;
}

/* Returns the median difference. Edges between colours, where the CPU
 * interpolates chroma, do not affect it: they are less than half of the
 * samples. */
static gint
median_difference (const guint8 *a, const guint8 *b, const GstVideoInfo *info)
{
  gsize n = 3 * (gsize) info->width * (gsize) info->height;
  g_autofree guint8 *differences = g_malloc (n);
  gint median;

  for (gsize i = 0; i < n; i++)
    differences[i] = (guint8) ABS (a[i] - b[i]);
  qsort (differences, n, 1, compare_bytes);
  median = differences[n / 2];
  return median;
}

/* Checks the same samples with caps of other colours. */
static void
check_other_colours (
    GstSample *sample, const GstVideoInfo *info, const guint8 *found)
{
  CuvPicture cpu = { 0 };
  GstVideoInfo other = *info;
  g_autofree guint8 *pixels = NULL;

  other.colorimetry.range = GST_VIDEO_COLOR_RANGE_0_255;
  pixels = picture_of (&cpu, sample, &other);
  fail_unless (median_difference (found, pixels, info) > 3);
  cuv_picture_clear (&cpu);
}

static void
compare (GstElement *element, const gchar *format, gint width, gint height,
    const gchar *color)
{
  g_autoptr (GstSample) sample = sample_new (format, width, height, color);
  CuvPicture gpu = { .gpu = cuv_gpu_picture_new (element) }, cpu = { 0 };
  GstVideoInfo info;
  guint8 *found, *expected;
  gint difference;
  gsize size;

  fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
  found = picture_of (&gpu, sample, &info);
  fail_unless (
      cuv_gpu_picture_encode (gpu.gpu, &info, gst_sample_get_buffer (sample),
          90, gpu.jpeg, gpu.capacity, &size),
      "the GPU did not compress %s %dx%d%s", format, width, height, color);
  expected = picture_of (&cpu, sample, &info);
  difference = median_difference (found, expected, &info);
  g_print ("%s %dx%d%s: median difference %d\n", format, width, height, color,
      difference);
  fail_unless (difference <= 1);
  if (GST_VIDEO_INFO_IS_YUV (&info)
      && info.colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255)
    check_other_colours (sample, &info, found);
  g_free (found);
  g_free (expected);
  cuv_picture_clear (&gpu);
  cuv_picture_clear (&cpu);
  cuv_gpu_picture_free (gpu.gpu);
}

static void
bench (GstElement *element, gboolean on_gpu)
{
  g_autoptr (GstSample) sample = sample_new ("NV12", 1920, 1080, "");
  CuvPicture picture = { .gpu = on_gpu ? cuv_gpu_picture_new (element) : NULL };
  GstVideoInfo info;
  gint64 start = 0;
  gsize size;

  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  for (guint i = 0; i < 220; i++) {
    if (i == 20)
      start = g_get_monotonic_time ();
    cuv_picture_encode (
        &picture, &info, gst_sample_get_buffer (sample), 0, 85, &size);
  }
  g_print (
      "{\"name\": \"web-jpeg-%s-NV12-1080p\", \"us\": %.1f, \"bytes\": %u}\n",
      on_gpu ? "cuda" : "cpu", (g_get_monotonic_time () - start) / 200.0,
      (guint) size);
  cuv_picture_clear (&picture);
  cuv_gpu_picture_free (picture.gpu);
}

/* Returns whether there are a device and the library. */
static gboolean
is_there (GstElement *element)
{
  CuvGpuPicture *gpu = cuv_gpu_picture_new (element);
  GstSample *sample = sample_new ("NV12", 64, 64, "");
  guint8 jpeg[20000];
  GstVideoInfo info;
  gboolean found;
  gsize size;

  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  found = gpu != NULL
      && cuv_gpu_picture_encode (gpu, &info, gst_sample_get_buffer (sample), 90,
          jpeg, sizeof jpeg, &size);
  gst_sample_unref (sample);
  cuv_gpu_picture_free (gpu);
  return found;
}

static GstElement *owner; /* owner of the CUDA contexts */

CUV_TEST (test_pictures)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    compare (owner, formats[i], WIDTH, HEIGHT, "");
    compare (owner, formats[i], 322, 242, "");
  }
  compare (owner, "NV12", WIDTH, HEIGHT, ",colorimetry=bt601");
  compare (owner, "NV12", WIDTH, HEIGHT, ",colorimetry=1:4:0:0");
}

int
main (int argc, char **argv)
{
  gboolean is_bench = argc > 1 && g_str_equal (argv[1], "--bench");
  int status;

  argc = 1; /* GStreamer does not know --bench */
  gst_check_init (&argc, &argv);
  owner = gst_object_ref_sink (gst_element_factory_make ("fakesink", NULL));
  if (!gst_cuv_cuda_usable () || !is_there (owner))
    cuv_tests_skip ("no CUDA device or no libnvjpeg");
  status = cuv_tests_run (argv[0]);
  if (is_bench) {
    bench (owner, TRUE);
    bench (owner, FALSE);
  }
  gst_object_unref (owner);
  return status;
}
