/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MQTT 5 or 3.1.1 with libmosquitto. Each connection has its own client, so
 * that the library never repeats messages itself: the outbox does. */
#include "config.h"
#include "output/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <mosquitto.h>
#if LIBMOSQUITTO_VERSION_NUMBER < 2001000
#include <mqtt_protocol.h>
#endif
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cuvlibrary.h"

#define PORT 1883
#define TLS_PORT 8883
#define WINDOW 64
/* After this many connections in a row were lost with messages in flight and
 * none answered, messages are sent one at a time; after twice as many, the
 * first one is dropped. */
#define SUSPICIOUS 3
#define SSL_VERIFY_NONE 0 /* the same value as in OpenSSL's headers */
/* Maximum time that close() takes for an orderly disconnect. */
#define GOODBYE_MS 400

#define ONLINE "{\"status\":\"online\"}"
#define STOPPED "{\"status\":\"stopped\"}"
#define LOST "{\"status\":\"lost\"}"
#define BIRTH "online"

#define FUNCTIONS(F)                                                           \
  F (connack_string)                                                           \
  F (connect)                                                                  \
  F (connect_v5_callback_set)                                                  \
  F (destroy)                                                                  \
  F (disconnect)                                                               \
  F (int_option)                                                               \
  F (lib_init)                                                                 \
  F (lib_version)                                                              \
  F (log_callback_set)                                                         \
  F (loop_misc)                                                                \
  F (loop_read)                                                                \
  F (loop_write)                                                               \
  F (max_inflight_messages_set)                                                \
  F (message_callback_set)                                                     \
  F (new)                                                                      \
  F (publish)                                                                  \
  F (publish_v5_callback_set)                                                  \
  F (reason_string)                                                            \
  F (socket)                                                                   \
  F (strerror)                                                                 \
  F (subscribe)                                                                \
  F (tls_insecure_set)                                                         \
  F (tls_opts_set)                                                             \
  F (tls_set)                                                                  \
  F (username_pw_set)                                                          \
  F (want_write)                                                               \
  F (will_set)

#define DECLARE(name) static __typeof__ (mosquitto_##name) *mqtt_##name;
FUNCTIONS (DECLARE)

typedef struct {
  CuvBroker broker;
  CuvBrokerConfig config;
  gchar *host;
  gint port;
  gint protocol; /* MQTT_PROTOCOL_... */
  guint losses;  /* lost connections since the last answer to a message */

  /* state of the current connection */
  struct mosquitto *client;
  gboolean connected;
  gchar *problem;      /* what the last callback reported */
  gchar *log_problem;  /* the last error that the library logged */
  GHashTable *numbers; /* message id -> guint64 *, of messages in flight */
} Mqtt;

static gboolean
mqtt_open_library (GError **error)
{
#define SYMBOL(name) { "mosquitto_" #name, (gpointer *) &mqtt_##name },
  static const CuvSymbol symbols[] = { FUNCTIONS (SYMBOL) };
  static GMutex lock;
  static gboolean opened;

  g_mutex_lock (&lock);
  if (!opened) {
    opened = cuv_library_open ("libmosquitto.so.1", "libmosquitto1", symbols,
        G_N_ELEMENTS (symbols), error);
    if (opened)
      mqtt_lib_init ();
  }
  g_mutex_unlock (&lock);
  return opened;
}

/* ---- problems ---- */

static void
mqtt_set_problem (gchar **problem, gchar *text)
{
  g_free (*problem);
  *problem = text;
}

static const gchar *
connect_remedy (gint code)
{
  switch (code) {
    case CONNACK_REFUSED_BAD_USERNAME_PASSWORD:
    case CONNACK_REFUSED_NOT_AUTHORIZED:
    case MQTT_RC_BAD_USERNAME_OR_PASSWORD:
    case MQTT_RC_NOT_AUTHORIZED:
      return ": check user and password-file or password-env";
    case CONNACK_REFUSED_IDENTIFIER_REJECTED:
    case MQTT_RC_CLIENTID_NOT_VALID:
      return ": check client-id";
    case MQTT_RC_RETAIN_NOT_SUPPORTED:
      return ": remove {kind} from topic, so that no status is sent";
    default:
      return "";
  }
}

