/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures within text. */
#ifndef DATA_URI_H
#define DATA_URI_H

#include <cairo.h>
#include <glib.h>

/* The surface as the data URI of a PNG file; free it. NULL if memory ran out,
 * or the surface is in error. */
gchar *png_data_uri (cairo_surface_t *surface);

#endif
