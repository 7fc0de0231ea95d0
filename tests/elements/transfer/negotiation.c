/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cudaupload and cudadownload on the stand-in driver: caps, contexts, errors
 * and states. */
#include "config.h"
#include "cuvelements.h"

#include "context/gstcuvcontext-private.h"

static GstElement *
transfer_line (const gchar *up, const gchar *between, const gchar *down,
    const gchar *filter)
{
  g_autofree gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=3 ! %s ! %s name=up ! %s name=x ! "
      "%s name=down ! fakesink name=sink sync=false",
      filter, up, between, down);
  GstElement *pipeline = cuv_pipeline_new (line);

  return pipeline;
}

static GstElement *
get (GstElement *pipeline, const gchar *name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);

  gst_object_unref (element); /* the pipeline keeps it */
  return element;
}

static void
preroll (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (
      gst_element_get_state (pipeline, NULL, NULL, 30 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
}

static void
check_cuda_between (const gchar *up, const gchar *between, const gchar *down)
{
  GstElement *pipeline = transfer_line (up, between, down, "identity");

  preroll (pipeline);
  fail_if (cuv_pad_has_cuda (get (pipeline, "up"), "sink"));
  fail_unless (cuv_pad_has_cuda (get (pipeline, "x"), "sink"), "%s", between);
  fail_unless (cuv_pad_has_cuda (get (pipeline, "x"), "src"), "%s", between);
  fail_if (cuv_pad_has_cuda (get (pipeline, "down"), "src"));
  fail_unless_equals_uint64 (cuv_stat (get (pipeline, "up"), "copied"), 1);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  cuv_fake_check_clean ();
}

CUV_TEST (cuda_memory_between_upload_and_download)
{
  check_cuda_between ("cudaupload", "identity", "cudadownload");
  check_cuda_between ("cuvcudaupload", "identity", "cuvcudadownload");
  check_cuda_between ("cudaupload", "cuvcudaupload", "cudadownload");
}

/* visioncrop takes CUDA memory, but makes pictures in host memory. */
static gboolean
may_make_cuda (GstElementFactory *factory)
{
  g_autoptr (GstCaps) cuda =
      gst_caps_from_string ("video/x-raw(" CUDA_FEATURE ")");
  gboolean may = gst_element_factory_can_src_any_caps (factory, cuda);

  return may;
}

CUV_TEST (every_element_keeps_cuda_memory)
{
  g_autoptr (GPtrArray) names = cuv_element_names ();
  guint n = 0;

  for (guint i = 0; i < names->len; i++) {
    GstElementFactory *factory = gst_element_factory_find (names->pdata[i]);

    if (strstr (names->pdata[i], "cuda") == NULL
        && !cuv_element_is_host_only (names->pdata[i])
        && may_make_cuda (factory)
        && gst_element_factory_get_num_pad_templates (factory) == 2) {
      check_cuda_between ("cuvcudaupload", names->pdata[i], "cuvcudadownload");
      n++;
    }
    gst_object_unref (factory);
  }
  g_print ("%u elements between upload and download\n", n);
}

/* Makes the peer answer a caps query in its own order, not in the filter's. */
static GstPadProbeReturn
answer_caps (GstPad *pad, GstPadProbeInfo *info, gpointer text)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return GST_PAD_PROBE_OK;
  caps = gst_caps_from_string (text);
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
  return GST_PAD_PROBE_HANDLED;
}

static void
check_choice (const gchar *line, const gchar *peer, gboolean wants_cuda)
{
  g_autoptr (GstHarness) h = gst_harness_new_parse (line);

  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      answer_caps, (gpointer) peer, NULL);
  cuv_harness_caps (h, "NV12", 64, 48);
  gst_buffer_unref (
      gst_harness_push_and_pull (h, cuv_frame_new ("NV12", 64, 48)));
  fail_unless_equals_int (cuv_pad_has_cuda (h->element, "src"), wants_cuda);
}