/* Returns what to do if TLS may be missing: a broker that expects TLS closes
 * the connection, possibly after an alert. */
static const gchar *
tls_remedy (Mqtt *self)
{
  return self->config.tls == CUV_TLS_NONE && !self->connected
      ? " before the broker answered: if it expects TLS on this port, set "
        "tls=verify"
      : "";
}

/* Describes an error code of the library, and what to do about it. */
static gchar *
explain (Mqtt *self, gint code, gint system_error)
{
  /* some versions report failures of TLS by errno */
  if (code == MOSQ_ERR_ERRNO && system_error == EPROTO)
    code = MOSQ_ERR_TLS;
  switch (code) {
    case MOSQ_ERR_ERRNO:
      return g_strdup_printf (
          "%s: check address, and that the broker is running",
          system_error == EBADF || system_error == 0 /* 2.1 sets EBADF; 0 if
                                                      * closed */
              ? "no connection"
              : g_strerror (system_error));
    case MOSQ_ERR_EAI:
      return g_strdup ("unknown host: check address");
    case MOSQ_ERR_TLS:
      return g_strdup_printf (
          "TLS failed (%s): check the broker's certificate, "
          "tls-ca-file, and that the broker speaks TLS on this port",
          self->log_problem != NULL ? self->log_problem : "without details");
    case MOSQ_ERR_KEEPALIVE:
      return g_strdup_printf (
          "it did not answer for %u seconds", self->config.keep_alive);
    case MOSQ_ERR_CONN_LOST:
      return g_strdup_printf ("the connection was lost%s", tls_remedy (self));
    default:
      return g_strdup_printf ("%s%s", mqtt_strerror (code), tls_remedy (self));
  }
}

/* Reports what a callback reported during the call, if anything, otherwise the
 * call's code. */
static gboolean
mqtt_fail (Mqtt *self, gint code, GError **error)
{
  gchar *text = self->problem != NULL ? g_strdup (self->problem)
                                      : explain (self, code, errno);

  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, text);
  g_free (text);
  return FALSE;
}

/* ---- callbacks, on the thread that calls open(), run() or close() ---- */

static void
on_log (struct mosquitto *client, void *data, int level, const char *text)
{
  Mqtt *self = data;

  if (level == MOSQ_LOG_ERR)
    mqtt_set_problem (&self->log_problem, g_strdup (text));
}

/* A broker that supports only MQTT 3.1.1 answers with a code of that version.
 */
static void
on_connect (struct mosquitto *client, void *data, int code, int flags,
    const mosquitto_property *properties)
{
  Mqtt *self = data;

  if (code == 0) {
    self->connected = TRUE;
    if (self->config.status_topic != NULL)
      mqtt_publish (client, NULL, self->config.status_topic,
          (int) strlen (ONLINE), ONLINE, 1, true);
    if (self->config.birth_topic != NULL)
      mqtt_subscribe (client, NULL, self->config.birth_topic, 1);
    cuv_outbox_connected (self->broker.outbox);
  } else if (code == MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION
      || (code == CONNACK_REFUSED_PROTOCOL_VERSION
          && self->protocol == MQTT_PROTOCOL_V5)) {
    self->protocol = MQTT_PROTOCOL_V311;
    mqtt_set_problem (&self->problem, g_strdup ("it does not support MQTT 5"));
  } else {
    mqtt_set_problem (&self->problem,
        g_strdup_printf ("it refused the connection (%s)%s",
            code < 128 ? mqtt_connack_string (code) : mqtt_reason_string (code),
            connect_remedy (code)));
  }
}

/* Retained messages are older than this connection. */
static void
on_birth (struct mosquitto *client, void *data,
    const struct mosquitto_message *message)
{
  Mqtt *self = data;

  if (!message->retain && message->payloadlen == (int) strlen (BIRTH)
      && memcmp (message->payload, BIRTH, strlen (BIRTH)) == 0)
    cuv_outbox_renew_retained (self->broker.outbox);
}

