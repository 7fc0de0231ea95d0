/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which frames of grey video are factorised together: the last `depth` of them,
 * each in a place of its own that the frame `depth` later takes over. */
#ifndef GST_SPECTRAL_NTF_WINDOW_H
#define GST_SPECTRAL_NTF_WINDOW_H

#include <gst/gst.h>
#include "cuv-cube.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n; /* frames so far */
  GstClockTime times[CUV_CUBE_MAX_BANDS];
  GstClockTime duration; /* of a frame */
} GstNtfWindow;

/* One more frame: its place. */
gint gst_ntf_window_add (GstNtfWindow *self, gint depth, GstBuffer *frame);

/* Whether the last frame completes one that is to be factorised. */
gboolean gst_ntf_window_is_due (const GstNtfWindow *self, gint depth, gint hop);

/* The place of the first frame of a complete window. */
gint gst_ntf_window_oldest (const GstNtfWindow *self, gint depth);

/* The time of a window's picture: that of its first frame, hop frames long. */
void gst_ntf_window_stamp (
    const GstNtfWindow *self, gint depth, gint hop, GstBuffer *picture);

/* How much later than its time that is made; 0 if the rate is not known. */
GstClockTime gst_ntf_window_latency (gint depth, gint fps_n, gint fps_d);

/* At the end of the stream: posts a warning if no window was complete. */
void gst_ntf_window_check_filled (
    const GstNtfWindow *self, gint depth, GstElement *element);

/* Multiplies the rates of structures that are GRAY8; takes caps. */
GstCaps *gst_ntf_window_scale_rates (GstCaps *caps, gint num, gint denom);

G_END_DECLS

#endif
