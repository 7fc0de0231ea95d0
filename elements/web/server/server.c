/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "server/server-private.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include "cuvfile.h"

#define BACKLOG 64
/* How long closing waits for libsoup to drop its connections. */
#define CLOSE_MS 1000
#define MAX_ITERATIONS 10000

static GMutex registry_lock;
static GPtrArray *registry; /* servers that are open; NULL: none yet */

/* ---- calls ---- */

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

/* With an idle source, which the thread runs also if it has not begun yet:
 * g_main_context_invoke() would then run it here. */
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
on_tick (gpointer data)
{
  CuvWebServer *self = data;
  gint64 now = g_get_monotonic_time ();

  cuv_connections_tick (self);
  for (guint i = 0; i < self->streams->len; i++) {
    CuvWebStream *stream = self->streams->pdata[i];

    for (guint v = stream->viewers->len; v > 0; v--)
      cuv_viewer_tick (stream->viewers->pdata[v - 1], now);
  }
  return G_SOURCE_CONTINUE;
}

static gboolean
on_close_timeout (gpointer data)
{
  *(gboolean *) data = TRUE;
  return G_SOURCE_REMOVE;
}

/* Whatever is ready; a source that always is does not keep us. */
static void
iterate (CuvWebServer *self)
{
  for (guint i = 0;
       i < MAX_ITERATIONS && g_main_context_iteration (self->context, FALSE);
       i++)
    ;
}

/* libsoup has to see the end of each connection. */
static void
drain (CuvWebServer *self)
{
  GSource *timeout = g_timeout_source_new (CLOSE_MS);
  gboolean expired = FALSE;

  g_source_set_callback (timeout, on_close_timeout, &expired, NULL);
  g_source_attach (timeout, self->context);
  while (self->connections->len > 0 && !expired)
    g_main_context_iteration (self->context, TRUE);
  iterate (self);
  g_source_destroy (timeout);
  g_source_unref (timeout);
}

static void
open_soup (CuvWebServer *self)
{
  self->soup = soup_server_new ("server-header", "gst-cuvision", NULL);
  self->streams = g_ptr_array_new ();
  cuv_requests_open (self);
  cuv_connections_open (self);
  self->tick = g_timeout_source_new_seconds (1);
  g_source_set_callback (self->tick, on_tick, self, NULL);
  g_source_attach (self->tick, self->context);
}

static void
close_soup (CuvWebServer *self)
{
  g_source_destroy (self->tick);
  g_source_unref (self->tick);
  cuv_connections_close (self);
  drain (self);
  soup_server_disconnect (self->soup);
  g_object_unref (self->soup);
  iterate (self);
  g_ptr_array_unref (self->connections);
  g_ptr_array_unref (self->streams);
}

static gpointer
run (gpointer data)
{
  CuvWebServer *self = data;

  g_main_context_push_thread_default (self->context);
  open_soup (self);
  g_main_loop_run (self->loop);
  close_soup (self);
  g_main_context_pop_thread_default (self->context);
  return NULL;
}

static void
quit (gpointer data)
{
  g_main_loop_quit (((CuvWebServer *) data)->loop);
}

/* ---- opening ---- */

/* A key after its certificate, if it has a file of its own. */
static GTlsCertificate *
read_certificate (const CuvWebConfig *config, GError **error)
{
  GTlsCertificate *certificate = NULL;
  gchar *pem = NULL, *key = NULL, *both;

  if (cuv_file_read (config->certificate, CUV_FILE_MAX_TEXT, &pem, NULL, error)
      && (config->key == NULL
          || cuv_file_read (
              config->key, CUV_FILE_MAX_TEXT, &key, NULL, error))) {
    both = g_strconcat (pem, "\n", key, NULL);
    certificate = g_tls_certificate_new_from_pem (both, -1, error);
    g_free (both);
  }
  g_free (key);
  g_free (pem);
  return certificate;
}

static gboolean
load_certificate (
    CuvWebServer *self, const CuvWebConfig *config, GError **error)
{
  if (config->certificate == NULL)
    return TRUE;
  if (!g_tls_backend_supports_tls (g_tls_backend_get_default ())) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
        "GLib has no TLS here: install glib-networking, or do without "
        "tls-certificate-file");
    return FALSE;
  }
  self->certificate = read_certificate (config, error);
  if (self->certificate == NULL)
    g_prefix_error (error,
        "tls-certificate-file and tls-key-file have to be readable PEM files "
        "of one "
        "certificate and its key: ");
  return self->certificate != NULL;
}