/* Messages with the status have no number: the outbox does not know them. */
static void
on_publish (struct mosquitto *client, void *data, int id, int code,
    const mosquitto_property *properties)
{
  Mqtt *self = data;
  gpointer key = GINT_TO_POINTER (id), value;
  gchar *problem = NULL;

  if (code >= 128)
    problem = g_strdup_printf ("it refused the topic or a record (%s): check "
                               "topic and the broker's access rules",
        mqtt_reason_string (code));
  value = g_hash_table_lookup (self->numbers, key);
  if (value != NULL) {
    self->losses = 0;
    cuv_outbox_acknowledged (self->broker.outbox, *(guint64 *) value, problem);
  } else if (problem != NULL) {
    cuv_outbox_failed (self->broker.outbox, problem);
  }
  g_hash_table_remove (self->numbers, key);
  g_free (problem);
}

/* ---- the connection ---- */

/* libmosquitto ignores SIGPIPE for the whole process: restores what the
 * application has set. */
static struct mosquitto *
new_client (Mqtt *self)
{
  static GMutex lock;
  struct sigaction before;
  struct mosquitto *client;

  g_mutex_lock (&lock);
  sigaction (SIGPIPE, NULL, &before);
  client = mqtt_new (self->config.client_id, true, self);
  sigaction (SIGPIPE, &before, NULL);
  g_mutex_unlock (&lock);
  return client;
}

/* Refuses a passphrase: OpenSSL would ask for it on the terminal. */
static int
refuse_passphrase (char *buffer, int size, int is_writing, void *data)
{
  return 0;
}

static gint
set_up_tls (Mqtt *self)
{
  const CuvBrokerConfig *config = &self->config;
  gint code = MOSQ_ERR_SUCCESS;

  if (config->tls == CUV_TLS_NONE)
    return code;
  if (config->ca_file == NULL)
    code = mqtt_int_option (self->client, MOSQ_OPT_TLS_USE_OS_CERTS, 1);
  if (code == MOSQ_ERR_SUCCESS
      && (config->ca_file != NULL || config->certificate_file != NULL))
    code = mqtt_tls_set (self->client, config->ca_file,
        config->ca_file == NULL ? "/etc/ssl/certs" : NULL,
        config->certificate_file, config->key_file, refuse_passphrase);
  if (code == MOSQ_ERR_SUCCESS && config->tls == CUV_TLS_INSECURE) {
    mqtt_tls_insecure_set (self->client, true);
    code = mqtt_tls_opts_set (self->client, SSL_VERIFY_NONE, NULL, NULL);
  }
  return code;
}

static gint
set_up (Mqtt *self)
{
  struct mosquitto *client = self->client;
  gint code;

  mqtt_log_callback_set (client, on_log);
  mqtt_connect_v5_callback_set (client, on_connect);
  mqtt_publish_v5_callback_set (client, on_publish);
  mqtt_message_callback_set (client, on_birth);
  mqtt_int_option (client, MOSQ_OPT_TCP_NODELAY, 1);
  mqtt_max_inflight_messages_set (client, 2 * WINDOW);
  code = mqtt_int_option (client, MOSQ_OPT_PROTOCOL_VERSION, self->protocol);
  if (code == MOSQ_ERR_SUCCESS && self->config.user != NULL)
    code =
        mqtt_username_pw_set (client, self->config.user, self->config.password);
  if (code == MOSQ_ERR_SUCCESS && self->config.status_topic != NULL)
    code = mqtt_will_set (
        client, self->config.status_topic, (int) strlen (LOST), LOST, 1, true);
  return code == MOSQ_ERR_SUCCESS ? set_up_tls (self) : code;
}

