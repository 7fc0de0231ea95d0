/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvtls.h"
#include "server/server-private.h"

#include <string.h>

/* Maximum number of connections of a server, viewers included. The usual limit
 * of a process is 1024 files. */

static GMutex registry_lock;
static GPtrArray *registry; /* servers that are open; NULL: none yet */

/* ---- calls in the server's thread ---- */

typedef struct {
  void (*call) (gpointer data);
  gpointer data;
  GMutex lock;
  GCond cond;
  gboolean done;
} Call;

static gboolean
do_call (gpointer data)
{
  Call *self = data;

  self->call (self->data);
  g_mutex_lock (&self->lock);
  self->done = TRUE;
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->lock);
  return G_SOURCE_REMOVE;
}

/* Uses an idle source: if the server's thread has not started yet,
 * g_main_context_invoke() would call the function in this one. */
void
cuv_web_server_call (
    CuvWebServer *self, void (*call) (gpointer data), gpointer data)
{
  Call state = { .call = call, .data = data };
  GSource *source = g_idle_source_new ();

  g_mutex_init (&state.lock);
  g_cond_init (&state.cond);
  g_source_set_priority (source, G_PRIORITY_HIGH);
  g_source_set_callback (source, do_call, &state, NULL);
  g_source_attach (source, self->context);
  g_source_unref (source);
  g_mutex_lock (&state.lock);
  while (!state.done)
    g_cond_wait (&state.cond, &state.lock);
  g_mutex_unlock (&state.lock);
  g_cond_clear (&state.cond);
  g_mutex_clear (&state.lock);
}

/* ---- the thread ---- */

static gboolean
server_on_tick (gpointer data)
{
  CuvWebServer *self = data;
  gint64 now = g_get_monotonic_time ();

  for (guint i = 0; i < self->streams->len; i++) {
    CuvWebStream *stream = self->streams->pdata[i];

    for (guint v = stream->viewers->len; v > 0; v--)
      cuv_viewer_tick (stream->viewers->pdata[v - 1], now);
    for (guint r = stream->remotes->len; r > 0; r--)
      cuv_remote_tick (stream->remotes->pdata[r - 1], now);
  }
  return G_SOURCE_CONTINUE;
}

static void
open_http (CuvWebServer *self)
{
  self->streams = g_ptr_array_new ();
  self->http = cuv_http_new (self->listener,
      &(CuvHttpConfig){ .max_connections = CUV_WEB_MAX_CONNECTIONS,
          .timeout = self->timeout,
          .certificate = self->certificate,
          .check = cuv_web_check,
          .data = self });
  soup_server_add_handler (
      cuv_http_soup (self->http), "/", cuv_web_handle, self, NULL);
  self->tick = g_timeout_source_new_seconds (1);
  g_source_set_callback (self->tick, server_on_tick, self, NULL);
  g_source_attach (self->tick, self->context);
}

static void
close_http (CuvWebServer *self)
{
  g_source_destroy (self->tick);
  g_source_unref (self->tick);
  cuv_http_close (self->http);
  cuv_http_free (self->http);
  g_ptr_array_unref (self->streams);
}

static gpointer
server_run (gpointer data)
{
  CuvWebServer *self = data;

  g_main_context_push_thread_default (self->context);
  open_http (self);
  g_main_loop_run (self->loop);
  close_http (self);
  g_main_context_pop_thread_default (self->context);
  return NULL;
}

static void
quit (gpointer data)
{
  g_main_loop_quit (((CuvWebServer *) data)->loop);
}

/* ---- opening ---- */

static gboolean
load_certificate (
    CuvWebServer *self, const CuvWebConfig *config, GError **error)
{
  if (config->certificate == NULL)
    return TRUE;
  self->certificate =
      cuv_tls_load_certificate (config->certificate, config->key, error);
  if (self->certificate == NULL)
    g_prefix_error (error, "tls-certificate-file and tls-key-file: ");
  return self->certificate != NULL;
}

static gboolean
listen_at (CuvWebServer *self, GError **error)
{
  self->listener = cuv_http_listen (self->address, self->port, error);
  if (self->listener == NULL)
    return FALSE;
  self->port = cuv_http_port (self->listener);
  self->url = cuv_http_url (self->listener, self->certificate != NULL);
  return TRUE;
}

static gchar **
split_hosts (const gchar *text)
{
  gchar *lower = g_ascii_strdown (text, -1);
  gchar **hosts = g_strsplit (lower, ",", -1);

  for (guint i = 0; hosts[i] != NULL; i++)
    g_strstrip (hosts[i]);
  g_free (lower);
  return hosts;
}

