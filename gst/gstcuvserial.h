/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metas as bytes, for other processes: what unixfdsink and cudaipcsink send and
 * their sources receive. Needs GStreamer 1.24, else nothing is sent. */
#ifndef GST_CUV_SERIAL_H
#define GST_CUV_SERIAL_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Makes a custom meta travel. */
void gst_cuv_serial_table (const GstMetaInfo *info);

/* Makes regions of interest travel, whoever writes them, unless GStreamer does
 * so by itself. Later calls do nothing. */
void gst_cuv_serial_regions (void);

G_END_DECLS

#endif
