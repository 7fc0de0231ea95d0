/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user asks of rcdtrack: its properties, and what the tracker gets of
 * them. */
#ifndef GST_RCD_SETTINGS_H
#define GST_RCD_SETTINGS_H

#include <gst/video/video.h>
#include "base/gstcuvfilter.h"
#include "settings/gstcuvproperties.h"
#include "track/tracker.h"

G_BEGIN_DECLS

/* As the properties have them. */
typedef struct {
  CuvRcdBox box; /* object-initial-*: -1, -1, 0, 0 is none */
  gint features; /* CuvRcdFeatures */
  gint metric;   /* CuvRcdMetric */
  gint stride, cell;
  gdouble scales[CUV_RCD_MAX_LEVELS];
  gint n_scales;
  gboolean full;
  gint search_radius;
  gboolean refine;
  gint update; /* CuvRcdUpdate */
  gdouble update_rate;
  gint update_window;
  gdouble max_distance;
  gint max_lost_frames, max_targets;
  gboolean request_detections;
  gboolean draw;
  GQuark object_class; /* of regions to take targets from, 0 = any */
  guint picture;       /* the picture's number, 0 = none */
} GstRcdValues;

CuvTrackerConfig gst_rcd_values_shape (const GstRcdValues *self);
CuvTrackerParams gst_rcd_values_params (const GstRcdValues *self);
gdouble gst_rcd_values_max_distance (const GstRcdValues *self);
gboolean gst_rcd_values_have_box (const GstRcdValues *self);

/* NULL, or which values contradict each other, and what to do; free it. */
gchar *gst_rcd_values_problem (const GstRcdValues *self);
/* The same of the box in a frame of this size. */
gchar *gst_rcd_values_box_problem (
    const GstRcdValues *self, gint width, gint height);

/* All but loading under the owner's object lock. */
typedef struct {
  GstCuvFilter *owner;
  GstRcdValues values;
  gchar *object_class, *target_image; /* as they were set */
  GValue scales;                      /* as it was set */
  GstSample *picture;
  guint n_pictures; /* loaded so far */
  GMutex loading;   /* held while a picture is */
  gboolean started;
} GstRcdSettings;

void gst_rcd_settings_init (GstRcdSettings *self, GstCuvFilter *owner);
void gst_rcd_settings_clear (GstRcdSettings *self);

/* FALSE after an element error. */
gboolean gst_rcd_settings_start (GstRcdSettings *self);
void gst_rcd_settings_stop (GstRcdSettings *self);

GstRcdValues gst_rcd_settings_values (GstRcdSettings *self);
/* The picture of the target, NULL if there is none; unref it. */
GstSample *gst_rcd_settings_picture (GstRcdSettings *self);

void gst_rcd_settings_set (GstRcdSettings *self, guint id, const GValue *value);
void gst_rcd_settings_get (GstRcdSettings *self, guint id, GValue *value);

G_END_DECLS

#endif
