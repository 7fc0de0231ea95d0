/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detector for waldboostdetect's settings, and why it may find nothing. */
#ifndef GST_WALDBOOST_DETECTOR_H
#define GST_WALDBOOST_DETECTOR_H

#include "context/gstcuvframe.h"
#include "detector.h"
#include "gstwaldboostsettings.h"

G_BEGIN_DECLS

/* Returns whether the detector (may be NULL) was created with these settings
 * for frames like this one. */
gboolean gst_waldboost_detector_matches (const CuvDetector *detector,
    const GstWaldboostSettings *s, const GstCuvFrame *frame);

/* Returns why frames of this size cannot be searched with the settings (free
 * the text), or NULL if they can. */
gchar *gst_waldboost_size_problem (
    const GstWaldboostSettings *s, const GstCuvFrame *frame);

/* On failure, returns NULL and sets *error to the cause. */
CuvDetector *gst_waldboost_detector_new (const GstWaldboostSettings *s,
    const GstCuvFrame *frame, const gchar **error);

/* Posts a warning for each model that cannot find anything. */
void gst_waldboost_detector_warn_if_empty (const CuvDetector *detector,
    const GstWaldboostSettings *s, GstElement *element);

G_END_DECLS

#endif
