/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ldpdescriptor: the property draw paints codes as the C reference does; the
 * published descriptor describes the frame before drawing. */
#include "config.h"
#include "descriptor-harness.h"

#define WIDTH 64
#define HEIGHT 48

static const GstLdpRegion all = { -1, 0, 0, WIDTH, HEIGHT };

CUV_TEST (test_draw)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };

  for (guint i = 0; i < G_N_ELEMENTS (formats) - (guint) use_cuda; i++) {
    const Kind kind = default_kind (WIDTH, HEIGHT);
    CuvLive run = run_new ("", formats[i], WIDTH, HEIGHT);

    for (gint direction = 0; direction < CUV_LDP_DIRECTIONS; direction++) {
      GstBuffer *in = run_frame (&run), *out;

      g_object_set (run.element, "draw", direction, NULL);
      out = cuv_live_push (&run, gst_buffer_copy_deep (in));
      check_described (&run, out, in, &kind, &all, 1);
      draw_codes (&run, in, &kind, all, direction);
      check_same_pixels (&run, out, in);
      gst_buffer_unref (in);
      gst_buffer_unref (out);
    }
    cuv_live_clear (&run);
  }
}

static const struct {
  const gchar *properties;
  Kind kind;
} kinds[] = {
  { "draw=code-45 order=4",
      KIND (
          4, 0, 8, 15, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, WIDTH, HEIGHT) },
  { "draw=code-45 border=replicate order=9",
      KIND (9, 0, 8, 15, 0, CUV_LDP_REPLICATE, CUV_LDP_BINS_256, 0, WIDTH,
          HEIGHT) },
  /* a direction that is not counted */
  { "draw=code-45 directions=0",
      KIND (3, 0, 8, 1, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, WIDTH, HEIGHT) },
  { "draw=code-45 descriptor-width=20 descriptor-height=100",
      KIND (3, 0, 8, 15, 0, CUV_LDP_VALID, CUV_LDP_BINS_256, 0, 20, 100) },
  { "draw=code-45 n-threads=1 bins=uniform descriptor-width=1 grid=1",
      KIND (
          3, 0, 1, 15, 0, CUV_LDP_VALID, CUV_LDP_BINS_UNIFORM, 0, 1, HEIGHT) },
};

CUV_TEST (test_draw_parameters)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    CuvLive run = run_new (kinds[i].properties, "NV12", WIDTH, HEIGHT);
    GstBuffer *in = run_frame (&run);
    GstBuffer *out = cuv_live_push (&run, gst_buffer_copy_deep (in));

    check_described (&run, out, in, &kinds[i].kind, &all, 1);
    draw_codes (&run, in, &kinds[i].kind, all, 1);
    check_same_pixels (&run, out, in);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    cuv_live_clear (&run);
  }
}

/* All regions are described before the first is drawn; where they overlap, a
 * later one draws the codes of what earlier ones have drawn. */
CUV_TEST (test_draw_regions)
{
  static const GstLdpRegion regions[] = { { 0, 2, 4, 30, 20 },
    { 1, 20, 10, 33, 30 }, { 2, 55, 40, 9, 8 } };
  const Kind kind = default_kind (24, 32);
  CuvLive run =
      run_new ("region=roi-list descriptor-width=24 descriptor-height=32 "
               "draw=code-90",
          "NV12", WIDTH, HEIGHT);

  for (guint n = 0; n <= G_N_ELEMENTS (regions); n++) {
    GstBuffer *in = run_frame (&run), *out;

    for (guint i = 0; i < n; i++)
      add_region (in, "thing", regions[i]);
    out = cuv_live_push (&run, gst_buffer_copy_deep (in));
    check_described (&run, out, in, &kind, regions, n);
    for (guint i = 0; i < n; i++)
      draw_codes (&run, in, &kind, regions[i], 2);
    check_same_pixels (&run, out, in);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  cuv_live_clear (&run);
}

/* Other holders of the frame see it unchanged; metas are copied. */
CUV_TEST (test_draws_on_a_copy)
{
  const Kind kind = default_kind (WIDTH, HEIGHT);
  CuvLive run = run_new ("draw=code-0", "NV12", WIDTH, HEIGHT);

  for (guint i = 0; i < 3; i++) {
    GstBuffer *in = cuv_frame_with_metas ();
    GstBuffer *before = gst_buffer_copy_deep (in);
    GstBuffer *out = cuv_live_push (&run, gst_buffer_ref (in));

    cuv_check_metas ("ldpdescriptor", out);
    check_same_pixels (&run, in, before);
    draw_codes (&run, before, &kind, all, 0);
    check_same_pixels (&run, out, before);
    fail_unless (use_cuda || out->pool != NULL); /* from a pool */
    gst_buffer_unref (before);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  cuv_live_clear (&run);
}

/* Without draw a shared frame is passed on uncopied. */
CUV_TEST (test_shared_frames_are_not_copied)
{
  CuvLive run = run_new ("", "NV12", WIDTH, HEIGHT);
  GstBuffer *in = cuv_frame_with_metas (), *out;

  out = cuv_live_push (&run, gst_buffer_ref (in));
  cuv_check_metas ("ldpdescriptor", out);
  check_same_pixels (&run, out, in);
  fail_unless (use_cuda
      || gst_buffer_peek_memory (in, 0) == gst_buffer_peek_memory (out, 0));
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  cuv_live_clear (&run);
}

/* Frames that are not analysed are not drawn on. */
CUV_TEST (test_draws_only_on_analysed_frames)
{
  const Kind kind = default_kind (WIDTH, HEIGHT);
  CuvLive run = run_new ("draw=code-135 inference-interval=2 hold-results=true",
      "NV12", WIDTH, HEIGHT);

  for (guint i = 0; i < 4; i++) {
    GstBuffer *in = run_frame (&run);
    GstBuffer *out = cuv_live_push (&run, gst_buffer_copy_deep (in));

    if (i % 2 == 0)
      draw_codes (&run, in, &kind, all, 3);
    check_same_pixels (&run, out, in);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  cuv_live_clear (&run);
}
