/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a GstCuvSpectralTransform's cubes get to the GPU. */
#ifndef GST_CUV_SPECTRAL_DEVICE_H
#define GST_CUV_SPECTRAL_DEVICE_H

#include "spectral/gstcuvspectralinput.h"

G_BEGIN_DECLS

typedef struct {
  GstCuvContext *context;
  struct _CuvUpload *upload; /* NULL until a cube goes up */
  guint64 uploaded, staged;  /* bytes; of them by way of pinned pieces */
  gchar problem[512];
} GstCuvSpectralDevice;

void gst_cuv_spectral_device_init (
    GstCuvSpectralDevice *self, GstCuvContext *context);

/* The context is current, and is left: frees what is in it. */
void gst_cuv_spectral_device_leave (GstCuvSpectralDevice *self);

/* The cube of the input in device memory: where it is, or copied there. The
 * context is current; what works on the cube goes onto the stream. NULL, or
 * what went wrong. */
const gchar *gst_cuv_spectral_device_place (GstCuvSpectralDevice *self,
    const GstCuvSpectralInput *input, gint n_threads, CuvCube *cube,
    gpointer *stream);

/* After a failure: until the input may go. */
void gst_cuv_spectral_device_wait (GstCuvSpectralDevice *self, gpointer stream);

/* Adds a pool of pinned memory for buffers of the query's caps, if there is
 * none. */
void gst_cuv_spectral_device_add_pool (
    GstCuvSpectralDevice *self, GstQuery *query);

/* device and, in a build with CUDA, gpu-bytes and what went up. */
void gst_cuv_spectral_device_add_stats (
    guint64 uploaded, guint64 staged, gboolean is_used, GstStructure *stats);

G_END_DECLS

#endif
