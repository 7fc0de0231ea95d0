/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionmotion on drawn scenes whose boxes are known: objects, table, message
 * and statistics. With CUV_TEST_CUDA=1 the GPU must find the same. */
#include "config.h"
#include "scene.h"

#include <math.h>
#include <string.h>

static const Box place = { 20, 30, 40, 24 };
static const gchar *const methods[] = { "method=mog2",
  "method=average scale=1" };

/* Returns a harness that knows the empty scene. */
static CuvLive
new_scene (const gchar *properties)
{
  CuvLive scene = scene_new (properties, "RGB", WIDTH, HEIGHT);

  scene_learn (&scene, 40);
  return scene;
}

/* ---- what is found ---- */

/* The box is exact in every format, also where the width is odd. */
CUV_TEST (test_formats)
{
  static const gchar *const formats[] = { "NV12", "I420", "YV12", "NV21",
    "YUY2", "UYVY", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8" };

  for (guint i = 0; i < G_N_ELEMENTS (formats) - use_cuda; i++) {
    for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
      CuvLive scene =
          scene_new (methods[m], formats[i], 161, use_cuda ? 90 : 91);

      scene_learn (&scene, 8);
      scene_expect_box (&scene, place, 200, "20,30 40x24 area 960 frames 1\n");
      scene_expect_empty (&scene);
      cuv_live_clear (&scene);
    }
  }
}

/* Whatever the first frame shows is background. */
CUV_TEST (test_first_frame)
{
  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    CuvLive scene = scene_new (methods[m], "RGB", WIDTH, HEIGHT);

    for (guint i = 0; i < 20; i++)
      scene_expect_box (&scene, place, 40, "");
    scene_expect_box (&scene, (Box){ 100, 80, 30, 20 }, 200,
        "20,30 40x24 area 960 frames 1\n100,80 30x20 area 600 frames 1\n");
    cuv_live_clear (&scene);
  }
}

/* The largest comes first, then the upper one, then the left one. */
CUV_TEST (test_order)
{
  CuvLive scene = new_scene ("");
  GstBuffer *frame = scene_frame (&scene, BACKGROUND);

  scene_paint (frame, (Box){ 100, 20, 20, 20 }, 200);
  scene_paint (frame, (Box){ 10, 20, 20, 20 }, 200);
  scene_paint (frame, (Box){ 100, 80, 21, 20 }, 200);
  scene_paint (frame, (Box){ 10, 70, 20, 20 }, 200);
  scene_expect (&scene, frame,
      "100,80 21x20 area 420 frames 1\n10,20 20x20 area 400 frames 1\n"
      "100,20 20x20 area 400 frames 1\n10,70 20x20 area 400 frames 1\n");
  cuv_live_clear (&scene);
}

/* An object has the age of what it overlaps in the frame before, and loses it
 * in a frame without motion. */
CUV_TEST (test_ages)
{
  CuvLive scene = new_scene ("");

  scene_expect_box (&scene, place, 200, "20,30 40x24 area 960 frames 1\n");
  scene_expect_box (
      &scene, (Box){ 50, 30, 40, 24 }, 200, "50,30 40x24 area 960 frames 2\n");
  scene_expect_box (
      &scene, (Box){ 80, 30, 40, 24 }, 200, "80,30 40x24 area 960 frames 3\n");
  scene_expect_box (
      &scene, (Box){ 20, 80, 40, 24 }, 200, "20,80 40x24 area 960 frames 1\n");
  scene_expect_box (
      &scene, (Box){ 50, 80, 40, 24 }, 200, "50,80 40x24 area 960 frames 2\n");
  scene_expect_empty (&scene);
  scene_expect_box (
      &scene, (Box){ 50, 80, 40, 24 }, 200, "50,80 40x24 area 960 frames 1\n");
  cuv_live_clear (&scene);
}

/* What stays becomes background, but not at once. */
CUV_TEST (test_what_stays_is_background)
{
  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    CuvLive scene = new_scene (methods[m]);
    guint n = 0;

    for (;; n++) {
      GstBuffer *frame = scene_frame (&scene, BACKGROUND);
      g_autofree gchar *text = NULL;

      scene_paint (frame, place, 200);
      text = scene_push (&scene, frame);
      if (*text == '\0')
        break;
      fail_unless (n < 100, "still moving: %s", text);
    }
    fail_unless (n > 3, "background after %u frames", n);
    cuv_live_clear (&scene);
  }
}

/* A shadow has between half and all of the background's brightness. */
CUV_TEST (test_shadows)
{
  CuvLive scene = new_scene ("");

  scene_expect_box (&scene, place, 70, "");
  scene_expect_box (&scene, place, 40, "20,30 40x24 area 960 frames 1\n");
  cuv_live_clear (&scene);
  scene = new_scene ("shadows=false");
  scene_expect_box (&scene, place, 70, "20,30 40x24 area 960 frames 1\n");
  cuv_live_clear (&scene);
}

