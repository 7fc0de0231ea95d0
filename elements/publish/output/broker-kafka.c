/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kafka with librdkafka, which itself connects, repeats and keeps the order (an
 * idempotent producer). It gets only a window of messages at a time, so that
 * the outbox's queue remains the only one. */
#include "config.h"
#include "output/broker.h"

#include <librdkafka/rdkafka.h>
#include <poll.h>
#include <string.h>

#include "cuvlibrary.h"

#define WINDOW 1000
/* How long one attempt to connect blocks the thread. */
#define METADATA_MS 500
#define SILENCE_US (3 * G_USEC_PER_SEC)

#define FUNCTIONS(F)                                                           \
  F (conf_destroy)                                                             \
  F (conf_new)                                                                 \
  F (conf_set)                                                                 \
  F (conf_set_dr_msg_cb)                                                       \
  F (conf_set_error_cb)                                                        \
  F (conf_set_log_cb)                                                          \
  F (conf_set_opaque)                                                          \
  F (destroy)                                                                  \
  F (err2str)                                                                  \
  F (metadata)                                                                 \
  F (metadata_destroy)                                                         \
  F (new)                                                                      \
  F (poll)                                                                     \
  F (producev)                                                                 \
  F (purge)                                                                    \
  F (queue_destroy)                                                            \
  F (queue_get_main)                                                           \
  F (queue_io_event_enable)

#define DECLARE(name) static __typeof__ (rd_kafka_##name) *kafka_##name;
FUNCTIONS (DECLARE)

typedef struct {
  CuvBroker broker;
  CuvBrokerConfig config;

  /* state of the current connection */
  rd_kafka_t *client;
  rd_kafka_queue_t *events;
  gboolean connected, waking;
  gint64 asked;       /* when the first unanswered request was sent, or 0 if
                       * there is none */
  gboolean has_cause; /* an error said why there is no answer */
  gchar *problem;     /* why the client cannot continue, or NULL */
} Kafka;

static gboolean
kafka_open_library (GError **error)
{
#define SYMBOL(name) { "rd_kafka_" #name, (gpointer *) &kafka_##name },
  static const CuvSymbol symbols[] = { FUNCTIONS (SYMBOL) };
  static GMutex lock;
  static gboolean opened;

  g_mutex_lock (&lock);
  opened = opened
      || cuv_library_open ("librdkafka.so.1", "librdkafka1", symbols,
          G_N_ELEMENTS (symbols), error);
  g_mutex_unlock (&lock);
  return opened;
}

/* ---- callbacks, all within poll() except on_log() ---- */

static void
kafka_set_problem (Kafka *self, const gchar *text)
{
  g_free (self->problem);
  self->problem = g_strdup (text);
}

static const gchar *
kafka_remedy (rd_kafka_resp_err_t code)
{
  switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
      return ": check user and password-file or password-env";
    case RD_KAFKA_RESP_ERR__SSL:
      return ": check tls-ca-file, and that the broker speaks TLS on this port";
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
      return ": check topic and the broker's access rules";
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
      return ": create the topic";
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
      return ": increase the broker's message.max.bytes";
    default:
      return "";
  }
}

/* Whether the broker will never accept the message. */
static gboolean
is_final (rd_kafka_resp_err_t code)
{
  switch (code) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
      return TRUE;
    default:
      return FALSE;
  }
}

/* librdkafka reports the cause for each broker first, then that all are
 * down. */
static void
kafka_on_error (rd_kafka_t *client, int code, const char *reason, void *data)
{
  Kafka *self = data;
  gboolean plain = code == RD_KAFKA_RESP_ERR__TRANSPORT
      && strstr (reason, "SSL listener") != NULL;
  gchar *problem = plain
      ? g_strdup ("the connection was lost before the broker answered: if it "
                  "expects TLS on this port, set tls=verify")
      : g_strdup_printf ("%s%s", reason, kafka_remedy (code));

  if (code == RD_KAFKA_RESP_ERR__FATAL)
    kafka_set_problem (self, problem);
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
    self->connected = FALSE;
    cuv_outbox_disconnected (self->broker.outbox);
  } else {
    self->has_cause = TRUE;
    cuv_outbox_failed (self->broker.outbox, problem);
  }
  g_free (problem);
}

