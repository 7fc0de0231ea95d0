/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The detectors of waldboostdetect: one for each rotation, each with all
 * models. */
#ifndef GST_WALDBOOST_DETECTORS_H
#define GST_WALDBOOST_DETECTORS_H

#include "backend.h"
#include "context/gstcuvframe.h"
#include "gstwaldboostsettings.h"

G_BEGIN_DECLS

typedef struct {
  gint n; /* 0: closed */
  CuvWaldboostDetector *of[GST_WALDBOOST_MAX_ROTATIONS];
} GstWaldboostDetectors;

/* Returns whether self was opened with these settings for frames like this
 * one. */
gboolean gst_waldboost_detectors_match (const GstWaldboostDetectors *self,
    const GstWaldboostSettings *s, const GstCuvFrame *frame);

/* Returns why frames of this size cannot be searched with the settings (free
 * the text), or NULL if they can. */
gchar *gst_waldboost_size_problem (
    const GstWaldboostSettings *s, const GstCuvFrame *frame);

/* Opens detectors. self must be closed; if an error is returned, it remains
 * closed. Returns NULL on success, otherwise the error. */
const gchar *gst_waldboost_detectors_open (GstWaldboostDetectors *self,
    const GstWaldboostSettings *s, const GstCuvFrame *frame);
void gst_waldboost_detectors_close (GstWaldboostDetectors *self);

/* Posts a warning for each model that cannot find anything. */
void gst_waldboost_detectors_warn_if_empty (const GstWaldboostDetectors *self,
    const GstWaldboostSettings *s, GstElement *element);

G_END_DECLS

#endif
