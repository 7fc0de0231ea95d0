/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ldpdescriptor against the C reference: metadata, messages and statistics.
 * With CUV_TEST_CUDA=1 the GPU must give the same results. */
#include "config.h"
#include "descriptor-harness.h"

#include <string.h>

#define WIDTH 67
#define HEIGHT 46

static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21", "YUY2",
  "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };

/* ---- frames ---- */

CUV_TEST (test_formats)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats) - (guint) use_cuda; i++) {
    const Kind same = default_kind (WIDTH, HEIGHT),
               small = default_kind (40, 59);
    CuvLive run = run_new ("", formats[i], WIDTH, HEIGHT);

    check_next (&run, &same);
    g_object_set (
        run.element, "descriptor-width", 40, "descriptor-height", 59, NULL);
    check_next (&run, &small);
    run_check_quiet (&run);
    cuv_live_clear (&run);
  }
}

static const struct {
  const gchar *properties;
  Kind kind;
} sets[] = {
  { "order=2 grid=1",
      KIND (
          2, 0, 1, 15, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, WIDTH, HEIGHT) },
  { "order=4 grid=5",
      KIND (
          4, 0, 5, 15, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, WIDTH, HEIGHT) },
  { "order=9 block=16",
      KIND (
          9, 16, 0, 15, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, WIDTH, HEIGHT) },
  { "block=7 directions=0+90",
      KIND (3, 7, 0, 5, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, WIDTH, HEIGHT) },
  { "block=16384 directions=45",
      KIND (3, 16384, 0, 2, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, WIDTH,
          HEIGHT) },
  { "merge-directions=true grid=3 directions=0+45+135",
      KIND (
          3, 0, 3, 11, 1, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, WIDTH, HEIGHT) },
  { "bins=uniform border=replicate block=9",
      KIND (3, 9, 0, 15, 0, CUV_LDP_REPLICATE, CUV_LDP_BINS_UNIFORM, 0, WIDTH,
          HEIGHT) },
  { "bins=levels levels=5 levels=3 order=5",
      KIND (5, 0, 8, 15, 0, CUV_LDP_VALID, CUV_LDP_BINS_LEVELS, 3, WIDTH,
          HEIGHT) },
  { "descriptor-width=31",
      KIND (3, 0, 8, 15, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, 31, HEIGHT) },
  { "descriptor-height=90 border=replicate order=9",
      KIND (
          9, 0, 8, 15, 0, CUV_LDP_REPLICATE, CUV_LDP_BINS_256, 0, WIDTH, 90) },
  { "descriptor-width=300 descriptor-height=290 grid=1 n-threads=1",
      KIND (3, 0, 1, 15, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, 300,
          290) }, /* counts of four bytes */
  { "scales=3 grid=2 n-threads=2 order=2",
      { { .order = 2, .grid = 2, .directions = 15, .scales = 3 }, WIDTH,
          HEIGHT } },
  { "descriptor-width=1 descriptor-height=1 grid=1 levels=9",
      KIND (3, 0, 1, 15, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, 1, 1) },
};

CUV_TEST (test_parameters)
{
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++) {
    CuvLive run = run_new (sets[i].properties, "NV12", WIDTH, HEIGHT);

    check_next (&run, &sets[i].kind);
    check_next (&run, &sets[i].kind);
    run_check_quiet (&run);
    cuv_live_clear (&run);
  }
}

/* ---- regions ---- */

#define LIST "region=roi-list descriptor-width=24 descriptor-height=16 grid=2 "

static Kind
listed_kind (void)
{
  Kind kind = default_kind (24, 16);

  kind.params.grid = 2;
  return kind;
}

static void
check_regions (CuvLive *run, GstBuffer *in, const GstLdpRegion *wanted, guint n)
{
  const Kind kind = listed_kind ();
  GstBuffer *out = cuv_live_push (run, gst_buffer_copy_deep (in));

  check_described (run, out, in, &kind, wanted, n);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
  run_check_quiet (run);
}

/* Regions are clipped; those outside the frame are ignored. */
CUV_TEST (test_regions)
{
  static const GstLdpRegion given[] = { { 4, 0, 0, WIDTH, HEIGHT },
    { 7, 3, 5, 30, 20 }, { 8, WIDTH, 5, 10, 10 }, { 9, 60, 40, 90, 90 },
    { 10, 5, 5, 0, 5 }, { 12, WIDTH - 1, HEIGHT - 1, G_MAXUINT, G_MAXUINT },
    { 13, G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT },
    { -5, 24, 16, 24, 16 } };
  static const GstLdpRegion wanted[] = { { 4, 0, 0, WIDTH, HEIGHT },
    { 7, 3, 5, 30, 20 }, { 9, 60, 40, 7, 6 },
    { 12, WIDTH - 1, HEIGHT - 1, 1, 1 }, { -5, 24, 16, 24, 16 } };
  CuvLive run = run_new (LIST, "I420", WIDTH, HEIGHT);
  GstBuffer *in = run_frame (&run);

  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    add_region (in, "thing", given[i]);
  check_regions (&run, in, wanted, G_N_ELEMENTS (wanted));
  check_regions (&run, run_frame (&run), NULL, 0);
  cuv_live_clear (&run);
}

