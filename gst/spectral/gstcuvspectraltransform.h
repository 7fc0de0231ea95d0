/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvSpectralTransform: base of the elements that make pictures of spectral
 * cubes; and a map of the folder.
 *
 *   gstcuvspectraltransform.c  the class: negotiation, one frame from in to out
 *   gstcuvspectralinfo.c       caps of type video/x-spectral; buffers as cubes
 *   gstcuvspectralcaps.c       caps of the other pad, sizes
 *   gstcuvspectralinput.c      a buffer of cubes or video, mapped as a cube
 *   gstcuvspectraldevice.c     uploads a cube to the GPU
 *   gstcuvspectralcanvas.c     where the picture is painted, and how it gets to
 *                              the output buffer
 *   gstcuvspectralempty.c      bands without a valid sample
 *   gstcuvspectralheader.c     ENVI header keys, from a source to a sink
 *
 * Sources and sinks of cubes, and elements that change cubes, use the info,
 * caps and header only.
 *
 * It accepts video/x-spectral, or RGB video as cubes of three bands, negotiates
 * RGBA, RGBx or NV12 pictures of the same size, maps input and output, and
 * implements the properties components, n-threads and stats and the LATENCY
 * query. A subclass with make_scores can also make cubes of floats, in host
 * memory.
 *
 * RGB video is processed in the memory it arrives in. Cubes, which are never in
 * CUDA memory, and RGB video whose pictures go to CUDA memory are uploaded if
 * there is a usable GPU. */
#ifndef GST_CUV_SPECTRAL_TRANSFORM_H
#define GST_CUV_SPECTRAL_TRANSFORM_H

#include "base/gstcuvanalyser.h"
#include "spectral/gstcuvspectralcanvas.h"
#include "spectral/gstcuvspectralinfo.h"

G_BEGIN_DECLS

#define GST_TYPE_CUV_SPECTRAL_TRANSFORM (gst_cuv_spectral_transform_get_type ())
CUV_API
G_DECLARE_DERIVABLE_TYPE (GstCuvSpectralTransform, gst_cuv_spectral_transform,
    GST, CUV_SPECTRAL_TRANSFORM, GstCuvAnalyser)

/* Components shown as red, green and blue: numbers from 1, or 0 for black. */
#define GST_CUV_SPECTRAL_SHOWN 3

/* Settings that all subclasses share, copied for one frame. */
typedef struct {
  gint components[GST_CUV_SPECTRAL_SHOWN];
  gint n_threads; /* 0 = one per processor */
} GstCuvSpectralSettings;

/* on_device: the cube is in device memory, the CUDA context is current, and
 * work is to be enqueued on stream. */
typedef struct {
  CuvCube cube;
  gboolean on_device;
  gpointer stream;
} GstCuvSpectralFrame;

struct _GstCuvSpectralTransformClass {
  GstCuvAnalyserClass parent_class;

  /* Whether make() writes pictures in device memory for frames on the device.
   */
  gboolean paints_on_device;

  /* Whether the GPU can process such cubes; if not, logs or posts the reason.
   * The CUDA context is open. Optional. */
  gboolean (*fits_device) (
      GstCuvSpectralTransform *self, const GstCuvSpectralInfo *info);

  /* Prepares for new caps. Returns FALSE after posting an element error. */
  gboolean (*prepare) (
      GstCuvSpectralTransform *self, const GstCuvSpectralInfo *info);

  /* Whether excluded samples exclude a pixel. Good bands without a valid sample
   * then become bad in the info, with a warning, and prepare() is called again.
   * This is decided once per caps, by the first frame with a valid sample.
   * Optional. */
  gboolean (*excludes_pixels) (GstCuvSpectralTransform *self);

  /* Makes a picture of a cube and attaches its results to out as metadata.
   * Controlled properties have been synchronised. Returns GST_FLOW_OK,
   * GST_BASE_TRANSFORM_FLOW_DROPPED if there is no picture yet, or an error
   * after posting an element error. */
  GstFlowReturn (*make) (GstCuvSpectralTransform *self,
      const GstCuvSpectralFrame *frame, const GstCuvSpectralSettings *settings,
      const GstCuvSpectralPicture *picture, GstBuffer *in, GstBuffer *out);

  /* Makes a cube of scores in host memory instead of a picture. Optional;
   * needed if the source pad's template has cubes. */
  GstFlowReturn (*make_scores) (GstCuvSpectralTransform *self,
      const GstCuvSpectralFrame *frame, const GstCuvSpectralSettings *settings,
      const GstCuvSpectralInfo *info, gfloat *scores, GstBuffer *out);

  /* Adds fields to stats. Optional. */
  void (*add_stats) (GstCuvSpectralTransform *self, GstStructure *stats);
};

/* Returns the info of the negotiated caps; RGB video has the bands R, G, B. */
CUV_API const GstCuvSpectralInfo *gst_cuv_spectral_transform_info (
    GstCuvSpectralTransform *self);

/* Posts an element error that the GPU or the CPU failed, and returns
 * GST_FLOW_ERROR. */
CUV_API GstFlowReturn gst_cuv_spectral_transform_failed (
    GstCuvSpectralTransform *self, gboolean on_device, const gchar *problem);

G_END_DECLS

#endif
