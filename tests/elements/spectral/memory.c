/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spectralpca and spectralntf with host and CUDA memory. CUV_TEST_CUDA=1 uses a
 * GPU, which must give the CPU's results; otherwise the stand-in driver, which
 * runs no kernels, so that the CPU works on CUDA memory. */
#include "config.h"
#include "device.h"

#include "cuv-cuda.h"
#include "cuvhooks.h"
#include "context/gstcuvcontext.h"

enum { WIDTH = 75, HEIGHT = 46, BANDS = 5 };

#define RGB "video/x-raw,format=RGB,width=75,height=46,framerate=30/1"
#define CUBE                                                                   \
  "video/x-spectral,format=U8,width=75,height=46,bands=5,interleave=bip,"      \
  "framerate=30/1"

static const gchar *const elements[] = { "spectralpca mode=covariance",
  "spectralntf rank=3 iterations=20 tolerance=0" };

/* Fills in well separated components, and one outlier in a thousand values. */
static void
fill (guint8 *data, gsize n, guint step)
{
  for (gsize i = 0; i < n; i++) {
    const guint p = (guint) (i / step), b = (guint) (i % step);

    data[i] = (guint8) (40 + b * 30 + (p % WIDTH) * (b + 1) / 4
        + (p / WIDTH) * (b * b % 3));
    if (i * 2654435761u % 1000 == 0)
      data[i] ^= 64;
  }
}

static GstBuffer *
new_buffer (gsize size, guint step)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  fill (map.data, size, step);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

static GstBuffer *
new_cube (void)
{
  return new_buffer (WIDTH * HEIGHT * BANDS, BANDS);
}

/* Returns a frame with rows of 228 bytes. */
static GstBuffer *
new_frame (void)
{
  return new_buffer (GST_ROUND_UP_4 (3 * WIDTH) * HEIGHT, 3);
}

/* Returns the element named x; owned by the harness. */
static GstElement *
element_of (GstHarness *h)
{
  GstElement *x = gst_bin_get_by_name (GST_BIN (h->element), "x");

  gst_object_unref (x);
  return x;
}

static GstHarness *
new_harness (const gchar *element)
{
  g_autofree gchar *line = g_strconcat (element, " name=x", NULL);
  GstHarness *h = gst_harness_new_parse (line);

  return h;
}

/* Returns the second picture of a pipeline with an element named x. */
static GstBuffer *
picture_of (const gchar *line, const gchar *caps, GstBuffer *(*make) (void),
    const gchar *device)
{
  g_autoptr (GstHarness) h = gst_harness_new_parse (line);
  GstBuffer *picture;
  GstStructure *stats;

  gst_harness_set_src_caps_str (h, caps);
  for (guint i = 0; i < 2; i++) {
    fail_unless_equals_int (gst_harness_push (h, make ()), GST_FLOW_OK);
    picture = gst_harness_pull (h);
    if (i == 0)
      gst_buffer_unref (picture);
  }
  g_object_get (element_of (h), "stats", &stats, NULL);
  fail_unless_equals_string (
      gst_structure_get_string (stats, "device"), device);
  gst_structure_free (stats);
  return picture;
}

/* Checks that pictures are equal up to the rounding of eigenvectors and
 * factors; sums are exact. */
static void
check_similar (GstBuffer *a, GstBuffer *b, gint tolerance, const gchar *line)
{
  GstMapInfo x, y;

  gst_buffer_map (a, &x, GST_MAP_READ);
  gst_buffer_map (b, &y, GST_MAP_READ);
  fail_unless_equals_int (x.size, y.size);
  for (gsize i = 0; i < x.size; i++) {
    if (ABS (x.data[i] - y.data[i]) > tolerance)
      fail ("%s: byte %" G_GSIZE_FORMAT " is %u, not %u", line, i, x.data[i],
          y.data[i]);
  }
  gst_buffer_unmap (b, &y);
  gst_buffer_unmap (a, &x);
  gst_buffer_unref (a);
  gst_buffer_unref (b);
}

static void
finish (void)
{
  if (!use_cuda)
    cuv_fake_check_clean ();
  fail_unless_equals_int (cuv_cuda_allocated (), 0);
}

/* ---- video ---- */

/* Each memory type as input is combined with each as output. */
CUV_LOOP_TEST (video_between_memories, G_N_ELEMENTS (elements))
{
  static const struct {
    const gchar *before, *after;
    gboolean on_device;
  } ways[] = {
    { "", "capsfilter caps=video/x-raw,format=RGBA", FALSE },
    { "",
        "capsfilter caps=video/x-raw(memory:CUDAMemory),format=RGBA ! "
        "cuvcudadownload",
        TRUE },
    { "cuvcudaupload !", "capsfilter caps=video/x-raw,format=RGBA", TRUE },
    { "cuvcudaupload !",
        "capsfilter caps=video/x-raw(memory:CUDAMemory),format=RGBA ! "
        "cuvcudadownload",
        TRUE },
  };
  GstBuffer *first = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    gchar *line = g_strdup_printf (
        "%s %s name=x ! %s", ways[i].before, elements[__i__], ways[i].after);
    GstBuffer *picture = picture_of (
        line, RGB, new_frame, use_cuda && ways[i].on_device ? "cuda" : "cpu");

    if (i == 0)
      first = gst_buffer_ref (picture);
    check_similar (picture, gst_buffer_ref (first), use_cuda, line);
    g_free (line);
  }
  gst_buffer_unref (first);
  finish ();
}