/* Red of the background's luma. */
CUV_TEST (test_color)
{
  static const gchar *const properties[] = { "color=false", "" };
  static const gchar *const found[] = { "", "20,30 40x24 area 960 frames 1\n" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    CuvLive scene = new_scene (properties[i]);
    GstBuffer *frame = scene_frame (&scene, BACKGROUND);

    scene_paint_color (frame, place, (const guint8[]){ 200, 58, 54 });
    scene_expect (&scene, frame, found[i]);
    cuv_live_clear (&scene);
  }
}

/* ---- scene changes ---- */

/* A light is switched on: one change and no objects. What moves afterwards is
 * found. */
CUV_TEST (test_light_switch)
{
  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    CuvLive scene = new_scene (methods[m]);
    const Box all = { 0, 0, WIDTH, HEIGHT };

    scene_expect_box (&scene, all, 220, "scene change\n");
    for (guint i = 0; i < 20; i++)
      scene_expect_box (&scene, all, 220, "");
    for (guint i = 0; i < 3; i++) {
      GstBuffer *frame = scene_frame (&scene, 220);

      scene_paint (frame, (Box){ 20 + 10 * (gint) i, 30, 40, 24 }, 60);
      g_autofree gchar *text = g_strdup_printf (
          "%u,30 40x24 area 960 frames %u\n", 20 + 10 * i, i + 1);
      scene_expect (&scene, frame, text);
    }
    cuv_live_clear (&scene);
  }
}

/* A camera that turns changes the scene in each frame. With shadows the mixture
 * takes all that is new in the first frames for shadows. */
CUV_TEST (test_turning_camera)
{
  static const gchar *const properties[] = { "shadows=false",
    "method=average scale=1" };

  for (guint m = 0; m < G_N_ELEMENTS (properties); m++) {
    CuvLive scene = new_scene (properties[m]);

    for (guint i = 0; i < 4; i++)
      scene_expect (&scene, scene_frame (&scene, (guint8) (140 + 38 * i)),
          "scene change\n");
    cuv_live_clear (&scene);
  }
}

/* A change needs more than this part of the frame. */
CUV_TEST (test_limit_of_scene_change)
{
  static const gchar *const properties[] = { "scene-change=0.75",
    "scene-change=1", "scene-change=0.74" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    CuvLive scene = new_scene (properties[i]);

    scene_expect_box (&scene, (Box){ 0, 0, WIDTH * 3 / 4, HEIGHT }, 200,
        i < 2 ? "0,0 120x120 area 14400 frames 1\n" : "scene change\n");
    cuv_live_clear (&scene);
  }
}

/* ---- cleaning and boxes ---- */

/* A quarter of the longer side, up to the frame's edge; two boxes that then
 * overlap become one. */
CUV_TEST (test_padding)
{
  CuvLive scene = new_scene ("padding=25");
  GstBuffer *frame;

  scene_expect_box (&scene, place, 200, "10,20 60x44 area 960 frames 1\n");
  cuv_live_clear (&scene);
  scene = new_scene ("padding=60");
  scene_expect_box (&scene, place, 200, "0,6 84x72 area 960 frames 1\n");
  cuv_live_clear (&scene);
  for (gint i = 0; i < 2; i++) {
    scene = new_scene ("padding=25");
    frame = scene_frame (&scene, BACKGROUND);
    scene_paint (frame, place, 200);
    scene_paint (frame, (Box){ 79 + i, 30, 40, 24 }, 200);
    scene_expect (&scene, frame,
        i == 0 ? "10,20 119x44 area 1920 frames 1\n"
               : "10,20 60x44 area 960 frames 1\n"
                 "70,20 60x44 area 960 frames 1\n");
    cuv_live_clear (&scene);
  }
}

CUV_TEST (test_min_area)
{
  CuvLive scene = new_scene ("min-area=960");

  scene_expect_box (&scene, place, 200, "20,30 40x24 area 960 frames 1\n");
  g_object_set (scene.element, "min-area", 961, NULL);
  scene_expect_box (&scene, place, 200, "");
  cuv_live_clear (&scene);
}

/* A box of 40 x 30 pixels and one that is 9 pixels away: below it, below and
 * beside it, and two beside it, of which the second has less than a tenth of
 * its area. */
