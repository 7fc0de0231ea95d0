/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_VISION_OVERLAY_H
#define GST_VISION_OVERLAY_H

#include "base/gstcuvtransform.h"

G_BEGIN_DECLS

#define GST_TYPE_VISION_OVERLAY (gst_vision_overlay_get_type ())
G_DECLARE_FINAL_TYPE (
    GstVisionOverlay, gst_vision_overlay, GST, VISION_OVERLAY, GstCuvTransform)

GST_ELEMENT_REGISTER_DECLARE (visionoverlay);

G_END_DECLS

#endif