/* If the peer takes both memory types, the output has that of the input. */
CUV_LOOP_TEST (output_memory_follows_input_memory, G_N_ELEMENTS (elements))
{
  for (guint cuda = 0; cuda < 2; cuda++) {
    gchar *line = g_strdup_printf ("%s %s name=x ! identity",
        cuda ? "cuvcudaupload !" : "identity !", elements[__i__]);
    GstHarness *h = gst_harness_new_parse (line);
    GstElement *x = element_of (h);

    gst_harness_set_src_caps_str (h, RGB);
    gst_buffer_unref (gst_harness_push_and_pull (h, new_frame ()));
    fail_unless_equals_int (cuv_pad_has_cuda (x, "sink"), cuda);
    fail_unless_equals_int (cuv_pad_has_cuda (x, "src"), cuda);
    gst_harness_teardown (h);
    g_free (line);
  }
  finish ();
}

/* ---- cubes ---- */

/* The pictures of a cube are the same in each memory and format. */
CUV_LOOP_TEST (cubes_to_either_memory, G_N_ELEMENTS (elements))
{
  static const gchar *const ways[] = {
    "capsfilter caps=video/x-raw,format=RGBx",
    "capsfilter caps=video/x-raw(memory:CUDAMemory),format=RGBA ! "
    "cuvcudadownload",
    "capsfilter caps=video/x-raw(memory:CUDAMemory),format=RGBx ! "
    "cuvcudadownload",
  };
  const gchar *device = use_cuda ? "cuda" : "cpu";
  GstBuffer *first = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    gchar *line = g_strdup_printf ("%s name=x ! %s", elements[__i__], ways[i]);
    GstBuffer *picture = picture_of (line, CUBE, new_cube, device);

    if (i == 0)
      first = gst_buffer_ref (picture);
    check_similar (picture, gst_buffer_ref (first), 0, line);
    g_free (line);
  }
  gst_buffer_unref (first);
  finish ();
}

/* Returns TRUE if samples of two NV12 pictures differ by at most tolerance. */
static gboolean
are_near (GstBuffer *a, GstBuffer *b, gint tolerance)
{
  GstVideoFrame x, y;
  GstVideoInfo info;
  gint far = 0;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, WIDTH, HEIGHT);
  fail_unless (gst_video_frame_map (&x, &info, a, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&y, &info, b, GST_MAP_READ));
  for (guint i = 0; i < 2; i++) {
    const guint8 *p = GST_VIDEO_FRAME_PLANE_DATA (&x, i);
    const guint8 *q = GST_VIDEO_FRAME_PLANE_DATA (&y, i);

    for (gint at = 0; at < HEIGHT / (i ? 2 : 1) * (WIDTH + (gint) i); at++) {
      const gint row = at / (WIDTH + (gint) i), col = at % (WIDTH + (gint) i);

      far = MAX (far,
          ABS (p[row * GST_VIDEO_FRAME_PLANE_STRIDE (&x, i) + col]
              - q[row * GST_VIDEO_FRAME_PLANE_STRIDE (&y, i) + col]));
    }
  }
  gst_video_frame_unmap (&x);
  gst_video_frame_unmap (&y);
  return far <= tolerance;
}

/* Pictures are equal in both memories, and equal those of videoconvert from RGB
 * within rounding. */
CUV_LOOP_TEST (cubes_to_nv12, G_N_ELEMENTS (elements))
{
  static const gchar *const ways[] = {
    "capsfilter caps=video/x-raw,format=NV12",
    "capsfilter caps=video/x-raw(memory:CUDAMemory),format=NV12 ! "
    "cuvcudadownload",
    "capsfilter caps=video/x-raw,format=RGBx ! videoconvert ! "
    "capsfilter caps=video/x-raw,format=NV12",
  };
  GstBuffer *pictures[3];

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    gchar *line = g_strdup_printf ("%s name=x ! %s", elements[__i__], ways[i]);

    pictures[i] = picture_of (line, CUBE, new_cube, use_cuda ? "cuda" : "cpu");
    g_free (line);
  }
  fail_unless (are_near (pictures[0], pictures[1], 0));
  fail_unless (are_near (pictures[0], pictures[2], use_cuda ? 2 : 0));
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (pictures[i]);
  finish ();
}

/* ---- uploading cubes ---- */

#define LARGE                                                                  \
  "video/x-spectral,format=U8,width=3001,height=2003,bands=5,interleave=bip,"  \
  "framerate=30/1"
enum { LARGE_SIZE = 3001 * 2003 * 5 };

