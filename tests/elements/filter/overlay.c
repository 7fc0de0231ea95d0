/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvFilter: visionoverlay finishes analyses that are pending. It copies a
 * shared frame while they run, if it drew on the frame before. */
#include "probe.h"
#include "base/gstcuvpending.h"

typedef struct {
  GstHarness *h;
  GstBus *bus;
  CuvProbe *probe;
  GstElement *overlay;
  guint n; /* frames so far */
} Line;

static Line
line_new (const gchar *elements)
{
  Line self = { 0 };

  cuv_probe_register ();
  self.h = gst_harness_new_parse (elements);
  self.bus = cuv_harness_watch (self.h);
  cuv_harness_caps (self.h, "NV12", 64, 48);
  self.probe = (CuvProbe *) gst_harness_find_element (self.h, "cuvprobe");
  self.probe->submits = TRUE;
  self.overlay = gst_harness_find_element (self.h, "visionoverlay");
  return self;
}

static void
line_clear (Line *self)
{
  fail_if (gst_cuv_pending_any ());
  gst_object_unref (self->probe);
  gst_object_unref (self->overlay);
  cuv_harness_unwatch (self->h, self->bus);
  gst_harness_teardown (self->h);
}

static gboolean
same_memory (GstBuffer *a, GstBuffer *b)
{
  return gst_buffer_peek_memory (a, 0) == gst_buffer_peek_memory (b, 0);
}

/* Pushes a frame of which the caller keeps a reference. Returns what comes
 * out. */
static GstBuffer *
draw (Line *self, GstBuffer *frame)
{
  g_autoptr (GstBuffer) before = gst_buffer_copy_deep (frame);
  GstBuffer *out;

  GST_BUFFER_PTS (frame) = self->n++ * FRAME_TIME;
  fail_unless_equals_int (
      gst_harness_push (self->h, gst_buffer_ref (frame)), GST_FLOW_OK);
  out = gst_harness_try_pull (self->h);
  fail_unless (out != NULL);
  fail_unless (cuv_frames_equal ("NV12", 64, 48, frame, before));
  fail_unless_equals_int (
      gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE),
      1);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), GST_BUFFER_PTS (frame));
  return out;
}

/* The results are attached to the copy, which was made before. */
CUV_TEST (shared_frame_is_copied_early)
{
  Line line = line_new ("cuvprobe ! visionoverlay");
  Line waits = line_new ("cuvprobe ! identity ! visionoverlay");

  for (guint n = 0; n < 4; n++) {
    g_autoptr (GstBuffer) frame = cuv_probe_frame (n);
    g_autoptr (GstBuffer) out = draw (&line, frame);
    g_autoptr (GstBuffer) expected = draw (&waits, frame);

    fail_if (same_memory (out, frame));
    fail_unless_equals_int (line.probe->published == out, n > 0);
    fail_if (waits.probe->published == expected);
    fail_unless (cuv_frames_equal ("NV12", 64, 48, out, expected));
    fail_if (cuv_frames_equal ("NV12", 64, 48, out, frame));
  }
  fail_unless_equals_uint64 (cuv_stat (line.overlay, "copied"), 4);
  fail_unless_equals_uint64 (cuv_stat (line.overlay, "drawn"), 4);
  line_clear (&line);
  line_clear (&waits);
}

CUV_TEST (own_frame_is_not_copied)
{
  Line line = line_new ("cuvprobe ! visionoverlay");

  for (guint n = 0; n < 3; n++) {
    GstBuffer *frame = cuv_probe_frame (n), *out;
    GstMemory *memory = gst_buffer_peek_memory (frame, 0);

    out = gst_harness_push_and_pull (line.h, frame);
    fail_unless (gst_buffer_peek_memory (out, 0) == memory);
    gst_buffer_unref (out);
  }
  fail_unless_equals_uint64 (cuv_stat (line.overlay, "copied"), 0);
  fail_unless_equals_uint64 (cuv_stat (line.overlay, "drawn"), 3);
  line_clear (&line);
}

/* A frame that was copied early and has nothing to draw is passed on as it is;
 * the next one is not copied. */
CUV_TEST (nothing_to_draw)
{
  Line line = line_new ("cuvprobe ! visionoverlay");
  g_autoptr (GstBuffer) frame = cuv_probe_frame (0);

  gst_buffer_unref (draw (&line, frame));
  g_object_set (line.overlay, "labels", "other", NULL);
  for (guint n = 0; n < 3; n++) {
    g_autoptr (GstBuffer) out = draw (&line, frame);

    fail_unless_equals_int (same_memory (out, frame), n > 0);
    fail_unless (cuv_frames_equal ("NV12", 64, 48, out, frame));
    fail_unless_equals_uint64 (cuv_stat (line.overlay, "copied"), 2);
    fail_unless_equals_uint64 (cuv_stat (line.overlay, "drawn"), 1);
  }
  line_clear (&line);
}

CUV_TEST (failure_of_pending_analysis)
{
  Line line = line_new ("cuvprobe ! visionoverlay");
  g_autoptr (GstBuffer) frame = cuv_probe_frame (0);

  for (guint n = 0; n < 3; n++) {
    gst_buffer_unref (draw (&line, frame));
    line.probe->fail = TRUE;
    fail_unless_equals_int (
        gst_harness_push (line.h, gst_buffer_ref (frame)), GST_FLOW_ERROR);
    fail_if (gst_cuv_pending_any ());
    expect_problem (line.bus, GST_MESSAGE_ERROR, "probe fails");
    fail_unless (gst_bus_pop_filtered (line.bus, GST_MESSAGE_ERROR) == NULL);
    fail_unless (gst_harness_try_pull (line.h) == NULL);
    line.probe->fail = FALSE;
  }
  line_clear (&line);
}

/* visionoverlay flushes: the results are dropped. */
CUV_TEST (frame_that_does_not_arrive)
{
  Line line = line_new ("cuvprobe ! visionoverlay");
  GstPad *sink = gst_element_get_static_pad (line.overlay, "sink");
  g_autoptr (GstBuffer) frame = cuv_probe_frame (0);

  gst_buffer_unref (draw (&line, frame));
  gst_pad_send_event (sink, gst_event_new_flush_start ());
  fail_unless_equals_int (
      gst_harness_push (line.h, gst_buffer_ref (frame)), GST_FLOW_FLUSHING);
  fail_if (gst_cuv_pending_any ());
  fail_unless_equals_int ((gint) line.probe->n_analyse, 2);
  fail_unless_equals_int ((gint) line.probe->n_publish, 1);
  gst_pad_send_event (sink, gst_event_new_flush_stop (FALSE));
  cuv_harness_flush (line.h);
  gst_buffer_unref (draw (&line, frame));
  gst_object_unref (sink);
  line_clear (&line);
}
