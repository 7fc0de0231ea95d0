/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvFilter: analyses of a frame by several elements that overlap. */
#include "config.h"
#include "cuvhooks.h"
#include "probe.h"

typedef struct {
  GstHarness *h;
  GstBus *bus;
  CuvProbe *a, *b, *c; /* the probes of these names; c may be NULL */
  guint n;             /* frames so far */
} Line;

static CuvProbe *
find_probe (GstHarness *h, const gchar *name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (h->element), name);
  CuvProbe *probe = (CuvProbe *) element;

  if (probe == NULL)
    return NULL;
  probe->letter = g_ascii_toupper (name[0]);
  probe->submits = TRUE;
  gst_object_unref (element); /* the bin has a reference */
  return probe;
}

static Line
line_new (const gchar *elements)
{
  Line self = { 0 };

  cuv_probe_register ();
  cuv_probe_calls = g_string_new (NULL);
  self.h = gst_harness_new_parse (elements);
  self.bus = cuv_harness_watch (self.h);
  cuv_harness_caps (self.h, "NV12", 64, 48);
  self.a = find_probe (self.h, "a");
  self.b = find_probe (self.h, "b");
  self.c = find_probe (self.h, "c");
  return self;
}

static void
line_clear (Line *self)
{
  cuv_harness_unwatch (self->h, self->bus);
  gst_harness_teardown (self->h);
  g_string_free (cuv_probe_calls, TRUE);
}

/* Pushes a frame. Returns the calls that were made. */
static const gchar *
push (Line *self, GstFlowReturn flow)
{
  g_string_truncate (cuv_probe_calls, 0);
  fail_unless_equals_int (
      gst_harness_push (self->h, cuv_probe_frame (self->n++)), flow);
  return cuv_probe_calls->str;
}

#define WAITS "submit A, analyse A, publish A, "
#define OVERLAP "submit A, submit B, analyse A, publish A, "
#define CONFIGURE                                                              \
  "configure A, submit A, analyse A, publish A, "                              \
  "configure B, submit B, analyse B, publish B, "

CUV_TEST (two_elements_overlap)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b");

  fail_unless_equals_string (push (&line, GST_FLOW_OK), CONFIGURE);
  fail_unless_equals_string (
      push (&line, GST_FLOW_OK), OVERLAP "analyse B, publish B, ");
  line_clear (&line);
}

/* Results that are there first from the first element change no order. */
CUV_LOOP_TEST (three_elements_overlap, 2)
{
  Line line = line_new (__i__ == 0
          ? "cuvprobe name=a ! cuvprobeb name=b ! cuvprobec name=c"
          : "cuvquickprobe name=a ! cuvprobeb name=b ! cuvprobec name=c");

  push (&line, GST_FLOW_OK);
  fail_unless_equals_string (push (&line, GST_FLOW_OK),
      "submit A, submit B, submit C, analyse A, publish A, "
      "analyse B, publish B, analyse C, publish C, ");
  line_clear (&line);
}

/* Results that are there first are read first, but published in order. */
CUV_TEST (quick_results_are_read_first)
{
  Line line = line_new ("cuvprobe name=a ! cuvquickprobe name=b");

  push (&line, GST_FLOW_OK);
  fail_unless_equals_string (push (&line, GST_FLOW_OK),
      "submit A, submit B, analyse B, analyse A, publish A, publish B, ");
  line.b->fail = TRUE;
  fail_unless_equals_string (push (&line, GST_FLOW_ERROR),
      "submit A, submit B, analyse B, analyse A, publish A, ");
  line_clear (&line);
}

#if HAVE_CUDA
CUV_TEST (quick_results_wait_on_a_busy_gpu)
{
  Line line = line_new ("cuvprobe name=a ! cuvquickprobe name=b");

  push (&line, GST_FLOW_OK);
  cuv_gpu_set_busy (true);
  fail_unless_equals_string (
      push (&line, GST_FLOW_OK), OVERLAP "analyse B, publish B, ");
  cuv_gpu_set_busy (false);
  line_clear (&line);
}
#endif

/* Only elements of different kinds overlap. */
CUV_TEST (same_kind_waits)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b ! cuvprobe name=c");

  push (&line, GST_FLOW_OK);
  fail_unless_equals_string (push (&line, GST_FLOW_OK),
      OVERLAP "analyse B, publish B, submit C, analyse C, publish C, ");
  line_clear (&line);
}

/* Metadata and messages come in the order of the elements, from each of
 * them. */
