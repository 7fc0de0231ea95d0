/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracker and the sources of its targets: properties, a picture, regions,
 * signals. Protected by a lock, because signals come from any thread. */
#ifndef GST_RCD_TARGETS_H
#define GST_RCD_TARGETS_H

#include "context/gstcuvframe.h"
#include "base/gstcuvtransform.h"
#include "gstrcdregions.h"
#include "gstrcdtracksettings.h"

G_BEGIN_DECLS

typedef struct {
  GstCuvTransform *element;
  GMutex lock; /* protects tracker, occupied and changes */
  CuvTracker *tracker;
  GArray *occupied; /* CuvRcdBox of each target in this frame */
  guint changes;    /* counts acquired, lost, reacquired, given up, cleared */

  /* used by the streaming thread only */
  CuvRcdBox box;           /* the last object-initial-* box that was used */
  gint box_id;             /* id of the target of box, 0 = none */
  GstSample *picture;      /* the last target-image that was used */
  gint picture_id;         /* id of the target of picture, 0 = none */
  CuvTrackerResult result; /* result of the last analysed frame */
  GArray *targets;         /* GstRcdTarget, one per track of result */
  GArray *present;         /* GstCuvObject of the current frame */
  gboolean search_all; /* search the whole next frame, whatever the settings */
  gboolean rejected;   /* the previous frame rejected a target */
  gboolean ambiguous;  /* warned about a target that looks like its
                        * surroundings */
  gboolean no_window;  /* no window fitted the previous frame */
  GPtrArray *warnings; /* to be posted after the lock is released */
} GstRcdTargets;

void gst_rcd_targets_init (GstRcdTargets *self, GstCuvTransform *element);
void gst_rcd_targets_clear (GstRcdTargets *self);

/* Returns NULL, or what went wrong. */
const gchar *gst_rcd_targets_start (GstRcdTargets *self);
void gst_rcd_targets_stop (GstRcdTargets *self);

/* Must be called before the CUDA context is released. */
void gst_rcd_targets_leave_device (GstRcdTargets *self);

/* Whether box differs from the last one that was used. */
gboolean gst_rcd_targets_is_new_box (
    const GstRcdTargets *self, const CuvRcdBox *box);

/* Allocates what frames like this one need. Returns what configure() is to
 * return: NULL, or the problem, which the caller frees. */
gchar *gst_rcd_targets_prepare (GstRcdTargets *self,
    const GstRcdSettings *settings, const GstCuvFrame *frame);

/* Processes one frame: adds new targets, then tracks all of them. Posts
 * warnings about targets that cannot be tracked. Returns NULL, or what went
 * wrong. */
const gchar *gst_rcd_targets_run (GstRcdTargets *self,
    const GstRcdSettings *settings, const GstCuvFrame *frame,
    const GstVideoInfo *info, gint n_threads);

/* Adds a target unless there are max_targets already. Returns its id, or 0 and
 * sets *problem. May be called from any thread, also before the element is
 * started. */
gint gst_rcd_targets_add (GstRcdTargets *self, const CuvRcdBox *box,
    gint max_targets, const gchar **problem);
void gst_rcd_targets_remove_all (GstRcdTargets *self);
guint gst_rcd_targets_changes (GstRcdTargets *self);

G_END_DECLS

#endif
