/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ldpdescriptor: properties apply to the next frame; errors name invalid
 * values, and the previous ones stay in force. */
#include "config.h"
#include "descriptor-harness.h"

#include <string.h>

#define WIDTH 64
#define HEIGHT 48

/* ---- live ---- */

#define VALID CUV_LDP_VALID
#define EDGE CUV_LDP_REPLICATE
#define ALL CUV_LDP_BINS_256
#define EVEN CUV_LDP_BINS_LEVELS
#define UNIFORM CUV_LDP_BINS_UNIFORM

/* order, block, grid, directions, merged, border, bins, levels, width, height
 */
static const struct {
  const gchar *set;
  Kind kind;
} steps[] = {
  { "order=4", KIND (4, 0, 8, 15, 0, VALID, ALL, 0, WIDTH, HEIGHT) },
  { "grid=3", KIND (4, 0, 3, 15, 0, VALID, ALL, 0, WIDTH, HEIGHT) },
  { "block=11", KIND (4, 11, 0, 15, 0, VALID, ALL, 0, WIDTH, HEIGHT) },
  { "grid=5", KIND (4, 11, 0, 15, 0, VALID, ALL, 0, WIDTH, HEIGHT) },
  { "directions=45+135", KIND (4, 11, 0, 10, 0, VALID, ALL, 0, WIDTH, HEIGHT) },
  { "merge-directions=true",
      KIND (4, 11, 0, 10, 1, VALID, ALL, 0, WIDTH, HEIGHT) },
  { "border=replicate", KIND (4, 11, 0, 10, 1, EDGE, ALL, 0, WIDTH, HEIGHT) },
  { "levels=7", KIND (4, 11, 0, 10, 1, EDGE, ALL, 0, WIDTH, HEIGHT) },
  { "bins=levels", KIND (4, 11, 0, 10, 1, EDGE, EVEN, 7, WIDTH, HEIGHT) },
  { "levels=256", KIND (4, 11, 0, 10, 1, EDGE, EVEN, 256, WIDTH, HEIGHT) },
  { "bins=uniform", KIND (4, 11, 0, 10, 1, EDGE, UNIFORM, 0, WIDTH, HEIGHT) },
  { "descriptor-width=40",
      KIND (4, 11, 0, 10, 1, EDGE, UNIFORM, 0, 40, HEIGHT) },
  { "descriptor-height=30", KIND (4, 11, 0, 10, 1, EDGE, UNIFORM, 0, 40, 30) },
  { "block=0", KIND (4, 0, 5, 10, 1, EDGE, UNIFORM, 0, 40, 30) },
  { "scales=3", { { 4, 0, 5, 10, 1, EDGE, UNIFORM, 0, 3 }, 40, 30 } },
};

CUV_TEST (test_live_changes)
{
  const GstLdpRegion all = { -1, 0, 0, WIDTH, HEIGHT };
  const GstLdpRegion part = { 3, 20, 10, 30, 30 };
  const Kind *last = &steps[G_N_ELEMENTS (steps) - 1].kind;
  CuvLive run = run_new ("", "NV12", WIDTH, HEIGHT);
  const Kind first = default_kind (WIDTH, HEIGHT);

  check_next (&run, &first);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    cuv_element_set (run.element, steps[i].set);
    check_next (&run, &steps[i].kind);
  }
  for (guint i = 0; i < 4; i++) {
    GstBuffer *in = run_frame (&run), *out;

    add_region (in, "thing", part);
    gst_util_set_object_arg (
        G_OBJECT (run.element), "region", i % 2 == 0 ? "roi-list" : "frame");
    out = cuv_live_push (&run, gst_buffer_copy_deep (in));
    check_described (&run, out, in, last, i % 2 == 0 ? &part : &all, 1);
    gst_buffer_unref (out);
    gst_buffer_unref (in);
  }
  run_check_quiet (&run);
  cuv_live_clear (&run);
}

/* ---- invalid settings ---- */

static const struct {
  const gchar *name;
  gint value;
  const gchar *problem;
  gint fix;
} invalid[] = {
  { "grid", 50,
      "grid 50 exceeds the width or height of the picture, 64x48 pixels: lower "
      "grid, or raise descriptor-width and descriptor-height",
      48 },
  { "region", GST_LDP_ROI_LIST,
      "descriptor-width is 0 and descriptor-height 0, but regions "
      "(region=roi-list) differ in size: set both above 0",
      GST_LDP_FRAME },
  { "directions", 0, "directions is empty: set one or more, for example 0+90",
      CUV_LDP_45 },
};

CUV_TEST (test_invalid_at_start)
{
  for (guint i = 0; i < G_N_ELEMENTS (invalid); i++) {
    CuvLive run = run_new ("", "NV12", WIDTH, HEIGHT);

    g_object_set (run.element, invalid[i].name, invalid[i].value, NULL);
    cuv_live_push_error (&run, run_frame (&run), invalid[i].problem);
    cuv_live_clear (&run);
  }
}

