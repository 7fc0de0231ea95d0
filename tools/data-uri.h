/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures embedded in HTML and JSON; cuvision-search and cuvision-train use
 * it. */
#ifndef DATA_URI_H
#define DATA_URI_H

#include <cairo.h>
#include <glib.h>

/* Returns the surface as the data URI of a PNG; g_free() it. Returns NULL if
 * out of memory, or if the surface is in an error state. */
gchar *png_data_uri (cairo_surface_t *surface);

#endif
