/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "connection.h"

#include <gio/gio.h>
#include <string.h>

#include "farm-util.h"

#define CONNECT_MS 3000
#define RECONNECT_MS 250
/* A connection whose server does not answer two pings is lost. */
#define PING_MS 1000
#define MAX_PINGS 2
/* Timeout of requests to JetStream. */
#define REQUEST_MS 2000

/* Skips the location in the library's source, such as "(conn.c:733): ". */
static const gchar *
skip_place (const gchar *text)
{
  const gchar *end = *text == '(' ? strstr (text, "): ") : NULL;

  return end != NULL ? end + strlen ("): ") : text;
}

void
connection_set_error (
    GError **error, natsStatus status, jsErrCode code, const gchar *what)
{
  natsStatus last = NATS_OK;
  const gchar *detail = nats_GetLastError (&last);
  gchar *text = farm_redact (detail != NULL && *detail != '\0' && last == status
          ? skip_place (detail)
          : natsStatus_GetText (status));
  const gchar *hint = "";

  if (status == NATS_NO_RESPONDERS || code == JSNotEnabledForAccountErr)
    hint = " (is JetStream enabled? start the server with -js)";
  else if (status == NATS_CONNECTION_AUTH_FAILED)
    hint = " (check user, password, token or credentials-file of [nats])";
  else if (status == NATS_SSL_ERROR)
    hint = " (check tls and tls-ca-file of [nats])";
  else if (status == NATS_NO_SERVER)
    hint = " (check servers of [nats], and that a server runs there)";
  g_set_error (error, G_IO_ERROR,
      status == NATS_TIMEOUT ? G_IO_ERROR_TIMED_OUT : G_IO_ERROR_FAILED,
      "%s: %s%s", what, text, hint);
  g_free (text);
}

static void
connection_on_lost (natsConnection *nats, void *data)
{
  const ConnectionEvents *events = data;

  events->lost (events->data);
}

static void
connection_on_back (natsConnection *nats, void *data)
{
  const ConnectionEvents *events = data;

  events->back (events->data);
}

/* Replaces the library's own handler, which prints to stderr. */
static void
connection_on_error (
    natsConnection *nats, natsSubscription *sub, natsStatus status, void *data)
{
}

static natsStatus
set_secrets (natsOptions *options, const NatsConfig *config)
{
  natsStatus status = NATS_OK;

  if (config->user != NULL)
    status = natsOptions_SetUserInfo (options, config->user, config->password);
  if (status == NATS_OK && config->token != NULL)
    status = natsOptions_SetToken (options, config->token);
  if (status == NATS_OK && config->credentials != NULL)
    status = natsOptions_SetUserCredentialsFromFiles (
        options, config->credentials, NULL);
  return status;
}

static natsStatus
set_tls (natsOptions *options, const NatsConfig *config)
{
  natsStatus status = NATS_OK;

  if (!config->tls)
    return NATS_OK;
  status = natsOptions_SetSecure (options, true);
  if (status == NATS_OK && !config->tls_verify)
    status = natsOptions_SkipServerVerification (options, true);
  if (status == NATS_OK && config->tls_ca != NULL)
    status = natsOptions_LoadCATrustedCertificates (options, config->tls_ca);
  if (status == NATS_OK && config->tls_certificate != NULL)
    status = natsOptions_LoadCertificatesChain (
        options, config->tls_certificate, config->tls_key);
  return status;
}

static natsStatus
set_times (natsOptions *options)
{
  natsStatus status = natsOptions_SetTimeout (options, CONNECT_MS);

  if (status == NATS_OK)
    status = natsOptions_SetPingInterval (options, PING_MS);
  if (status == NATS_OK)
    status = natsOptions_SetMaxPingsOut (options, MAX_PINGS);
  if (status == NATS_OK)
    status = natsOptions_SetMaxReconnect (options, -1);
  if (status == NATS_OK)
    status = natsOptions_SetReconnectWait (options, RECONNECT_MS);
  if (status == NATS_OK)
    status = natsOptions_SetFailRequestsOnDisconnect (options, true);
  return status;
}

static natsStatus
set_events (natsOptions *options, const ConnectionEvents *events)
{
  natsStatus status =
      natsOptions_SetErrorHandler (options, connection_on_error, NULL);

  if (events == NULL || status != NATS_OK)
    return status;
  status = natsOptions_SetDisconnectedCB (
      options, connection_on_lost, (void *) events);
  return status == NATS_OK ? natsOptions_SetReconnectedCB (
             options, connection_on_back, (void *) events)
                           : status;
}

static natsOptions *
make_options (
    const FarmConfig *config, const ConnectionEvents *events, GError **error)
{
  const NatsConfig *nats = &config->nats;
  natsOptions *options = NULL;
  natsStatus status = natsOptions_Create (&options);

  if (status == NATS_OK)
    status = natsOptions_SetServers (options, (const char **) nats->servers,
        (int) g_strv_length (nats->servers));
  if (status == NATS_OK)
    status = natsOptions_SetName (options, config->name);
  if (status == NATS_OK)
    status = set_secrets (options, nats);
  if (status == NATS_OK)
    status = set_tls (options, nats);
  if (status == NATS_OK)
    status = set_times (options);
  if (status == NATS_OK)
    status = set_events (options, events);
  if (status == NATS_OK)
    return options;
  connection_set_error (error, status, 0, "[nats]");
  natsOptions_Destroy (options);
  return NULL;
}

Connection *
connection_new (
    const FarmConfig *config, const ConnectionEvents *events, GError **error)
{
  natsOptions *options = make_options (config, events, error);
  Connection *self;
  jsOptions js;
  natsStatus status;

  if (options == NULL)
    return NULL;
  self = g_new0 (Connection, 1);
  g_atomic_ref_count_init (&self->refs);
  status = natsConnection_Connect (&self->nats, options);
  natsOptions_Destroy (options);
  jsOptions_Init (&js);
  js.Wait = REQUEST_MS;
  if (status == NATS_OK)
    status = natsConnection_JetStream (&self->js, self->nats, &js);
  if (status == NATS_OK)
    return self;
  connection_set_error (error, status, 0, "cannot connect to NATS");
  connection_unref (self);
  return NULL;
}

Connection *
connection_ref (Connection *self)
{
  g_atomic_ref_count_inc (&self->refs);
  return self;
}

void
connection_unref (Connection *self)
{
  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  jsCtx_Destroy (self->js);
  natsConnection_Destroy (self->nats);
  g_free (self);
}

gboolean
connection_is_up (Connection *self)
{
  return natsConnection_Status (self->nats) == NATS_CONN_STATUS_CONNECTED;
}
