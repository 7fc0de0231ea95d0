/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Colours as properties: 0xAARRGGBB, from numbers and text. */
#ifndef GST_CUV_COLOR_H
#define GST_CUV_COLOR_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* A guint property type that can also be parsed from text, as in gst-launch-1.0
 * pipelines. */
#define GST_TYPE_CUV_COLOR (gst_cuv_color_get_type ())
GType gst_cuv_color_get_type (void);

/* Converts a string or an integer; FALSE if it is not a colour. */
gboolean gst_cuv_color_from_value (const GValue *value, guint *argb);

/* The strings that gst_cuv_color_from_value() accepts, for messages. */
#define GST_CUV_COLOR_FORMS                                                    \
  "a name such as red, \"#rgb\", \"#rrggbb\", \"#aarrggbb\" or 0xaarrggbb"

/* Returns the colour with an alpha of 255 if its alpha is 0: a colour written
 * without alpha must be visible; the property opacity makes things
 * transparent. */
guint gst_cuv_color_opaque_if_none (guint argb);

G_END_DECLS

#endif