CUV_TEST (results_are_in_order)
{
  Line line = line_new ("cuvprobe name=a message=every-frame "
                        "! cuvprobeb name=b message=every-frame");
  const GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  line.b->n_analyse = 100;
  for (guint n = 0; n < 3; n++) {
    g_autoptr (GstBuffer) out =
        gst_harness_push_and_pull (line.h, cuv_probe_frame (n));

    for (guint i = 0; i < 2; i++) {
      GstMessage *message =
          gst_bus_pop_filtered (line.bus, GST_MESSAGE_ELEMENT);

      roi = (gpointer) gst_buffer_iterate_meta_filtered (
          out, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
      fail_unless_equals_int (roi->id, (gint) (n + 1 + 100 * i));
      fail_unless (GST_MESSAGE_SRC (message)
          == (i == 0 ? GST_OBJECT (line.a) : GST_OBJECT (line.b)));
      gst_message_unref (message);
    }
    state = NULL;
  }
  line_clear (&line);
}

static GstPadProbeReturn
count_metas (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  fail_unless_equals_int (
      gst_buffer_get_n_meta (GST_PAD_PROBE_INFO_BUFFER (info),
          GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE),
      1);
  return GST_PAD_PROBE_OK;
}

/* A pad probe between the elements finds the results of the first one. */
CUV_LOOP_TEST (probe_sees_results, 2)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b");
  GstPad *pad = gst_element_get_static_pad (
      __i__ == 0 ? GST_ELEMENT (line.a) : GST_ELEMENT (line.b),
      __i__ == 0 ? "src" : "sink");
  gulong id;

  push (&line, GST_FLOW_OK);
  id = gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_BUFFER, count_metas, NULL, NULL);
  for (guint n = 0; n < 2; n++)
    fail_unless_equals_string (
        push (&line, GST_FLOW_OK), WAITS "submit B, analyse B, publish B, ");
  gst_pad_remove_probe (pad, id);
  fail_unless_equals_string (
      push (&line, GST_FLOW_OK), OVERLAP "analyse B, publish B, ");
  gst_object_unref (pad);
  line_clear (&line);
}

static const gchar *separated[] = {
  "cuvprobe name=a ! identity ! cuvprobeb name=b",
  "cuvprobe name=a ! bin.( cuvprobeb name=b )",
  "cuvprobe name=a ! queue ! cuvprobeb name=b",
};

CUV_LOOP_TEST (separated_elements_wait, G_N_ELEMENTS (separated))
{
  Line line = line_new (separated[__i__]);

  for (guint n = 0; n < 2; n++)
    gst_buffer_unref (gst_harness_push_and_pull (line.h, cuv_probe_frame (n)));
  g_string_truncate (cuv_probe_calls, 0);
  gst_buffer_unref (gst_harness_push_and_pull (line.h, cuv_probe_frame (2)));
  fail_unless_equals_string (
      cuv_probe_calls->str, WAITS "submit B, analyse B, publish B, ");
  line_clear (&line);
}

/* What needs the results or the frame of the elements before waits for them. */
CUV_TEST (next_element_waits)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b");

  push (&line, GST_FLOW_OK);
  line.b->submits = FALSE;
  fail_unless_equals_string (
      push (&line, GST_FLOW_OK), WAITS "analyse B, publish B, ");
  line.b->submits = TRUE;
  g_object_set (line.b, "number", 1, NULL);
  fail_unless_equals_string (push (&line, GST_FLOW_OK),
      WAITS "configure B, submit B, analyse B, publish B, ");
  g_object_set (line.b, "inference-interval", 2, "hold-results", TRUE, NULL);
  fail_unless_equals_string (push (&line, GST_FLOW_OK), WAITS "publish B, ");
  fail_unless_equals_string (
      push (&line, GST_FLOW_OK), OVERLAP "analyse B, publish B, ");
  g_object_set (line.b, "inference-interval", 1, "writes", TRUE, NULL);
  fail_unless_equals_string (
      push (&line, GST_FLOW_OK), WAITS "configure B, analyse B, publish B, ");
  line_clear (&line);
}

/* An element that draws does so on the frame, not on a copy. */
CUV_TEST (frame_is_not_copied)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b writes=true");

  for (guint n = 0; n < 3; n++) {
    GstBuffer *in = cuv_probe_frame (n), *out;
    GstMemory *memory = gst_buffer_peek_memory (in, 0);

    out = gst_harness_push_and_pull (line.h, in);
    fail_unless (gst_buffer_peek_memory (out, 0) == memory);
    fail_unless (gst_buffer_is_all_memory_writable (out));
    gst_buffer_unref (out);
  }
  line_clear (&line);
}

static void
expect_error (Line *self, CuvProbe *source)
{
  GstMessage *message = gst_bus_pop_filtered (self->bus, GST_MESSAGE_ERROR);

  fail_unless (message != NULL);
  fail_unless (GST_MESSAGE_SRC (message) == GST_OBJECT (source));
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (self->bus, GST_MESSAGE_ERROR) == NULL);
}