/* An upload prefers CUDA memory and a download host memory. */
CUV_TEST (preference_does_not_depend_on_peer_order)
{
  static const gchar *const peers[] = {
    "video/x-raw;video/x-raw(" CUDA_FEATURE ")",
    "video/x-raw(" CUDA_FEATURE ");video/x-raw",
  };

  for (guint i = 0; i < G_N_ELEMENTS (peers); i++) {
    check_choice ("cuvcudaupload", peers[i], TRUE);
    check_choice ("cuvcudaupload ! cuvcudadownload", peers[i], FALSE);
  }
  check_choice (
      "cuvcudaupload ! cuvcudadownload", "video/x-raw(" CUDA_FEATURE ")", TRUE);
}

/* GStreamer's own cudaupload takes the first caps feature offered. */
CUV_TEST (cuda_memory_is_offered_first)
{
  g_autoptr (GPtrArray) names = cuv_element_names ();
  guint n = 0;

  for (guint i = 0; i < names->len; i++) {
    GstElement *element = cuv_element_new (names->pdata[i]);
    GstPad *pad = gst_element_get_static_pad (element, "sink");
    GstCaps *caps = pad != NULL ? gst_pad_query_caps (pad, NULL) : NULL;

    if (caps != NULL && !gst_caps_is_any (caps)
        && !cuv_element_is_host_only (names->pdata[i])) {
      fail_unless (gst_caps_features_contains (
                       gst_caps_get_features (caps, 0), CUDA_FEATURE),
          "%s", (gchar *) names->pdata[i]);
      n++;
    }
    gst_clear_caps (&caps);
    gst_clear_object (&pad);
    gst_object_unref (element);
  }
  fail_unless (n >= 4);
}

CUV_TEST (cuda_frames_pass_a_second_upload)
{
  g_autoptr (GstElement) pipeline =
      transfer_line ("cuvcudaupload", "cuvcudaupload", "cuvcudadownload",
          "video/x-raw,format=NV12,width=320,height=240");

  fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
  fail_unless_equals_uint64 (cuv_stat (get (pipeline, "up"), "copied"), 3);
  fail_unless_equals_uint64 (cuv_stat (get (pipeline, "x"), "frames"), 3);
  fail_unless_equals_uint64 (cuv_stat (get (pipeline, "x"), "copied"), 0);
  fail_unless_equals_uint64 (cuv_stat (get (pipeline, "down"), "copied"), 3);
  fail_unless_equals_uint64 (
      cuv_stat (get (pipeline, "down"), "bytes"), 3 * 320 * 240 * 3 / 2);
}

/* transfer-layout finds which formats of odd height CUDA memory cannot hold. */
#define NO_ODD_HEIGHT (GST_CHECK_VERSION (1, 24, 0) ? "NV21" : "I420")

/* Formats that CUDA memory cannot hold stay in host memory if the peer takes
 * it. */
CUV_TEST (formats_unknown_to_cuda_stay_in_host_memory)
{
  static const struct {
    const gchar *format;
    gint height;
  } formats[] = { { "GRAY8", 48 }, { "GRAY16_LE", 48 }, { NO_ODD_HEIGHT, 49 },
    { "AYUV", 48 } };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *filter = g_strdup_printf ("video/x-raw,format=%s,width=64,height=%d",
        formats[i].format, formats[i].height);
    GstElement *pipeline =
        transfer_line ("cuvcudaupload", "identity", "cuvcudadownload", filter);

    preroll (pipeline);
    fail_if (cuv_pad_has_cuda (get (pipeline, "x"), "sink"), "%s", filter);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
    g_free (filter);
  }
}

