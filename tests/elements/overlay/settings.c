/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionoverlay: properties, text and invalid values. */
#include "config.h"
#include "scene.h"

#include <string.h>

/* A black frame with one region. */
static GstBuffer *
black_frame (const gchar *label)
{
  GstBuffer *buffer = cuv_frame_new ("RGB", 320, 240);

  gst_buffer_memset (buffer, 0, 0, -1);
  overlay_add_region (buffer, label, 100, 100, 60, 60, 0.87);
  return buffer;
}

static guint
changed_above (GstHarness *h, GstBuffer *in, GstBuffer *out)
{
  return overlay_changed (h, in, out, 0, 0, 320, 100);
}

/* ---- live changes ---- */

static guint
red_at (GstHarness *h, GstBuffer *in, gint x, gint y)
{
  GstBuffer *out = overlay_draw (h, in);
  guint sample = overlay_sample (h, out, 0, x, y);

  gst_buffer_unref (out);
  return sample;
}

CUV_TEST (properties_change_while_playing)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *in = black_frame ("face");

  fail_unless_equals_int (red_at (h, in, 101, 130), 255);
  fail_unless_equals_int (red_at (h, in, 102, 130), 0);
  g_object_set (h->element, "thickness", 9, NULL);
  fail_unless_equals_int (red_at (h, in, 108, 130), 255);
  fail_unless_equals_int (red_at (h, in, 109, 130), 0);
  g_object_set (h->element, "thickness", 0, NULL); /* 1 + 240 / 300 */
  fail_unless_equals_int (red_at (h, in, 100, 130), 255);
  fail_unless_equals_int (red_at (h, in, 101, 130), 0);
  g_object_set (h->element, "color", 0x00400000u, NULL);
  fail_unless_equals_int (red_at (h, in, 100, 130), 0x40);
  g_object_set (h->element, "color", 0xffff0000u, "opacity", 0.5, NULL);
  fail_unless_equals_int (red_at (h, in, 100, 130), 128);
  g_object_set (h->element, "color", 0x80ff0000u, NULL);
  fail_unless_equals_int (red_at (h, in, 100, 130), 64);
  g_object_set (h->element, "draw-boxes", FALSE, NULL);
  fail_unless_equals_int (red_at (h, in, 100, 130), 0);
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

CUV_TEST (labels_selects_regions)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *in = black_frame ("face");

  overlay_add_region (in, "red car", 200, 100, 60, 60, -1);
  g_object_set (h->element, "labels", "cat, face ,", NULL);
  fail_unless_equals_int (red_at (h, in, 100, 130), 255);
  fail_unless_equals_int (red_at (h, in, 200, 130), 0);
  g_object_set (h->element, "labels", "red car", NULL);
  fail_unless_equals_int (red_at (h, in, 100, 130), 0);
  fail_unless_equals_int (red_at (h, in, 200, 130), 255);
  g_object_set (h->element, "labels", " , ", NULL);
  fail_unless_equals_int (red_at (h, in, 100, 130), 255);
  fail_unless_equals_int (red_at (h, in, 200, 130), 255);
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

CUV_TEST (labels_have_own_colours)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *in = black_frame ("face");
  GstBuffer *out;

  overlay_add_region (in, "red car", 200, 100, 60, 60, -1);
  overlay_add_region (in, "dog", 10, 100, 60, 60, -1);
  gst_util_set_object_arg (G_OBJECT (h->element), "label-colors",
      "colors, face=(string)\"#102030\", dog=(uint)0xff405060");
  fail_unless_equals_int (red_at (h, in, 100, 130), 0x10);
  fail_unless_equals_int (red_at (h, in, 10, 130), 0x40);
  fail_unless_equals_int (red_at (h, in, 200, 130), 255);
  g_object_set (h->element, "color", 0, NULL);
  out = overlay_draw (h, in);
  fail_unless (overlay_changed (h, in, out, 200, 100, 60, 60) > 0);
  fail_unless_equals_int (overlay_sample (h, out, 2, 100, 130), 0x30);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

static guint
rgb_at (GstHarness *h, GstBuffer *in, gint x, gint y)
{
  GstBuffer *out = overlay_draw (h, in);
  guint rgb = 0;

  for (gint i = 0; i < 3; i++)
    rgb = rgb << 8 | overlay_sample (h, out, i, x, y);
  gst_buffer_unref (out);
  return rgb;
}