/* Called on any thread of the library. Errors are reported by kafka_on_error();
 * the default log prints on stderr. */
static void
on_log (
    const rd_kafka_t *client, int level, const char *facility, const char *text)
{
  g_debug ("librdkafka: %s: %s", facility, text);
}

/* A message that the broker may accept later is sent again on a new connection.
 */
static void
on_delivery (rd_kafka_t *client, const rd_kafka_message_t *message, void *data)
{
  Kafka *self = data;
  guint64 number = GPOINTER_TO_SIZE (message->_private);
  gchar *problem;

  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    cuv_outbox_acknowledged (self->broker.outbox, number, NULL);
    return;
  }
  problem = g_strdup_printf (
      "%s%s", kafka_err2str (message->err), kafka_remedy (message->err));
  if (is_final (message->err))
    cuv_outbox_acknowledged (self->broker.outbox, number, problem);
  else
    kafka_set_problem (self, problem);
  g_free (problem);
}

/* ---- the connection ---- */

typedef struct {
  const gchar *name, *value; /* value NULL: the default */
} Option;

static gboolean
set_options (
    rd_kafka_conf_t *conf, const Option *options, gsize n, GError **error)
{
  gchar text[256];

  for (gsize i = 0; i < n; i++) {
    if (options[i].value != NULL
        && kafka_conf_set (
               conf, options[i].name, options[i].value, text, sizeof text)
            != RD_KAFKA_CONF_OK) {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
          "librdkafka rejects the value of its option %s", options[i].name);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
kafka_configure (Kafka *self, rd_kafka_conf_t *conf, GError **error)
{
  const CuvBrokerConfig *config = &self->config;
  static const gchar *const protocols[2][2] = { { "plaintext", "ssl" },
    { "sasl_plaintext", "sasl_ssl" } };
  static const gchar *const mechanisms[] = { "PLAIN", "SCRAM-SHA-256",
    "SCRAM-SHA-512" };
  const Option options[] = {
    { "bootstrap.servers", config->address },
    { "client.id", config->client_id },
    { "security.protocol",
        protocols[config->user != NULL][config->tls != CUV_TLS_NONE] },
    { "sasl.mechanisms",
        config->user != NULL ? mechanisms[config->sasl] : NULL },
    { "sasl.username", config->user },
    { "sasl.password", config->password },
    { "ssl.ca.location", config->ca_file },
    { "ssl.certificate.location", config->certificate_file },
    { "ssl.key.location", config->key_file },
    { "enable.ssl.certificate.verification",
        config->tls == CUV_TLS_INSECURE ? "false" : NULL },
    { "ssl.endpoint.identification.algorithm",
        config->tls == CUV_TLS_INSECURE ? "none" : "https" },
    { "enable.idempotence", "true" },
    /* messages never time out: the outbox's bounds decide */
    { "message.timeout.ms", "0" },
    /* only the broker's limit applies */
    { "message.max.bytes", "1000000000" },
    { "linger.ms", "5" },
  };

  kafka_conf_set_opaque (conf, self);
  kafka_conf_set_dr_msg_cb (conf, on_delivery);
  kafka_conf_set_error_cb (conf, kafka_on_error);
  kafka_conf_set_log_cb (conf, on_log);
  return set_options (conf, options, G_N_ELEMENTS (options), error);
}

static gboolean
kafka_open (CuvBroker *broker, GError **error)
{
  Kafka *self = (Kafka *) broker;
  rd_kafka_conf_t *conf = kafka_conf_new ();
  gchar text[256];

  g_clear_pointer (&self->problem, g_free);
  if (kafka_configure (self, conf, error)) {
    self->client = kafka_new (RD_KAFKA_PRODUCER, conf, text, sizeof text);
    if (self->client == NULL)
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", text);
  }
  if (self->client == NULL) {
    kafka_conf_destroy (conf);
    return FALSE;
  }
  self->events = kafka_queue_get_main (self->client);
  return TRUE;
}

static CuvSend
kafka_send (CuvBroker *broker, guint64 number, const CuvMessage *message,
    GError **error)
{
  Kafka *self = (Kafka *) broker;
  rd_kafka_resp_err_t code =
      kafka_producev (self->client, RD_KAFKA_V_TOPIC (message->topic),
          RD_KAFKA_V_KEY (message->key, strlen (message->key)),
          RD_KAFKA_V_VALUE ((void *) message->text, message->size),
          RD_KAFKA_V_MSGFLAGS (RD_KAFKA_MSG_F_COPY),
          RD_KAFKA_V_OPAQUE (GSIZE_TO_POINTER (number)), RD_KAFKA_V_END);

  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    return CUV_SEND_OK;
  if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL)
    return CUV_SEND_LATER;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s%s",
      kafka_err2str (code), kafka_remedy (code));
  return is_final (code) ? CUV_SEND_REFUSED : CUV_SEND_LOST;
}