CUV_TEST (test_merge_distance)
{
  static const struct {
    Box other;
    const gchar *apart, *joined;
  } cases[] = {
    { { 30, 59, 20, 20 },
        "20,20 40x30 area 1200 frames 1\n30,59 20x20 area 400 frames 1\n",
        "20,20 40x59 area 1600 frames 1\n" },
    { { 45, 59, 20, 20 },
        "20,20 40x30 area 1200 frames 1\n45,59 20x20 area 400 frames 1\n",
        NULL },
    { { 69, 20, 20, 30 },
        "20,20 40x30 area 1200 frames 1\n69,20 20x30 area 600 frames 1\n",
        NULL },
    { { 69, 20, 11, 10 },
        "20,20 40x30 area 1200 frames 1\n69,20 11x10 area 110 frames 1\n",
        "20,20 60x30 area 1310 frames 1\n" },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    const gchar *joined = cases[i / 2].joined, *apart = cases[i / 2].apart;
    CuvLive scene =
        new_scene (i % 2 == 0 ? "merge-distance=9" : "merge-distance=10");
    GstBuffer *frame = scene_frame (&scene, BACKGROUND);

    scene_paint (frame, (Box){ 20, 20, 40, 30 }, 200);
    scene_paint (frame, cases[i / 2].other, 200);
    scene_expect (&scene, frame, i % 2 == 0 || joined == NULL ? apart : joined);
    cuv_live_clear (&scene);
  }
}

/* A bar of 4 rows vanishes if the square has 5; 4 means 5. */
CUV_TEST (test_opening)
{
  static const gchar *const properties[] = { "opening=3", "opening=4",
    "opening=5", "opening=1" };
  static const gchar *const bar = "20,30 100x4 area 400 frames 1\n";

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    CuvLive scene = new_scene (properties[i]);

    scene_expect_box (
        &scene, (Box){ 20, 30, 100, 4 }, 200, i == 0 || i == 3 ? bar : "");
    cuv_live_clear (&scene);
  }
}

/* A gap of 4 columns is filled by a square of 5. */
CUV_TEST (test_closing)
{
  static const gchar *const properties[] = { "closing=3", "closing=4",
    "closing=5" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    g_autofree gchar *all =
        g_strconcat ("merge-distance=0 ", properties[i], NULL);
    CuvLive scene = new_scene (all);
    GstBuffer *frame = scene_frame (&scene, BACKGROUND);

    scene_paint (frame, (Box){ 20, 30, 20, 20 }, 200);
    scene_paint (frame, (Box){ 44, 30, 20, 20 }, 200);
    scene_expect (&scene, frame,
        i == 0
            ? "20,30 20x20 area 400 frames 1\n44,30 20x20 area 400 frames 1\n"
            : "20,30 44x20 area 880 frames 1\n");
    cuv_live_clear (&scene);
  }
}

/* With squares of 4 pixels boxes are multiples of 4. Pixels beyond the last
 * whole square are left out. */
CUV_TEST (test_scale)
{
  static const gchar *const properties[] = { "scale=4",
    "scale=4 method=average" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    CuvLive scene = scene_new (properties[i], "RGB", 163, 123);

    scene_learn (&scene, 20);
    scene_expect_box (&scene, (Box){ 41, 40, 27, 20 }, 200,
        "40,40 28x20 area 560 frames 1\n");
    scene_expect_box (&scene, (Box){ 120, 80, 43, 43 }, 200,
        "120,80 40x40 area 1600 frames 1\n");
    cuv_live_clear (&scene);
  }
}

/* Frames smaller than the square are one value; the box is the frame. */
CUV_TEST (test_scale_of_small_frames)
{
  static const gint sizes[][2] = { { 8, 6 }, { 40, 6 }, { 2, 48 } };
  static const gchar *const found[] = { "0,0 8x6 area 48 frames 1\n",
    "0,0 32x6 area 192 frames 1\n", "0,0 2x48 area 96 frames 1\n" };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    CuvLive scene = scene_new ("scale=16 min-area=40 scene-change=1 opening=1",
        "RGB", sizes[i][0], sizes[i][1]);

    scene_learn (&scene, 10);
    scene_expect (&scene, scene_frame (&scene, 200), found[i]);
    cuv_live_clear (&scene);
  }
}

/* ---- how it is reported ---- */

