/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionmotion: areas in which motion is ignored. */
#include "config.h"
#include "scene.h"

#define PIXELS(polygons) "{\"units\": \"pixels\", \"polygons\": [" polygons "]}"
#define PARTS(polygons) "{\"polygons\": [" polygons "]}"
#define LEFT_HALF PARTS ("[[0, 0], [0.5, 0], [0.5, 1], [0, 1]]")

static const Box place = { 20, 30, 40, 24 };
static const gchar *const found = "20,30 40x24 area 960 frames 1\n";

static CuvLive
new_scene (const gchar *properties, const gchar *mask)
{
  CuvLive scene = scene_new (properties, "RGB", WIDTH, HEIGHT);

  g_object_set (scene.element, "mask", mask, NULL);
  scene_learn (&scene, 20);
  return scene;
}

/* Shows a box, which must be found like this, in this part of what is not
 * masked. */
static void
expect_part (CuvLive *scene, Box box, const gchar *text, gdouble part)
{
  GstBuffer *frame = scene_frame (scene, BACKGROUND);
  g_autoptr (GstBuffer) out = NULL;
  g_autofree gchar *shown = NULL;
  GstCuvTable table;
  gdouble moving;

  scene_paint (frame, box, 200);
  out = cuv_live_push (scene, frame);
  shown = scene_text (out);
  fail_unless_equals_string (shown, text);
  table = scene_table (out);
  fail_unless (gst_structure_get_double (table.structure, "moving", &moving));
  fail_unless (fabs (moving - part) < 1e-9, "%g, not %g", moving, part);
}

CUV_TEST (test_pixels)
{
  static const gchar *const methods[] = { "", "color=false",
    "method=average scale=1" };

  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    CuvLive scene = new_scene (methods[m],
        PIXELS ("[[0, 0], [60, 0], [60, 40], [0, 40]],"
                "[[100, 0], [160, 0], [160, 120]]"));
    const gdouble n = WIDTH * HEIGHT - 2400 - 3600;

    expect_part (&scene, (Box){ 10, 10, 40, 24 }, "", 0);
    scene_expect_empty (&scene);
    expect_part (&scene, place, "20,40 40x14 area 560 frames 1\n", 560 / n);
    scene_expect_empty (&scene);
    expect_part (&scene, (Box){ 60, 40, 40, 24 },
        "60,40 40x24 area 960 frames 1\n", 960 / n);
    cuv_live_clear (&scene);
  }
}

/* A gap in the mask that closing would fill stays. */
CUV_TEST (test_closing)
{
  CuvLive scene = new_scene (
      "merge-distance=0", PIXELS ("[[38, 0], [40, 0], [40, 99], [38, 99]]"));

  expect_part (&scene, place,
      "40,30 20x24 area 480 frames 1\n20,30 18x24 area 432 frames 1\n",
      912. / (WIDTH * HEIGHT - 2 * 99));
  cuv_live_clear (&scene);
}

/* An outline around the frame and a region leaves only the region. */
CUV_TEST (test_only_a_region)
{
  CuvLive scene = new_scene ("",
      PARTS ("[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0], [0.25, 0.5], [0.75, "
             "0.5], [0.75, 1], [0.25, 1], [0.25, 0.5]]"));

  expect_part (&scene, place, "", 0);
  scene_expect_empty (&scene);
  expect_part (&scene, (Box){ 20, 70, 40, 24 },
      "40,70 20x24 area 480 frames 1\n", 480. / (80 * 60));
  cuv_live_clear (&scene);
}

/* Scene changes are those of what is not masked. */
CUV_TEST (test_scene_change)
{
  CuvLive scene = new_scene ("", LEFT_HALF);

  scene_expect_box (&scene, (Box){ 0, 0, WIDTH / 2, HEIGHT }, 200, "");
  scene_expect_empty (&scene);
  scene_expect_box (
      &scene, (Box){ WIDTH / 2, 0, 50, HEIGHT }, 200, "scene change\n");
  cuv_live_clear (&scene);
}

CUV_TEST (test_everything_masked)
{
  CuvLive scene = new_scene ("scene-change=0",
      PARTS ("[[-1, -1], [2, -1], [2, "
             "2], [-1, 2]]"));

  expect_part (&scene, place, "", 0);
  cuv_live_clear (&scene);
}

