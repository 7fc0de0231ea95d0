/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionmotion: settings apply to the next frame; errors name invalid ones, and
 * the previous settings stay in force. */
#include "config.h"
#include "scene.h"

static const Box place = { 20, 30, 40, 24 };

/* Returns a frame in which every setting matters. */
static GstBuffer *
rich_frame (CuvLive *self)
{
  GstBuffer *frame = scene_frame (self, BACKGROUND);

  scene_paint (frame, (Box){ 10, 10, 40, 24 }, 200);
  scene_paint (frame, (Box){ 60, 10, 12, 12 }, 200);
  scene_paint (frame, (Box){ 10, 50, 100, 2 }, 200);
  scene_paint (frame, (Box){ 10, 60, 20, 12 }, 200);
  scene_paint (frame, (Box){ 33, 60, 20, 12 }, 200);
  scene_paint (frame, (Box){ 100, 70, 20, 20 }, 112); /* faint */
  scene_paint (frame, (Box){ 60, 90, 30, 20 }, 70);   /* a shadow */
  scene_paint_color (/* of the background's luma */
      frame, (Box){ 130, 90, 20, 20 }, (const guint8[]){ 200, 58, 54 });
  return frame;
}

/* Returns what is found in the frame when it is shown for the second time to a
 * background that was just learnt. */
static gchar *
look (CuvLive *self)
{
  g_autofree gchar *label = NULL, *text = NULL;

  cuv_harness_flush (self->h);
  for (guint i = 0; i < 30; i++)
    gst_buffer_unref (cuv_live_push (self, scene_frame (self, BACKGROUND)));
  gst_buffer_unref (cuv_live_push (self, rich_frame (self)));
  text = scene_push (self, rich_frame (self));
  return g_steal_pointer (&text);
}

CUV_TEST (test_live_changes)
{
  static const CuvLiveStep steps[] = { { "min-area=500", TRUE },
    { "min-area=100", TRUE }, { "merge-distance=30", TRUE },
    { "merge-distance=4", TRUE }, { "padding=20", TRUE }, { "padding=0", TRUE },
    { "merge-distance=5", FALSE }, { "opening=1", TRUE }, { "opening=2", TRUE },
    { "opening=3", FALSE }, { "closing=1", TRUE }, { "threshold=1000", TRUE },
    { "threshold=16", TRUE }, { "shadows=false", TRUE },
    { "color=false", TRUE }, { "color=true", TRUE }, { "history=1", TRUE },
    { "history=500", TRUE }, { "metadata=roi", FALSE },
    { "difference=40", FALSE }, { "method=average", TRUE },
    { "threshold=20", FALSE }, { "difference=10", TRUE },
    { "history=1", FALSE }, { "scale=2", TRUE }, { "scale=0", TRUE },
    { "scene-change=0.01", TRUE }, { "scene-change=0.5", TRUE },
    { "rate=0.9", TRUE } };
  CuvLive live = scene_new ("", "RGB", WIDTH, HEIGHT);

  cuv_live_steps (&live, steps, G_N_ELEMENTS (steps), look);
  cuv_live_clear (&live);
}

/* Method, scale and color start a new background, other properties do not. */
CUV_TEST (test_what_starts_again)
{
  static const struct {
    const gchar *set;
    gboolean again;
  } cases[] = { { "threshold=20", FALSE }, { "min-area=50", FALSE },
    { "shadows=false", FALSE }, { "history=100", FALSE },
    { "color=false", TRUE }, { "color=true", TRUE }, { "scale=2", TRUE },
    { "scale=1", TRUE }, { "method=average", TRUE },
    { "difference=30", FALSE } };
  CuvLive live = scene_new ("", "RGB", WIDTH, HEIGHT);

  scene_learn (&live, 30);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    cuv_element_set (live.element, cases[i].set);
    scene_expect_box (&live, place, 200,
        cases[i].again ? "" : "20,30 40x24 area 960 frames 1\n");
    cuv_harness_flush (live.h);
    scene_learn (&live, 30);
  }
  cuv_live_clear (&live);
}

/* ---- invalid values ---- */

CUV_TEST (test_out_of_range)
{
  cuv_expect_refused ("visionmotion",
      "scale=17 history=0 threshold=-1 difference=0 difference=256 rate=1.1 "
      "opening=0 opening=32 closing=0 closing=32 merge-distance=65537 "
      "padding=1001 "
      "scene-change=-0.1 scene-change=1.1");
}

CUV_TEST (test_invalid_names)
{
  cuv_expect_parse_errors ("visionmotion", "method=knn metadata=all");
}