/* Returns the picture of a cube of 15 upload chunks. in_pool: the cube is in a
 * buffer of the pool that the element proposes, if any. */
static GstBuffer *
picture_of_large (gint n_threads, gboolean in_pool)
{
  g_autoptr (GstHarness) h = new_harness ("spectralpca");
  GstBuffer *cube, *picture;
  GstMapInfo map;

  g_object_set (element_of (h), "n-threads", n_threads, NULL);
  gst_harness_set_src_caps_str (h, LARGE);
  cube = in_pool ? gst_harness_create_buffer (h, LARGE_SIZE)
                 : gst_buffer_new_allocate (NULL, LARGE_SIZE, NULL);
  gst_buffer_map (cube, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < LARGE_SIZE; i++)
    map.data[i] = (guint8) (i * 2654435761u >> 24);
  gst_buffer_unmap (cube, &map);
  picture = gst_harness_push_and_pull (h, cube);
  fail_unless_equals_uint64 (
      cuv_stat (element_of (h), "uploaded"), use_cuda ? LARGE_SIZE : 0);
  fail_unless_equals_uint64 (cuv_stat (element_of (h), "staged"),
      use_cuda && !in_pool ? LARGE_SIZE : 0);
  return picture;
}

/* Uploads by one thread, by several and from pinned memory agree. */
CUV_TEST (all_upload_paths_agree)
{
  GstBuffer *picture = picture_of_large (1, FALSE);

  check_similar (
      picture_of_large (0, FALSE), gst_buffer_ref (picture), 0, "threads");
  check_similar (picture_of_large (0, TRUE), picture, 0, "pinned");
  finish ();
}

/* Buffers have the caps' size, and may outlive the element. */
CUV_LOOP_TEST (pinned_memory_is_proposed, G_N_ELEMENTS (elements))
{
  GstHarness *h = new_harness (elements[__i__]);
  GstBuffer *kept;

  gst_harness_set_src_caps_str (h, CUBE);
  kept = gst_harness_create_buffer (h, WIDTH * HEIGHT * BANDS);
  fail_unless_equals_int (gst_cuv_buffer_is_pinned (kept), use_cuda);
  fail_unless_equals_int (gst_buffer_get_size (kept), WIDTH * HEIGHT * BANDS);
  gst_buffer_unref (gst_harness_push_and_pull (h, gst_buffer_ref (kept)));
  gst_harness_teardown (h);
  gst_buffer_memset (kept, 0, 9, (gsize) -1);
  gst_buffer_unref (kept);
  finish ();
}

/* RGB video between host memories is not uploaded. */
CUV_LOOP_TEST (no_pinned_pool_without_upload, G_N_ELEMENTS (elements))
{
  g_autofree gchar *line = g_strconcat (elements[__i__],
      " name=x ! capsfilter caps=video/x-raw,format=RGBA", NULL);
  GstHarness *h = gst_harness_new_parse (line);
  GstBuffer *buffer;

  gst_harness_set_src_caps_str (h, RGB);
  buffer = gst_harness_create_buffer (h, WIDTH * HEIGHT * 4);
  fail_if (gst_cuv_buffer_is_pinned (buffer));
  gst_buffer_unref (gst_harness_push_and_pull (h, buffer));
  gst_harness_teardown (h);
  finish ();
}

/* ---- errors and states ---- */

/* Whichever GPU allocation fails, an error is posted. */
CUV_LOOP_TEST (out_of_memory_is_an_error, G_N_ELEMENTS (elements))
{
  GstFlowReturn flow = GST_FLOW_ERROR;
  gint n;

  for (n = 0; use_cuda && flow != GST_FLOW_OK && n < 40; n++) {
    GstHarness *h = new_harness (elements[__i__]);
    GstBus *bus = gst_bus_new ();
    gchar *text;

    gst_element_set_bus (h->element, bus);
    gst_harness_set_src_caps_str (h, CUBE);
    cuv_cuda_fail_allocation (n);
    flow = gst_harness_push (h, new_cube ());
    cuv_cuda_fail_allocation (-1);
    text = pop_problem (bus, GST_MESSAGE_ERROR);
    fail_unless ((text == NULL) == (flow == GST_FLOW_OK));
    fail_unless (text == NULL || strstr (text, "GPU") != NULL, "%s", text);
    g_free (text);
    gst_element_set_bus (h->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (h);
    finish ();
  }
  fail_unless (!use_cuda || (n > 2 && n < 40), "%d allocations suffice", n);
}

/* Plays a pipeline that ends in an upload three times. */
CUV_LOOP_TEST (restarts, G_N_ELEMENTS (elements))
{
  g_autofree gchar *line = g_strdup_printf ("videotestsrc num-buffers=3 ! " RGB
                                            " ! %s ! cuvcudaupload ! fakesink",
      elements[__i__]);
  GstElement *pipeline = cuv_pipeline_new (line);

  for (gint i = 0; i < 3; i++)
    fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
  gst_object_unref (pipeline);
  finish ();
}
