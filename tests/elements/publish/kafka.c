/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* target=kafka with the mock cluster of librdkafka: the records that a consumer
 * gets from brokers that are down, refuse records or are slow. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <string.h>
#include <unistd.h>
#include "cuvelements.h"

#define TOPIC "cameras.records"
#define PRODUCE 0 /* ApiKey of a ProduceRequest */
/* A limit in seconds that even a busy machine does not reach. */
#define LONG 60

static rd_kafka_t *owner; /* client that owns the mock cluster */
static rd_kafka_mock_cluster_t *cluster;
static GstElement *pipeline, *source, *publish;

static rd_kafka_t *
client_new (rd_kafka_type_t type, const gchar *const *options)
{
  rd_kafka_conf_t *conf = rd_kafka_conf_new ();
  gchar text[256];
  rd_kafka_t *client;

  for (; *options != NULL; options += 2)
    fail_unless (
        rd_kafka_conf_set (conf, options[0], options[1], text, sizeof text)
        == RD_KAFKA_CONF_OK);
  rd_kafka_conf_set (conf, "log_level", "0", text, sizeof text);
  client = rd_kafka_new (type, conf, text, sizeof text);
  fail_unless (client != NULL, "%s", text);
  return client;
}

static void
set_up (void)
{
  const gchar *const options[] = { "test.mock.num.brokers", "1", NULL };
  g_autofree gchar *line = NULL;

  owner = client_new (RD_KAFKA_PRODUCER, options);
  cluster = rd_kafka_handle_mock_cluster (owner);
  fail_unless (cluster != NULL);
  rd_kafka_mock_topic_create (cluster, TOPIC, 1, 1);
  line = g_strdup_printf (
      "videotestsrc name=s num-buffers=100 ! video/x-raw,width=32,height=32 ! "
      "visionpublish name=p target=kafka address=%s add-empty-results=true "
      "source=door ! fakesink",
      rd_kafka_mock_cluster_bootstraps (cluster));
  pipeline = gst_parse_launch (line, NULL);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  publish = gst_bin_get_by_name (GST_BIN (pipeline), "p");
}

static void
tear_down (void)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (source);
  gst_object_unref (publish);
  gst_object_unref (pipeline);
  rd_kafka_destroy (owner);
}

static guint64
stat_of (const gchar *name)
{
  GstStructure *stats;
  guint64 value;

  g_object_get (publish, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value));
  gst_structure_free (stats);
  return value;
}

static void
wait_for (const gchar *name, guint64 value)
{
  gint64 end = g_get_monotonic_time () + LONG * G_TIME_SPAN_SECOND;

  while (stat_of (name) < value) {
    fail_unless (g_get_monotonic_time () < end, "%s stays below %u", name,
        (guint) value);
    g_usleep (5000);
  }
}

static gchar *
take_text (GstMessage *message)
{
  GError *error = NULL;
  gchar *text;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, NULL);
  else
    gst_message_parse_error (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

/* Waits for EOS; returns the first warning before it, or NULL. */
static gchar *
finish (void)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  gchar *first = NULL;

  for (;;) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, LONG * GST_SECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
    gboolean is_error;
    gchar *text;

    fail_unless (message != NULL);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS) {
      gst_message_unref (message);
      break;
    }
    is_error = GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;
    text = take_text (message);
    fail_if (is_error, "%s", text);
    if (first == NULL)
      first = g_steal_pointer (&text);
    g_free (text);
  }
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return first;
}

static void
check_record (const rd_kafka_message_t *message, guint n)
{
  g_autofree gchar *text = g_strndup (message->payload, message->len);
  g_autofree gchar *begin = g_strdup_printf ("{\"frame_num\":%u,", n);

  fail_unless (g_str_has_prefix (text, begin), "%s is not record %u", text, n);
  fail_unless (g_str_has_suffix (text, "}"));
  fail_unless_equals_uint64 (message->key_len, 4);
  fail_unless (memcmp (message->key, "door", 4) == 0);
}

/* Checks that the topic has the records 0 .. n - 1 in order, each once. */
static void
expect_records (guint n)
{
  const gchar *const options[] = { "bootstrap.servers",
    rd_kafka_mock_cluster_bootstraps (cluster), "group.id", "g",
    "auto.offset.reset", "earliest", "enable.partition.eof", "true", NULL };
  rd_kafka_t *consumer = client_new (RD_KAFKA_CONSUMER, options);
  rd_kafka_topic_partition_list_t *topics =
      rd_kafka_topic_partition_list_new (1);
  gboolean end = FALSE;
  guint found = 0;

  rd_kafka_topic_partition_list_add (topics, TOPIC, 0)->offset =
      RD_KAFKA_OFFSET_BEGINNING;
  rd_kafka_assign (consumer, topics);
  rd_kafka_topic_partition_list_destroy (topics);
  while (!end) {
    rd_kafka_message_t *message =
        rd_kafka_consumer_poll (consumer, LONG * 1000);

    fail_unless (message != NULL);
    end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (!end) {
      fail_unless_equals_int (message->err, 0);
      check_record (message, found++);
    }
    rd_kafka_message_destroy (message);
  }
  rd_kafka_consumer_close (consumer);
  rd_kafka_destroy (consumer);
  fail_unless_equals_int (found, n);
}

