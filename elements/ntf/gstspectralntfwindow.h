/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sliding window of grey video: the last `depth` frames, each in a slot
 * that the frame `depth` later replaces. */
#ifndef GST_SPECTRAL_NTF_WINDOW_H
#define GST_SPECTRAL_NTF_WINDOW_H

#include <gst/gst.h>
#include "cuv-cube.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n; /* frames so far */
  GstClockTime times[CUV_CUBE_MAX_BANDS];
  GstClockTime duration; /* duration of a frame */
} GstNtfWindow;

/* Adds a frame; returns its slot. */
gint gst_ntf_window_add (GstNtfWindow *self, gint depth, GstBuffer *frame);

/* Whether the last frame completes a window that is due by hop. */
gboolean gst_ntf_window_is_due (const GstNtfWindow *self, gint depth, gint hop);

/* Returns the slot of a complete window's first frame. */
gint gst_ntf_window_oldest (const GstNtfWindow *self, gint depth);

/* Sets the time of a window's picture to that of its first frame, and its
 * duration to that of hop frames. */
void gst_ntf_window_stamp (
    const GstNtfWindow *self, gint depth, gint hop, GstBuffer *picture);

/* Returns the delay of a picture after its timestamp; 0 if the rate is
 * unknown. */
GstClockTime gst_ntf_window_latency (gint depth, gint fps_n, gint fps_d);

/* Call at the end of the stream: posts a warning if no window was complete. */
void gst_ntf_window_check_filled (
    const GstNtfWindow *self, gint depth, GstElement *element);

/* Multiplies the rates of structures that are GRAY8; takes ownership of
 * caps. */
GstCaps *gst_ntf_window_scale_rates (GstCaps *caps, gint num, gint denom);

G_END_DECLS

#endif
