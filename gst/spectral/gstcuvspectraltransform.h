/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvSpectralTransform: base of the elements that make pictures of cubes.
 *
 * It takes video/x-spectral, and RGB video as cubes of three bands, negotiates
 * RGBA, RGBx or NV12 pictures of the same size, maps both sides, and keeps
 * what all such elements have: components, n-threads, stats, the answer to the
 * LATENCY query.
 *
 * Elements that have make_scores make cubes of floats, too, in host memory.
 *
 * RGB video is worked on where it is. Cubes and grey video, which CUDA memory
 * cannot hold, and all whose pictures go to CUDA memory, are copied to the
 * device where there is one. */
#ifndef GST_CUV_SPECTRAL_TRANSFORM_H
#define GST_CUV_SPECTRAL_TRANSFORM_H

#include "gstcuvtransform.h"
#include "spectral/gstcuvspectralcanvas.h"
#include "spectral/gstcuvspectralinfo.h"
#include "spectral/gstcuvspectralsettings.h"

G_BEGIN_DECLS

#define GST_TYPE_CUV_SPECTRAL_TRANSFORM (gst_cuv_spectral_transform_get_type ())
CUV_API
G_DECLARE_DERIVABLE_TYPE (GstCuvSpectralTransform, gst_cuv_spectral_transform,
    GST, CUV_SPECTRAL_TRANSFORM, GstCuvTransform)

/* A cube; on the device it is in its memory, the context is current and work
 * goes onto the stream. */
typedef struct {
  CuvCube cube;
  gboolean on_device;
  gpointer stream;
} GstCuvSpectralFrame;

struct _GstCuvSpectralTransformClass {
  GstCuvTransformClass parent_class;

  /* Pictures of frames on the device are made there; else in host memory. */
  gboolean paints_on_device;

  /* Whether cubes can be looked at on the device, whose context is open; says
   * it where they cannot. Optional. */
  gboolean (*fits_device) (
      GstCuvSpectralTransform *self, const GstCuvSpectralInfo *info);

  /* New caps: readies what depends on them. Posts an element error or returns
   * TRUE. */
  gboolean (*prepare) (
      GstCuvSpectralTransform *self, const GstCuvSpectralInfo *info);

  /* Makes a picture of a cube; what it found goes onto out as metadata. Posts
   * an element error where it does not return GST_FLOW_OK. The stream time has
   * been given to controllers. GST_BASE_TRANSFORM_FLOW_DROPPED: no picture yet.
   */
  GstFlowReturn (*make) (GstCuvSpectralTransform *self,
      const GstCuvSpectralFrame *frame, const GstCuvSpectralSettings *settings,
      const GstCuvSpectralPicture *picture, GstBuffer *in, GstBuffer *out);

  /* Makes a cube of scores of one in host memory, as make() does, where the
   * source pad's template has cubes. Optional. */
  GstFlowReturn (*make_scores) (GstCuvSpectralTransform *self,
      const GstCuvSpectralFrame *frame, const GstCuvSpectralSettings *settings,
      const GstCuvSpectralInfo *info, gfloat *scores, GstBuffer *out);

  /* Forget what earlier frames taught: a flush, a new segment. Optional. */
  void (*reset) (GstCuvSpectralTransform *self);

  /* Adds to frames, microseconds, microseconds-mean and device. Optional. */
  void (*add_stats) (GstCuvSpectralTransform *self, GstStructure *stats);
};

/* Of the negotiated caps; RGB video has three bands, in this order. */
CUV_API const GstCuvSpectralInfo *gst_cuv_spectral_transform_info (
    GstCuvSpectralTransform *self);

/* Posts what went wrong on the device, or on the CPU: GST_FLOW_ERROR. */
CUV_API GstFlowReturn gst_cuv_spectral_transform_failed (
    GstCuvSpectralTransform *self, gboolean on_device, const gchar *problem);

/* For set_property() and class_init(): the ids of a subclass's properties are
 * from this one on. */
#define GST_CUV_SPECTRAL_PROP_FIRST 10

G_END_DECLS

#endif
