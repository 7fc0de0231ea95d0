/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A buffer mapped as a cube: video/x-spectral, packed, or RGB video in memory
 * of any stride, which is a cube of three bands, or grey video, of one. */
#ifndef GST_CUV_SPECTRAL_INPUT_H
#define GST_CUV_SPECTRAL_INPUT_H

#include <gst/video/video.h>
#include "gstcuvframe.h"
#include "spectral/gstcuvspectralinfo.h"

G_BEGIN_DECLS

void gst_cuv_spectral_info_from_video (
    GstCuvSpectralInfo *info, const GstVideoInfo *video);

typedef struct {
  CuvCube cube;
  gboolean is_video;
  gboolean is_cuda; /* the cube is where the device sees it */
  GstVideoFrame video;
  GstBuffer *buffer;
  GstMapInfo map;
} GstCuvSpectralInput;

/* video: of a format that is not UNKNOWN if the buffer is video. on_device: a
 * buffer in CUDA memory is mapped there. NULL, or what went wrong: g_free() it.
 */
gchar *gst_cuv_spectral_input_map (GstCuvSpectralInput *self,
    const GstCuvSpectralInfo *info, const GstVideoInfo *video,
    GstBuffer *buffer, gboolean on_device);
void gst_cuv_spectral_input_unmap (GstCuvSpectralInput *self);

G_END_DECLS

#endif
