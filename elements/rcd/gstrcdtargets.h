/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is followed: the tracker, behind a lock because signals come from any
 * thread, and where its targets come from. */
#ifndef GST_RCD_TARGETS_H
#define GST_RCD_TARGETS_H

#include "gstcuvframe.h"
#include "gstrcdregions.h"
#include "gstrcdtracksettings.h"

G_BEGIN_DECLS

typedef struct {
  GstRcdSettings *settings;
  GMutex lock; /* of tracker, places and changes */
  CuvTracker *tracker;
  GArray *places; /* CuvRcdBox, where targets are or will be in this frame */
  guint changes;  /* acquired, lost, reacquired, given up, cleared */

  /* of the streaming thread */
  CuvRcdBox box; /* the last that a target was taken from */
  gint box_id;   /* that target, 0 = none */
  guint picture; /* the same of pictures */
  gint picture_id;
  CuvTrackerResult result; /* of the last analysed frame */
  GArray *targets;         /* GstRcdTarget, of the result's tracks */
  gboolean search_all;     /* in the next frame, whatever the settings say */
  gboolean refused;        /* a target, in the frame before */
  gboolean no_window;      /* could be compared, in the frame before */
  GPtrArray *warnings;     /* to be posted when the lock is free */
} GstRcdTargets;

void gst_rcd_targets_init (GstRcdTargets *self, GstRcdSettings *settings);
void gst_rcd_targets_clear (GstRcdTargets *self);

/* NULL, or what went wrong. */
const gchar *gst_rcd_targets_start (GstRcdTargets *self);
void gst_rcd_targets_stop (GstRcdTargets *self);

/* Before the CUDA context goes. */
void gst_rcd_targets_leave_device (GstRcdTargets *self);

/* Whether a target is to be taken from the values' box. */
gboolean gst_rcd_targets_is_new_box (
    const GstRcdTargets *self, const CuvRcdBox *box);

/* Makes all that frames like this need. NULL, or what went wrong; free it. */
gchar *gst_rcd_targets_prepare (
    GstRcdTargets *self, const GstRcdValues *values, const GstCuvFrame *frame);

/* One frame: new targets, then where they all are. Posts warnings on the bus of
 * what cannot be followed. NULL, or what went wrong. */
const gchar *gst_rcd_targets_run (GstRcdTargets *self,
    const GstRcdValues *values, const GstCuvFrame *frame,
    const GstVideoInfo *info, gint n_threads);

/* From any thread, before the start, too. The new target's id, or 0 if there is
 * no room. */
gint gst_rcd_targets_add (GstRcdTargets *self, const CuvRcdBox *box);
void gst_rcd_targets_remove_all (GstRcdTargets *self);
guint gst_rcd_targets_changes (GstRcdTargets *self);

G_END_DECLS

#endif
