/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "watch.h"

GstElement *
web_sink_new (const gchar *settings)
{
  GstElement *element = gst_element_factory_make ("visionwebsink", NULL);

  fail_unless (element != NULL);
  g_object_set (element, "port", 0, "async", FALSE, NULL);
  if (settings != NULL)
    cuv_element_set (element, settings);
  return element;
}

static guint
port_of (GstElement *element)
{
  g_autofree gchar *url = NULL;
  guint port;

  g_object_get (element, "url", &url, NULL);
  fail_unless (url != NULL && g_str_has_prefix (url, "http://127.0.0.1:"));
  port = (guint) atoi (url + strlen ("http://127.0.0.1:"));
  return port;
}

GSocketConnection *
web_request (GstElement *element, const gchar *path)
{
  GSocketClient *client = g_socket_client_new ();
  GSocketConnection *viewer = g_socket_client_connect_to_host (
      client, "127.0.0.1", (guint16) port_of (element), NULL, NULL);
  g_autofree gchar *request =
      g_strdup_printf ("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
  GOutputStream *stream;

  fail_unless (viewer != NULL);
  stream = g_io_stream_get_output_stream (G_IO_STREAM (viewer));
  fail_unless (g_output_stream_write_all (
      stream, request, strlen (request), NULL, NULL, NULL));
  g_object_unref (client);
  return viewer;
}

GSocketConnection *
web_watch (GstElement *element, const gchar *path)
{
  const guint before = cuv_stat_uint (element, "viewers");
  GSocketConnection *viewer = web_request (element, path);

  while (cuv_stat_uint (element, "viewers") == before)
    g_usleep (1000);
  return viewer;
}

void
web_read_until (GSocketConnection *viewer, const gchar *text)
{
  GInputStream *stream = g_io_stream_get_input_stream (G_IO_STREAM (viewer));
  GString *all = g_string_new (NULL);
  gchar buffer[4096];

  while (strstr (all->str, text) == NULL) {
    gssize n =
        g_input_stream_read (stream, buffer, sizeof buffer - 1, NULL, NULL);

    fail_unless (n > 0, "no '%s' in '%s'", text, all->str);
    g_string_append_len (all, buffer, n);
  }
  g_string_free (all, TRUE);
}

GBytes *
web_read_body (GSocketConnection *viewer)
{
  GInputStream *stream = g_io_stream_get_input_stream (G_IO_STREAM (viewer));
  GByteArray *all = g_byte_array_new ();
  guint8 buffer[4096];
  gssize n;
  gchar *end;

  while (
      (n = g_input_stream_read (stream, buffer, sizeof buffer, NULL, NULL)) > 0)
    g_byte_array_append (all, buffer, (guint) n);
  end = g_strstr_len ((gchar *) all->data, all->len, "\r\n\r\n");
  fail_unless (end != NULL);
  g_byte_array_remove_range (all, 0, (guint) ((guint8 *) end + 4 - all->data));
  return g_byte_array_free_to_bytes (all);
}
