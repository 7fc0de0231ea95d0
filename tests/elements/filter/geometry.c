/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results downstream of elements that move pixels are moved with the pixels,
 * or dropped. The picture has marks at the coordinates: red and green at the
 * ends of a segment, blue in the box of an object. */
#include "config.h"
#include "cuvelements.h"

#include <math.h>
#include <string.h>
#include "gstcuvmeta.h"

#define WIDTH 320
#define HEIGHT 240
#define CAPS                                                                   \
  "video/x-raw,format=RGB,width=320,height=240,framerate=30/1,"                \
  "pixel-aspect-ratio=1/1"

/* What GStreamer does with results. */
typedef enum {
  KEEPS,   /* in every version */
  BORDERS, /* before 1.28 nothing reports the borders, and GStreamer moves
            * regions as if there were none */
  MOVES,   /* moved since 1.28, dropped before */
  DROPS,   /* may drop any results */
} Expected;

typedef struct {
  const gchar *line;
  Expected expected;
} Case;

static const Case cases[] = {
  { "queue", KEEPS },
  { "identity", KEEPS },
  { "tee", KEEPS },
  { "videoconvert ! video/x-raw,format=BGRx", KEEPS },
  { "videobalance saturation=0.9", KEEPS },
  { "videorate ! video/x-raw,framerate=60/1", KEEPS },
  { "jpegenc quality=100 ! jpegdec ! videoconvert", KEEPS },
  { "cuvcudaupload ! cuvcudadownload", KEEPS },
  { "videoscale ! video/x-raw,width=160,height=120", KEEPS },
  { "videoscale ! video/x-raw,width=480,height=300", KEEPS },
  { "videoscale ! video/x-raw,width=213,height=160,pixel-aspect-ratio=1/1",
      KEEPS },
  { "videoconvertscale ! video/x-raw,format=BGR,width=400,height=240", KEEPS },
  { "videoscale ! video/x-raw,width=320,height=320,pixel-aspect-ratio=1/1",
      BORDERS },
  { "videoscale ! video/x-raw,width=400,height=150,pixel-aspect-ratio=1/1",
      BORDERS },
  { "videoscale ! video/x-raw,width=1280,height=720,pixel-aspect-ratio=1/1",
      BORDERS },
  { "videoflip video-direction=identity", MOVES },
  { "videoflip video-direction=90r", MOVES },
  { "videoflip video-direction=180", MOVES },
  { "videoflip video-direction=90l", MOVES },
  { "videoflip video-direction=horiz", MOVES },
  { "videoflip video-direction=vert", MOVES },
  { "videoflip video-direction=ul-lr", MOVES },
  { "videoflip video-direction=ur-ll", MOVES },
  { "autovideoflip video-direction=horiz", MOVES },
  { "videocrop left=20 top=10 right=40", MOVES },
  { "videocrop left=100", MOVES },
  { "videocrop left=240 top=160", MOVES },
  { "videobox left=20 top=10", MOVES },
  { "videobox left=-20 bottom=-30", MOVES },
  { "videoscale ! video/x-raw,width=160,height=120 "
    "! videoflip video-direction=90r",
      MOVES },
  { "videoflip video-direction=90l ! videoscale "
    "! video/x-raw,width=120,height=160 ! videocrop top=8",
      MOVES },
  { "compositor", DROPS },
  { "deinterlace mode=interlaced", DROPS },
};

/* ---- the frame ---- */

static const gfloat segment[] = { 60, 90, 200, 150 };
static const guint box[] = { 100, 40, 60, 50 };

static void
fill (guint8 *pixels, guint channel, guint x, guint y, guint w, guint h)
{
  for (guint i = 0; i < w * h; i++)
    pixels[((y + i / w) * WIDTH + x + i % w) * 3 + channel] = 255;
}

static GstBuffer *
new_picture (void)
{
  const gsize size = WIDTH * HEIGHT * 3;
  guint8 *pixels = g_malloc0 (size);

  fill (pixels, 0, (guint) segment[0] - 4, (guint) segment[1] - 4, 9, 9);
  fill (pixels, 1, (guint) segment[2] - 4, (guint) segment[3] - 4, 9, 9);
  fill (pixels, 2, box[0], box[1], box[2], box[3]);
  return gst_buffer_new_wrapped (pixels, size);
}