static gboolean
mqtt_open (CuvBroker *broker, GError **error)
{
  Mqtt *self = (Mqtt *) broker;
  gint code;

  mqtt_set_problem (&self->problem, NULL);
  mqtt_set_problem (&self->log_problem, NULL);
  self->client = new_client (self);
  if (self->client == NULL)
    return mqtt_fail (self, MOSQ_ERR_ERRNO, error);
  code = set_up (self);
  if (code == MOSQ_ERR_SUCCESS)
    code = mqtt_connect (
        self->client, self->host, self->port, (int) self->config.keep_alive);
  return code == MOSQ_ERR_SUCCESS || mqtt_fail (self, code, error);
}

/* A broker may close the connection because of one message, for example if it
 * is too large. Sent again and again, it would block all others. Returns
 * CUV_SEND_OK if the message may be sent. */
static CuvSend
check_suspect (Mqtt *self, const CuvMessage *message, GError **error)
{
  if (self->losses >= SUSPICIOUS && g_hash_table_size (self->numbers) > 0)
    return CUV_SEND_LATER;
  if (self->losses < 2 * SUSPICIOUS)
    return CUV_SEND_OK;
  self->losses = SUSPICIOUS; /* the next message is suspicious, too */
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
      "it closes the connection each time it receives one particular record "
      "(%" G_GSIZE_FORMAT
      " bytes): increase its maximum packet size, and check "
      "its log",
      message->size);
  return CUV_SEND_REFUSED;
}

static CuvSend
mqtt_send (CuvBroker *broker, guint64 number, const CuvMessage *message,
    GError **error)
{
  Mqtt *self = (Mqtt *) broker;
  CuvSend suspect = check_suspect (self, message, error);
  gint id, code;

  if (suspect != CUV_SEND_OK)
    return suspect;
  code = message->size > MQTT_MAX_PAYLOAD
      ? MOSQ_ERR_PAYLOAD_SIZE
      : mqtt_publish (self->client, &id, message->topic, (int) message->size,
          message->text, 1, (number & CUV_RETAINED_NUMBER) != 0);

  switch (code) {
    case MOSQ_ERR_SUCCESS:
      g_hash_table_insert (self->numbers, GINT_TO_POINTER (id),
          g_memdup2 (&number, sizeof number));
      return CUV_SEND_OK;
    case MOSQ_ERR_INVAL:
    case MOSQ_ERR_PAYLOAD_SIZE:
    case MOSQ_ERR_OVERSIZE_PACKET:
    case MOSQ_ERR_MALFORMED_UTF8:
      mqtt_fail (self, code, error);
      return CUV_SEND_REFUSED;
    default:
      self->losses++;
      mqtt_fail (self, code, error);
      return CUV_SEND_LOST;
  }
}

/* Reads before it writes: the library continues a TLS handshake when it
 * reads. */
static gint
serve_socket (Mqtt *self, int wake_fd, gint milliseconds)
{
  struct pollfd ready[2] = { { mqtt_socket (self->client), POLLIN, 0 },
    { wake_fd, POLLIN, 0 } };
  gint code = MOSQ_ERR_SUCCESS;

  if (mqtt_want_write (self->client))
    ready[0].events |= POLLOUT;
  if (poll (ready, 2, milliseconds) < 0 && errno != EINTR)
    return MOSQ_ERR_ERRNO;
  if (ready[0].revents != 0)
    code = mqtt_loop_read (self->client, 1);
  if (code == MOSQ_ERR_SUCCESS && mqtt_want_write (self->client))
    code = mqtt_loop_write (self->client, 1);
  return code == MOSQ_ERR_SUCCESS ? mqtt_loop_misc (self->client) : code;
}

static gboolean
mqtt_run (CuvBroker *broker, int wake_fd, gint milliseconds, GError **error)
{
  Mqtt *self = (Mqtt *) broker;
  gint code = serve_socket (self, wake_fd, milliseconds);

  if (code != MOSQ_ERR_SUCCESS && code != MOSQ_ERR_KEEPALIVE
      && g_hash_table_size (self->numbers) > 0)
    self->losses++;
  return (code == MOSQ_ERR_SUCCESS && self->problem == NULL)
      || mqtt_fail (self, code, error);
}