CUV_TEST (test_object_class)
{
  const GstLdpRegion cat = { 0, 1, 2, 30, 30 }, dog = { 1, 20, 10, 40, 20 };
  const GstLdpRegion both[] = { cat, dog };
  CuvLive run = run_new (LIST "object-class=dog", "RGB", WIDTH, HEIGHT);
  static const gchar *const classes[] = { "dog", "cat", "cow", "", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++) {
    GstBuffer *in = run_frame (&run);

    add_region (in, "cat", cat);
    add_region (in, "dog", dog);
    g_object_set (run.element, "object-class", classes[i], NULL);
    if (i < 2)
      check_regions (&run, in, i == 0 ? &dog : &cat, 1);
    else
      check_regions (&run, in, both, i == 2 ? 0 : 2);
  }
  cuv_live_clear (&run);
}

CUV_TEST (test_too_many_regions)
{
  GstLdpRegion wanted[GST_LDP_MAX_REGIONS];
  CuvLive run = run_new (LIST, "NV12", WIDTH, HEIGHT);
  GstBuffer *in = run_frame (&run);

  for (guint i = 0; i < GST_LDP_MAX_REGIONS + 44; i++) {
    const GstLdpRegion region = { (gint32) i, i % 40, i % 30, 20, 15 };

    add_region (in, "thing", region);
    if (i < GST_LDP_MAX_REGIONS)
      wanted[i] = region;
  }
  gst_buffer_unref (cuv_live_push (&run, gst_buffer_copy_deep (in)));
  expect_problem (run.bus, GST_MESSAGE_WARNING,
      "Only the first 256 of 300 regions of a frame are described");
  check_regions (&run, in, wanted, GST_LDP_MAX_REGIONS);
  cuv_live_clear (&run);
}

/* The counts of each region take 514 MB. */
CUV_TEST (test_too_many_counts_of_regions)
{
  const GstLdpRegion region = { 0, 0, 0, 40, 40 };
  CuvLive run = run_new ("region=roi-list grid=513 descriptor-width=513 "
                         "descriptor-height=513",
      "NV12", WIDTH, HEIGHT);

  for (guint i = 0; i < 2; i++) {
    GstBuffer *in = run_frame (&run), *out;
    GstLdpDescriptors found;
    gchar *problem;

    add_region (in, "thing", region);
    add_region (in, "thing", region);
    out = cuv_live_push (&run, in);
    fail_unless (gst_ldp_meta_read (out, &found, &problem), "%s", problem);
    fail_unless_equals_int (found.n_regions, 1);
    fail_unless_equals_int (cuv_stat_uint (run.element, "regions"), 1);
    gst_buffer_unref (out);
    if (i == 0)
      expect_problem (run.bus, GST_MESSAGE_WARNING,
          "Only the first 1 of 2 regions of a frame are described");
  }
  run_check_quiet (&run);
  cuv_live_clear (&run);
}

/* ---- messages and statistics ---- */

/* Pops the next message of the element. Returns its number of regions, or -1 if
 * there is no message. */
static gint
next_message (CuvLive *run)
{
  GstMessage *message = gst_bus_pop_filtered (run->bus, GST_MESSAGE_ELEMENT);
  const GstStructure *structure;
  guint regions = 0;

  if (message == NULL)
    return -1;
  structure = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (structure, "ldpdescriptor"));
  fail_unless (
      gst_structure_has_field_typed (structure, "timestamp", G_TYPE_UINT64)
      && gst_structure_get_uint (structure, "regions", &regions));
  gst_message_unref (message);
  return (gint) regions;
}

CUV_TEST (test_message_and_stats)
{
  static const guint n_regions[] = { 2, 2, 0, 1 };
  static const gint on_change[] = { 2, -1, 0, 1 };

  for (guint way = 0; way < 3; way++) { /* none, on-change, every-frame */
    CuvLive run = run_new (LIST, "NV12", WIDTH, HEIGHT);

    fail_unless_equals_int (cuv_stat_uint (run.element, "regions"), 0);
    g_object_set (run.element, "message", way, NULL);
    for (guint i = 0; i < G_N_ELEMENTS (n_regions); i++) {
      GstBuffer *in = run_frame (&run);

      for (guint k = 0; k < n_regions[i]; k++)
        add_region (in, "thing", (GstLdpRegion){ (gint32) k, k, k, 9, 9 });
      gst_buffer_unref (cuv_live_push (&run, in));
      fail_unless_equals_int (
          cuv_stat_uint (run.element, "regions"), n_regions[i]);
      fail_unless_equals_int (next_message (&run),
          way == 0       ? -1
              : way == 1 ? on_change[i]
                         : (gint) n_regions[i]);
    }
    fail_unless_equals_uint64 (cuv_stat (run.element, "analysed"), 4);
    cuv_live_clear (&run);
  }
}