CUV_TEST (error_names_unsupported_cuda_format)
{
  g_autofree gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=3 ! "
      "capsfilter caps=video/x-raw,format=%s,width=64,height=49 ! "
      "cuvcudaupload ! capsfilter caps=video/x-raw(" CUDA_FEATURE
      ") ! fakesink",
      NO_ODD_HEIGHT);
  g_autoptr (GstElement) pipeline = cuv_pipeline_new (line);
  g_autofree gchar *error = cuv_pipeline_play (pipeline);

  fail_unless (error != NULL && strstr (error, "odd height") != NULL
          && strstr (error, "use NV12") != NULL,
      "error: %s", error);
}

CUV_TEST (one_context_per_pipeline)
{
  gint made = cuv_fake_counts ().contexts_made;

  cuv_play ("videotestsrc num-buffers=3 ! cuvcudaupload ! cuvcudadownload ! "
            "cuvcudaupload ! identity ! cuvcudadownload ! fakesink");
  fail_unless_equals_int (cuv_fake_counts ().contexts_made - made, 1);
  cuv_fake_check_clean ();
}

static GstBusSyncReply
keep_context (GstBus *bus, GstMessage *message, gpointer keep)
{
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_HAVE_CONTEXT) {
    gst_clear_mini_object ((GstMiniObject **) keep);
    gst_message_parse_have_context (message, keep);
  }
  return GST_BUS_PASS;
}

/* The application passes one pipeline's context to the other. */
CUV_TEST (two_pipelines_share_a_context)
{
  gint made = cuv_fake_counts ().contexts_made;
  GstElement *one = transfer_line (
      "cuvcudaupload", "identity", "cuvcudadownload", "identity");
  GstElement *other = transfer_line (
      "cuvcudaupload", "identity", "cuvcudadownload", "identity");
  GstBus *bus = gst_element_get_bus (one);
  GstContext *context = NULL;

  gst_bus_set_sync_handler (bus, keep_context, &context, NULL);
  preroll (one);
  fail_unless (context != NULL);
  gst_element_set_context (other, context);
  preroll (other);
  fail_unless_equals_int (cuv_fake_counts ().contexts_made - made, 1);
  gst_element_set_state (one, GST_STATE_NULL);
  fail_unless_equals_string (cuv_pipeline_play (other), NULL);
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  gst_object_unref (bus);
  gst_object_unref (one);
  gst_object_unref (other);
  gst_context_unref (context);
  cuv_fake_check_clean ();
}

CUV_TEST (device_out_of_range)
{
  static const gchar *const names[] = { "up", "down" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GstElement *pipeline = transfer_line (
        "cuvcudaupload", "identity", "cuvcudadownload", "identity");
    gchar *error;

    g_object_set (get (pipeline, names[i]), "cuda-device-id", 7, NULL);
    error = cuv_pipeline_play (pipeline);
    fail_unless (error != NULL && strstr (error, "cuda-device-id is 7") != NULL
            && strstr (error, "0 to 1") != NULL,
        "error: %s", error);
    g_free (error);
    gst_object_unref (pipeline);
  }
  cuv_fake_check_clean ();
}

CUV_TEST (second_device)
{
  GstElement *pipeline = transfer_line (
      "cuvcudaupload", "identity", "cuvcudadownload", "identity");

  g_object_set (get (pipeline, "up"), "cuda-device-id", 1, NULL);
  fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
  gst_object_unref (pipeline);
  cuv_fake_check_clean ();
}

/* In state NULL the pipeline keeps its context, as GStreamer does, and nothing
 * else. */
CUV_TEST (restarts_leak_nothing)
{
  gint made = cuv_fake_counts ().contexts_made;
  GstElement *pipeline =
      transfer_line ("cudaupload", "identity", "cudadownload", "identity");

  for (guint i = 0; i < 3; i++) {
    fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
    fail_unless_equals_uint64 (cuv_stat (get (pipeline, "down"), "copied"), 3);
    fail_unless_equals_int (cuv_fake_counts ().contexts_made - made, 1);
    fail_unless_equals_int (cuv_fake_counts ().streams, 0);
    fail_unless_equals_int (cuv_fake_counts ().device_blocks, 0);
    fail_unless_equals_int (cuv_fake_counts ().pinned_blocks, 0);
  }
  gst_object_unref (pipeline);
  cuv_fake_check_clean ();
}

