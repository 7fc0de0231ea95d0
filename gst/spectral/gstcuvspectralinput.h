/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A buffer mapped as a cube: video/x-spectral, RGB video (three bands) or grey
 * video (one band). Video may have any stride. */
#ifndef GST_CUV_SPECTRAL_INPUT_H
#define GST_CUV_SPECTRAL_INPUT_H

#include <gst/video/video.h>
#include "context/gstcuvframe.h"
#include "spectral/gstcuvspectralinfo.h"

G_BEGIN_DECLS

void gst_cuv_spectral_info_from_video (
    GstCuvSpectralInfo *info, const GstVideoInfo *video);

typedef struct {
  CuvCube cube;
  gboolean is_video;
  gboolean is_cuda; /* the cube is in device memory */
  GstVideoFrame video;
  GstBuffer *buffer;
  GstMapInfo map;
} GstCuvSpectralInput;

/* Maps a buffer. video: its format is UNKNOWN if the buffer is a cube.
 * on_device: a buffer in CUDA memory is mapped on the device. Returns NULL or
 * an error message; g_free() it. */
gchar *gst_cuv_spectral_input_map (GstCuvSpectralInput *self,
    const GstCuvSpectralInfo *info, const GstVideoInfo *video,
    GstBuffer *buffer, gboolean on_device);
void gst_cuv_spectral_input_unmap (GstCuvSpectralInput *self);

G_END_DECLS

#endif