/* Invalid values cause one warning; the previous ones stay in force until the
 * new ones are valid, even for frames of another size. */
CUV_TEST (test_invalid_while_playing)
{
  for (guint i = 0; i < G_N_ELEMENTS (invalid); i++) {
    Kind kind = default_kind (WIDTH, HEIGHT);
    CuvLive run = run_new ("draw=code-0", "NV12", WIDTH, HEIGHT);
    gint value;

    check_next (&run, &kind);
    g_object_set (
        run.element, invalid[i].name, invalid[i].value, "order", 2, NULL);
    check_next (&run, &kind);
    expect_problem (run.bus, GST_MESSAGE_WARNING, invalid[i].problem);
    check_next (&run, &kind);
    run_check_quiet (&run);
    g_object_get (run.element, invalid[i].name, &value, NULL);
    fail_unless_equals_int (value, invalid[i].value);

    kind = default_kind (WIDTH / 2, HEIGHT / 2);
    cuv_live_caps (&run, "RGB", WIDTH / 2, HEIGHT / 2);
    check_next (&run, &kind);
    expect_problem (run.bus, GST_MESSAGE_WARNING, invalid[i].name);
    cuv_live_caps (&run, "NV12", WIDTH, HEIGHT);
    g_object_set (run.element, invalid[i].name, invalid[i].fix, NULL);
    kind = default_kind (WIDTH, HEIGHT);
    kind.params.order = 2;
    if (i == 0)
      kind.params.grid = invalid[i].fix;
    if (i == 2)
      kind.params.directions = invalid[i].fix;
    check_next (&run, &kind);
    run_check_quiet (&run);
    cuv_live_clear (&run);
  }
}

/* Frames become too small for the values in force. */
CUV_TEST (test_frames_become_too_small)
{
  CuvLive run = run_new ("grid=40", "NV12", WIDTH, HEIGHT);
  Kind kind = default_kind (WIDTH, HEIGHT);

  kind.params.grid = 40;
  check_next (&run, &kind);
  cuv_live_caps (&run, "NV12", WIDTH / 2, HEIGHT / 2);
  cuv_live_push_error (&run, run_frame (&run),
      "grid 40 exceeds the width or height of the picture, 32x24 pixels");
  cuv_live_clear (&run);
}

/* A stop discards the values in force. */
CUV_TEST (test_invalid_at_second_start)
{
  const Kind kind = default_kind (WIDTH, HEIGHT);
  CuvLive run = run_new ("", "NV12", WIDTH, HEIGHT);

  check_next (&run, &kind);
  gst_element_set_state (run.element, GST_STATE_NULL);
  g_object_set (run.element, "directions", 0, NULL); /* none */
  gst_element_set_state (run.element, GST_STATE_PLAYING);
  cuv_live_caps (&run, "NV12", WIDTH, HEIGHT);
  cuv_live_push_error (&run, run_frame (&run), "directions is empty");
  cuv_live_clear (&run);
}

/* Layouts that need too much memory are rejected. */
CUV_TEST (test_too_many_counts)
{
  CuvLive run = run_new ("block=1", "RGB", 1024, 512);

  cuv_live_push_error (&run, run_frame (&run),
      "block 1 makes 1024 x 512 blocks with 1024 MB of counts, which must be "
      "below 1024 MB: raise it");
  cuv_live_clear (&run);
  run = run_new ("grid=1000 descriptor-width=1000 descriptor-height=1000",
      "RGB", WIDTH, HEIGHT);
  cuv_live_push_error (
      &run, run_frame (&run), "grid 1000 makes 1000 x 1000 blocks");
  cuv_live_clear (&run);
}

CUV_TEST (test_large_frames)
{
  CuvLive run = run_new ("", "RGB", 16385, 8);
  const Kind kind = default_kind (100, 8);

  cuv_live_push_error (&run, run_frame (&run),
      "16385x8 pixels cannot be described: descriptor-width and "
      "descriptor-height must be 1 to 16384");
  cuv_live_clear (&run);
  run = run_new ("descriptor-width=16384 descriptor-height=2049", "RGB", 8, 8);
  cuv_live_push_error (&run, run_frame (&run),
      "16384x2049 pixels cannot be described: descriptor-width and "
      "descriptor-height must be 1 to 16384 each, and at most 33554432 pixels "
      "in "
      "all");
  cuv_live_clear (&run);
  run = run_new ("descriptor-width=100", "RGB", 16385, 8);
  check_next (&run, &kind);
  run_check_quiet (&run);
  cuv_live_clear (&run);
}

CUV_TEST (test_out_of_range)
{
  cuv_expect_refused ("ldpdescriptor",
      "order=1 order=10 grid=0 grid=1025 block=16385 levels=1 levels=257 "
      "scales=0 scales=9 directions=16 directions=0+46 descriptor-width=16385");
}

CUV_TEST (test_invalid_names)
{
  cuv_expect_parse_errors ("ldpdescriptor",
      "directions=right bins=128 border=mirror region=roi draw=code-46");
}
