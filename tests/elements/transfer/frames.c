/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudaupload and cudadownload on the stand-in driver: pixels, metas, memory. */
#include "cuvelements.h"

#define ROUND_TRIP "cuvcudaupload ! cuvcudadownload"

static GstBuffer *
round_trip (GstHarness *h, GstBuffer *in)
{
  GstBuffer *out;

  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_ref (in)), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (out != NULL);
  return out;
}

static void
check_pixels (const gchar *format, gint width, gint height)
{
  GstHarness *h = gst_harness_new_parse (ROUND_TRIP);
  gint copies = cuv_fake_counts ().to_device;
  GstBuffer *in, *out;

  cuv_harness_caps (h, format, width, height);
  in = cuv_frame_new (format, width, height);
  out = round_trip (h, in);
  fail_unless (cuv_frames_equal (format, width, height, in, out),
      "%s %dx%d differs", format, width, height);
  /* a frame that came back uncopied must not have been uploaded */
  fail_unless_equals_int (cuv_fake_counts ().to_device > copies,
      gst_buffer_peek_memory (in, 0) != gst_buffer_peek_memory (out, 0));
  if (height % 2 == 0)
    fail_unless (cuv_fake_counts ().to_device > copies, "%s", format);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  cuv_fake_check_clean ();
}

/* Returns the formats of the CUDA caps in cuvcudaupload's pad template. */
static const GValue *
cuda_formats (void)
{
  GstElementFactory *factory = gst_element_factory_find ("cuvcudaupload");
  const GList *templates =
      gst_element_factory_get_static_pad_templates (factory);
  const GValue *formats = NULL;

  for (; templates != NULL; templates = templates->next) {
    GstCaps *caps = gst_static_pad_template_get_caps (templates->data);

    if (gst_caps_features_contains (
            gst_caps_get_features (caps, 0), CUDA_FEATURE))
      formats =
          gst_structure_get_value (gst_caps_get_structure (caps, 0), "format");
    gst_caps_unref (caps); /* the template keeps it */
  }
  gst_object_unref (factory);
  fail_unless (formats != NULL && gst_value_list_get_size (formats) >= 28);
  return formats;
}

CUV_TEST (pixels_of_every_format_and_size)
{
  static const gint sizes[][2] = { { 64, 48 }, { 1, 1 }, { 3, 2 }, { 17, 33 },
    { 641, 6 } };
  const GValue *formats = cuda_formats ();

  for (guint f = 0; f < gst_value_list_get_size (formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      check_pixels (g_value_get_string (gst_value_list_get_value (formats, f)),
          sizes[s][0], sizes[s][1]);
}

CUV_TEST (caps_change_between_frames)
{
  static const struct {
    const gchar *format;
    gint width, height;
  } steps[] = { { "NV12", 64, 48 }, { "RGBA", 33, 17 }, { "GRAY8", 16, 16 },
    { "NV12", 64, 48 }, { "NV12", 320, 240 }, { "I420", 64, 49 },
    { "I420", 64, 50 } };
  GstHarness *h = gst_harness_new_parse (ROUND_TRIP);

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    cuv_harness_caps (h, steps[i].format, steps[i].width, steps[i].height);
    for (guint frame = 0; frame < 3; frame++) {
      GstBuffer *in =
          cuv_frame_new (steps[i].format, steps[i].width, steps[i].height);
      GstBuffer *out = round_trip (h, in);

      fail_unless (cuv_frames_equal (steps[i].format, steps[i].width,
                       steps[i].height, in, out),
          "step %u", i);
      gst_buffer_unref (in);
      gst_buffer_unref (out);
    }
  }
  gst_harness_teardown (h);
  cuv_fake_check_clean ();
}

static FakecudaCounts
counts_of_frames (guint n)
{
  FakecudaCounts before = cuv_fake_counts (), after;
  g_autofree gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=%u ! " ROUND_TRIP " ! fakesink sync=false", n);

  cuv_play (line);
  after = cuv_fake_counts ();
  after.device_blocks_made -= before.device_blocks_made;
  after.pinned_blocks_made -= before.pinned_blocks_made;
  after.to_device -= before.to_device;
  after.to_host -= before.to_host;
  after.on_device -= before.on_device;
  return after;
}

CUV_TEST (frames_cost_copies_but_no_allocation)
{
  FakecudaCounts few = counts_of_frames (5), many = counts_of_frames (50);

  fail_unless_equals_int (many.device_blocks_made, few.device_blocks_made);
  fail_unless_equals_int (many.pinned_blocks_made, few.pinned_blocks_made);
  /* videotestsrc chooses a format of one to three planes */
  fail_unless_equals_int (many.to_device, 10 * few.to_device);
  fail_unless_equals_int (many.to_host, 10 * few.to_host);
  fail_unless (few.to_device >= 5 && few.to_device <= 15);
  fail_unless_equals_int (many.on_device, 0);
  g_print ("50 frames: %d device and %d pinned allocations, %d + %d copies\n",
      many.device_blocks_made, many.pinned_blocks_made, many.to_device,
      many.to_host);
}

static void
check_metas_through (const gchar *line)
{
  GstHarness *h = gst_harness_new_parse (line);
  GstBuffer *in = cuv_frame_with_metas (), *out;

  cuv_harness_caps (h, "NV12", 64, 48);
  out = round_trip (h, in);
  cuv_check_metas (line, out);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  cuv_fake_check_clean ();
}

CUV_TEST (metas_are_kept)
{
  check_metas_through ("cuvcudaupload");
  check_metas_through (ROUND_TRIP);
  check_metas_through ("cudaupload ! cudadownload");
  check_metas_through ("cuvcudaupload ! queue ! identity ! cuvcudadownload");
}

CUV_TEST (a_copy_keeps_no_reference_to_its_source)
{
  g_autoptr (GstHarness) h = gst_harness_new_parse (ROUND_TRIP);
  g_autoptr (GstBuffer) parent = gst_buffer_new ();
  GstBuffer *in;
  g_autoptr (GstBuffer) out = NULL;

  cuv_harness_caps (h, "NV12", 64, 48);
  in = cuv_frame_new ("NV12", 64, 48);
  gst_buffer_add_parent_buffer_meta (in, parent);
  out = round_trip (h, in);
  gst_buffer_unref (in);
  ASSERT_MINI_OBJECT_REFCOUNT (parent, "parent", 1);
}