/* A value of 4x4 pixels is masked if its centre is. */
CUV_TEST (test_scale)
{
  static const gchar *const masks[] = {
    PIXELS ("[[0, 0], [41.9, 0], [41.9, 120], [0, 120]]"),
    PIXELS ("[[0, 0], [42.1, 0], [42.1, 120], [0, 120]]")
  };
  static const gchar *const texts[] = { "40,32 20x20 area 400 frames 1\n",
    "44,32 16x20 area 320 frames 1\n" };

  for (guint i = 0; i < G_N_ELEMENTS (masks); i++) {
    CuvLive scene = new_scene ("scale=4", masks[i]);

    scene_expect_box (&scene, (Box){ 20, 32, 40, 20 }, 200, texts[i]);
    cuv_live_clear (&scene);
  }
}

/* ---- changes ---- */

/* The background is learnt under the mask, too, and outlives it. */
CUV_TEST (test_live_change)
{
  CuvLive scene = new_scene ("", NULL);

  scene_expect_box (&scene, place, 200, found);
  g_object_set (scene.element, "mask", LEFT_HALF, NULL);
  scene_expect_box (&scene, place, 200, "");
  g_object_set (scene.element, "mask",
      PARTS ("[[0.5, 0], [1, 0], [1, 1], [0.5, 1]]"), NULL);
  scene_expect_box (&scene, place, 200, found);
  g_object_set (scene.element, "mask", LEFT_HALF, NULL);
  scene_expect_empty (&scene);
  g_object_set (scene.element, "mask", "", NULL);
  scene_expect_box (&scene, place, 200, found);
  cuv_live_clear (&scene);
}

CUV_TEST (test_caps_change)
{
  static const gint sizes[][2] = { { 2 * WIDTH, 2 * HEIGHT }, { 90, 131 },
    { 1, 1 }, { WIDTH, HEIGHT } };
  CuvLive scene = new_scene ("min-area=1 opening=1", LEFT_HALF);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const gint width = sizes[i][0], height = sizes[i][1], n = width / 4;
    g_autofree gchar *text = n == 0
        ? g_strdup ("")
        : g_strdup_printf (
            "%d,0 %dx%d area %d frames 1\n", width / 2, n, height, n * height);

    cuv_live_caps (&scene, "BGRx", width, height);
    scene_learn (&scene, 20);
    scene_expect_box (&scene, (Box){ 0, 0, width / 2, height }, 200, "");
    scene_learn (&scene, 20);
    scene_expect_box (&scene, (Box){ width / 2, 0, n, height }, 200, text);
  }
  cuv_live_clear (&scene);
}

CUV_TEST (test_restart)
{
  CuvLive scene = new_scene ("", LEFT_HALF);

  cuv_live_restart (&scene, "");
  scene_learn (&scene, 20);
  scene_expect_box (&scene, place, 200, "");
  cuv_live_clear (&scene);
}

/* ---- invalid texts ---- */

CUV_TEST (test_invalid)
{
  static const gchar *const invalid[][2] = {
    { "nonsense", "mask 'nonsense' is invalid" },
    { "{}", "expected {\"polygons\": [[[x, y], ...], ...]}" },
    { "{\"polygons\": 1}", "expected {\"polygons\"" },
    { "{\"polygons\": [], \"zones\": []}", "unknown key: expected only" },
    { "{\"polygons\": [], \"units\": \"cm\"}", "\"units\" must be" },
    { PARTS ("[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1]]"),
        "polygon 2: a polygon has 3 to 256 points" },
    { PARTS ("[[0, 0], [1, 0], [1, \"1\"]]"),
        "polygon 1: point 3 is not a pair of numbers" },
    { PARTS ("[[0, 0], [300, 0], [1, 1]]"), "add \"units\": \"pixels\"" },
  };
  CuvLive scene = new_scene ("", LEFT_HALF);

  for (guint i = 0; i < G_N_ELEMENTS (invalid); i++) {
    g_object_set (scene.element, "mask", invalid[i][0], NULL);
    expect_problem (scene.bus, GST_MESSAGE_WARNING, invalid[i][1]);
    scene_expect_box (&scene, place, 200, "");
    scene_expect_empty (&scene);
  }
  scene_expect_box (&scene, (Box){ 100, 30, 40, 24 }, 200,
      "100,30 40x24 area 960 frames 1\n");
  cuv_live_clear (&scene);
}