CUV_TEST (test_records)
{
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_free (finish ());
  fail_unless_equals_uint64 (stat_of ("acknowledged"), 100);
  fail_unless_equals_uint64 (stat_of ("dropped"), 0);
  expect_records (100);
}

/* The brokers are down at the start, then up, down and up again. */
CUV_TEST (test_outages)
{
  g_object_set (source, "num-buffers", -1, "is-live", TRUE, NULL);
  rd_kafka_mock_broker_set_down (cluster, 1);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for ("frames", 10);
  fail_unless_equals_uint64 (stat_of ("acknowledged"), 0);
  rd_kafka_mock_broker_set_up (cluster, 1);
  wait_for ("acknowledged", 20);
  rd_kafka_mock_broker_set_down (cluster, 1);
  wait_for ("frames", stat_of ("frames") + 20);
  rd_kafka_mock_broker_set_up (cluster, 1);
  wait_for ("acknowledged", stat_of ("frames"));
  gst_element_send_event (pipeline, gst_event_new_eos ());
  g_free (finish ());
  fail_unless_equals_uint64 (stat_of ("dropped"), 0);
  fail_unless_equals_uint64 (stat_of ("acknowledged"), stat_of ("frames"));
  expect_records ((guint) stat_of ("frames"));
}

/* librdkafka tries again after transient errors and broken connections. */
CUV_TEST (test_transient_errors)
{
  rd_kafka_mock_push_request_errors (cluster, PRODUCE, 4,
      RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
      RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_free (finish ());
  fail_unless_equals_uint64 (stat_of ("acknowledged"), 100);
  expect_records (100);
}

CUV_TEST (test_refused_topic)
{
  rd_kafka_resp_err_t errors[100];
  g_autofree gchar *warning = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (errors); i++)
    errors[i] = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
  rd_kafka_mock_push_request_errors_array (
      cluster, PRODUCE, G_N_ELEMENTS (errors), errors);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  warning = finish ();
  fail_unless (warning != NULL && strstr (warning, "access rules") != NULL,
      "%s", warning);
  fail_unless_equals_uint64 (stat_of ("acknowledged"), 0);
  fail_unless_equals_uint64 (stat_of ("dropped"), 100);
  expect_records (0);
}

CUV_TEST (test_slow_broker)
{
  rd_kafka_mock_broker_set_rtt (cluster, 1, 200);
  g_object_set (publish, "queue-records", 10, NULL);
  gst_util_set_object_arg (G_OBJECT (publish), "on-full", "block");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_free (finish ());
  fail_unless_equals_uint64 (stat_of ("acknowledged"), 100);
  expect_records (100);
}

static gsize
resident_bytes (void)
{
  g_autofree gchar *text = NULL;
  gsize pages;

  fail_unless (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  pages = g_ascii_strtoull (strchr (text, ' '), NULL, 10);
  return pages * (gsize) getpagesize ();
}

/* Sends 50 MB of records, through a queue of 1 MB, to a broker that answers
 * too late. */
CUV_TEST (test_memory)
{
  g_autofree gchar *text = g_strnfill (100000, 'x');
  g_autofree gchar *tags = g_strdup_printf ("{\"text\":\"%s\"}", text);
  gsize before G_GNUC_UNUSED;

  rd_kafka_mock_broker_set_rtt (cluster, 1, 3000);
  g_object_set (
      publish, "tags", tags, "queue-bytes", G_GUINT64_CONSTANT (1000000), NULL);
  g_object_set (source, "num-buffers", 500, NULL);
  before = resident_bytes ();
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for ("frames", 500);
#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer keeps freed memory */
  fail_unless (resident_bytes () < before + 40000000);
#endif
  fail_unless (stat_of ("dropped") > 400);
  g_free (finish ());
  rd_kafka_mock_broker_set_rtt (cluster, 1, 0);
}

/* Without a broker, stopping does not wait long. */
CUV_TEST (test_absent)
{
  g_autofree gchar *warning = NULL;

  rd_kafka_mock_broker_set_down (cluster, 1);
  g_object_set (publish, "queue-records", 40, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  warning = finish ();
  fail_unless (warning != NULL);
  fail_unless_equals_uint64 (stat_of ("dropped"), 100);
  rd_kafka_mock_broker_set_up (cluster, 1);
}

/* The mock cluster supports neither TLS nor passwords, so nothing
 * can be sent with these settings. */
CUV_TEST (test_tls_and_password)
{
  static const gchar *const mechanisms[] = { "plain", "scram-sha-256",
    "scram-sha-512" };

  g_setenv ("CUV_TEST_PASSWORD", "secret", TRUE);
  g_object_set (
      publish, "user", "eve", "password-env", "CUV_TEST_PASSWORD", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (mechanisms); i++) {
    gchar *warning;

    gst_util_set_object_arg (
        G_OBJECT (publish), "sasl-mechanism", mechanisms[i]);
    gst_util_set_object_arg (
        G_OBJECT (publish), "tls", i == 0 ? "verify" : "none");
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    warning = finish ();
    fail_unless (warning != NULL);
    fail_unless (strstr (warning, "rejects the value") == NULL, "%s", warning);
    fail_if (strstr (warning, "secret") != NULL);
    g_free (warning);
    fail_unless_equals_uint64 (stat_of ("acknowledged"), 0);
    fail_unless_equals_uint64 (stat_of ("dropped"), 100);
  }
}

CUV_FIXTURE (set_up, tear_down)
