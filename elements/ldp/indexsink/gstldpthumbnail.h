/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thumbnails of frames and of their regions. */
#ifndef GST_LDP_THUMBNAIL_H
#define GST_LDP_THUMBNAIL_H

#include <gst/video/video.h>
#include "ldp/ldp-types.h"

G_BEGIN_DECLS

typedef struct _GstLdpThumbnailer GstLdpThumbnailer;

/* Size of the thumbnails, both above 0. */
GstLdpThumbnailer *gst_ldp_thumbnailer_new (gint width, gint height);
void gst_ldp_thumbnailer_free (GstLdpThumbnailer *self); /* NULL is allowed */

/* RGB pixels, row by row without padding, valid until the next run: the
 * rectangle inside the frame, scaled to fit and centred on black. Returns NULL
 * with *problem set if the buffer cannot be read; free it. */
const guint8 *gst_ldp_thumbnailer_run (GstLdpThumbnailer *self,
    const GstVideoInfo *info, GstBuffer *buffer, const CuvLdpRect *rect,
    gchar **problem);

G_END_DECLS

#endif
