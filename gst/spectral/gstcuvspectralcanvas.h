/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a picture is made: in the buffer that goes out, or beside it where that
 * is of another format, or in memory that its maker does not reach. */
#ifndef GST_CUV_SPECTRAL_CANVAS_H
#define GST_CUV_SPECTRAL_CANVAS_H

#include <gst/video/video.h>
#include "gstcuvcontext.h"

G_BEGIN_DECLS

/* Pixels to fill: R, G, B, 255, rows of stride bytes. */
typedef struct {
  guint8 *pixels;
  gsize stride;
  gint width, height;
} GstCuvSpectralPicture;

typedef struct {
  GstCuvContext *context;
  GstVideoInfo info, out_info; /* of what is painted, and of buffers */
  GstVideoConverter *converter;
  GstBuffer *scratch; /* for pictures that are converted, in host memory */
  GstBuffer *device;  /* for those that are converted or come down from there */
  GstBuffer *converted; /* for those that are, and come down */

  /* of the picture at hand */
  GstVideoFrame video;
  GstBuffer *buffer, *out;
  gboolean on_device;
} GstCuvSpectralCanvas;

/* For pictures of RGBA, RGBx or NV12. FALSE: there is no memory. */
gboolean gst_cuv_spectral_canvas_init (GstCuvSpectralCanvas *self,
    GstCuvContext *context, const GstVideoInfo *out_info);
void gst_cuv_spectral_canvas_clear (GstCuvSpectralCanvas *self);

/* The context is left. */
void gst_cuv_spectral_canvas_leave (GstCuvSpectralCanvas *self);

/* A picture for a buffer, to be filled in host memory or on the device, whose
 * context is then current. NULL, or what went wrong. */
const gchar *gst_cuv_spectral_canvas_begin (GstCuvSpectralCanvas *self,
    GstBuffer *out, gboolean on_device, GstCuvSpectralPicture *picture);

/* It is filled, and waited for, and goes to the buffer if it is not there; or
 * it is not. NULL, or what went wrong. */
const gchar *gst_cuv_spectral_canvas_end (
    GstCuvSpectralCanvas *self, gboolean is_filled);

G_END_DECLS

#endif
