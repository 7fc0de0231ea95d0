/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Failures of ldpindexsink, and the entries that the index has afterwards. */
#include "config.h"
#include "indexsink-harness.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOURCE "videotestsrc num-buffers=2 ! "

/* QEMU enforces no memory limit and runs no child process. */
#define NATIVE (g_getenv ("CUV_TEST_EMULATED") == NULL)

/* ---- settings ---- */

CUV_TEST (invalid_locations)
{
  cuv_expect_error (SOURCE "ldpindexsink", "location is not set");
  cuv_expect_error (SOURCE "ldpindexsink location=\"\"",
      "location is not set: set it to the name of a file");
  cuv_expect_error (SOURCE "ldpindexsink location=none/" INDEX,
      "none/" INDEX ": cannot be written: No such file or directory");
  cuv_expect_error (
      SOURCE "ldpindexsink location=/", "/: cannot be written: Is a directory");
  cuv_expect_error (
      SOURCE "ldpindexsink location=/dev/null", "is not a regular file");
  fail_unless (g_file_set_contents ("text", "text\n", -1, NULL));
  cuv_expect_error (SOURCE "ldpindexsink location=text",
      "text: is not an index of local derivative patterns");
}

/* Without frames there is neither a progress message nor a file. */
CUV_TEST (no_frames)
{
  GstHarness *h = sink_new ("", "NV12", 64, 48);
  GstElement *sink = sink_of (h);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (sink, bus);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  expect_problem (bus, GST_MESSAGE_WARNING, "No frame arrived: check that");
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT) == NULL);
  gst_element_set_bus (sink, NULL);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_harness_teardown (h);
  fail_if (g_file_test (INDEX, G_FILE_TEST_EXISTS));
}

CUV_TEST (invalid_settings)
{
  cuv_expect_error (SOURCE "ldpindexsink thumbnail-width=0 location=" INDEX,
      "thumbnail-width is 0 and thumbnail-height 64: set both");
  cuv_expect_error (SOURCE "ldpindexsink region=roi-list location=" INDEX,
      "(region=roi-list) differ in size: set both above 0");
  cuv_expect_error (SOURCE "ldpindexsink grid=900 location=" INDEX,
      "grid 900 exceeds the width or height");
  cuv_expect_error (SOURCE "ldpindexsink grid=600 descriptor-width=600 "
                           "descriptor-height=600 location=" INDEX,
      "but an index takes at most 67108864: use larger blocks");
  fail_if (g_file_test (INDEX, G_FILE_TEST_EXISTS));
}

/* The error names both sets of parameters. */
static void
expect_other (const gchar *properties, const gchar *theirs, const gchar *ours)
{
  g_autoptr (GstHarness) h = sink_new (properties, "NV12", 64, 48);

  cuv_harness_push_error (h, cuv_frame_new ("NV12", 64, 48), theirs);
  cuv_harness_push_error (h, cuv_frame_new ("NV12", 64, 48), ours);
  cuv_harness_push_error (
      h, cuv_frame_new ("NV12", 64, 48), "parameters, or another index file");
}

CUV_TEST (index_of_other_parameters)
{
  GstHarness *h = sink_new ("grid=4", "NV12", 64, 48);

  push_random (h, "NV12", 64, 48, 1);
  gst_harness_teardown (h);
  expect_other ("grid=4 order=5", "(order 3, a grid of 4", "(order 5, a grid");
  expect_other ("grid=4 thumbnail-width=32", "thumbnails of 64x64)",
      "thumbnails of 32x64)");
  expect_other (
      "grid=4 descriptor-width=50", "pictures of 64x48", "pictures of 50x48");
  cuv_ldp_index_free (index_open (INDEX, 1));
}

CUV_TEST (frames_of_other_sizes)
{
  GstHarness *h = sink_new ("", "NV12", 64, 48);

  push_random (h, "NV12", 64, 48, 2);
  cuv_harness_caps (h, "NV12", 80, 60);
  cuv_harness_push_error (
      h, cuv_frame_new ("NV12", 80, 60), "pictures of 64x48");
  cuv_harness_push_error (
      h, cuv_frame_new ("NV12", 80, 60), "pictures of 80x60");
  cuv_harness_push_error (h, cuv_frame_new ("NV12", 80, 60),
      "set descriptor-width to 64 and descriptor-height to 48, use");
  cuv_harness_caps (h, "NV12", 64, 48);
  push_random (h, "NV12", 64, 48, 1);
  gst_harness_teardown (h);
  cuv_ldp_index_free (index_open (INDEX, 3));
}

