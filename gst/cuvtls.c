/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuvtls.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include "cuvfile.h"

typedef struct {
  GCancellable *cancellable;
  guint n_left; /* ends whose handshake has not finished */
  GError *error;
} Handshake;

/* Removes the full stop of GnuTLS: elements end their sentences themselves. */
static const gchar *
without_dot (gchar *text)
{
  if (g_str_has_suffix (text, "."))
    text[strlen (text) - 1] = '\0';
  return text;
}

static void
on_handshake_done (GObject *end, GAsyncResult *result, gpointer data)
{
  Handshake *self = data;
  GError *error = NULL;

  self->n_left--;
  if (g_tls_connection_handshake_finish (
          G_TLS_CONNECTION (end), result, &error))
    return;
  if (self->error == NULL)
    g_set_error_literal (
        &self->error, error->domain, error->code, without_dot (error->message));
  g_error_free (error);
  g_cancellable_cancel (self->cancellable);
}

static gboolean
accept_any (GTlsConnection *client, GTlsCertificate *certificate,
    GTlsCertificateFlags problems, gpointer data)
{
  return TRUE;
}

/* Takes ownership of fd. */
static GIOStream *
wrap (int fd, GError **error)
{
  GSocket *socket = g_socket_new_from_fd (fd, error);
  GSocketConnection *stream;

  if (socket == NULL) {
    g_close (fd, NULL);
    return NULL;
  }
  stream = g_socket_connection_factory_create_connection (socket);
  g_object_unref (socket);
  return G_IO_STREAM (stream);
}

static void
handshake_begin (Handshake *self, GIOStream *tls)
{
  if (tls == NULL)
    return;
  self->n_left++;
  g_tls_connection_handshake_async (G_TLS_CONNECTION (tls), G_PRIORITY_DEFAULT,
      self->cancellable, on_handshake_done, self);
}

/* Performs a handshake between two connected streams. */
static void
handshake_run (
    Handshake *self, GIOStream *const ends[2], GTlsCertificate *certificate)
{
  GMainContext *context = g_main_context_new ();
  GIOStream *server, *client = NULL;

  g_main_context_push_thread_default (context);
  server = g_tls_server_connection_new (ends[0], certificate, &self->error);
  if (server != NULL)
    client = g_tls_client_connection_new (ends[1], NULL, &self->error);
  if (client != NULL) {
    g_signal_connect (
        client, "accept-certificate", G_CALLBACK (accept_any), NULL);
    handshake_begin (self, server);
    handshake_begin (self, client);
  }
  while (self->n_left > 0)
    g_main_context_iteration (context, TRUE);
  g_clear_object (&client);
  g_clear_object (&server);
  g_main_context_pop_thread_default (context);
  g_main_context_unref (context);
}

static gboolean
try_handshake (GTlsCertificate *certificate, GError **error)
{
  Handshake self = { .cancellable = g_cancellable_new () };
  GIOStream *ends[2] = { NULL, NULL };
  int fds[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0) {
    ends[0] = wrap (fds[0], &self.error);
    ends[1] = wrap (fds[1], self.error == NULL ? &self.error : NULL);
  } else {
    g_set_error (&self.error, G_IO_ERROR, g_io_error_from_errno (errno),
        "cannot try a TLS handshake: %s", g_strerror (errno));
  }
  if (self.error == NULL)
    handshake_run (&self, ends, certificate);
  g_clear_object (&ends[0]);
  g_clear_object (&ends[1]);
  g_object_unref (self.cancellable);
  if (self.error == NULL)
    return TRUE;
  g_set_error (error, self.error->domain, self.error->code,
      "%s: the key must belong to the certificate, and the certificate's "
      "keyUsage must allow digitalSignature",
      self.error->message);
  g_error_free (self.error);
  return FALSE;
}

/* Reads the certificate and, if it has a file of its own, the key. */
static GTlsCertificate *
read_certificate (const gchar *path, const gchar *key_path, GError **error)
{
  GTlsCertificate *certificate = NULL;
  gchar *pem = NULL, *key = NULL, *both;

  if (cuv_file_read (path, CUV_FILE_MAX_TEXT, &pem, NULL, error)
      && (key_path == NULL
          || cuv_file_read (key_path, CUV_FILE_MAX_TEXT, &key, NULL, error))) {
    both = g_strconcat (pem, "\n", key, NULL);
    certificate = g_tls_certificate_new_from_pem (both, -1, error);
    g_free (both);
  }
  g_free (key);
  g_free (pem);
  return certificate;
}

gboolean
cuv_tls_is_available (void)
{
  return g_tls_backend_supports_tls (g_tls_backend_get_default ());
}

GTlsCertificate *
cuv_tls_load_certificate (
    const gchar *certificate, const gchar *key, GError **error)
{
  const gchar *key_name = key != NULL ? key : certificate;
  GTlsCertificate *loaded;

  if (!cuv_tls_is_available ()) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
        "GLib does not support TLS here: install glib-networking, or set no "
        "certificate");
    return NULL;
  }
  loaded = read_certificate (certificate, key, error);
  if (loaded == NULL) {
    g_prefix_error (error,
        "'%s' and '%s' must be readable PEM files of a certificate and its "
        "key: ",
        certificate, key_name);
  } else if (!try_handshake (loaded, error)) {
    g_clear_object (&loaded);
    g_prefix_error (
        error, "'%s' and '%s' cannot be used for TLS: ", certificate, key_name);
  }
  return loaded;
}
