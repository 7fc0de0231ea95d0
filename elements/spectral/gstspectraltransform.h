/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstSpectralTransform: base of the elements that make pictures of cubes.
 *
 * It takes video/x-spectral, and RGB video as cubes of three bands, negotiates
 * RGBA, RGBx or NV12 pictures of the same size, maps both sides, and keeps
 * what all such elements have: components, n-threads, stats, the answer to the
 * LATENCY query. Host memory only. */
#ifndef GST_SPECTRAL_TRANSFORM_H
#define GST_SPECTRAL_TRANSFORM_H

#include "gstcuvtransform.h"
#include "gstspectralinfo.h"

G_BEGIN_DECLS

#define GST_TYPE_SPECTRAL_TRANSFORM (gst_spectral_transform_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstSpectralTransform, gst_spectral_transform, GST,
    SPECTRAL_TRANSFORM, GstCuvTransform)

/* Pixels to fill: R, G, B, 255, rows of stride bytes. */
typedef struct {
  guint8 *pixels;
  gsize stride;
  gint width, height;
} GstSpectralPicture;

/* Components that are red, green and blue: from 1 on, 0 for black. */
#define GST_SPECTRAL_SHOWN 3

/* What an element's own settings are with, for one frame. */
typedef struct {
  gint components[GST_SPECTRAL_SHOWN];
  gint n_threads; /* 0 = one per processor */
} GstSpectralSettings;

struct _GstSpectralTransformClass {
  GstCuvTransformClass parent_class;

  /* New caps: makes what depends on them. Posts an element error or returns
   * TRUE. */
  gboolean (*prepare) (GstSpectralTransform *self, const GstSpectralInfo *info);

  /* Makes a picture of a cube; what it found goes onto out as metadata. Posts
   * an element error where it does not return GST_FLOW_OK. The stream time has
   * been given to controllers. GST_BASE_TRANSFORM_FLOW_DROPPED: no picture yet.
   */
  GstFlowReturn (*make) (GstSpectralTransform *self, const CuvCube *cube,
      const GstSpectralSettings *settings, const GstSpectralPicture *picture,
      GstBuffer *in, GstBuffer *out);

  /* Forget what earlier frames taught: a flush, a new segment. Optional. */
  void (*reset) (GstSpectralTransform *self);

  /* Adds to frames, microseconds, microseconds-mean and device. Optional. */
  void (*add_stats) (GstSpectralTransform *self, GstStructure *stats);
};

/* Of the negotiated caps; RGB video has three bands, in this order. */
const GstSpectralInfo *gst_spectral_transform_info (GstSpectralTransform *self);

/* For set_property() and class_init(): the ids of a subclass's properties are
 * from this one on. */
#define GST_SPECTRAL_PROP_FIRST 10

G_END_DECLS

#endif
