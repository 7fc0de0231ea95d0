/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element waldboostdetect; for a map of the folder see waldboost.h. */
#ifndef GST_WALDBOOST_DETECT_H
#define GST_WALDBOOST_DETECT_H

#include "base/gstcuvfilter.h"

G_BEGIN_DECLS

#define GST_TYPE_WALDBOOST_DETECT (gst_waldboost_detect_get_type ())
G_DECLARE_FINAL_TYPE (GstWaldboostDetect, gst_waldboost_detect, GST,
    WALDBOOST_DETECT, GstCuvFilter)

GST_ELEMENT_REGISTER_DECLARE (waldboostdetect);

G_END_DECLS

#endif
