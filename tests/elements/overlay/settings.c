/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionoverlay: properties, text and invalid values. */
#include "config.h"
#include "live.h"
#include "scene.h"

#include <string.h>

/* visionoverlay and a black frame with one region. */
typedef struct {
  CuvLive live;
  GstBuffer *in;
} Scene;

static Scene
open_scene (const gchar *label, const gchar *properties)
{
  g_autofree gchar *all =
      g_strconcat ("color=red thickness=2 draw-labels=false "
                   "draw-confidence=false draw-ids=false ",
          properties, NULL);
  Scene self = { cuv_live_new ("visionoverlay", all, "RGB", 320, 240),
    cuv_frame_new ("RGB", 320, 240) };

  gst_buffer_memset (self.in, 0, 0, -1);
  overlay_add_region (self.in, label, 100, 100, 60, 60, 0.87);
  return self;
}

static void
close_scene (Scene *self)
{
  gst_buffer_unref (self->in);
  cuv_live_clear (&self->live);
}

static void
set (Scene *self, const gchar *settings)
{
  cuv_element_set (self->live.element, settings);
}

/* ---- live changes ---- */

static guint
rgb_at (Scene *self, gint x, gint y)
{
  g_autoptr (GstBuffer) out = overlay_draw (self->live.h, self->in);
  guint rgb = 0;

  for (gint i = 0; i < 3; i++)
    rgb = rgb << 8 | overlay_sample (self->live.h, out, i, x, y);
  return rgb;
}

/* Settings, and the colours of two pixels in row 130 of the next frame. */
typedef struct {
  const gchar *set;
  gint x[2];
  guint rgb[2];
} Step;

static void
check_steps (Scene *self, const Step *steps, guint n)
{
  for (guint i = 0; i < n; i++) {
    set (self, steps[i].set);
    for (guint k = 0; k < 2; k++)
      fail_unless (rgb_at (self, steps[i].x[k], 130) == steps[i].rgb[k],
          "%s: %06x at %d", steps[i].set, rgb_at (self, steps[i].x[k], 130),
          steps[i].x[k]);
  }
}

CUV_TEST (properties_change_while_playing)
{
  static const Step steps[] = {
    { "", { 101, 102 }, { 0xff0000, 0 } },
    { "thickness=9", { 108, 109 }, { 0xff0000, 0 } },
    { "thickness=0", { 100, 101 }, { 0xff0000, 0 } }, /* 1 + 240 / 300 */
    { "color=0x00400000", { 100, 101 }, { 0x400000, 0 } },
    { "color=0xffff0000 opacity=0.5", { 100, 101 }, { 0x800000, 0 } },
    { "color=0x80ff0000", { 100, 101 }, { 0x400000, 0 } },
    { "draw-boxes=false", { 100, 101 }, { 0, 0 } },
  };
  Scene scene = open_scene ("face", "");

  check_steps (&scene, steps, G_N_ELEMENTS (steps));
  close_scene (&scene);
}

CUV_TEST (labels_selects_regions)
{
  static const Step steps[] = {
    { "'labels=cat, face ,'", { 100, 200 }, { 0xff0000, 0 } },
    { "'labels=red car'", { 100, 200 }, { 0, 0xff0000 } },
    { "'labels= , '", { 100, 200 }, { 0xff0000, 0xff0000 } },
  };
  Scene scene = open_scene ("face", "");

  overlay_add_region (scene.in, "red car", 200, 100, 60, 60, -1);
  check_steps (&scene, steps, G_N_ELEMENTS (steps));
  close_scene (&scene);
}

CUV_TEST (labels_have_own_colours)
{
  static const Step steps[] = {
    { "'label-colors=colors, face=(string)\"#102030\", "
      "dog=(uint)0xff405060'",
        { 100, 10 }, { 0x102030, 0x405060 } },
    { "", { 100, 200 }, { 0x102030, 0xff0000 } },
    { "color=0", { 100, 10 }, { 0x102030, 0x405060 } },
  };
  Scene scene = open_scene ("face", "");
  GstBuffer *out;

  overlay_add_region (scene.in, "red car", 200, 100, 60, 60, -1);
  overlay_add_region (scene.in, "dog", 10, 100, 60, 60, -1);
  check_steps (&scene, steps, G_N_ELEMENTS (steps));
  out = overlay_draw (scene.live.h, scene.in);
  fail_unless (
      overlay_changed (scene.live.h, scene.in, out, 200, 100, 60, 60) > 0);
  gst_buffer_unref (out);
  close_scene (&scene);
}

