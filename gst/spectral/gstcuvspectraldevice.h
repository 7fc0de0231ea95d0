/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Uploads the cubes of a GstCuvSpectralTransform to the GPU. */
#ifndef GST_CUV_SPECTRAL_DEVICE_H
#define GST_CUV_SPECTRAL_DEVICE_H

#include "spectral/gstcuvspectralinput.h"

G_BEGIN_DECLS

typedef struct {
  GstCuvContext *context;
  struct _CuvUpload *upload; /* NULL until the first upload */
  guint64 uploaded, staged; /* bytes uploaded, and how many of them went through
                               staging buffers */
  gchar problem[512];
} GstCuvSpectralDevice;

/* Frees what is in the current CUDA context. */
void gst_cuv_spectral_device_leave (GstCuvSpectralDevice *self);

/* Describes the input's cube in device memory, after uploading it if it is in
 * host memory. Work on it has to be enqueued on *stream. The context must be
 * current. Returns NULL or an error message. */
const gchar *gst_cuv_spectral_device_place (GstCuvSpectralDevice *self,
    const GstCuvSpectralInput *input, gint n_threads, CuvCube *cube,
    gpointer *stream);

/* Adds a pool of pinned host memory to an ALLOCATION query without pools. */
void gst_cuv_spectral_device_add_pool (
    GstCuvSpectralDevice *self, GstQuery *query);

G_END_DECLS

#endif
