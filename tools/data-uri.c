/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PNG pictures as data URIs. */
#include "data-uri.h"

static cairo_status_t
append_bytes (void *data, const unsigned char *bytes, unsigned int n)
{
  g_byte_array_append (data, bytes, n);
  return CAIRO_STATUS_SUCCESS;
}

gchar *
png_data_uri (cairo_surface_t *surface)
{
  GByteArray *png = g_byte_array_new ();
  gchar *uri = NULL;

  if (cairo_surface_write_to_png_stream (surface, append_bytes, png)
      == CAIRO_STATUS_SUCCESS) {
    gchar *text = g_base64_encode (png->data, png->len);

    uri = g_strconcat ("data:image/png;base64,", text, NULL);
    g_free (text);
  }
  g_byte_array_unref (png);
  return uri;
}
