/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps of the elements that turn cubes into pictures: those of the other pad,
 * and sizes. */
#ifndef GST_CUV_SPECTRAL_CAPS_H
#define GST_CUV_SPECTRAL_CAPS_H

#include <gst/base/gstbasetransform.h>
#include "context/gstcuvcontext.h"
#include "spectral/gstcuvspectralinfo.h"

G_BEGIN_DECLS

#define GST_CUV_SPECTRAL_SIZES                                                 \
  "width = (int) [ 1, 16384 ], height = (int) [ 1, 16384 ], "                  \
  "framerate = (fraction) [ 0, max ]"

/* RGB video in host or CUDA memory. */
#define GST_CUV_SPECTRAL_RGB_CAPS                                              \
  "video/x-raw(" GST_CUV_FEATURE_CUDA "), format = (string) "                  \
  "{ RGB, BGR, RGBx, BGRx, RGBA, BGRA }, " GST_CUV_SPECTRAL_SIZES              \
  "; video/x-raw, format = (string) "                                          \
  "{ RGB, BGR, RGBx, BGRx, RGBA, BGRA }, " GST_CUV_SPECTRAL_SIZES

#define GST_CUV_SPECTRAL_PICTURE_CAPS                                          \
  "video/x-raw, format = (string) { RGBA, RGBx, NV12 "                         \
  "}, " GST_CUV_SPECTRAL_SIZES "; video/x-raw(" GST_CUV_FEATURE_CUDA           \
  "), format = (string) "                                                      \
  "{ RGBA, RGBx, NV12 }, " GST_CUV_SPECTRAL_SIZES

/* Sets *size to the bytes of a cube or video frame. Returns FALSE for invalid
 * caps. */
gboolean gst_cuv_spectral_caps_unit_size (GstCaps *caps, gsize *size);

/* Intersects caps with a filter, in the filter's order; NULL filters nothing.
 * Takes ownership of caps. */
CUV_API GstCaps *gst_cuv_spectral_caps_filter (GstCaps *caps, GstCaps *filter);

/* Implements GstBaseTransformClass.transform_caps. Returns the other pad's
 * template with width, height and framerate of caps; structures in CUDA memory
 * come first if caps are in CUDA memory. */
CUV_API GstCaps *gst_cuv_spectral_caps_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter);

/* Implements GstBaseTransformClass.transform_size. Sets the size that othercaps
 * imply. A wrong input size is reported when the buffer is mapped. */
CUV_API gboolean gst_cuv_spectral_caps_transform_size (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, gsize size, GstCaps *othercaps,
    gsize *othersize);

G_END_DECLS

#endif
