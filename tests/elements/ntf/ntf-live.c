/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spectralntf over time: windows of grey video, changes while playing,
 * progress, and runs that are stopped. With CUV_TEST_CUDA=1 on the GPU. */
#include "ntf-scene.h"

#include <math.h>
#include <string.h>

#define FRAME (GST_SECOND / 25)
#define GREY "video/x-raw,format=GRAY8,width=15,height=8,framerate=25/1"

/* ---- windows ---- */

/* Returns the grey level of the n-th frame, which is flat. */
static guint8
brightness (guint n)
{
  return (guint8) (20 + 37 * n % 200);
}

static GstBuffer *
grey_frame (guint n)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 16 * 8, NULL);

  gst_buffer_memset (frame, 0, brightness (n), 16 * 8);
  for (guint y = 0; y < 8; y++) /* padding must be ignored */
    gst_buffer_memset (frame, 16 * y + 15, 255, 1);
  GST_BUFFER_PTS (frame) = n * FRAME;
  GST_BUFFER_DURATION (frame) = FRAME;
  return frame;
}

static GstHarness *
grey_harness (const gchar *properties)
{
  GstHarness *h = ntf_harness (properties);

  gst_harness_set_sink_caps_str (h, "video/x-raw,format=RGBA");
  gst_harness_set_src_caps_str (h, GREY);
  return h;
}

/* Checks that w is proportional to the brightness of the window's frames. */
static void
check_window (GstBuffer *picture, guint begin, guint window)
{
  GstCuvTable w = ntf_table (picture, "w");

  fail_unless_equals_int (w.n_rows, window);
  for (guint i = 0; i < window; i++) {
    gdouble wanted = brightness (begin + i) / (gdouble) brightness (begin);

    fail_unless (
        fabs (gst_cuv_table_double (&w, i, 0) / gst_cuv_table_double (&w, 0, 0)
            - wanted)
            < 1e-3,
        "w is wrong in the window from frame %u, row %u", begin, i);
  }
}

CUV_LOOP_TEST (windows_hop, 4)
{
  static const guint hops[] = { 1, 2, 4, 7 };
  const guint hop = hops[__i__], window = 4;
  g_autofree gchar *properties =
      g_strdup_printf ("rank=1 iterations=10 window=4 hop=%u", hop);
  g_autoptr (GstHarness) h = grey_harness (properties);
  guint n = 0;

  for (guint i = 0; i < 20; i++)
    fail_unless_equals_int (gst_harness_push (h, grey_frame (i)), GST_FLOW_OK);
  for (guint begin = 0; begin + window <= 20; begin += hop, n++) {
    GstBuffer *picture = gst_harness_try_pull (h);

    fail_unless (picture != NULL, "picture %u", n);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (picture), begin * FRAME);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (picture), hop * FRAME);
    fail_unless (n == 0 || !GST_BUFFER_IS_DISCONT (picture));
    check_window (picture, begin, window);
    gst_buffer_unref (picture);
  }
  fail_unless (gst_harness_try_pull (h) == NULL);
  device_check (h, "spectralntf");
}

static void
check_rate (GstHarness *h, gint num, gint denom)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (h->sinkpad);
  gint n, d;

  fail_unless (gst_structure_get_fraction (
      gst_caps_get_structure (caps, 0), "framerate", &n, &d));
  fail_unless (n == num && d == denom, "%d/%d", n, d);
}

CUV_TEST (hop_divides_framerate)
{
  g_autoptr (GstHarness) h =
      grey_harness ("rank=1 iterations=1 window=2 hop=2");

  for (guint i = 0; i < 2; i++)
    gst_harness_push (h, grey_frame (i));
  check_rate (h, 25, 2);
  g_object_set (h->element, "hop", 5, NULL);
  for (guint i = 2; i < 12; i++)
    fail_unless_equals_int (gst_harness_push (h, grey_frame (i)), GST_FLOW_OK);
  check_rate (h, 5, 1);
}

/* The source is asked for hop times the framerate that the peer requests. */
CUV_TEST (hop_multiplies_requested_framerate)
{
  cuv_play ("videotestsrc num-buffers=12 ! video/x-raw,width=16,height=8 ! "
            "spectralntf rank=1 iterations=1 window=4 hop=4 ! "
            "video/x-raw,framerate=6/1 ! fakesink");
}

/* The latency also includes the time of a run. */
CUV_TEST (latency_includes_the_window)
{
  g_autoptr (GstHarness) h = grey_harness ("rank=1 iterations=1 window=60");
  GstClockTime latency;

  /* known from the caps: pipelines query it before the first frame */
  latency = gst_harness_query_latency (h);
  fail_unless (latency >= 59 * FRAME && latency < 61 * FRAME);
  gst_harness_push (h, grey_frame (0));
  g_object_set (h->element, "window", 30, NULL);
  gst_harness_push (h, grey_frame (1));
  latency = gst_harness_query_latency (h);
  fail_unless (latency >= 29 * FRAME && latency < 31 * FRAME);
}