CUV_TEST (descriptors_of_other_parameters)
{
  GstHarness *h = line_new ("ldpdescriptor name=d message=none ! ldpindexsink "
                            "async=false location=" INDEX,
      "NV12", 64, 48);
  GstElement *descriptor = gst_harness_find_element (h, "ldpdescriptor");

  push_random (h, "NV12", 64, 48, 1);
  g_object_set (descriptor, "order", 2, NULL);
  cuv_harness_push_error (h, cuv_frame_new ("NV12", 64, 48),
      "has other parameters (order 3, a grid of 1 blocks a side, "
      "directions 0 45 90 135, border valid, 256 bins, pictures of 64x48, "
      "thumbnails of 64x64) than requested (order 2, a grid of 1 blocks a "
      "side, "
      "directions 0 45 90 135, border valid, 256 bins, pictures of 64x48, "
      "thumbnails of 64x64): use the index's parameters, or another index "
      "file.");
  g_object_set (descriptor, "order", 3, "descriptor-width", 32, NULL);
  cuv_harness_push_error (h, cuv_frame_new ("NV12", 64, 48),
      "pictures of 32x48, thumbnails of 64x64): set descriptor-width to 64 and "
      "descriptor-height to 48, use the index's parameters, or another index "
      "file.");
  gst_object_unref (descriptor);
  gst_harness_teardown (h);
  cuv_ldp_index_free (index_open (INDEX, 1));
}

/* ---- metadata ---- */

static void
set_bytes (GstBuffer *frame, const gchar *field, gconstpointer bytes, gsize n)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (frame, "GstCuvLdpMeta");
  GBytes *value = g_bytes_new (bytes, n);

  fail_unless (meta != NULL);
  gst_structure_set (
      gst_custom_meta_get_structure (meta), field, G_TYPE_BYTES, value, NULL);
  g_bytes_unref (value);
}

/* Returns a frame with valid metadata, but counts that ldpdescriptor would
 * never produce: all 10x10 codes in one bin. */
static GstBuffer *
frame_with_counts (guint16 first, gsize n_bytes)
{
  GstHarness *h = cuv_element_harness ("ldpdescriptor");
  const guint16 counts[256] = { first };
  GstBuffer *frame;

  gst_util_set_object_arg (G_OBJECT (h->element), "directions", "0");
  g_object_set (h->element, "grid", 1, "descriptor-width", 16,
      "descriptor-height", 16, NULL);
  cuv_harness_caps (h, "NV12", 64, 48);
  frame = gst_harness_push_and_pull (h, cuv_frame_new ("NV12", 64, 48));
  gst_harness_teardown (h);
  set_bytes (frame, "counts", counts, n_bytes);
  return frame;
}

CUV_TEST (invalid_descriptors)
{
  GstHarness *h = sink_new ("", "NV12", 64, 48);

  push (h, frame_with_counts (100, 512));
  cuv_harness_push_error (h, frame_with_counts (100, 510),
      "The descriptor of the frame is invalid: counts has");
  cuv_harness_push_error (h, frame_with_counts (101, 512),
      "the histograms of '000002' do not contain all codes of a picture of "
      "16x16");
  push (h, frame_with_counts (100, 512));
  gst_harness_teardown (h);
  expect_names ("000000|000003");
}

/* ---- writing ---- */

static void
expect_no_space (GstBus *bus)
{
  g_autoptr (GstMessage) message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error;

  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (
                   error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT)
          && strstr (error->message,
              "the 2 existing entries are kept: free disk space"),
      "%s", error->message);
  g_error_free (error);
}

/* Pushes frames to a full disk, which a limit on the file size simulates. */
static void
push_limited (GstHarness *h, gsize limit, guint n)
{
  struct rlimit before, limited;
  GstFlowReturn flow = GST_FLOW_ERROR;

  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &before);
  limited = (struct rlimit){ limit, before.rlim_max };
  setrlimit (RLIMIT_FSIZE, &limited);
  for (guint i = 0; i < n && flow == GST_FLOW_ERROR; i++)
    flow = gst_harness_push (h, cuv_frame_new ("NV12", 64, 48));
  setrlimit (RLIMIT_FSIZE, &before);
  fail_unless_equals_int (flow, GST_FLOW_ERROR);
}

/* Appending continues once there is space again. */
CUV_TEST (full_disk)
{
  GstHarness *h = sink_new ("", "NV12", 64, 48);
  GstBus *bus = gst_bus_new ();

  push_random (h, "NV12", 64, 48, 2);
  gst_element_set_bus (h->element, bus);
  push_limited (h, 4096 + sink_stat (h, "bytes") + 100, 2);
  expect_no_space (bus);
  expect_no_space (bus);
  cuv_ldp_index_free (index_open (INDEX, 2));
  fail_unless_equals_uint64 (sink_stat (h, "written"), 2);
  push_random (h, "NV12", 64, 48, 1);
  cuv_harness_unwatch (h, bus);
  gst_harness_teardown (h);
  cuv_ldp_index_free (index_open (INDEX, 3));
}