/* color and label-colors accept colours as CSS and GStreamer define them. */
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
  Scene scene = open_scene ("face", "");

  overlay_add_region (scene.in, "dog", 10, 100, 60, 60, -1);
  for (guint i = 0; i < G_N_ELEMENTS (colors); i++) {
    gchar *settings =
        g_strdup_printf ("'color=%s' 'label-colors=colors, dog=(string)\"%s\"'",
            colors[i].text, colors[i].text);
    const Step step = { settings, { 100, 10 },
      { colors[i].rgb, colors[i].rgb } };

    check_steps (&scene, &step, 1);
    g_free (settings);
  }
  close_scene (&scene);
}

/* A colour can be set as gst-launch-1.0, GstPreset and applications set it. */
CUV_TEST (colour_is_set_as_text_or_number)
{
  static const gchar *const no_colors[] = { "rde", "#ff00", "#-1234567", "0x",
    "-1", "", "#gg0000", "99999999999" };
  g_autoptr (GstElement) overlay =
      gst_element_factory_make ("visionoverlay", NULL);
  GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (overlay), "color");
  GValue value = G_VALUE_INIT, number = G_VALUE_INIT;
  guint color;
  g_autofree gchar *text = NULL;

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
  g_value_unset (&value);
  g_value_init (&number, G_TYPE_UINT);
  g_value_set_uint (&number, 7);
  g_object_set_property (G_OBJECT (overlay), "color", &number);
  g_object_get_property (G_OBJECT (overlay), "color", &number);
  fail_unless_equals_int_hex (g_value_get_uint (&number), 7);
  g_object_set (overlay, "color", 0xff00ff00u, NULL);
  g_object_get (overlay, "color", &color, NULL);
  fail_unless_equals_int_hex (color, 0xff00ff00);
}

/* ---- text ---- */

/* Returns the number of pixels that the text above the box changes; *out is the
 * frame drawn, to be unreferenced. */
static guint
draw_text (Scene *self, const gchar *settings, GstBuffer **out)
{
  set (self, settings);
  *out = overlay_draw (self->live.h, self->in);
  return overlay_changed (self->live.h, self->in, *out, 0, 0, 320, 100);
}

static guint
text_pixels (Scene *self, const gchar *settings)
{
  g_autoptr (GstBuffer) out = NULL;
  guint n = draw_text (self, settings, &out);

  return n;
}

/* Returns the drawn frame as text. */
static gchar *
look (Scene *self, const gchar *settings)
{
  g_autoptr (GstBuffer) out = NULL;
  GstMapInfo map;
  gchar *text;

  draw_text (self, settings, &out);
  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  text = g_compute_checksum_for_data (G_CHECKSUM_SHA256, map.data, map.size);
  gst_buffer_unmap (out, &map);
  return text;
}

static void
check_look (Scene *self, const gchar *settings, gboolean differs)
{
  cuv_live_check (&self->live, settings, look (self, settings), differs);
}

CUV_TEST (text_is_written_above_the_box)
{
  Scene scene = open_scene ("face", "");
  GstVideoRegionOfInterestMeta *roi;
  GstBuffer *label;
  guint white = 0, n, more;

  fail_unless_equals_int (text_pixels (&scene, ""), 0);
  n = draw_text (&scene, "draw-labels=true", &label);
  fail_unless (n > 100);
  for (gint y = 80; y < 100; y++) {
    for (gint x = 100; x < 200; x++)
      white += overlay_sample (scene.live.h, label, 1, x, y) > 200;
  }
  fail_unless (white > 10, "only %u white pixels of text", white);
  more = text_pixels (&scene, "draw-confidence=true");
  fail_unless (more > n + 50);
  check_look (&scene, "draw-confidence=true", TRUE);
  check_look (&scene, "draw-ids=true", FALSE);
  roi = gst_buffer_get_video_region_of_interest_meta_id (scene.in, 0);
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 12, NULL));
  fail_unless (text_pixels (&scene, "") > more + 50);
  gst_buffer_unref (label);
  close_scene (&scene);
}

CUV_TEST (confidence_of_any_param_is_shown)
{
  Scene scene = open_scene ("face", "draw-confidence=true");
  GstVideoRegionOfInterestMeta *roi;
  guint n = text_pixels (&scene, "");

  roi = overlay_add_region (scene.in, "x", 200, 100, 60, 60, -1);
  fail_unless_equals_int (text_pixels (&scene, ""), n);
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("extra", "confidence", G_TYPE_STRING, "1", NULL));
  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("classifier", "confidence", G_TYPE_FLOAT, 0.5, NULL));
  fail_unless (text_pixels (&scene, "") > n + 100);
  close_scene (&scene);
}

/* Labels may have no room above or to the right, have several lines, be invalid
 * UTF-8 or far too long, or be more than the cache holds. */