CUV_TEST (stream_shorter_than_window_warns)
{
  g_autoptr (GstHarness) h = grey_harness ("window=6");
  GstBus *bus = cuv_harness_watch (h);

  for (guint i = 0; i < 5; i++)
    gst_harness_push (h, grey_frame (i));
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_problem (
      bus, GST_MESSAGE_WARNING, "after 5 frames, fewer than window=6");
  cuv_harness_unwatch (h, bus);
}

/* ---- changes ---- */

static GstBuffer *
push_scene (GstHarness *h)
{
  return ntf_push (h, ntf_scene ("U8", "bip", 1));
}

static void
check_columns (GstHarness *h, guint rank)
{
  g_autoptr (GstBuffer) picture = push_scene (h);

  fail_unless_equals_int (ntf_table (picture, "v").n_columns, rank);
}

static gdouble
error_of (GstHarness *h)
{
  g_autoptr (GstBuffer) picture = push_scene (h);
  gdouble error = ntf_last_error (picture);

  return error;
}

CUV_TEST (changes_apply_to_the_next_frame)
{
  g_autoptr (GstHarness) h = ntf_harness ("rank=2 iterations=10");
  gdouble was, other;

  ntf_set_cube_caps (h, "U8", "bip", "");
  check_columns (h, 2);
  g_object_set (h->element, "rank", 5, NULL);
  check_columns (h, 5);
  g_object_set (h->element, "rank", 2, NULL);
  was = error_of (h);
  fail_unless (error_of (h) == was, "a second run differs");
  g_object_set (h->element, "seed", 77, NULL);
  other = error_of (h);
  fail_unless (other != was);
  gst_util_set_object_arg (G_OBJECT (h->element), "init", "nndsvd");
  fail_unless (error_of (h) < MIN (was, other));
}

static guint
iterations_of (GstHarness *h)
{
  g_autoptr (GstBuffer) picture = push_scene (h);
  guint n = 0;

  gst_structure_get_uint (ntf_table (picture, "u").structure, "iterations", &n);
  return n;
}

static gdouble
length_of_first_column (GstHarness *h)
{
  GstBuffer *picture = push_scene (h);
  GstCuvTable u = ntf_table (picture, "u");
  gdouble sum = 0;

  for (guint row = 0; row < u.n_rows; row++)
    sum += pow (gst_cuv_table_double (&u, row, 0), 2);
  gst_buffer_unref (picture);
  return sqrt (sum);
}

CUV_TEST (properties_set_parameters)
{
  g_autoptr (GstHarness) h = ntf_harness ("rank=2 iterations=40 tolerance=0");
  gdouble plain;

  ntf_set_cube_caps (h, "U8", "bip", "");
  plain = error_of (h);
  fail_unless_equals_int (iterations_of (h), 40);
  g_object_set (h->element, "tolerance", 1., NULL);
  fail_unless_equals_int (iterations_of (h), 20);
  g_object_set (h->element, "tolerance", 0., "sparsity", 0.5, NULL);
  fail_unless (error_of (h) > plain + 0.01, "%g", plain);
  g_object_set (h->element, "sparsity", 0., NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "schedule", "jacobi");
  fail_unless (error_of (h) != plain);
  fail_unless (fabs (length_of_first_column (h) - 1) < 1e-5);
  g_object_set (h->element, "normalise", FALSE, NULL);
  fail_unless (fabs (length_of_first_column (h) - 1) > 1e-3);
}

/* A cube of zeros leaves no factors to start the next run from. */
CUV_TEST (black_cube_resets_previous_factors)
{
  g_autoptr (GstHarness) h = ntf_harness ("rank=2 iterations=30 init=previous");
  const gsize size = SCENE_WIDTH * SCENE_HEIGHT * SCENE_BANDS;
  GstBuffer *zeros = gst_buffer_new_allocate (NULL, size, NULL);
  gdouble begin;

  ntf_set_cube_caps (h, "U8", "bip", "");
  gst_buffer_memset (zeros, 0, 0, size);
  begin = error_of (h);
  gst_buffer_unref (ntf_push (h, zeros));
  fail_unless (error_of (h) == begin);
}