CUV_TEST (failure_of_pending_analysis)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b");

  push (&line, GST_FLOW_OK);
  line.a->fail = TRUE;
  fail_unless_equals_string (push (&line, GST_FLOW_ERROR),
      "submit A, submit B, analyse A, analyse B, ");
  expect_error (&line, line.a);
  line.a->fail = FALSE;
  line.b->fail = TRUE;
  fail_unless_equals_string (push (&line, GST_FLOW_ERROR),
      "configure A, submit A, submit B, analyse A, publish A, analyse B, ");
  expect_error (&line, line.b);
  line.b->fail = FALSE;
  fail_unless_equals_string (push (&line, GST_FLOW_OK),
      WAITS "configure B, submit B, analyse B, publish B, ");
  line_clear (&line);
}

/* An element that does not submit analyses nothing after such a failure. */
CUV_TEST (failure_before_analysis)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b");

  push (&line, GST_FLOW_OK);
  line.a->fail = TRUE;
  line.b->submits = FALSE;
  fail_unless_equals_string (
      push (&line, GST_FLOW_ERROR), "submit A, analyse A, ");
  expect_error (&line, line.a);
  line_clear (&line);
}

static void
list_free (gpointer unused, GstMiniObject *memory)
{
  g_string_append (cuv_probe_calls, "free, ");
}

/* The next element flushes: the results are dropped, but there are pixels until
 * the analysis ends. */
CUV_TEST (frame_that_does_not_arrive)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b");
  GstPad *sink = gst_element_get_static_pad (GST_ELEMENT (line.b), "sink");
  GstBuffer *frame = cuv_probe_frame (1);

  push (&line, GST_FLOW_OK);
  gst_pad_send_event (sink, gst_event_new_flush_start ());
  gst_mini_object_weak_ref (
      GST_MINI_OBJECT (gst_buffer_peek_memory (frame, 0)), list_free, NULL);
  g_string_truncate (cuv_probe_calls, 0);
  fail_unless_equals_int (gst_harness_push (line.h, frame), GST_FLOW_FLUSHING);
  fail_unless_equals_string (
      cuv_probe_calls->str, "submit A, analyse A, free, ");
  gst_pad_send_event (sink, gst_event_new_flush_stop (FALSE));
  cuv_harness_flush (line.h);
  fail_unless_equals_string (
      push (&line, GST_FLOW_OK), OVERLAP "analyse B, publish B, ");
  gst_object_unref (sink);
  line_clear (&line);
}

static GstFlowReturn
drop (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

CUV_TEST (failure_with_a_dropped_frame)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b");

  push (&line, GST_FLOW_OK);
  gst_pad_set_chain_function (
      GST_BASE_TRANSFORM_SINK_PAD (GST_BASE_TRANSFORM (line.b)), drop);
  fail_unless_equals_string (
      push (&line, GST_FLOW_OK), "submit A, analyse A, ");
  line.a->fail = TRUE;
  fail_unless_equals_string (
      push (&line, GST_FLOW_ERROR), "submit A, analyse A, ");
  expect_error (&line, line.a);
  line_clear (&line);
}

CUV_TEST (next_element_negotiates)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b");

  push (&line, GST_FLOW_OK);
  gst_pad_mark_reconfigure (
      GST_BASE_TRANSFORM_SRC_PAD (GST_BASE_TRANSFORM (line.b)));
  fail_unless (g_str_has_prefix (push (&line, GST_FLOW_OK), WAITS));
  fail_unless_equals_string (
      push (&line, GST_FLOW_OK), OVERLAP "analyse B, publish B, ");
  line_clear (&line);
}

CUV_TEST (next_element_is_removed)
{
  Line line =
      line_new ("cuvprobe name=a ! cuvprobeb name=b ! cuvprobec name=c");
  GstElement *a = GST_ELEMENT (line.a), *b = GST_ELEMENT (line.b);

  push (&line, GST_FLOW_OK);
  gst_element_unlink (a, b);
  fail_unless_equals_string (push (&line, GST_FLOW_NOT_LINKED), WAITS);
  gst_element_unlink (b, GST_ELEMENT (line.c));
  gst_element_set_state (b, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (line.h->element), b);
  fail_unless (gst_element_link (a, GST_ELEMENT (line.c)));
  fail_unless_equals_string (push (&line, GST_FLOW_OK),
      "submit A, submit C, analyse A, publish A, analyse C, publish C, ");
  line_clear (&line);
}

/* Each element is charged for its own work only. */
CUV_TEST (times_do_not_overlap)
{
  Line line = line_new ("cuvprobe name=a ! cuvprobeb name=b");

  line.a->takes_us = 3000;
  line.b->takes_us = 2000;
  for (guint n = 0; n < 2; n++)
    push (&line, GST_FLOW_OK);
  fail_unless_equals_uint64 (
      cuv_stat (GST_ELEMENT (line.a), "microseconds"), 3000);
  fail_unless_equals_uint64 (
      cuv_stat (GST_ELEMENT (line.b), "microseconds"), 2000);
  line_clear (&line);
}
