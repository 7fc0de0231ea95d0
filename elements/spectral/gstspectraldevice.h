/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a GstSpectralTransform's cubes get to the GPU. */
#ifndef GST_SPECTRAL_DEVICE_H
#define GST_SPECTRAL_DEVICE_H

#include "gstspectralinput.h"

G_BEGIN_DECLS

typedef struct {
  GstCuvContext *context;
  struct _CuvUpload *upload; /* NULL until a cube goes up */
  guint64 uploaded, staged;  /* bytes; of them by way of pinned pieces */
  gchar problem[512];
} GstSpectralDevice;

void gst_spectral_device_init (GstSpectralDevice *self, GstCuvContext *context);

/* The context is current, and is left: frees what is in it. */
void gst_spectral_device_leave (GstSpectralDevice *self);

/* The cube of the input in device memory: where it is, or copied there. The
 * context is current; what works on the cube goes onto the stream. NULL, or
 * what went wrong. */
const gchar *gst_spectral_device_place (GstSpectralDevice *self,
    const GstSpectralInput *input, gint n_threads, CuvCube *cube,
    gpointer *stream);

/* After a failure: until the input may go. */
void gst_spectral_device_wait (GstSpectralDevice *self, gpointer stream);

/* Adds a pool of pinned memory for buffers of the query's caps, if there is
 * none. */
void gst_spectral_device_add_pool (GstSpectralDevice *self, GstQuery *query);

/* device and, in a build with CUDA, gpu-bytes and what went up. */
void gst_spectral_device_add_stats (
    guint64 uploaded, guint64 staged, gboolean is_used, GstStructure *stats);

G_END_DECLS

#endif