CUV_TEST (test_metadata)
{
  CuvLive scene = new_scene ("label=something");
  g_autoptr (GArray) objects =
      g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  GstBuffer *frame = scene_frame (&scene, BACKGROUND);
  g_autoptr (GstBuffer) out = NULL;
  const GstCuvObject *object;
  GstCuvTable table;
  gdouble moving;

  gst_buffer_add_video_region_of_interest_meta (frame, "other", 1, 2, 3, 4)
      ->id = 7;
  scene_paint (frame, place, 200);
  out = cuv_live_push (&scene, frame);
  table = scene_table (out);
  fail_unless_equals_string (table.shape, "none");
  fail_unless (table.width == WIDTH && table.height == HEIGHT);
  fail_unless (gst_structure_get_double (table.structure, "moving", &moving));
  fail_unless (fabs (moving - 960. / (WIDTH * HEIGHT)) < 1e-9);
  fail_if (gst_structure_has_field (table.structure, "age"));
  gst_cuv_objects_read (objects, out);
  fail_unless_equals_int (objects->len, 2);
  object = &g_array_index (objects, GstCuvObject, 1);
  fail_unless_equals_string (g_quark_to_string (object->label), "something");
  fail_unless (object->id == 8 && isnan (object->confidence));
  fail_unless (
      object->x == 20 && object->y == 30 && object->w == 40 && object->h == 24);
  cuv_live_clear (&scene);
}

static void
check_message (GstBus *bus, guint n_objects, gdouble part, gboolean change)
{
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  const GstStructure *structure;
  guint objects;
  gdouble moving;
  gboolean changed;

  fail_unless (message != NULL, "no message");
  structure = gst_message_get_structure (message);
  fail_unless_equals_string (
      gst_structure_get_name (structure), "visionmotion");
  fail_unless (gst_structure_get (structure, "objects", G_TYPE_UINT, &objects,
      "moving", G_TYPE_DOUBLE, &moving, "scene-change", G_TYPE_BOOLEAN,
      &changed, NULL));
  fail_unless_equals_int (objects, n_objects);
  fail_unless (fabs (moving - part) < 1e-9);
  fail_unless (changed == change);
  fail_if (gst_bus_have_pending (bus), "more than one message");
}

/* A message when the number of objects changes, and at scene changes. */
CUV_TEST (test_messages)
{
  CuvLive scene = scene_new ("", "RGB", WIDTH, HEIGHT);
  const gdouble part = 960. / (WIDTH * HEIGHT);
  const Box all = { 0, 0, WIDTH, HEIGHT };

  scene_learn (&scene, 40);
  check_message (scene.bus, 0, 0, FALSE);
  scene_expect_box (&scene, place, 200, "20,30 40x24 area 960 frames 1\n");
  check_message (scene.bus, 1, part, FALSE);
  scene_expect_box (&scene, place, 200, "20,30 40x24 area 960 frames 2\n");
  fail_if (gst_bus_have_pending (scene.bus));
  scene_expect_box (&scene, all, 220, "scene change\n");
  check_message (scene.bus, 0, 1, TRUE);
  scene_expect_box (&scene, all, 220, "");
  check_message (scene.bus, 0, 0, FALSE);
  cuv_live_clear (&scene);
}

CUV_TEST (test_stats)
{
  CuvLive scene = new_scene ("min-area=500");
  GstBuffer *frame = scene_frame (&scene, BACKGROUND);
  GstStructure *stats;
  gdouble moving;
  guint parts, objects;
  gboolean changed;

  scene_paint (frame, place, 200);
  scene_paint (frame, (Box){ 100, 80, 10, 10 }, 200);
  scene_expect (&scene, frame, "20,30 40x24 area 960 frames 1\n");
  g_object_get (scene.element, "stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "moving", G_TYPE_DOUBLE, &moving,
      "parts", G_TYPE_UINT, &parts, "objects", G_TYPE_UINT, &objects,
      "scene-change", G_TYPE_BOOLEAN, &changed, NULL));
  fail_unless (fabs (moving - 1060. / (WIDTH * HEIGHT)) < 1e-9);
  fail_unless (parts == 2 && objects == 1 && !changed);
  gst_structure_free (stats);
  cuv_live_clear (&scene);
}

/* Frames between analysed ones are not learnt from. */
CUV_TEST (test_hold_results)
{
  CuvLive scene = new_scene ("inference-interval=2 hold-results=true");
  const gchar *const found = "20,30 40x24 area 960 frames 1\n";
  g_autoptr (GstBuffer) out = NULL;
  GstCuvTable table;
  guint64 age;

  scene_expect_box (&scene, place, 200, found);
  out = cuv_live_push (&scene, scene_frame (&scene, BACKGROUND));
  g_autofree gchar *text = scene_text (out);
  fail_unless_equals_string (text, found);
  table = scene_table (out);
  fail_unless (gst_structure_get_uint64 (table.structure, "age", &age));
  fail_unless_equals_uint64 (age, GST_SECOND / 25);
  scene_expect_empty (&scene);
  g_object_set (scene.element, "hold-results", FALSE, NULL);
  gst_buffer_unref (cuv_live_push (&scene, scene_frame (&scene, 220)));
  scene_expect_empty (&scene);
  cuv_live_clear (&scene);
}
