/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstpublishsettings.h"

#include <string.h>

#include "output/outbox.h"
#include "output/topic.h"

#define AT(field) G_STRUCT_OFFSET (GstCuvPublishSettings, field)
/* Limits are doubles in the settings table. */
#define MAX_QUEUE_BYTES (G_GUINT64_CONSTANT (1) << 50)

GST_CUV_DEFINE_ENUM (format_get_type, "GstCuvPublishFormat",
    { GST_CUV_PUBLISH_JSON, "One JSON array of records, in a new file",
        "json" },
    { GST_CUV_PUBLISH_JSON_LINES, "A JSON object per line, appended",
        "json-lines" },
    { GST_CUV_PUBLISH_CSV, "Comma-separated values, a row per object, appended",
        "csv" })

GST_CUV_DEFINE_ENUM (target_get_type, "GstCuvPublishTarget",
    { GST_CUV_PUBLISH_FILE, "A file, FIFO, device or standard output", "file" },
    { GST_CUV_PUBLISH_MQTT, "An MQTT broker", "mqtt" },
    { GST_CUV_PUBLISH_KAFKA, "A Kafka broker", "kafka" })

GST_CUV_DEFINE_ENUM (tls_get_type, "GstCuvPublishTls",
    { CUV_TLS_NONE, "No encryption", "none" },
    { CUV_TLS_VERIFY, "Encrypted, the broker's certificate is verified",
        "verify" },
    { CUV_TLS_INSECURE, "Encrypted, but the broker is not authenticated",
        "insecure" })

GST_CUV_DEFINE_ENUM (sasl_get_type, "GstCuvPublishSasl",
    { CUV_SASL_PLAIN, "Password as text: use it with TLS only", "plain" },
    { CUV_SASL_SCRAM_SHA_256, "SCRAM with SHA-256", "scram-sha-256" },
    { CUV_SASL_SCRAM_SHA_512, "SCRAM with SHA-512", "scram-sha-512" })

GST_CUV_DEFINE_ENUM (mqtt_version_get_type, "GstCuvPublishMqttVersion",
    { CUV_MQTT_AUTO, "5 with libmosquitto 2.1 or newer, else 3.1.1", "auto" },
    { CUV_MQTT_3_1_1, "MQTT 3.1.1", "3.1.1" },
    { CUV_MQTT_5, "MQTT 5, or 3.1.1 if the broker does not support it", "5" })

GST_CUV_DEFINE_ENUM (metrics_get_type, "GstCuvPublishMetricsMode",
    { GST_CUV_PUBLISH_NO_METRICS, "Records only", "none" },
    { GST_CUV_PUBLISH_METRICS_WITH_RECORDS, "Metrics and records",
        "with-records" },
    { GST_CUV_PUBLISH_METRICS_ONLY, "Metrics only", "only" })

GST_CUV_DEFINE_ENUM (discovery_get_type, "GstCuvPublishDiscovery",
    { GST_CUV_PUBLISH_NO_DISCOVERY, "Metrics are not described", "none" },
    { GST_CUV_PUBLISH_HOME_ASSISTANT, "Metrics are sensors of Home Assistant",
        "homeassistant" })

GST_CUV_DEFINE_ENUM (on_full_get_type, "GstCuvPublishOnFull",
    { CUV_FULL_DROP_OLDEST, "The oldest records are dropped", "drop-oldest" },
    { CUV_FULL_DROP_NEWEST, "The new record is dropped", "drop-newest" },
    { CUV_FULL_BLOCK, "The pipeline waits", "block" })

static gchar *
parse_tags (gpointer settings)
{
  GstCuvPublishSettings *self = settings;
  GError *error = NULL;
  gchar *problem = NULL;

  g_clear_pointer (&self->tags, json_node_unref);
  if (self->tags_text == NULL || *self->tags_text == '\0')
    return NULL;
  self->tags =
      cuv_json_parse_object (self->tags_text, CUV_JSON_MAX_VALUES, &error);
  if (self->tags != NULL)
    json_node_seal (self->tags);
  else
    problem = g_strdup_printf ("%s; set tags to the text of a JSON object, as "
                               "in {\"camera\": \"door\"}",
        error->message);
  g_clear_error (&error);
  return problem;
}

/* The functions below return NULL, or why the settings of a broker contradict
 * each other. The address is not repeated, as it may contain a password. */
