/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvFilter: the bus messages. */
#include "probe.h"

#include <sched.h>

#define N_THREADS 64 /* of many streams on one core */
#define N_POSTS 2000 /* per thread; fewer may pass without turns */

static GstBus *
add_bus (GstHarness *h)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  return bus;
}

static guint
count_messages (GstBus *bus)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT)) != NULL) {
    n++;
    gst_message_unref (message);
  }
  return n;
}

static void
teardown (GstHarness *h, GstBus *bus)
{
  cuv_harness_unwatch (h, bus);
  gst_harness_teardown (h);
}

CUV_TEST (message_none)
{
  CuvProbe *probe;
  GstHarness *h = cuv_probe_harness (&probe);
  GstBus *bus = add_bus (h);

  gst_util_set_object_arg (G_OBJECT (probe), "message", "none");
  for (guint n = 0; n < 3; n++, probe->change++)
    cuv_probe_push (h, n, NULL);
  fail_unless_equals_int (count_messages (bus), 0);
  teardown (h, bus);
}

/* A message that is not posted is not filled in either. */
CUV_TEST (message_on_change)
{
  CuvProbe *probe;
  GstHarness *h = cuv_probe_harness (&probe);
  GstBus *bus = add_bus (h);
  guint expected[] = { 1, 0, 0, 1, 0, 1 }, changes[] = { 0, 0, 0, 7, 7, 0 };
  guint n_posted = 0;

  for (guint n = 0; n < G_N_ELEMENTS (changes); n++) {
    probe->change = changes[n];
    cuv_probe_push (h, n, NULL);
    fail_unless_equals_int (count_messages (bus), expected[n]);
    n_posted += expected[n];
    fail_unless_equals_int (probe->n_messages, n_posted);
  }
  teardown (h, bus);
}

/* Messages are posted for analysed frames only: a held result was already
 * reported. */
CUV_TEST (message_every_frame)
{
  CuvProbe *probe;
  GstHarness *h = cuv_probe_harness (&probe);
  GstBus *bus = add_bus (h);

  gst_util_set_object_arg (G_OBJECT (probe), "message", "every-frame");
  g_object_set (probe, "inference-interval", 2, "hold-results", TRUE, NULL);
  for (guint n = 0; n < 4; n++) {
    cuv_probe_push (h, n, NULL);
    fail_unless_equals_int (count_messages (bus), n % 2 == 0);
  }
  teardown (h, bus);
}

static void
check_time (
    const GstStructure *structure, const gchar *field, GstClockTime time)
{
  guint64 value = 0;

  fail_unless (
      gst_structure_get_uint64 (structure, field, &value), "no %s", field);
  fail_unless (value == time, "%s is %" G_GUINT64_FORMAT, field, value);
}

CUV_TEST (message_fields)
{
  CuvProbe *probe;
  GstHarness *h = cuv_probe_harness (&probe);
  GstBus *bus = add_bus (h);
  const GstStructure *structure;
  GstSegment segment;
  GstMessage *message;
  guint analysis = 0;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = FRAME_TIME;
  segment.time = 10 * GST_SECOND;
  segment.base = 3 * GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  cuv_probe_push (h, 4, NULL);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL && GST_MESSAGE_SRC (message) == (void *) probe);
  structure = gst_message_get_structure (message);
  fail_unless_equals_string (gst_structure_get_name (structure), "cuvprobe");
  check_time (structure, "timestamp", 4 * FRAME_TIME);
  check_time (structure, "duration", FRAME_TIME);
  check_time (structure, "stream-time", 3 * FRAME_TIME + 10 * GST_SECOND);
  check_time (structure, "running-time", 3 * FRAME_TIME + 3 * GST_SECOND);
  fail_unless (gst_structure_get_uint (structure, "analysis", &analysis)
      && analysis == 1);
  gst_message_unref (message);
  teardown (h, bus);
}