/* Colours as CSS and GStreamer define them, in color and label-colors. */
CUV_TEST (colours_are_parsed)
{
  static const struct {
    const gchar *text;
    guint rgb;
  } colors[] = { { "red", 0xff0000 }, { "orange", 0xffa500 },
    { "LightSteelBlue", 0xb0c4de }, { "light steel blue", 0xb0c4de },
    { "#1af", 0x11aaff }, { "#102030", 0x102030 }, { "#ff102030", 0x102030 },
    { "#00102030", 0x102030 }, { "#80406080", 0x203040 },
    { "0xff102030", 0x102030 }, { "0x102030", 0x102030 },
    { "4279246896", 0x102030 }, { "0x80406080", 0x203040 } };
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *in = black_frame ("face");

  overlay_add_region (in, "dog", 10, 100, 60, 60, -1);
  for (guint i = 0; i < G_N_ELEMENTS (colors); i++) {
    GstStructure *structure = gst_structure_new (
        "colors", "dog", G_TYPE_STRING, colors[i].text, NULL);

    gst_util_set_object_arg (G_OBJECT (h->element), "color", colors[i].text);
    g_object_set (h->element, "label-colors", structure, NULL);
    gst_structure_free (structure);
    fail_unless_equals_int_hex (rgb_at (h, in, 100, 130), colors[i].rgb);
    fail_unless_equals_int_hex (rgb_at (h, in, 10, 130), colors[i].rgb);
  }
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

/* The property is set as gst-launch-1.0, GstPreset and applications set it. */
CUV_TEST (colour_is_set_as_text_or_number)
{
  static const gchar *const no_colors[] = { "rde", "#ff00", "#-1234567", "0x",
    "-1", "", "#gg0000", "99999999999" };
  GstElement *overlay = gst_element_factory_make ("visionoverlay", NULL);
  GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (overlay), "color");
  GValue value = G_VALUE_INIT, number = G_VALUE_INIT;
  guint color;
  gchar *text;

  g_value_init (&value, spec->value_type);
  for (guint i = 0; i < G_N_ELEMENTS (no_colors); i++)
    fail_if (gst_value_deserialize_with_pspec (&value, no_colors[i], spec),
        "%s", no_colors[i]);
  fail_unless (gst_value_deserialize_with_pspec (&value, "#40ff8000", spec));
  g_object_set_property (G_OBJECT (overlay), "color", &value);
  g_object_get (overlay, "color", &color, NULL);
  fail_unless_equals_int_hex (color, 0x40ff8000);
  text = gst_value_serialize (&value);
  g_value_set_uint (&value, 0);
  fail_unless (gst_value_deserialize (&value, text));
  fail_unless_equals_int_hex (g_value_get_uint (&value), 0x40ff8000);
  g_free (text);
  g_value_unset (&value);
  g_value_init (&number, G_TYPE_UINT);
  g_value_set_uint (&number, 7);
  g_object_set_property (G_OBJECT (overlay), "color", &number);
  g_object_get_property (G_OBJECT (overlay), "color", &number);
  fail_unless_equals_int_hex (g_value_get_uint (&number), 7);
  g_object_set (overlay, "color", 0xff00ff00u, NULL);
  g_object_get (overlay, "color", &color, NULL);
  fail_unless_equals_int_hex (color, 0xff00ff00);
  gst_object_unref (overlay);
}

/* ---- text ---- */

