/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the next scanner is to be made of, and what may be wrong with it. */
#ifndef GST_WALDBOOST_WISH_H
#define GST_WALDBOOST_WISH_H

#include "gstwaldboostobjects.h"
#include "gstwaldboostsettings.h"

G_BEGIN_DECLS

typedef struct {
  const CuvWaldboostModel *model;
  CuvWaldboostParams params;
  GstWaldboostOrigin origin;
  gchar *labels;
  CuvRoi roi;
} GstWaldboostWish;

/* Copies it from the settings. */
void gst_waldboost_wish_init (
    GstWaldboostWish *self, GstWaldboostSettings *settings);
void gst_waldboost_wish_clear (GstWaldboostWish *self); /* to all 0 */

/* NULL, or which settings contradict each other, and what to do; free it. */
gchar *gst_waldboost_wish_problem (const GstWaldboostWish *self);

/* Posts a warning if the scanner made of it has no window to look at. */
void gst_waldboost_wish_warn_if_empty (
    const GstWaldboostWish *self, GstElement *owner, const CuvScanner *scanner);

G_END_DECLS

#endif