static const gchar *
listen_cure (const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE))
    return "set port to another one (0: any free one), or end the program that "
           "has it";
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED))
    return "set port to 1024 or more";
  return "set address to one that this machine has (127.0.0.1, 0.0.0.0: all)";
}

static gboolean
listen_at (CuvWebServer *self, GError **error)
{
  GSocketAddress *address =
      g_inet_socket_address_new (self->address, (guint16) self->port);
  GSocketAddress *bound = NULL;
  GError *problem = NULL;

  self->listener = g_socket_new (g_inet_address_get_family (self->address),
      G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, &problem);
  if (self->listener != NULL) {
    g_socket_set_blocking (self->listener, FALSE);
    g_socket_set_listen_backlog (self->listener, BACKLOG);
    if (g_socket_bind (self->listener, address, TRUE, &problem)
        && g_socket_listen (self->listener, &problem))
      bound = g_socket_get_local_address (self->listener, &problem);
  }
  g_object_unref (address);
  if (bound == NULL) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s",
        problem->message, listen_cure (problem));
    g_error_free (problem);
    return FALSE;
  }
  self->port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound));
  g_object_unref (bound);
  return TRUE;
}

/* One that other machines reach, of the family; NULL: there is none. */
static GInetAddress *
find_address (GSocketFamily family)
{
  GInetAddress *found = NULL;
  struct ifaddrs *all;

  if (getifaddrs (&all) != 0)
    return NULL;
  for (const struct ifaddrs *i = all; i != NULL && found == NULL;
       i = i->ifa_next) {
    if (i->ifa_addr == NULL || (int) i->ifa_addr->sa_family != (int) family)
      continue;
    found = g_inet_address_new_from_bytes (family == G_SOCKET_FAMILY_IPV4
            ? (const guint8 *) &((struct sockaddr_in *) i->ifa_addr)->sin_addr
            : (const guint8 *) &((struct sockaddr_in6 *) i->ifa_addr)
                  ->sin6_addr,
        family);
    if (g_inet_address_get_is_loopback (found)
        || g_inet_address_get_is_link_local (found))
      g_clear_object (&found);
  }
  freeifaddrs (all);
  return found;
}

/* "0.0.0.0" is of no use on another machine. */
static gchar *
url_host (GInetAddress *address)
{
  const GSocketFamily family = g_inet_address_get_family (address);
  GInetAddress *found = NULL;
  gchar *host;

  if (!g_inet_address_get_is_any (address))
    return g_inet_address_to_string (address);
  found = find_address (family);
  if (found == NULL)
    found = g_inet_address_new_loopback (family);
  host = g_inet_address_to_string (found);
  g_object_unref (found);
  return host;
}

static gchar *
make_url (const CuvWebServer *self)
{
  gchar *host = url_host (self->address);
  gchar *url = g_strdup_printf (
      strchr (host, ':') != NULL ? "%s://[%s]:%u" : "%s://%s:%u",
      self->certificate != NULL ? "https" : "http", host, self->port);

  g_free (host);
  return url;
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
  self->certificate_path = g_strdup (config->certificate);
  self->key_path = g_strdup (config->key);
  self->allowed_hosts_text = g_strdup (config->allowed_hosts);
  if (config->allowed_hosts != NULL)
    self->allowed_hosts = split_hosts (config->allowed_hosts);
  if (!load_certificate (self, config, error) || !listen_at (self, error)) {
    server_free (self);
    return NULL;
  }
  self->url = make_url (self);
  self->context = g_main_context_new ();
  self->loop = g_main_loop_new (self->context, FALSE);
  self->thread = g_thread_new ("visionwebsink", run, self);
  return self;
}

/* ---- sharing ---- */

/* The property in which a config differs from that of the server, or NULL. */
static const gchar *
difference (const CuvWebServer *self, const CuvWebConfig *config)
{
  gchar *digest = cuv_web_digest (config->token);
  gboolean same_token = g_strcmp0 (digest, self->token_digest) == 0;

  g_free (digest);
  if (!same_token)
    return "the token";
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
        "another visionwebsink of this process has %s with another value of "
        "%s: set both alike, or choose another port",
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

/* Locked to its end: whoever opens the same port next finds it free. */
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