static gchar *
check_address (const GstCuvPublishSettings *self)
{
  if (gst_cuv_publish_is_empty (self->address))
    return g_strdup ("target needs an address: set address=host or host:port");
  if (strchr (self->address, '@') != NULL)
    return g_strdup ("address contains a user: set address to the host only, "
                     "and set user and password-file or password-env");
  if (strstr (self->address, "://") != NULL)
    return g_strdup ("address is a URI: set host or host:port only, and "
                     "tls=verify for encryption");
  return NULL;
}

static gchar *
check_password (const GstCuvPublishSettings *self)
{
  gboolean file = !gst_cuv_publish_is_empty (self->password_file);
  gboolean variable = !gst_cuv_publish_is_empty (self->password_env);
  gboolean user = !gst_cuv_publish_is_empty (self->user);

  if (file && variable)
    return g_strdup (
        "password-file and password-env are both set: set only one");
  if ((file || variable) && !user)
    return g_strdup ("a password is set without a user: set user");
  if (user && !file && !variable && self->target == GST_CUV_PUBLISH_KAFKA)
    return g_strdup ("Kafka needs the user's password: set password-file or "
                     "password-env");
  return NULL;
}

static gchar *
check_tls (const GstCuvPublishSettings *self)
{
  gboolean authority = !gst_cuv_publish_is_empty (self->tls_ca_file);
  gboolean certificate = !gst_cuv_publish_is_empty (self->tls_certificate_file);
  gboolean key = !gst_cuv_publish_is_empty (self->tls_key_file);

  if (self->tls == CUV_TLS_NONE && (authority || certificate || key))
    return g_strdup ("files for TLS are set, but tls is none: set tls=verify");
  if (certificate != key)
    return g_strdup ("a certificate and its key belong together: set both "
                     "tls-certificate-file and tls-key-file");
  return NULL;
}

static gchar *
check_metrics (const GstCuvPublishSettings *self)
{
  const gboolean discovery = self->discovery != GST_CUV_PUBLISH_NO_DISCOVERY;

  if (self->metrics == GST_CUV_PUBLISH_NO_METRICS)
    return discovery
        ? g_strdup ("discovery describes metrics, which are not published: set "
                    "metrics=only or metrics=with-records")
        : NULL;
  if (self->target != GST_CUV_PUBLISH_MQTT)
    return g_strdup ("metrics are for MQTT brokers only: set target=mqtt and "
                     "address, or metrics=none");
  if (!gst_cuv_publish_is_empty (self->topic)
      && !cuv_topic_has_kind (self->topic))
    return g_strdup ("metrics need topics of their own: add {kind} to topic, "
                     "as in cameras/{source}/{kind}");
  if (discovery && !cuv_topic_is_prefix (self->discovery_prefix))
    return g_strdup ("discovery-prefix is not the beginning of a topic: set it "
                     "to that of Home Assistant, without + # and a / at the "
                     "end");
  return NULL;
}

static gchar *
publish_check (gconstpointer settings)
{
  const GstCuvPublishSettings *self = settings;
  gchar *problem = check_metrics (self);

  if (problem != NULL || self->target == GST_CUV_PUBLISH_FILE)
    return problem;
  if (self->format == GST_CUV_PUBLISH_CSV)
    return g_strdup ("file-format=csv is for files only, brokers get JSON: set "
                     "file-format=json-lines");
  problem = check_address (self);
  if (problem == NULL)
    problem = check_password (self);
  return problem != NULL ? problem : check_tls (self);
}