CUV_TEST (init_previous_continues)
{
  g_autoptr (GstHarness) h = ntf_harness ("rank=3 iterations=10 init=previous");
  gdouble errors[3];

  ntf_set_cube_caps (h, "U8", "bip", "");
  for (guint i = 0; i < 3; i++)
    errors[i] = error_of (h);
  fail_unless (errors[1] < errors[0] && errors[2] < errors[1], "%g %g %g",
      errors[0], errors[1], errors[2]);
  cuv_harness_flush (h);
  fail_unless (error_of (h) == errors[0], "a flush did not reset the factors");
}

CUV_TEST (contradictions_keep_the_previous_settings)
{
  g_autoptr (GstHarness) h =
      ntf_harness ("rank=3 iterations=10 schedule=jacobi");
  GstBus *bus = gst_bus_new ();
  gdouble before;

  ntf_set_cube_caps (h, "U8", "bip", "");
  before = error_of (h);
  gst_element_set_bus (h->element, bus);
  gst_util_set_object_arg (G_OBJECT (h->element), "algorithm", "hals");
  fail_unless (error_of (h) == before);
  fail_unless (error_of (h) == before);
  expect_problem (bus, GST_MESSAGE_WARNING, "algorithm=hals with schedule");
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "schedule", "gs");
  fail_unless (error_of (h) != before);
  cuv_harness_unwatch (h, bus);
}

/* ---- long runs ---- */

#define SIDE 1024
#define BANDS 31
#define ENDLESS                                                                \
  "rank=64 iterations=10000 tolerance=0 progress-interval=1 n-threads=1 "

typedef struct {
  GstHarness *h;
  GstBus *bus;
  GstBuffer *cube;
} Long;

static Long
long_new (const gchar *properties, gint side)
{
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-spectral,format=U8,interleave=bil,width=%d,height=%d,bands=%d",
      side, side, BANDS);
  Long self = { ntf_harness (properties), gst_bus_new (),
    gst_buffer_new_allocate (NULL, (gsize) (side * side * BANDS), NULL) };
  GstMapInfo map;

  gst_buffer_map (self.cube, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8) (i * 2654435761u >> 13);
  gst_buffer_unmap (self.cube, &map);
  gst_element_set_bus (self.h->element, self.bus);
  gst_harness_set_sink_caps_str (self.h, "video/x-raw,format=RGBA");
  gst_harness_set_src_caps_str (self.h, caps);
  return self;
}

static gpointer
long_push (gpointer data)
{
  Long *self = data;

  return GINT_TO_POINTER (gst_harness_push (self->h, self->cube));
}

/* Stops a run that would take hours: the push returns. Frees everything. */
static void
long_stop (Long *self, GThread *thread, void (*stop) (GstHarness *h))
{
  stop (self->h);
  fail_unless_equals_int (
      GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_FLUSHING);
  gst_element_set_bus (self->h->element, NULL);
  gst_object_unref (self->bus);
  gst_harness_teardown (self->h);
}

static void
start_flush (GstHarness *h)
{
  gst_harness_push_event (h, gst_event_new_flush_start ());
}

static void
to_ready (GstHarness *h)
{
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
}

static void
check_stops (const gchar *properties, void (*stop) (GstHarness *h))
{
  Long run = long_new (properties, SIDE);
  GThread *thread = g_thread_new ("push", long_push, &run);

  g_usleep (400000); /* until the run has started */
  long_stop (&run, thread, stop);
}

CUV_TEST (flush_stops_a_run)
{
  check_stops (ENDLESS, start_flush);
  check_stops (ENDLESS "algorithm=hals", start_flush);
  check_stops (ENDLESS "init=nndsvd", start_flush);
}

CUV_TEST (state_change_stops_a_run)
{
  check_stops (ENDLESS, to_ready);
}

CUV_TEST (progress_is_reported)
{
  Long run = long_new (ENDLESS, 64);
  GThread *thread = g_thread_new ("push", long_push, &run);
  guint before = 0;

  for (guint i = 0; i < 3; i++) {
    GstMessage *message = gst_bus_timed_pop_filtered (
        run.bus, 60 * GST_SECOND, GST_MESSAGE_ELEMENT);
    const GstStructure *s;
    gdouble percent, error;
    guint iteration;

    fail_unless (message != NULL, "no progress message within 60 s");
    s = gst_message_get_structure (message);
    fail_unless (gst_structure_has_name (s, "spectralntf"));
    fail_unless (gst_structure_get_uint (s, "iteration", &iteration));
    fail_unless (gst_structure_get_double (s, "percent", &percent));
    fail_unless (gst_structure_get_double (s, "error", &error));
    fail_unless (iteration > before && iteration < 10000);
    fail_unless (percent == iteration / 100. && error > 0 && error < 1);
    before = iteration;
    gst_message_unref (message);
  }
  long_stop (&run, thread, start_flush);
}