static guint64
age_of (GstBuffer *buffer)
{
  GstStructure *table = gst_custom_meta_get_structure (
      gst_buffer_get_custom_meta (buffer, "GstCuvLdpMeta"));
  guint64 age = 0;

  gst_structure_get_uint64 (table, "age", &age);
  return age;
}

/* Held results keep the parameters they were made with. */
CUV_TEST (test_hold_results)
{
  const GstLdpRegion all = { -1, 0, 0, WIDTH, HEIGHT };
  Kind kind = default_kind (WIDTH, HEIGHT);
  CuvLive run =
      run_new ("inference-interval=3 hold-results=true", "NV12", WIDTH, HEIGHT);
  GstBuffer *analysed = NULL;

  for (guint i = 0; i < 7; i++) {
    GstBuffer *in = run_frame (&run), *out;

    if (i % 3 == 0) {
      gst_clear_buffer (&analysed);
      analysed = gst_buffer_copy_deep (in);
      kind.params.order = i == 0 ? 3 : 2;
    }
    out = cuv_live_push (&run, in);
    check_described (&run, out, analysed, &kind, &all, 1);
    fail_unless_equals_uint64 (age_of (out), i % 3 * (GST_SECOND / 25));
    gst_buffer_unref (out);
    if (i == 0)
      g_object_set (run.element, "order", 2, NULL);
  }
  gst_buffer_unref (analysed);
  cuv_live_clear (&run);
}

/* ---- changing and restarted streams ---- */

/* Sends caps without a segment event, which would reset held results. */
static void
push_caps (CuvLive *run, const gchar *format, gint width, gint height)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      format, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height,
      "framerate", GST_TYPE_FRACTION, 25, 1, NULL);

  fail_unless (gst_harness_push_event (run->h, gst_event_new_caps (caps)));
  gst_caps_unref (caps);
  run->format = format;
  run->width = width;
  run->height = height;
}

/* Results are not held across a change of the frame size. */
CUV_TEST (test_caps_change)
{
  CuvLive run = run_new (
      "inference-interval=100 hold-results=true", "NV12", WIDTH, HEIGHT);
  static const gint sizes[][2] = { { 200, 100 }, { 8, 8 }, { 33, 64 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const Kind kind = default_kind (sizes[i][0], sizes[i][1]);

    gst_buffer_unref (cuv_live_push (&run, run_frame (&run)));
    push_caps (&run, formats[3 * i], kind.width, kind.height);
    check_next (&run, &kind);
  }
  run_check_quiet (&run);
  cuv_live_clear (&run);
}

CUV_TEST (test_flush)
{
  const Kind kind = default_kind (WIDTH, HEIGHT);
  CuvLive run = run_new (
      "inference-interval=100 hold-results=true", "NV12", WIDTH, HEIGHT);

  for (guint i = 0; i < 3; i++) {
    check_next (&run, &kind);
    gst_buffer_unref (cuv_live_push (&run, run_frame (&run)));
    cuv_harness_flush (run.h);
  }
  cuv_live_clear (&run);
}

CUV_TEST (test_restart)
{
  const Kind kind = default_kind (WIDTH, HEIGHT);
  CuvLive run = run_new ("", "NV12", WIDTH, HEIGHT);

  for (guint i = 0; i < 3; i++) {
    check_next (&run, &kind);
    fail_unless_equals_int (cuv_stat_uint (run.element, "regions"), 1);
    gst_element_set_state (run.h->element, GST_STATE_NULL);
    gst_element_set_state (run.h->element, GST_STATE_PLAYING);
    fail_unless_equals_int (cuv_stat_uint (run.element, "regions"), 0);
    cuv_live_caps (&run, "NV12", WIDTH, HEIGHT);
  }
  run_check_quiet (&run);
  cuv_live_clear (&run);
}

/* Describes detections, in a complete pipeline. */
CUV_TEST (test_pipeline)
{
  cuv_play ("videotestsrc num-buffers=10 ! video/x-raw,width=160,height=120 ! "
            "waldboostdetect ! ldpdescriptor region=roi-list "
            "descriptor-width=64 descriptor-height=64 ! fakesink");
}
