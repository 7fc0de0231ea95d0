/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element waldboostdetect, on the detector of detect/, and a map of this
 * folder:
 *   gstwaldboostdetect.c    the element
 *   gstwaldboostsettings.c  its properties
 *   gstwaldboostmodels.c    file names -> models
 *   gstwaldboostorigins.c   labels of the models' objects
 *   gstwaldboostdetector.c  the detector for the settings
 *   gstwaldboostcounts.c    statistics of a frame
 *   gstwaldboostobjects.c   boxes -> metadata and the bus message */
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