/* Reports that no broker answers: librdkafka 2.14 reports no error while the
 * peer closes every connection. */
static void
report_silence (Kafka *self)
{
  const gint64 now = g_get_monotonic_time ();

  if (self->asked == 0)
    self->asked = now;
  if (self->has_cause || now - self->asked < SILENCE_US)
    return;
  self->asked = now;
  cuv_outbox_failed (self->broker.outbox,
      self->config.tls == CUV_TLS_NONE
          ? "the broker does not answer: check address; if it expects TLS on "
            "this port, set tls=verify"
          : "the broker does not answer: check that Kafka runs at address, and "
            "that it expects TLS on this port");
}

/* Asks for metadata, to see whether a broker answers. */
static void
try_to_connect (Kafka *self, gint milliseconds)
{
  const struct rd_kafka_metadata *metadata;

  if (kafka_metadata (
          self->client, 0, NULL, &metadata, MIN (milliseconds, METADATA_MS))
      != RD_KAFKA_RESP_ERR_NO_ERROR) {
    report_silence (self);
    return;
  }
  kafka_metadata_destroy (metadata);
  self->asked = 0;
  self->has_cause = FALSE;
  self->connected = TRUE;
  cuv_outbox_connected (self->broker.outbox);
}

static gboolean
kafka_run (CuvBroker *broker, int wake_fd, gint milliseconds, GError **error)
{
  static const guint64 one = 1;
  Kafka *self = (Kafka *) broker;
  struct pollfd ready = { wake_fd, POLLIN, 0 };

  if (!self->waking)
    kafka_queue_io_event_enable (self->events, wake_fd, &one, sizeof one);
  self->waking = TRUE;
  if (!self->connected)
    try_to_connect (self, milliseconds);
  else
    poll (&ready, 1, milliseconds);
  kafka_poll (self->client, 0);
  if (self->problem == NULL)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", self->problem);
  return FALSE;
}

static void
kafka_close (CuvBroker *broker, gboolean orderly)
{
  Kafka *self = (Kafka *) broker;

  if (self->client == NULL)
    return;
  kafka_queue_io_event_enable (self->events, -1, NULL, 0);
  kafka_queue_destroy (self->events);
  kafka_purge (
      self->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  kafka_destroy (self->client);
  self->client = NULL;
  self->connected = self->waking = self->has_cause = FALSE;
  self->asked = 0;
}

static void
kafka_free (CuvBroker *broker)
{
  Kafka *self = (Kafka *) broker;

  g_free (self->broker.name);
  cuv_broker_config_clear (&self->config);
  g_free (self->problem);
  g_free (self);
}

CuvBroker *
cuv_broker_kafka_new (CuvBrokerConfig *config, GError **error)
{
  static const CuvBrokerClass klass = { WINDOW, kafka_open, kafka_send,
    kafka_run, kafka_close, kafka_free };
  Kafka *self;

  if (!kafka_open_library (error))
    return NULL;
  self = g_new0 (Kafka, 1);
  self->broker.klass = &klass;
  self->broker.name = g_strdup (config->address);
  self->config = *config;
  *config = (CuvBrokerConfig){ 0 };
  return &self->broker;
}