static GParamSpec *
make_dropped (void)
{
  return g_param_spec_uint64 ("dropped", "Dropped",
      "Number of records that could not be written since the start", 0,
      G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

/**
 * GstVisionPublish:file-format:
 *
 * How records are written. json replaces an existing file; the others append.
 * Can change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:file-path:
 *
 * The file, FIFO or device to write to; none or "-" is standard output.
 * Several elements may append json-lines to one file; a file of json or csv
 * has one writer. Can change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:tags:
 *
 * The text of a JSON object that is written in each record. Any other text is
 * refused: with an error at the start, with a warning while running.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:target:
 *
 * Where records go: to a file, or to an MQTT or Kafka broker, where each record
 * is one message of JSON. Can change in NULL and READY only, like all
 * properties of a broker.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:address:
 *
 * Host or host:port of the broker; for Kafka a list of them, separated by
 * commas. The default port is 1883 for MQTT, 8883 for MQTT with TLS, and 9092
 * for Kafka. User and password have their own properties.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:topic:
 *
 * The topic, in which {source} is replaced by #GstVisionPublish:source, or by
 * the element's name if that is not set, and {kind} by "records". The default
 * is "cameras/{source}/{kind}" for MQTT and "cameras.{kind}" for Kafka, where
 * the source is the message's key. If an MQTT topic contains {kind}, the broker
 * retains the status (online, stopped or lost) in the topic whose {kind} is
 * "status".
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:password-file:
 *
 * A file with the password; a newline at its end is ignored.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:password-env:
 *
 * The name of an environment variable with the password. There is no property
 * for the password itself: gst-launch-1.0 -v, logs and dot files would show it.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:tls:
 *
 * none; verify: the broker's certificate must match its host and be signed by
 * an authority of #GstVisionPublish:tls-ca-file, or of the system; insecure:
 * any certificate is accepted.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:mqtt-version:
 *
 * The version of MQTT. Only with 5 does a broker report records that its access
 * rules deny. Before libmosquitto 2.1 a broker of MQTT 5 can crash the process
 * with a malformed packet, so auto uses 3.1.1 there; set 5 if you trust the
 * broker.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:on-full:
 *
 * What happens to a record when the queue to the broker is full. block makes
 * the pipeline wait.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:spool-path:
 *
 * A file for the queue to the broker, of up to #GstVisionPublish:queue-bytes
 * bytes: records that the broker has not acknowledged are sent after the next
 * start, even if the program was killed. None: the queue is in memory.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:require-connection:
 *
 * Whether the start fails if the broker cannot be reached within 10 seconds.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:metrics:
 *
 * Whether an MQTT broker gets the metrics of tables, such as the counts of
 * visionzones: a retained message for each row of a table, in the topic whose
 * {kind} is "metrics/TABLE/ROW", sent when it changes. With "only" it gets no
 * records.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:metrics-interval:
 *
 * The shortest time in seconds between two messages of a row. The newest values
 * are sent when it has passed.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:discovery:
 *
 * With homeassistant, retained messages describe each metric to Home Assistant,
 * which shows it as a sensor. Needs #GstVisionPublish:metrics.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:discovery-prefix:
 *
 * The first part of the topics of these messages, as it is set in Home
 * Assistant.
 *
 * Since: 0.1
 */
/**
 * GstVisionPublish:stats:
 *
 * frames, records (written, or acknowledged by the broker), dropped, bytes
 * (written or sent) (guint64), queue (guint, records that wait). With a broker
 * also sent (repetitions included), acknowledged, spooled (found in the file of
 * #GstVisionPublish:spool-path at the start), reconnects, metrics (topics that
 * are retained), metrics-sent (messages for these, repetitions included)
 * (guint64), connected (gboolean), last-error (a string, empty if there was
 * none).
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "file-format", "File format", "Format of the records",
      .offset = AT (format), .get_type = format_get_type,
      .value = GST_CUV_PUBLISH_JSON_LINES, .only_stopped = TRUE },
  { "file-path", "File path",
      "Path of the file to write records to (none or - = standard output)",
      .offset = AT (path), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "add-empty-results", "Add empty results",
      "Also write records for frames without results",
      .offset = AT (add_empty_results), .type = G_TYPE_BOOLEAN },
  { "source", "Source", "Name of the video's source, written in each record",
      .offset = AT (source), .type = G_TYPE_STRING },
  { "tags", "Tags", "Text of a JSON object that is written in each record",
      .offset = AT (tags_text), .type = G_TYPE_STRING, .parse = parse_tags },
  { "target", "Target", "Where records are written or sent",
      .offset = AT (target), .get_type = target_get_type,
      .value = GST_CUV_PUBLISH_FILE, .only_stopped = TRUE },
  { "address", "Address", "Host or host:port of the broker",
      .offset = AT (address), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "topic", "Topic",
      "Topic of the records, with {source} and {kind} as optional placeholders",
      .offset = AT (topic), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "client-id", "Client id",
      "Client id sent to the broker (none = assigned by an MQTT broker; "
      "rdkafka for Kafka)",
      .offset = AT (client_id), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "user", "User", "User name for the broker", .offset = AT (user),
      .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "password-file", "Password file", "Path of a file with the password",
      .offset = AT (password_file), .type = G_TYPE_STRING,
      .only_stopped = TRUE },
  { "password-env", "Password variable",
      "Name of an environment variable with the password",
      .offset = AT (password_env), .type = G_TYPE_STRING,
      .only_stopped = TRUE },
  { "sasl-mechanism", "SASL mechanism", "SASL mechanism for Kafka",
      .offset = AT (sasl), .get_type = sasl_get_type, .value = CUV_SASL_PLAIN,
      .only_stopped = TRUE },
  { "tls", "TLS", "Encryption of the connection to the broker",
      .offset = AT (tls), .get_type = tls_get_type, .value = CUV_TLS_NONE,
      .only_stopped = TRUE },
  { "tls-ca-file", "TLS authorities",
      "Path of a PEM file with the authorities to trust (none = the system's)",
      .offset = AT (tls_ca_file), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "tls-certificate-file", "TLS certificate",
      "Path of a PEM file with the client's certificate",
      .offset = AT (tls_certificate_file), .type = G_TYPE_STRING,
      .only_stopped = TRUE },
  { "tls-key-file", "TLS key",
      "Path of a PEM file with the key of the client's certificate",
      .offset = AT (tls_key_file), .type = G_TYPE_STRING,
      .only_stopped = TRUE },
  { "mqtt-version", "MQTT version", "Version of MQTT",
      .offset = AT (mqtt_version), .get_type = mqtt_version_get_type,
      .value = CUV_MQTT_AUTO, .only_stopped = TRUE },
  { "keep-alive", "Keep alive",
      "Seconds after which a silent MQTT broker is pinged",
      .offset = AT (keep_alive), .type = G_TYPE_UINT, .minimum = 5,
      .maximum = 65535, .value = 15, .only_stopped = TRUE },
  { "queue-records", "Queue records",
      "Maximum number of records that wait for the broker",
      .offset = AT (queue_records), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = G_MAXUINT, .value = 100000, .only_stopped = TRUE },
  { "queue-bytes", "Queue bytes",
      "Maximum size in bytes of the records that wait for the broker",
      .offset = AT (queue_bytes), .type = G_TYPE_UINT64,
      .minimum = CUV_SPOOL_MIN_BYTES, .maximum = MAX_QUEUE_BYTES,
      .value = 64 << 20, .only_stopped = TRUE },
  { "on-full", "On full", "What to do with records when the queue is full",
      .offset = AT (on_full), .get_type = on_full_get_type,
      .value = CUV_FULL_DROP_OLDEST, .only_stopped = TRUE },
  { "spool-path", "Spool path",
      "Path of a file that holds the queue (none = in memory)",
      .offset = AT (spool_path), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "require-connection", "Require connection",
      "Fail at the start if the broker cannot be reached",
      .offset = AT (require_connection), .type = G_TYPE_BOOLEAN,
      .only_stopped = TRUE },
  { "metrics", "Metrics", "Whether an MQTT broker retains metrics of tables",
      .offset = AT (metrics), .get_type = metrics_get_type,
      .value = GST_CUV_PUBLISH_NO_METRICS, .only_stopped = TRUE },
  { "metrics-interval", "Metrics interval",
      "Seconds between two messages with the metrics of a row, at least",
      .offset = AT (metrics_interval), .type = G_TYPE_DOUBLE, .maximum = 86400,
      .value = 1, .only_stopped = TRUE },
  { "discovery", "Discovery", "Messages that describe the metrics",
      .offset = AT (discovery), .get_type = discovery_get_type,
      .value = GST_CUV_PUBLISH_NO_DISCOVERY, .only_stopped = TRUE },
  { "discovery-prefix", "Discovery prefix",
      "First part of the topics that Home Assistant reads",
      .offset = AT (discovery_prefix), .type = G_TYPE_STRING,
      .text = "homeassistant", .only_stopped = TRUE },
  { "dropped", .type = G_TYPE_UINT64, .make_spec = make_dropped,
      .get = gst_vision_publish_get_dropped },
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type, .get = gst_vision_publish_get_stats },
};

static const GstCuvOwnedField owned[] = {
  { AT (tags), json_node_get_type },
};

const GstCuvSettingsTable gst_cuv_publish_settings = {
  GST_CUV_SETTINGS (GstCuvPublishSettings, list),
  GST_CUV_OWNED_FIELDS (owned),
  .check = publish_check,
};
