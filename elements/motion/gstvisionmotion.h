/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element visionmotion, and its properties. */
#ifndef GST_VISION_MOTION_H
#define GST_VISION_MOTION_H

#include "base/gstcuvfilter.h"
#include "gstmotionmask.h"
#include "settings/gstcuvsettings.h"

G_BEGIN_DECLS

#define GST_TYPE_VISION_MOTION (gst_vision_motion_get_type ())
G_DECLARE_FINAL_TYPE (
    GstVisionMotion, gst_vision_motion, GST, VISION_MOTION, GstCuvFilter)

GST_ELEMENT_REGISTER_DECLARE (visionmotion);

typedef struct {
  gint method; /* CuvMotionMethod */
  gboolean color, shadows;
  gint scale; /* 0: automatic */
  gint history;
  gdouble threshold;
  gint difference;
  gdouble rate;
  gint opening, closing; /* may be even */
  gint min_area, merge_distance, padding;
  gdouble scene_change;
  gchar *mask_text;
  GstMotionMask *mask; /* NULL = none */
  gchar *label;
  gint metadata; /* GstCuvMetadata */
} GstVisionMotionSettings;

extern const GstCuvSettingsTable gst_vision_motion_settings;

/* Returns what memory depends on, for frames of this height. */
CuvMotionConfig gst_vision_motion_config (
    const GstVisionMotionSettings *self, gint height);

/* Returns the parameters for a frame that follows n_learnt others. */
CuvMotionParams gst_vision_motion_params (
    const GstVisionMotionSettings *self, guint n_learnt);

G_END_DECLS

#endif
