/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small pictures of frames and of parts of them. */
#ifndef GST_LDP_THUMBNAIL_H
#define GST_LDP_THUMBNAIL_H

#include <gst/video/video.h>
#include "ldp/ldp-types.h"

G_BEGIN_DECLS

typedef struct _GstLdpThumbnailer GstLdpThumbnailer;

/* Of width x height, both above 0. */
GstLdpThumbnailer *gst_ldp_thumbnailer_new (gint width, gint height);
void gst_ldp_thumbnailer_free (GstLdpThumbnailer *self); /* NULL is allowed */

/* R, G, B of pixels row by row without gaps, until the next run: as large a
 * picture of a rectangle, which lies in the frame, as fits, in the middle, and
 * black beside it. NULL, with what is wrong, if the buffer cannot be read. */
const guint8 *gst_ldp_thumbnailer_run (GstLdpThumbnailer *self,
    const GstVideoInfo *info, GstBuffer *buffer, const CuvLdpRect *rect,
    gchar **problem);

G_END_DECLS

#endif