CUV_TEST (text_is_written_above_the_box)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *in = black_frame ("face"), *none, *label, *confidence, *id;
  GstVideoRegionOfInterestMeta *roi;
  guint white = 0;

  none = overlay_draw (h, in);
  fail_unless_equals_int (changed_above (h, in, none), 0);
  g_object_set (h->element, "draw-labels", TRUE, NULL);
  label = overlay_draw (h, in);
  fail_unless (changed_above (h, in, label) > 100);
  for (gint y = 80; y < 100; y++) {
    for (gint x = 100; x < 200; x++)
      white += overlay_sample (h, label, 1, x, y) > 200;
  }
  fail_unless (white > 10, "only %u white pixels of text", white);
  g_object_set (h->element, "draw-confidence", TRUE, NULL);
  confidence = overlay_draw (h, in);
  fail_unless (
      changed_above (h, in, confidence) > changed_above (h, in, label) + 50);
  g_object_set (h->element, "draw-ids", TRUE, NULL);
  id = overlay_draw (h, in);
  fail_unless_equals_int (changed_above (h, confidence, id), 0);
  gst_buffer_unref (id);
  roi = gst_buffer_get_video_region_of_interest_meta_id (in, 0);
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 12, NULL));
  id = overlay_draw (h, in);
  fail_unless (
      changed_above (h, in, id) > changed_above (h, in, confidence) + 50);
  gst_buffer_unref (none);
  gst_buffer_unref (label);
  gst_buffer_unref (confidence);
  gst_buffer_unref (id);
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

CUV_TEST (confidence_of_any_param_is_shown)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *in = cuv_frame_new ("RGB", 320, 240), *out;
  GstVideoRegionOfInterestMeta *roi;

  g_object_set (h->element, "draw-confidence", TRUE, NULL);
  roi = overlay_add_region (in, "x", 100, 100, 60, 60, -1);
  out = overlay_draw (h, in);
  fail_unless_equals_int (changed_above (h, in, out), 0);
  gst_buffer_unref (out);
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("extra", "confidence", G_TYPE_STRING, "1", NULL));
  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("classifier", "confidence", G_TYPE_FLOAT, 0.5, NULL));
  out = overlay_draw (h, in);
  fail_unless (changed_above (h, in, out) > 100);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

/* No room above or to the right, several lines, not UTF-8, far too long, more
 * labels than the cache holds. */
CUV_TEST (any_label_can_be_written)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *in = cuv_frame_new ("RGB", 320, 240), *out;
  gchar *longest = g_strnfill (100000, 'W'), label[16];

  g_object_set (h->element, "draw-labels", TRUE, "font", "Sans 100", NULL);
  overlay_add_region (in, "two\nlines", 5, 2, 30, 30, 0.5);
  overlay_add_region (in, "right", 310, 100, 30, 30, 0.5);
  overlay_add_region (in, "\xff\xfe broken", 5, 2, 30, 30, 0.5);
  overlay_add_region (in, "", 5, 2, 30, 30, 0.5);
  overlay_add_region (in, "\xd8\xa7\xd9\x84 \xe4\xb8\xad", 50, 50, 30, 30, 1);
  overlay_add_region (in, longest, 5, 230, 30, 30, 0.5);
  for (guint i = 0; i < 150; i++) {
    g_snprintf (label, sizeof label, "object %u", i);
    overlay_add_region (in, label, i, i, 30, 30, 0.5);
  }
  for (guint i = 0; i < 3; i++) {
    out = overlay_draw (h, in);
    fail_unless (overlay_changed (h, in, out, 0, 0, 320, 240) > 1000);
    gst_buffer_unref (out);
    g_object_set (h->element, "font", i == 0 ? "Serif Italic 9" : "", NULL);
  }
  g_free (longest);
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

/* Two labels with the same GLib hash. */
CUV_TEST (labels_of_equal_hash_differ)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *one = black_frame ("ab"), *other = black_frame ("bA");
  GstBuffer *out, *out_other;

  fail_unless_equals_int (g_str_hash ("ab"), g_str_hash ("bA"));
  g_object_set (h->element, "draw-labels", TRUE, NULL);
  out = overlay_draw (h, one);
  out_other = overlay_draw (h, other);
  fail_unless (changed_above (h, out, out_other) > 10);
  gst_buffer_unref (out);
  gst_buffer_unref (out_other);
  gst_buffer_unref (one);
  gst_buffer_unref (other);
  gst_harness_teardown (h);
}

/* Text from the cache looks the same as when it was first rendered. */
CUV_TEST (cached_text_looks_the_same)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBuffer *in = black_frame ("face"), *first, *again;

  g_object_set (h->element, "draw-labels", TRUE, NULL);
  first = overlay_draw (h, in);
  again = overlay_draw (h, in);
  fail_unless (cuv_frames_equal ("RGB", 320, 240, first, again));
  gst_buffer_unref (again);
  g_object_set (h->element, "font", "Sans Bold 30", NULL);
  again = overlay_draw (h, in);
  fail_unless (changed_above (h, first, again) > 100);
  gst_buffer_unref (again);
  gst_buffer_unref (first);
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

