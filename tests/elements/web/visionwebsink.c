/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionwebsink: settings that cannot be used, states, flushes and small
 * pools while there are viewers. server.py tests what viewers receive. */
#include "watch.h"

#include <glib/gstdio.h>

#define CAPS "video/x-raw,format=NV12,width=64,height=48,framerate=30/1"

static GstHarness *
harness_new (GstElement *element)
{
  GstHarness *h = gst_harness_new_with_element (element, "sink", NULL);

  g_object_set (element, "sync", FALSE, NULL);
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

static void
push (GstHarness *h)
{
  fail_unless_equals_int (
      gst_harness_push (h, cuv_frame_new ("NV12", 64, 48)), GST_FLOW_OK);
}

CUV_TEST (bad_settings)
{
  static const gchar *const cases[][2] = {
    { "address=example.com", "address 'example.com' is invalid" },
    { "address=192.0.2.1", "an IP address of this machine" },
    { "path=door", "path 'door' is invalid" },
    { "path=/door/", "without a slash at the end" },
    { "path=/../x", "path" },
    { "path=/ws", "choose another name" },
    { "path=/door/page.js", "choose another name" },
    { "path=/health", "choose another name" },
    { "token-file=/nonexistent", "token-file '/nonexistent' cannot be used" },
    { "token-file=/dev/null", "not a regular file" },
    { "token-env=CUV_NO_SUCH_VARIABLE", "environment variable that is set" },
    { "token-env=HOME token-file=/proc/version", "set one of the two" },
    { "tls-key-file=/dev/null",
        "tls-key-file is set without tls-certificate-file" },
    { "tls-certificate-file=/dev/null", "readable PEM files" },
    { "tls-certificate-file=/nonexistent", "readable PEM files" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    cuv_expect_no_start (web_sink_new (cases[i][0]), cases[i][1]);
}

CUV_TEST (empty_token_file)
{
  g_autofree gchar *path = NULL;
  g_autofree gchar *text = NULL;

  g_close (g_file_open_tmp (NULL, &path, NULL), NULL);
  text = g_strconcat ("token-file=", path, NULL);
  cuv_expect_no_start (web_sink_new (text), "it must contain a token");
  g_unlink (path);
}

CUV_TEST (open_to_all_warns)
{
  g_autoptr (GstElement) element = web_sink_new ("address=0.0.0.0");
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autofree gchar *url = NULL;

  gst_element_set_bus (element, bus);
  gst_element_set_state (element, GST_STATE_PAUSED);
  expect_problem (bus, GST_MESSAGE_WARNING, "set token-file");
  g_object_get (element, "url", &url, NULL);
  fail_unless (g_str_has_prefix (url, "http://"));
  fail_if (strstr (url, "//0.0.0.0") != NULL, "%s", url);
  gst_element_set_state (element, GST_STATE_NULL);
  g_setenv ("CUV_TEST_TOKEN", "secret", TRUE);
  g_object_set (element, "token-env", "CUV_TEST_TOKEN", NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_bus_set_flushing (bus, FALSE);
  gst_element_set_state (element, GST_STATE_PAUSED);
  expect_no_warning (bus);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
}

/* Each round has a new harness, which starts the element from NULL. */
CUV_TEST (restarts_while_watched)
{
  static const gchar *const paths[] = { "/events", "/stream.mjpg",
    "/frame.jpg" };
  g_autoptr (GstElement) element = web_sink_new (NULL);

  gst_object_ref_sink (element);
  for (guint i = 0; i < 3; i++) {
    GstHarness *h = harness_new (element);
    GSocketConnection *viewers[G_N_ELEMENTS (paths)];

    for (guint v = 0; v < G_N_ELEMENTS (paths); v++)
      viewers[v] = web_watch (element, paths[v]);
    push (h);
    web_read_until (viewers[0], "\"frame_num\":0");
    web_read_until (viewers[1], "image/jpeg");
    web_read_until (viewers[2], "image/jpeg");
    gst_harness_teardown (h);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_uint64 (cuv_stat (element, "frames"), 1);
    for (guint v = 0; v < G_N_ELEMENTS (paths); v++)
      g_object_unref (viewers[v]);
  }
}

CUV_TEST (flushes_and_ends_while_watched)
{
  g_autoptr (GstElement) element = web_sink_new (NULL);
  g_autoptr (GstHarness) h = harness_new (element);
  GSocketConnection *viewer = web_watch (element, "/events");

  push (h);
  web_read_until (viewer, "\"frame_num\":0");
  cuv_harness_flush (h);
  push (h);
  web_read_until (viewer, "\"frame_num\":1");
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  cuv_harness_flush (h);
  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY8,width=17,height=33,framerate=30/1");
  fail_unless_equals_int (
      gst_harness_push (h, cuv_frame_new ("GRAY8", 17, 33)), GST_FLOW_OK);
  web_read_until (viewer, "\"width\":17");
  g_object_unref (viewer);
}

/* A frame from before a flush is not shown to later viewers. */
CUV_TEST (forgets_what_was_flushed)
{
  g_autoptr (GstElement) element = web_sink_new (NULL);
  g_autoptr (GstHarness) h = harness_new (element);
  GSocketConnection *viewer = web_watch (element, "/events"), *later;

  push (h);
  web_read_until (viewer, "\"frame_num\":0");
  cuv_harness_flush (h);
  later = web_watch (element, "/events");
  push (h);
  web_read_until (later, "data: {");
  web_read_until (viewer, "\"frame_num\":1");
  fail_unless_equals_uint64 (cuv_stat (element, "sent"), 3);
  g_object_unref (later);
  g_object_unref (viewer);
}

/* A buffer that is kept for a viewer who has left would starve a pool of one
 * buffer. */
CUV_TEST (keeps_nothing_for_nobody)
{
  g_autoptr (GstElement) element = web_sink_new ("max-rate=0.001 timeout=1");
  g_autoptr (GstHarness) h = harness_new (element);
  GSocketConnection *viewer = web_watch (element, "/events");
  g_autoptr (GstBuffer) frame = cuv_frame_new ("NV12", 64, 48);

  push (h);
  web_read_until (viewer, "\"frame_num\":0");
  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_ref (frame)), GST_FLOW_OK);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (frame), 2);
  g_object_unref (viewer);
  while (GST_MINI_OBJECT_REFCOUNT_VALUE (frame) > 1)
    g_usleep (1000);
}

/* With three buffers, as the ALLOCATION query requests, one is always free,
 * however slow viewers are. */
CUV_TEST (does_not_starve_a_pool)
{
  GstBufferPoolAcquireParams now = {
    .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
  };
  GstElement *element = web_sink_new (NULL);
  GstHarness *h = harness_new (element);
  GSocketConnection *viewer = web_watch (element, "/stream.mjpg");
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  guint size, min;

  fail_unless (gst_pad_peer_query (h->srcpad, query));
  gst_query_parse_nth_allocation_pool (query, 0, NULL, &size, &min, NULL);
  fail_unless_equals_int (min, 3);
  gst_buffer_pool_config_set_params (config, caps, size, min, min);
  gst_buffer_pool_set_config (pool, config);
  gst_buffer_pool_set_active (pool, TRUE);
  for (guint i = 0; i < 500; i++) {
    GstBuffer *buffer;

    fail_unless_equals_int (
        gst_buffer_pool_acquire_buffer (pool, &buffer, &now), GST_FLOW_OK);
    gst_buffer_memset (buffer, 0, (guint8) i, size);
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
  gst_object_unref (element);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  g_object_unref (viewer);
}
