/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionmotion: flushes, jumps, other caps and restarts leave no ghosts of what
 * was learnt before; small frames and noise. */
#include "config.h"
#include "scene.h"

static const Box place = { 20, 30, 40, 24 };
static const gchar *const methods[] = { "method=mog2", "method=average scale=1",
  "color=true", "method=average scale=2" };
static const gchar *const found = "20,30 40x24 area 960 frames 1\n";

/* Shows an empty scene of another grey level, which must be background at once,
 * and something in it. */
static void
check_new_scene (CuvLive *self, guint8 grey)
{
  GstBuffer *frame;

  for (guint i = 0; i < 20; i++)
    scene_expect (self, scene_frame (self, grey), "");
  frame = scene_frame (self, grey);
  scene_paint (frame, place, 255 - grey);
  scene_expect (self, frame, found);
}

/* Learns a scene, and shows something in it. */
static CuvLive
new_scene (const gchar *properties)
{
  CuvLive scene = scene_new (properties, "RGB", WIDTH, HEIGHT);

  scene_learn (&scene, 20);
  scene_expect_box (&scene, place, 200, found);
  return scene;
}

CUV_TEST (test_flush)
{
  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    CuvLive scene = new_scene (methods[m]);

    cuv_harness_flush (scene.h);
    check_new_scene (&scene, 220);
    cuv_live_clear (&scene);
  }
}

/* As after a seek without a flush. */
CUV_TEST (test_segment)
{
  CuvLive scene = new_scene ("");
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = 10 * GST_SECOND;
  gst_harness_push_event (scene.h, gst_event_new_segment (&segment));
  scene.n += 250;
  check_new_scene (&scene, 220);
  cuv_live_clear (&scene);
}

/* A frame after a gap of more than a second, or of less: a leaky queue dropped
 * some. */
CUV_TEST (test_discont)
{
  for (guint jump = 0; jump < 2; jump++) {
    CuvLive scene = new_scene ("");
    GstBuffer *frame;

    scene.n += jump ? 30 : 20;
    frame = scene_frame (&scene, BACKGROUND);
    scene_paint (frame, (Box){ 30, 30, 40, 24 }, 200);
    GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
    scene_expect (&scene, frame, jump ? "" : "30,30 40x24 area 960 frames 2\n");
    cuv_live_clear (&scene);
  }
}

/* What was learnt is forgotten after a minute without frames, because the
 * camera did not answer or the pipeline was paused. Running time then stands
 * still, and so does a source that is not live. */
CUV_TEST (test_pause)
{
  static const struct {
    gboolean live;
    guint gap, pause; /* seconds */
    gboolean again;
  } cases[] = { { TRUE, 58, 0, FALSE }, { TRUE, 62, 0, TRUE },
    { TRUE, 0, 58, FALSE }, { TRUE, 0, 3600, TRUE }, { TRUE, 31, 31, TRUE },
    { FALSE, 58, 0, FALSE }, { FALSE, 62, 0, TRUE },
    { FALSE, 0, 3600, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    CuvLive scene = scene_new ("skip-late=false", "RGB", WIDTH, HEIGHT);

    gst_harness_set_live (scene.h, cases[i].live);
    gst_element_set_base_time (scene.element, GST_SECOND);
    scene_learn (&scene, 20);
    scene.n += 25 * cases[i].gap;
    gst_element_set_base_time (
        scene.element, (1 + cases[i].pause) * GST_SECOND);
    scene_expect_box (&scene, place, 200, cases[i].again ? "" : found);
    cuv_live_clear (&scene);
  }
}

/* Two minutes between frames are no pause. */
CUV_TEST (test_time_lapse)
{
  CuvLive scene = scene_new ("", "RGB", WIDTH, HEIGHT);

  for (guint i = 0; i <= 20; i++) {
    GstBuffer *frame = scene_frame (&scene, BACKGROUND);

    if (i == 20)
      scene_paint (frame, place, 200);
    GST_BUFFER_PTS (frame) = i * 120 * GST_SECOND;
    GST_BUFFER_DURATION (frame) = 120 * GST_SECOND;
    scene_expect (&scene, frame, i == 20 ? found : "");
  }
  cuv_live_clear (&scene);
}

CUV_TEST (test_caps_change)
{
  static const struct {
    const gchar *format;
    gint width, height;
  } cases[] = { { "RGB", 2 * WIDTH, 2 * HEIGHT }, { "RGB", 128, 90 },
    { "BGRx", 128, 90 }, { "NV12", 128, 90 }, { "NV12", 90, 128 },
    { "NV12", 70, 128 }, { "NV12", WIDTH, HEIGHT }, { "RGB", WIDTH, HEIGHT } };

  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    CuvLive scene = new_scene (methods[m]);

    for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
      cuv_live_caps (&scene, cases[i].format, cases[i].width, cases[i].height);
      check_new_scene (&scene, i % 2 == 0 ? 220 : BACKGROUND);
    }
    expect_no_warning (scene.bus);
    cuv_live_clear (&scene);
  }
}