#ifndef __SANITIZE_ADDRESS__ /* which ends a process without memory */
static gsize
address_space (void)
{
  gsize pages;
  g_autofree gchar *text = NULL;

  fail_unless (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  pages = g_ascii_strtoull (text, NULL, 10);
  return pages * (gsize) sysconf (_SC_PAGESIZE);
}

CUV_TEST_IF (out_of_memory, NATIVE)
{
  GstHarness *h = sink_new (
      "grid=250 descriptor-width=250 descriptor-height=250", "NV12", 64, 48);
  struct rlimit before, limited;

  getrlimit (RLIMIT_AS, &before);
  limited = (struct rlimit){ address_space () + (128 << 20), before.rlim_max };
  setrlimit (RLIMIT_AS, &limited);
  cuv_harness_push_error (h, cuv_frame_new ("NV12", 64, 48),
      "Out of memory: the counts of an entry take 244 MB. Use fewer blocks, "
      "bins or directions.");
  setrlimit (RLIMIT_AS, &before);
  gst_harness_teardown (h);
  fail_if (g_file_test (INDEX, G_FILE_TEST_EXISTS));
}
#endif
CUV_TEST (one_writer_at_a_time)
{
  GstHarness *a = sink_new ("", "NV12", 64, 48);
  GstHarness *b = sink_new ("", "NV12", 64, 48);

  push_random (a, "NV12", 64, 48, 1);
  cuv_harness_push_error (b, cuv_frame_new ("NV12", 64, 48),
      INDEX ": another writer has it open: wait until it is done");
  push_random (a, "NV12", 64, 48, 1);
  gst_harness_teardown (a);
  push_random (b, "NV12", 64, 48, 1);
  gst_harness_teardown (b);
  cuv_ldp_index_free (index_open (INDEX, 3));
}

/* ---- killed writers ---- */

#ifndef __SANITIZE_ADDRESS__ /* gst-launch-1.0 cannot load plugins with it */
static GPid
start_writer (void)
{
  gchar *argv[] = { "gst-launch-1.0", "-q", "videotestsrc", "pattern=snow", "!",
    "video/x-raw,format=GRAY8,width=48,height=48", "!", "ldpindexsink",
    "location=" INDEX, "grid=2", NULL };
  gchar **env = g_environ_unsetenv (g_get_environ (), "GST_TRACERS");
  GError *error = NULL;
  GPid pid;

  env = g_environ_unsetenv (env, "GST_DEBUG_FILE");
  fail_unless (g_spawn_async (NULL, argv, env,
                   G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                   &pid, &error),
      "%s", error != NULL ? error->message : "");
  g_strfreev (env);
  return pid;
}

/* Waits for more entries; returns their number. */
static guint64
wait_for_entries (guint64 more_than)
{
  for (guint i = 0; i < 6000; i++) {
    char *error = NULL;
    CuvLdpIndex *index = cuv_ldp_index_open (INDEX, &error);
    const guint64 n = index != NULL ? cuv_ldp_index_n_entries (index) : 0;

    cuv_ldp_index_free (index);
    free (error);
    if (n > more_than)
      return n;
    g_usleep (10000);
  }
  fail ("no new entry within 60 s");
  return 0;
}

/* After each kill the file has at least the entries seen before, all intact,
 * and the next writer continues. */
CUV_TEST_IF (killed_writers_leave_a_valid_index, NATIVE)
{
  guint64 n = 0;

  for (guint i = 0; i < 20; i++) {
    const GPid pid = start_writer ();
    const guint64 seen = wait_for_entries (n);
    char *error = NULL;
    CuvLdpIndex *index;
    int status;

    g_usleep (g_random_int_range (0, 20000));
    kill (pid, SIGKILL);
    waitpid (pid, &status, 0);
    fail_unless (WIFSIGNALED (status));
    g_spawn_close_pid (pid);
    index = cuv_ldp_index_open (INDEX, &error);
    fail_unless (index != NULL, "%s", error);
    fail_unless (cuv_ldp_index_check (index, &error), "%s", error);
    n = cuv_ldp_index_n_entries (index);
    fail_unless (n >= seen);
    cuv_ldp_index_free (index);
  }
}
#endif
/* A state change waits for the entry being written. */
CUV_TEST (pauses_and_stops)
{
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (
      "videotestsrc ! video/x-raw,format=NV12,width=320,height=240 ! "
      "ldpindexsink name=sink location=" INDEX);
  guint64 n = 0;

  for (guint i = 0; i < 30; i++) {
    char *error = NULL;
    CuvLdpIndex *index;

    gst_element_set_state (pipeline,
        i % 3 == 0       ? GST_STATE_PLAYING
            : i % 3 == 1 ? GST_STATE_PAUSED
                         : GST_STATE_READY);
    gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND);
    g_usleep (i % 5 * 1000);
    index = cuv_ldp_index_open (INDEX, &error);
    if (index != NULL) {
      fail_unless (cuv_ldp_index_check (index, &error), "%s", error);
      fail_unless (cuv_ldp_index_n_entries (index) >= n);
      n = cuv_ldp_index_n_entries (index);
    }
    cuv_ldp_index_free (index);
    free (error);
  }
  fail_unless (n > 0);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}
