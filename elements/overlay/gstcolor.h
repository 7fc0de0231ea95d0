/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Colours, 0xAARRGGBB. */
#ifndef GST_CUV_COLOR_H
#define GST_CUV_COLOR_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* A guint that can also be given as a text, as in gst-launch-1.0 lines. */
#define GST_TYPE_CUV_COLOR (gst_cuv_color_get_type ())
GType gst_cuv_color_get_type (void);

/* Of a text or an integer; FALSE: it is none. */
gboolean gst_cuv_color_from_value (const GValue *value, guint *argb);

/* What gst_cuv_color_from_value() takes, for messages. */
#define GST_CUV_COLOR_FORMS                                                    \
  "a name such as red, \"#rgb\", \"#rrggbb\", \"#aarrggbb\" or 0xaarrggbb"

/* Opacity makes things transparent, so that a colour given without an alpha is
 * seen. */
guint gst_cuv_color_opaque_if_none (guint argb);

G_END_DECLS

#endif