/* ---- invalid values ---- */

static gchar *
start_error (const gchar *property, const gchar *value)
{
  GstElement *pipeline = cuv_pipeline_new (
      "videotestsrc num-buffers=2 ! visionoverlay name=o ! fakesink");
  GstElement *overlay = gst_bin_get_by_name (GST_BIN (pipeline), "o");
  gchar *error;

  gst_util_set_object_arg (G_OBJECT (overlay), property, value);
  error = cuv_pipeline_play (pipeline);
  gst_object_unref (overlay);
  gst_object_unref (pipeline);
  return error;
}

static void
check_rejected (const gchar *property, const gchar *value, const gchar *cause)
{
  gchar *error = start_error (property, value);

  fail_unless (error != NULL && strstr (error, property) != NULL
          && strstr (error, cause) != NULL,
      "%s=%s: %s", property, value, error);
  g_free (error);
}

CUV_TEST (invalid_values_are_start_errors)
{
  check_rejected ("label-colors", "c, face=(string)\"#ff00\"", "#ff00");
  check_rejected (
      "label-colors", "c, face=(string)rde", "is not a colour for face");
  check_rejected ("label-colors", "c, face=(string)\"#-12345\"", "#rrggbb");
  check_rejected ("label-colors", "c, face=(double)1", "not a colour");
  check_rejected ("font", "Sans 900", "256 pixels");
  fail_unless (
      start_error ("label-colors", "c, face=(string)\"#FF00aa\"") == NULL);
  fail_unless (start_error ("font", "Sans 20") == NULL);
}

CUV_TEST (invalid_value_keeps_the_previous_one)
{
  GstHarness *h = overlay_new ("RGB", 320, 240, NULL);
  GstBus *bus = cuv_harness_watch (h);
  GstBuffer *in = black_frame ("face");
  GstMessage *message;
  gchar *font;

  gst_util_set_object_arg (
      G_OBJECT (h->element), "label-colors", "c, face=(string)\"#102030\"");
  fail_unless_equals_int (red_at (h, in, 100, 130), 0x10);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  gst_util_set_object_arg (
      G_OBJECT (h->element), "label-colors", "c, face=(string)pnik");
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  fail_unless_equals_int (red_at (h, in, 100, 130), 0x10);
  g_object_set (h->element, "font", "Sans 1000", NULL);
  g_object_get (h->element, "font", &font, NULL);
  fail_unless_equals_string (font, "Sans Bold");
  g_free (font);
  cuv_harness_unwatch (h, bus);
  gst_buffer_unref (in);
  gst_harness_teardown (h);
}

/* ---- caps and states ---- */

CUV_TEST (caps_change_between_frames)
{
  static const struct {
    const gchar *format;
    gint width, height;
  } steps[] = { { "NV12", 64, 48 }, { "RGBA", 33, 17 }, { "GRAY8", 1, 1 },
    { "YUY2", 1, 1 }, { "I420", 15, 1 }, { "UYVY", 321, 243 },
    { "NV12", 64, 48 } };
  GstHarness *h = cuv_element_harness ("visionoverlay");

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    GstBuffer *in =
        cuv_frame_new (steps[i].format, steps[i].width, steps[i].height);
    GstBuffer *out;

    /* a random pixel may have the box's colour */
    gst_buffer_memset (in, 0, 0, -1);
    cuv_harness_caps (h, steps[i].format, steps[i].width, steps[i].height);
    overlay_add_region (in, "face", 0, 0, 20, 20, 0.5);
    out = overlay_draw (h, in);
    fail_unless (!cuv_frames_equal (
                     steps[i].format, steps[i].width, steps[i].height, in, out),
        "step %u", i);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}

CUV_TEST (restarts)
{
  GstElement *pipeline = cuv_pipeline_new (
      "videotestsrc num-buffers=3 ! visionoverlay ! fakesink");

  for (guint i = 0; i < 3; i++)
    fail_unless (cuv_pipeline_play (pipeline) == NULL);
  gst_object_unref (pipeline);
}