CUV_TEST (any_label_can_be_written)
{
  static const gchar *const fonts[] = { "'font=Sans 100'",
    "'font=Serif Italic 9'", "font=" };
  Scene scene = open_scene ("two\nlines", "draw-labels=true");
  gchar *longest = g_strnfill (100000, 'W'), label[16];

  overlay_add_region (scene.in, "two\nlines", 5, 2, 30, 30, 0.5);
  overlay_add_region (scene.in, "right", 310, 100, 30, 30, 0.5);
  overlay_add_region (scene.in, "\xff\xfe broken", 5, 2, 30, 30, 0.5);
  overlay_add_region (scene.in, "", 5, 2, 30, 30, 0.5);
  overlay_add_region (
      scene.in, "\xd8\xa7\xd9\x84 \xe4\xb8\xad", 50, 50, 30, 30, 1);
  overlay_add_region (scene.in, longest, 5, 230, 30, 30, 0.5);
  for (guint i = 0; i < 150; i++) {
    g_snprintf (label, sizeof label, "object %u", i);
    overlay_add_region (scene.in, label, i, i, 30, 30, 0.5);
  }
  for (guint i = 0; i < 3; i++)
    fail_unless (text_pixels (&scene, fonts[i]) > 1000);
  g_free (longest);
  close_scene (&scene);
}

/* The two labels have the same GLib hash. */
CUV_TEST (labels_of_equal_hash_differ)
{
  Scene scene = open_scene ("ab", "draw-labels=true");

  fail_unless_equals_int (g_str_hash ("ab"), g_str_hash ("bA"));
  check_look (&scene, "", TRUE);
  gst_buffer_unref (scene.in);
  scene.in = cuv_frame_new ("RGB", 320, 240);
  gst_buffer_memset (scene.in, 0, 0, -1);
  overlay_add_region (scene.in, "bA", 100, 100, 60, 60, 0.87);
  check_look (&scene, "", TRUE);
  close_scene (&scene);
}

/* Text from the cache looks the same as when it was first rendered. */
CUV_TEST (cached_text_looks_the_same)
{
  Scene scene = open_scene ("face", "draw-labels=true");

  check_look (&scene, "", TRUE);
  check_look (&scene, "", FALSE);
  check_look (&scene, "'font=Sans Bold 30'", TRUE);
  close_scene (&scene);
}

/* ---- invalid values ---- */

static gchar *
start_error (const gchar *property, const gchar *value)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (
      "videotestsrc num-buffers=2 ! visionoverlay name=o ! fakesink");
  g_autoptr (GstElement) overlay =
      gst_bin_get_by_name (GST_BIN (pipeline), "o");
  gchar *error;

  gst_util_set_object_arg (G_OBJECT (overlay), property, value);
  error = cuv_pipeline_play (pipeline);
  return error;
}

static void
check_rejected (const gchar *property, const gchar *value, const gchar *cause)
{
  g_autofree gchar *error = start_error (property, value);

  fail_unless (error != NULL && strstr (error, property) != NULL
          && strstr (error, cause) != NULL,
      "%s=%s: %s", property, value, error);
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
  static const Step valid = { "'label-colors=c, face=(string)\"#102030\"'",
    { 100, 102 }, { 0x102030, 0 } };
  static const Step invalid = { "'label-colors=c, face=(string)pnik'",
    { 100, 102 }, { 0x102030, 0 } };
  Scene scene = open_scene ("face", "");
  g_autofree gchar *font = NULL;

  check_steps (&scene, &valid, 1);
  expect_no_warning (scene.live.bus);
  check_steps (&scene, &invalid, 1);
  expect_problem (scene.live.bus, GST_MESSAGE_WARNING, "label-colors");
  set (&scene, "'font=Sans 1000'");
  g_object_get (scene.live.element, "font", &font, NULL);
  fail_unless_equals_string (font, "Sans Bold");
  close_scene (&scene);
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
  CuvLive live = cuv_live_new ("visionoverlay", "", "NV12", 64, 48);

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    GstBuffer *in =
        cuv_frame_new (steps[i].format, steps[i].width, steps[i].height);
    GstBuffer *out;

    /* a random pixel may have the box's colour */
    gst_buffer_memset (in, 0, 0, -1);
    cuv_live_caps (&live, steps[i].format, steps[i].width, steps[i].height);
    overlay_add_region (in, "face", 0, 0, 20, 20, 0.5);
    out = overlay_draw (live.h, in);
    fail_unless (!cuv_frames_equal (
                     steps[i].format, steps[i].width, steps[i].height, in, out),
        "step %u", i);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  cuv_live_clear (&live);
}

CUV_TEST (restarts)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (
      "videotestsrc num-buffers=3 ! visionoverlay ! fakesink");

  for (guint i = 0; i < 3; i++)
    fail_unless (cuv_pipeline_play (pipeline) == NULL);
}