static void
add_tables (GstBuffer *buffer)
{
  static const GstCuvColumn lines[] = { { "rho", GST_CUV_TYPE_F32 },
    { "theta", GST_CUV_TYPE_F32 }, { "x1", GST_CUV_TYPE_F32 },
    { "y1", GST_CUV_TYPE_F32 }, { "x2", GST_CUV_TYPE_F32 },
    { "y2", GST_CUV_TYPE_F32 } };
  static const GstCuvColumn points[] = { { "id", GST_CUV_TYPE_U8 },
    { "x", GST_CUV_TYPE_F64 }, { "y", GST_CUV_TYPE_F64 } };
  static const GstCuvColumn boxes[] = { { "x", GST_CUV_TYPE_U32 },
    { "y", GST_CUV_TYPE_U32 }, { "w", GST_CUV_TYPE_U32 },
    { "h", GST_CUV_TYPE_U32 } };
  const gdouble dx = segment[2] - segment[0], dy = segment[3] - segment[1];
  const gdouble theta = atan2 (-dx, dy);
  const gfloat line[] = { (gfloat) (segment[0] * cos (theta)
                              + segment[1] * sin (theta)),
    (gfloat) theta, segment[0], segment[1], segment[2], segment[3] };
  guint8 point[17] = { 7 };

  memcpy (point + 1, &(gdouble){ segment[0] }, 8);
  memcpy (point + 9, &(gdouble){ segment[1] }, 8);
  gst_cuv_meta_add_table (
      buffer, "lines", 1, WIDTH, HEIGHT, "segments", lines, 6, line, 1);
  gst_cuv_meta_add_table (
      buffer, "testpoints", 1, WIDTH, HEIGHT, "points", points, 3, point, 1);
  gst_cuv_meta_add_table (
      buffer, "testboxes", 1, WIDTH, HEIGHT, "none", boxes, 4, box, 1);
  gst_cuv_meta_add_table (
      buffer, "testids", 1, WIDTH, HEIGHT, "none", points, 1, point, 1);
}

static GstBuffer *
new_frame (void)
{
  GstBuffer *buffer = new_picture ();
  GstVideoInfo info;
  GstCuvObject object;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT);
  add_tables (buffer);
  object = gst_cuv_meta_add_object (
      &(GstCuvWriter){ .buffer = buffer, .info = &info }, 0, "face", box[0],
      box[1], box[2], box[3], 0.75, NULL);
  gst_cuv_meta_set_track (
      &(GstCuvWriter){ .buffer = buffer, .info = &info }, &object, 5, 0, 0);
  GST_BUFFER_PTS (buffer) = 0;
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 30;
  return buffer;
}

/* ---- the output ---- */

typedef struct {
  const gchar *line;
  GstBuffer *buffer;
  GstVideoInfo info;
  gdouble x[3], y[3]; /* middle of the mark of each colour; NAN: none */
  gdouble left[3], top[3], right[3], bottom[3];
} Output;

static void
find_mark (Output *out, const GstVideoFrame *frame, guint c)
{
  const gint stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, c);
  const guint8 *at = GST_VIDEO_FRAME_COMP_DATA (frame, c);
  gdouble sum = 0, x = 0, y = 0;

  out->left[c] = out->top[c] = G_MAXINT;
  out->right[c] = out->bottom[c] = -1;
  for (gint i = 0; i < GST_VIDEO_INFO_HEIGHT (&out->info); i++) {
    for (gint k = 0; k < GST_VIDEO_INFO_WIDTH (&out->info); k++) {
      const gint value =
          at[i * stride + k * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c)];

      if (value < 100)
        continue;
      sum += value, x += value * k, y += value * i;
      out->left[c] = MIN (out->left[c], k);
      out->top[c] = MIN (out->top[c], i);
      out->right[c] = MAX (out->right[c], k + 1);
      out->bottom[c] = MAX (out->bottom[c], i + 1);
    }
  }
  out->x[c] = sum > 0 ? x / sum : NAN;
  out->y[c] = sum > 0 ? y / sum : NAN;
}

static void
find_marks (Output *out, GstSample *sample)
{
  GstVideoFrame frame;

  out->buffer = gst_sample_get_buffer (sample);
  fail_unless (
      gst_video_info_from_caps (&out->info, gst_sample_get_caps (sample)));
  fail_unless (
      gst_video_frame_map (&frame, &out->info, out->buffer, GST_MAP_READ));
  for (guint c = 0; c < 3; c++)
    find_mark (out, &frame, c);
  gst_video_frame_unmap (&frame);
}

