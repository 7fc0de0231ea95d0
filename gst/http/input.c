/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits what a connection may send: libsoup reads headers of 64 KB and more,
 * and headers with many small parts take up to 30 times as much memory. Bytes
 * are counted below TLS, so that its handshake is limited, too. */
#include "http/http-private.h"

#include <string.h>

/* ---- the input ---- */

#define CUV_TYPE_HTTP_INPUT (cuv_http_input_get_type ())
G_DECLARE_FINAL_TYPE (
    CuvHttpInput, cuv_http_input, CUV, HTTP_INPUT, GFilterInputStream)
struct _CuvHttpInput {
  GFilterInputStream parent;
  GSocket *socket; /* not a reference: the base stream has one */
  gboolean plain;
  gsize left; /* bytes */
};

static void cuv_http_input_pollable_init (GPollableInputStreamInterface *iface);
G_DEFINE_FINAL_TYPE_WITH_CODE (CuvHttpInput, cuv_http_input,
    G_TYPE_FILTER_INPUT_STREAM,
    G_IMPLEMENT_INTERFACE (
        G_TYPE_POLLABLE_INPUT_STREAM, cuv_http_input_pollable_init))

/* After a read error libsoup would close the connection without a response. */
static void
respond_too_large (CuvHttpInput *self)
{
  static const gchar text[] =
      "HTTP/1.1 431 Request Header Fields Too Large\r\n"
      "Connection: close\r\nContent-Type: text/plain\r\n\r\n"
      "the headers have more than " G_STRINGIFY (
          CUV_HTTP_MAX_INPUT) " bytes: delete the cookies of this address\n";

  if (self->plain)
    g_socket_send_with_blocking (
        self->socket, text, strlen (text), FALSE, NULL, NULL);
}

static gssize
cuv_http_input_read (GInputStream *stream, void *buffer, gsize count,
    GCancellable *cancellable, GError **error)
{
  CuvHttpInput *self = CUV_HTTP_INPUT (stream);
  gssize n;

  if (self->left == 0) {
    respond_too_large (self);
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
        "the request is too large");
    return -1;
  }
  n = g_input_stream_read (G_FILTER_INPUT_STREAM (self)->base_stream, buffer,
      MIN (count, self->left), cancellable, error);
  if (n > 0 && self->left != G_MAXSIZE)
    self->left -= (gsize) n;
  return n;
}

static GPollableInputStream *
base_of (GPollableInputStream *stream)
{
  return G_POLLABLE_INPUT_STREAM (G_FILTER_INPUT_STREAM (stream)->base_stream);
}

static gboolean
cuv_http_input_is_readable (GPollableInputStream *stream)
{
  return g_pollable_input_stream_is_readable (base_of (stream));
}

static GSource *
cuv_http_input_create_source (
    GPollableInputStream *stream, GCancellable *cancellable)
{
  GSource *base =
      g_pollable_input_stream_create_source (base_of (stream), cancellable);
  GSource *source = g_pollable_source_new_full (stream, base, NULL);

  g_source_unref (base);
  return source;
}

/* The interface's default read_nonblocking() calls is_readable(), then reads.
 */
static void
cuv_http_input_pollable_init (GPollableInputStreamInterface *iface)
{
  iface->is_readable = cuv_http_input_is_readable;
  iface->create_source = cuv_http_input_create_source;
}

static void
cuv_http_input_class_init (CuvHttpInputClass *klass)
{
  G_INPUT_STREAM_CLASS (klass)->read_fn = cuv_http_input_read;
}

static void
cuv_http_input_init (CuvHttpInput *self)
{
  self->left = CUV_HTTP_MAX_INPUT;
}

void
cuv_http_input_unlimit (CuvHttpInput *self)
{
  self->left = G_MAXSIZE;
}

/* ---- the connection with this input ---- */

#define CUV_TYPE_HTTP_STREAM (cuv_http_stream_get_type ())
G_DECLARE_FINAL_TYPE (
    CuvHttpStream, cuv_http_stream, CUV, HTTP_STREAM, GTcpConnection)
struct _CuvHttpStream {
  GTcpConnection parent;
  CuvHttpInput *input;
};
G_DEFINE_FINAL_TYPE (CuvHttpStream, cuv_http_stream, G_TYPE_TCP_CONNECTION)

static GInputStream *
cuv_http_stream_get_input_stream (GIOStream *stream)
{
  return G_INPUT_STREAM (CUV_HTTP_STREAM (stream)->input);
}

static void
cuv_http_stream_finalize (GObject *object)
{
  g_object_unref (CUV_HTTP_STREAM (object)->input);
  G_OBJECT_CLASS (cuv_http_stream_parent_class)->finalize (object);
}

static void
cuv_http_stream_class_init (CuvHttpStreamClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = cuv_http_stream_finalize;
  G_IO_STREAM_CLASS (klass)->get_input_stream =
      cuv_http_stream_get_input_stream;
}

static void
cuv_http_stream_init (CuvHttpStream *self)
{
}

GSocketConnection *
cuv_http_stream_new (GSocket *socket, gboolean plain, CuvHttpInput **input)
{
  CuvHttpStream *self =
      g_object_new (CUV_TYPE_HTTP_STREAM, "socket", socket, NULL);
  GInputStream *base = G_IO_STREAM_CLASS (cuv_http_stream_parent_class)
                           ->get_input_stream (G_IO_STREAM (self));

  self->input = g_object_new (CUV_TYPE_HTTP_INPUT, "base-stream", base,
      "close-base-stream", FALSE, NULL);
  self->input->socket = socket;
  self->input->plain = plain;
  *input = g_object_ref (self->input);
  return G_SOCKET_CONNECTION (self);
}