/* A caps event that only changes the format, without a segment. */
CUV_TEST (test_format_change)
{
  CuvLive scene = new_scene ("");
  GstCaps *caps = gst_caps_from_string (
      "video/x-raw,format=NV12,width=160,height=120,framerate=25/1");

  scene.format = "NV12";
  gst_harness_push_event (scene.h, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  check_new_scene (&scene, 220);
  cuv_live_clear (&scene);
}

CUV_TEST (test_restart)
{
  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    CuvLive scene = new_scene (methods[m]);

    cuv_live_restart (&scene, "");
    check_new_scene (&scene, 220);
    cuv_live_clear (&scene);
  }
}

CUV_TEST (test_eos)
{
  CuvLive scene = new_scene ("");
  gboolean ended = FALSE;
  GstEvent *event;

  gst_harness_push_event (scene.h, gst_event_new_eos ());
  while ((event = gst_harness_try_pull_event (scene.h)) != NULL) {
    ended |= GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
  }
  fail_unless (ended);
  cuv_live_clear (&scene);
}

/* ---- frames ---- */

/* Boxes are inside the frame, whatever its size. */
CUV_TEST (test_small_frames)
{
  static const gint sizes[][2] = { { 1, 1 }, { 1, 70 }, { 130, 1 }, { 2, 2 },
    { 3, 17 } };
  static const gchar *const properties[] = { "", "color=true", "scale=3",
    "method=average", "method=average scale=16", "opening=31 closing=31" };

  for (guint p = 0; p < G_N_ELEMENTS (properties); p++) {
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
      g_autofree gchar *all = g_strconcat (
          "scene-change=1 min-area=0 opening=1 ", properties[p], NULL);
      const gint width = sizes[i][0], height = sizes[i][1];
      CuvLive scene = scene_new (all, "RGB", width, height);
      g_autoptr (GArray) objects =
          g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
      g_autoptr (GstBuffer) out = NULL;
      const GstCuvObject *object;

      scene_learn (&scene, 5);
      out = cuv_live_push (&scene, scene_frame (&scene, 220));
      gst_cuv_objects_read (objects, out);
      fail_unless_equals_int (objects->len, 1);
      object = &g_array_index (objects, GstCuvObject, 0);
      fail_unless (object->x == 0 && object->y == 0 && object->w > 0
          && object->h > 0 && object->w <= (guint) width
          && object->h <= (guint) height);
      cuv_live_clear (&scene);
    }
  }
}

/* Noise has more parts than there may be boxes: 1024. */
CUV_TEST (test_many_parts)
{
  CuvLive scene = scene_new ("scene-change=1 min-area=0 opening=1 closing=1 "
                             "merge-distance=0 method=average scale=1",
      "RGB", 400, 300);
  guint objects;

  scene_expect_empty (&scene);
  for (guint distance = 0; distance < 3; distance++) {
    GstBuffer *frame = scene_frame (&scene, BACKGROUND);

    g_object_set (scene.element, "merge-distance", distance, NULL);
    for (gint i = 0; i < 6000; i++)
      scene_paint (frame, (Box){ i * 7919 % 400, i * 7907 % 300, 1, 1 }, 200);
    g_free (scene_push (&scene, frame));
    objects = cuv_stat_uint (scene.element, "objects");
    fail_unless (objects > 0 && objects <= 1024, "%u objects", objects);
    cuv_harness_flush (scene.h);
    scene_expect_empty (&scene);
  }
  cuv_live_clear (&scene);
}