/* stats-interval counts only analysed frames. */
CUV_TEST (stats_messages)
{
  CuvProbe *probe;
  GstHarness *h = cuv_probe_harness (&probe);
  GstBus *bus = add_bus (h);
  GstMessage *message;
  const GstStructure *structure;
  guint64 frames = 0, own = 0;

  gst_util_set_object_arg (G_OBJECT (probe), "message", "none");
  g_object_set (probe, "inference-interval", 2, "stats-interval", 3, NULL);
  for (guint n = 0; n < 12; n++) { /* analysed: 0, 2, 4, .. */
    cuv_probe_push (h, n, NULL);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
    fail_unless ((message != NULL) == (n == 4 || n == 10), "frame %u", n);
    if (message == NULL)
      continue;
    structure = gst_message_get_structure (message);
    fail_unless_equals_string (
        gst_structure_get_name (structure), "cuvprobe-stats");
    fail_unless (gst_structure_get (structure, "frames", G_TYPE_UINT64, &frames,
        "own", G_TYPE_UINT64, &own, NULL));
    fail_unless_equals_uint64 (frames, n + 1);
    fail_unless_equals_uint64 (own, 42);
    gst_message_unref (message);
  }
  g_object_set (probe, "stats-interval", 0, NULL);
  for (guint n = 12; n < 30; n++)
    cuv_probe_push (h, n, NULL);
  fail_unless_equals_int (count_messages (bus), 0);
  teardown (h, bus);
}

/* ---- many threads ---- */

static gboolean
post (GstElement *element, const gchar *name)
{
  return gst_element_post_message (element,
      gst_message_new_element (
          GST_OBJECT (element), gst_structure_new_empty (name)));
}

static gpointer
post_often (gpointer element)
{
  for (guint i = 0; i < N_POSTS; i++) {
    g_usleep (200); /* so that threads wake while others write */
    post (element, "often");
  }
  return NULL;
}

/* Threads that spin for each other end up posting tens to hundreds of messages
 * a second on one core: then this takes minutes, with turns a second. */
CUV_TEST (messages_of_many_threads)
{
  CuvProbe *probe;
  GstHarness *h = cuv_probe_harness (&probe);
  GstBus *bus = add_bus (h);
  GThread *threads[N_THREADS];
  const gint64 end = g_get_monotonic_time () + G_TIME_SPAN_MINUTE / 2;
  cpu_set_t before, one;

  fail_unless (sched_getaffinity (0, sizeof before, &before) == 0);
  CPU_ZERO (&one);
  for (int cpu = 0; CPU_COUNT (&one) == 0; cpu++)
    if (CPU_ISSET (cpu, &before))
      CPU_SET (cpu, &one);
  fail_unless (sched_setaffinity (0, sizeof one, &one) == 0);
  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new (NULL, post_often, h->element);
  for (guint i = 0; i < N_THREADS * N_POSTS; i++) {
    const gint64 left = end - g_get_monotonic_time ();
    GstMessage *message = left < 0 ? NULL
                                   : gst_bus_timed_pop_filtered (bus,
                                       left * GST_USECOND, GST_MESSAGE_ELEMENT);

    fail_unless (message != NULL, "only %u messages", i);
    gst_message_unref (message);
  }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  fail_unless (sched_setaffinity (0, sizeof before, &before) == 0);
  fail_unless_equals_int (count_messages (bus), 0);
  teardown (h, bus);
}

static gpointer
post_second (gpointer element)
{
  return GINT_TO_POINTER (post (element, "second"));
}

/* Posts a message from this thread, and waits for a thread that posts one. */
static GstBusSyncReply
post_more (GstBus *bus, GstMessage *message, gpointer unused)
{
  GstElement *element = GST_ELEMENT (GST_MESSAGE_SRC (message));

  if (gst_message_has_name (message, "first")) {
    fail_unless (post (element, "own"));
    fail_unless (
        g_thread_join (g_thread_new (NULL, post_second, element)) != NULL);
  }
  return GST_BUS_PASS;
}

CUV_TEST (handler_waits_for_another_message)
{
  CuvProbe *probe;
  GstHarness *h = cuv_probe_harness (&probe);
  GstBus *bus = add_bus (h);

  gst_bus_set_sync_handler (bus, post_more, NULL, NULL);
  for (guint i = 0; i < 2; i++) {
    fail_unless (post (h->element, "first"));
    fail_unless_equals_int (count_messages (bus), 3);
  }
  teardown (h, bus);
}
