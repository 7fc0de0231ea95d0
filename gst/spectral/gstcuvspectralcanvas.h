/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where an element renders its picture: the output buffer itself, or an
 * intermediate buffer if the output has another format or is in memory the
 * element cannot write. */
#ifndef GST_CUV_SPECTRAL_CANVAS_H
#define GST_CUV_SPECTRAL_CANVAS_H

#include <gst/video/video.h>
#include "context/gstcuvcontext.h"

G_BEGIN_DECLS

/* Pixels to fill with R, G, B, 255, in rows of stride bytes. */
typedef struct {
  guint8 *pixels;
  gsize stride;
  gint width, height;
} GstCuvSpectralPicture;

typedef struct {
  GstCuvContext *context;
  GstVideoInfo info;     /* info of painted pixels */
  GstVideoInfo out_info; /* info of output buffers */
  GstVideoConverter *converter;
  GstBuffer *scratch;   /* RGBx in host memory, to be converted */
  GstBuffer *device;    /* RGBx in device memory, to be converted or copied */
  GstBuffer *converted; /* out_info in device memory, to be copied */

  /* between begin() and end() */
  GstVideoFrame video;
  GstBuffer *buffer; /* mapped: out, scratch or device */
  GstBuffer *out;
  gboolean on_device;

  gchar problem[200]; /* the last error message */
} GstCuvSpectralCanvas;

/* out_info is RGBA, RGBx or NV12. Returns FALSE if out of memory. */
gboolean gst_cuv_spectral_canvas_init (GstCuvSpectralCanvas *self,
    GstCuvContext *context, const GstVideoInfo *out_info);
void gst_cuv_spectral_canvas_clear (GstCuvSpectralCanvas *self);

/* Frees what is in the CUDA context, before another one is used. */
void gst_cuv_spectral_canvas_leave (GstCuvSpectralCanvas *self);

/* Maps pixels to fill for an output buffer, in device memory if on_device; the
 * CUDA context must then be current. Returns NULL or an error message. */
const gchar *gst_cuv_spectral_canvas_begin (GstCuvSpectralCanvas *self,
    GstBuffer *out, gboolean on_device, GstCuvSpectralPicture *picture);

/* Unmaps the pixels. is_filled: they are filled, and work on the GPU is
 * complete; converts or copies them to the output buffer. Returns NULL or an
 * error message. */
const gchar *gst_cuv_spectral_canvas_end (
    GstCuvSpectralCanvas *self, gboolean is_filled);

G_END_DECLS

#endif