static void
server_free (CuvWebServer *self)
{
  g_clear_object (&self->listener);
  g_clear_object (&self->certificate);
  g_clear_pointer (&self->loop, g_main_loop_unref);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_object_unref (self->address);
  g_strfreev (self->allowed_hosts);
  g_free (self->allowed_hosts_text);
  g_free (self->certificate_path);
  g_free (self->key_path);
  g_free (self->token_digest);
  g_free (self->read_token_digest);
  g_free (self->url);
  g_free (self);
}

static CuvWebServer *
server_new (const CuvWebConfig *config, GError **error)
{
  CuvWebServer *self = g_new0 (CuvWebServer, 1);

  self->address = g_object_ref (config->address);
  self->port = config->port;
  self->timeout = config->timeout;
  self->token_digest = cuv_web_digest (config->token);
  self->read_token_digest = cuv_web_digest (config->read_token);
  self->certificate_path = g_strdup (config->certificate);
  self->key_path = g_strdup (config->key);
  self->allowed_hosts_text = g_strdup (config->allowed_hosts);
  if (config->allowed_hosts != NULL)
    self->allowed_hosts = split_hosts (config->allowed_hosts);
  if (!load_certificate (self, config, error) || !listen_at (self, error)) {
    server_free (self);
    return NULL;
  }
  self->context = g_main_context_new ();
  self->loop = g_main_loop_new (self->context, FALSE);
  self->thread = g_thread_new ("visionwebsink", server_run, self);
  return self;
}

/* ---- sharing a server ---- */

static gboolean
is_digest_of (const gchar *digest, GBytes *token)
{
  gchar *own = cuv_web_digest (token);
  const gboolean same = g_strcmp0 (own, digest) == 0;

  g_free (own);
  return same;
}

/* Returns the first property in which a config differs from that of the server,
 * or NULL. */
static const gchar *
difference (const CuvWebServer *self, const CuvWebConfig *config)
{
  if (!is_digest_of (self->token_digest, config->token))
    return "the token";
  if (!is_digest_of (self->read_token_digest, config->read_token))
    return "the token of read-token-file";
  if (g_strcmp0 (config->certificate, self->certificate_path) != 0)
    return "tls-certificate-file";
  if (g_strcmp0 (config->key, self->key_path) != 0)
    return "tls-key-file";
  if (g_strcmp0 (config->allowed_hosts, self->allowed_hosts_text) != 0)
    return "allowed-hosts";
  return config->timeout != self->timeout ? "timeout" : NULL;
}

static CuvWebServer *
find_server (const CuvWebConfig *config)
{
  for (guint i = 0; config->port != 0 && i < registry->len; i++) {
    CuvWebServer *server = registry->pdata[i];

    if (server->port == config->port
        && g_inet_address_equal (server->address, config->address))
      return server;
  }
  return NULL;
}

static CuvWebServer *
join_or_new (const CuvWebConfig *config, GError **error)
{
  CuvWebServer *server = find_server (config);
  const gchar *other = server != NULL ? difference (server, config) : NULL;

  if (other != NULL) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS,
        "another visionwebsink of this process serves %s with another value of "
        "%s: give both the same value, or choose another port",
        server->url, other);
    return NULL;
  }
  if (server == NULL) {
    server = server_new (config, error);
    if (server != NULL)
      g_ptr_array_add (registry, server);
  }
  if (server != NULL)
    server->users++;
  return server;
}

CuvWebServer *
cuv_web_server_open (const CuvWebConfig *config, GError **error)
{
  CuvWebServer *server;

  g_mutex_lock (&registry_lock);
  if (registry == NULL)
    registry = g_ptr_array_new ();
  server = join_or_new (config, error);
  g_mutex_unlock (&registry_lock);
  return server;
}

/* Keeps the lock until the port is free for the next cuv_web_server_open(). */
void
cuv_web_server_close (CuvWebServer *self)
{
  g_mutex_lock (&registry_lock);
  if (--self->users == 0) {
    g_ptr_array_remove (registry, self);
    cuv_web_server_call (self, quit, self);
    g_thread_join (self->thread);
    server_free (self);
  }
  if (registry->len == 0)
    g_clear_pointer (&registry, g_ptr_array_unref);
  g_mutex_unlock (&registry_lock);
}

const gchar *
cuv_web_server_url (const CuvWebServer *self)
{
  return self->url;
}