static gboolean
find_table (const Output *out, const gchar *kind, GstCuvTable *table)
{
  gpointer state = NULL;

  while (gst_cuv_meta_next_table (out->buffer, &state, table)) {
    if (strcmp (table->kind, kind) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Returns a coordinate in the frame, scaled as a reader of tables does. */
static gdouble
in_frame (const Output *out, const GstCuvTable *table, const gchar *column)
{
  const gdouble value = gst_cuv_table_double (
      table, 0, (guint) gst_cuv_table_column (table, column));
  const gboolean across = column[0] == 'x';
  const gdouble to = across ? GST_VIDEO_INFO_WIDTH (&out->info)
                            : GST_VIDEO_INFO_HEIGHT (&out->info);

  return (value + 0.5) * to / (across ? table->width : table->height) - 0.5;
}

static void
check_point (const Output *out, const GstCuvTable *table, const gchar *x,
    const gchar *y, guint colour)
{
  const gdouble at_x = in_frame (out, table, x);
  const gdouble at_y = in_frame (out, table, y);

  fail_unless (at_x >= -0.5 && at_x < GST_VIDEO_INFO_WIDTH (&out->info)
          && at_y >= -0.5 && at_y < GST_VIDEO_INFO_HEIGHT (&out->info),
      "%s: %s is outside the frame: %g,%g", out->line, table->kind, at_x, at_y);
  fail_unless (isnan (out->x[colour])
          || (fabs (at_x - out->x[colour]) < 0.6
              && fabs (at_y - out->y[colour]) < 0.6),
      "%s: %s is at %g,%g, its mark at %g,%g", out->line, table->kind, at_x,
      at_y, out->x[colour], out->y[colour]);
}

static void
check_normal (const Output *out, const GstCuvTable *table)
{
  const gdouble rho = gst_cuv_table_double (table, 0, 0);
  const gdouble theta = gst_cuv_table_double (table, 0, 1);

  fail_unless (theta >= -G_PI_2 - 1e-5 && theta <= G_PI_2 + 1e-5);
  for (guint i = 2; i < 6; i += 2)
    fail_unless (
        fabs (gst_cuv_table_double (table, 0, i) * cos (theta)
            + gst_cuv_table_double (table, 0, i + 1) * sin (theta) - rho)
            < 0.01,
        "%s: rho %g, theta %g are not those of the segment", out->line, rho,
        theta);
}

static void
check_segments (const Output *out, gboolean expected)
{
  const gboolean left = !isnan (out->x[0]) || !isnan (out->x[1]);
  GstCuvTable table;

  if (!find_table (out, "lines", &table)) {
    fail_if (expected, "%s loses the segments", out->line);
    return;
  }
  fail_unless (table.n_rows == 1 || !left, "%s loses a row", out->line);
  if (table.n_rows == 0)
    return;
  check_point (out, &table, "x1", "y1", 0);
  check_point (out, &table, "x2", "y2", 1);
  check_normal (out, &table);
}

static void
check_points (const Output *out, gboolean expected)
{
  GstCuvTable table;

  if (!find_table (out, "testpoints", &table)) {
    fail_if (expected, "%s loses the points", out->line);
    return;
  }
  fail_unless_equals_int (table.n_rows, !isnan (out->x[0]));
  if (table.n_rows == 0)
    return;
  check_point (out, &table, "x", "y", 0);
  fail_unless_equals_int (gst_cuv_table_int (&table, 0, 0), 7);
}

static void
check_box (const Output *out, const gchar *what, const gdouble at[4])
{
  fail_unless (fabs (at[0] - out->left[2]) < 2.1
          && fabs (at[1] - out->top[2]) < 2.1
          && fabs (at[2] - out->right[2]) < 2.1
          && fabs (at[3] - out->bottom[2]) < 2.1,
      "%s: %s is at %g,%g to %g,%g, its pixels at %g,%g to %g,%g", out->line,
      what, at[0], at[1], at[2], at[3], out->left[2], out->top[2],
      out->right[2], out->bottom[2]);
}

/* Tables that are neither segments nor points are scaled, but not otherwise
 * moved. */
static void
check_boxes (const Output *out, gboolean expected)
{
  GstCuvTable table;
  gdouble at[4];

  if (!find_table (out, "testboxes", &table)) {
    fail_if (expected, "%s loses the boxes", out->line);
    return;
  }
  at[0] = in_frame (out, &table, "x");
  at[1] = in_frame (out, &table, "y");
  at[2] = at[0]
      + gst_cuv_table_double (&table, 0, 2) * GST_VIDEO_INFO_WIDTH (&out->info)
          / table.width;
  at[3] = at[1]
      + gst_cuv_table_double (&table, 0, 3) * GST_VIDEO_INFO_HEIGHT (&out->info)
          / table.height;
  check_box (out, "a row of boxes", at);
}

static void
check_objects (const Output *out, gboolean expected)
{
  g_autoptr (GArray) objects =
      g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  const GstCuvObject *object = NULL;
  CuvRoi part;

  gst_cuv_objects_read (objects, out->buffer);
  fail_unless (
      objects->len <= 1, "%s: one object becomes %u", out->line, objects->len);
  if (objects->len == 1)
    object = &g_array_index (objects, GstCuvObject, 0);
  fail_unless (object != NULL || !expected || isnan (out->x[2]),
      "%s loses the object", out->line);
  if (object != NULL
      && gst_cuv_object_in_frame (object, 0, &out->info, &part)) {
    check_box (out, "the object",
        (gdouble[]){ part.left, part.top, part.right, part.bottom });
#if HAVE_ANALYTICS /* GStreamer drops a moved region's parameters */
    fail_unless (object->confidence == 0.75 && object->track == 5,
        "%s: the object's confidence is %g, its track %d", out->line,
        object->confidence, (gint) object->track);
#endif
  }
}

static void
check (const Case *test, GstSample *sample)
{
  const gboolean moves = GST_CHECK_VERSION (1, 28, 0);
  const gboolean keeps = test->expected == KEEPS
      || (moves && (test->expected == MOVES || test->expected == BORDERS));
  Output out = { .line = test->line };
  GstCuvTable table;

  find_marks (&out, sample);
  check_segments (&out, keeps);
  check_points (&out, keeps);
  check_boxes (&out, test->expected == KEEPS);
  if (moves || test->expected != BORDERS)
    check_objects (&out, keeps);
  fail_unless (test->expected == DROPS || find_table (&out, "testids", &table),
      "%s loses a table without coordinates", test->line);
}

static GstSample *
run (const Case *test)
{
  g_autofree gchar *line =
      g_strdup_printf ("appsrc name=source format=time caps=\"%s\" "
                       "! %s ! appsink name=sink sync=false",
          CAPS, test->line);
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (line);
  g_autoptr (GstElement) source =
      gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstBuffer) frame = new_frame ();
  GstFlowReturn flow;
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (source, "push-buffer", frame, &flow);
  g_signal_emit_by_name (source, "end-of-stream", &flow);
  sample = cuv_pull_sample (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return sample;
}

static gboolean
is_installed (const gchar *line)
{
  g_autofree gchar *name = g_strndup (line, strcspn (line, " "));
  GstElementFactory *factory = gst_element_factory_find (name);

  if (factory == NULL)
    g_printerr ("not tested: no element %s\n", name);
  else
    gst_object_unref (factory);
  return factory != NULL;
}

/* autovideoflip of GStreamer 1.26 leaks a videoflip, with any element. */
static gboolean
leaks_alone (const gchar *line)
{
  return g_getenv ("GST_TRACERS") != NULL
      && g_str_has_prefix (line, "autovideoflip");
}

CUV_LOOP_TEST (test_geometry, G_N_ELEMENTS (cases))
{
  const Case *test = &cases[__i__];
  GstSample *sample;

  if (!is_installed (test->line) || leaks_alone (test->line))
    return;
  sample = run (test);
  check (test, sample);
  gst_sample_unref (sample);
}

/* ---- pixels that are not visible ---- */

/* videocrop only sets a GstVideoCropMeta instead of moving pixels if all
 * elements downstream support that meta. Ours do not. */
CUV_TEST (test_no_invisible_pixels)
{
  g_autoptr (GPtrArray) names = cuv_frame_element_names ();

  for (guint i = 0; i < names->len; i++) {
    gchar *line = g_strdup_printf (
        "videocrop left=20 ! %s", (gchar *) g_ptr_array_index (names, i));
    GstElement *bin = cuv_bin_new (line);
    GstHarness *h = gst_harness_new_with_element (bin, "sink", "src");
    GstBuffer *out;

    gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
    gst_harness_add_propose_allocation_meta (
        h, GST_VIDEO_CROP_META_API_TYPE, NULL);
    cuv_harness_caps (h, "RGB", WIDTH, HEIGHT);
    fail_unless_equals_int (gst_harness_push (h, new_frame ()), GST_FLOW_OK);
    while ((out = gst_harness_try_pull (h)) != NULL) {
      fail_unless (gst_buffer_get_video_crop_meta (out) == NULL, "%s", line);
      gst_buffer_unref (out);
    }
    gst_harness_teardown (h);
    gst_object_unref (bin);
    g_free (line);
  }
  fail_unless (names->len > 5);
}

/* ---- warnings ---- */

static gint n_warnings;

static void
count_warning (GstDebugCategory *category, GstDebugLevel level,
    const gchar *file, const gchar *function, gint line, GObject *object,
    GstDebugMessage *message, gpointer unused)
{
  if (strstr (gst_debug_message_get (message),
          "its coordinates cannot be adjusted"))
    g_atomic_int_inc (&n_warnings);
}

/* Many tables have been dropped by now. Only the first case causes a
 * warning. */
CUV_TEST (test_one_warning)
{
  fail_unless_equals_int (g_atomic_int_get (&n_warnings), 1);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  gst_debug_set_default_threshold (GST_LEVEL_WARNING);
  gst_debug_add_log_function (count_warning, NULL, NULL);
}