/* Since 1.24 CUDA pools allocate a frame to configure themselves. Where that
 * fails within GstBaseTransform, its error does not say why. */
static gboolean
says_why (const gchar *error)
{
  return strstr (error, "memory") != NULL
      || (GST_CHECK_VERSION (1, 24, 0)
          && strstr (error, "configure the buffer pool") != NULL);
}

/* Whichever allocation fails, an error is posted and nothing leaks. */
CUV_TEST (out_of_memory_is_an_error)
{
  gboolean failed = TRUE;
  guint n;

  for (n = 0; failed && n < 50; n++) {
    GstElement *pipeline = transfer_line (
        "cuvcudaupload", "identity", "cuvcudadownload", "identity");
    gchar *error;

    cuv_fake_fail_allocation ((int) n);
    error = cuv_pipeline_play (pipeline);
    failed = error != NULL;
    fail_unless (error == NULL || says_why (error), "after %u allocations: %s",
        n, error);
    g_free (error);
    gst_object_unref (pipeline);
    cuv_fake_fail_allocation (-1);
    cuv_fake_check_clean ();
  }
  fail_unless (n > 3 && n < 50, "%u allocations suffice", n - 1);
}

/* Whichever copy fails, those before it have ended when the frame is unmapped.
 */
CUV_TEST (failed_copy_is_an_error)
{
  gboolean failed = TRUE;
  guint n;

  for (n = 0; failed && n < 50; n++) {
    GstElement *pipeline = transfer_line ("cuvcudaupload", "identity",
        "cuvcudadownload", "capsfilter caps=video/x-raw,format=I420");
    gchar *error;

    cuv_fake_fail_copy ((int) n);
    error = cuv_pipeline_play (pipeline);
    failed = error != NULL;
    fail_unless (error == NULL || strstr (error, "Copying a frame") != NULL,
        "after %u copies: %s", n, error);
    g_free (error);
    gst_object_unref (pipeline);
    cuv_fake_fail_copy (-1);
    cuv_fake_check_clean ();
  }
  fail_unless_equals_int (n, 3 * 2 * 3 + 1); /* frames, elements, planes */
}

static GstContext *offered;
static GstElement *opening;

static gpointer
offer_context (gpointer unused)
{
  GstElement *element = g_steal_pointer (&opening);

  gst_element_set_context (element, offered);
  return NULL;
}

/* Another thread sets a context while the element's own is created. */
static void
offer_at_creation (GstDebugCategory *category, GstDebugLevel level,
    const gchar *file, const gchar *function, gint line, GObject *object,
    GstDebugMessage *message, gpointer unused)
{
  if (opening != NULL
      && g_str_has_prefix (
          gst_debug_message_get (message), "Created CUDA context"))
    g_thread_join (g_thread_new ("offer", offer_context, NULL));
}

CUV_TEST (context_is_set_while_one_is_created)
{
  GstElement *pipeline = transfer_line (
      "cuvcudaupload", "identity", "cuvcudadownload", "identity");
  GstCudaContext *context;

  fail_unless (gst_cuda_load_library ());
  context = gst_cuda_context_new (0);
  offered = gst_context_new_cuda_context (context);
  gst_object_unref (context);
  opening = get (pipeline, "up");
  gst_debug_add_log_function (offer_at_creation, NULL, NULL);
  gst_debug_set_threshold_for_name ("cudacontext", GST_LEVEL_LOG);
  fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
  fail_unless (opening == NULL, "no context was created");
  gst_debug_remove_log_function (offer_at_creation);
  gst_debug_unset_threshold_for_name ("cudacontext");
  gst_object_unref (pipeline);
  gst_context_unref (offered);
  cuv_fake_check_clean ();
}