/* Reads until the broker has closed the connection. */
static void
drain (int fd, gint64 end)
{
  struct pollfd ready = { fd, POLLIN, 0 };
  gchar bytes[4096];

  shutdown (fd, SHUT_WR);
  while (g_get_monotonic_time () < end) {
    if (poll (&ready, 1, GOODBYE_MS / 10) > 0
        && recv (fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0)
      return;
  }
}

/* Disconnects, even if the broker has not answered yet: it may already have our
 * last will. The library closes its socket as soon as DISCONNECT is written. If
 * unread data is left then, TCP resets the connection and the broker may miss
 * DISCONNECT, so a duplicate of the socket keeps the connection open. */
static void
say_goodbye (Mqtt *self)
{
  gint64 end = g_get_monotonic_time () + GOODBYE_MS * G_TIME_SPAN_MILLISECOND;
  int fd = fcntl (mqtt_socket (self->client), F_DUPFD_CLOEXEC, 0);

  mqtt_connect_v5_callback_set (self->client, NULL);
  if (self->connected && self->config.status_topic != NULL)
    mqtt_publish (self->client, NULL, self->config.status_topic,
        (int) strlen (STOPPED), STOPPED, 1, true);
  mqtt_disconnect (self->client);
  while (mqtt_want_write (self->client) && g_get_monotonic_time () < end
      && serve_socket (self, -1, GOODBYE_MS / 10) == MOSQ_ERR_SUCCESS) {
  }
  if (fd < 0)
    return;
  drain (fd, end);
  close (fd);
}

static void
mqtt_close (CuvBroker *broker, gboolean orderly)
{
  Mqtt *self = (Mqtt *) broker;

  if (self->client == NULL)
    return;
  if (orderly)
    say_goodbye (self);
  mqtt_destroy (self->client);
  self->client = NULL;
  self->connected = FALSE;
  g_hash_table_remove_all (self->numbers);
}

static void
mqtt_free (CuvBroker *broker)
{
  Mqtt *self = (Mqtt *) broker;

  g_hash_table_unref (self->numbers);
  g_free (self->broker.name);
  g_free (self->host);
  cuv_broker_config_clear (&self->config);
  g_free (self->problem);
  g_free (self->log_problem);
  g_free (self);
}

/* ---- configuration ---- */

static gboolean
mqtt_parse_address (Mqtt *self, GError **error)
{
  GSocketConnectable *address = g_network_address_parse (self->config.address,
      self->config.tls == CUV_TLS_NONE ? PORT : TLS_PORT, error);

  if (address == NULL)
    return FALSE;
  self->host =
      g_strdup (g_network_address_get_hostname (G_NETWORK_ADDRESS (address)));
  self->port = g_network_address_get_port (G_NETWORK_ADDRESS (address));
  g_object_unref (address);
  return TRUE;
}

/* Before libmosquitto 2.1 an unknown property in a packet of MQTT 5 fails an
 * assertion. Packets of MQTT 3.1.1 have no properties. */
static gint
choose_protocol (CuvMqttVersion version)
{
  int major, minor, revision;

  mqtt_lib_version (&major, &minor, &revision);
  if (version == CUV_MQTT_5
      || (version == CUV_MQTT_AUTO
          && (major > 2 || (major == 2 && minor >= 1))))
    return MQTT_PROTOCOL_V5;
  return MQTT_PROTOCOL_V311;
}

CuvBroker *
cuv_broker_mqtt_new (CuvBrokerConfig *config, GError **error)
{
  static const CuvBrokerClass klass = { WINDOW, mqtt_open, mqtt_send, mqtt_run,
    mqtt_close, mqtt_free };
  Mqtt *self;

  if (!mqtt_open_library (error))
    return NULL;
  self = g_new0 (Mqtt, 1);
  self->broker.klass = &klass;
  self->numbers = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->config = *config;
  *config = (CuvBrokerConfig){ 0 };
  self->protocol = choose_protocol (self->config.mqtt_version);
  if (!mqtt_parse_address (self, error)) {
    mqtt_free (&self->broker);
    return NULL;
  }
  self->broker.name = g_strdup_printf ("%s:%d", self->host, self->port);
  return &self->broker;
}
