/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Confirms targets that came from a detector: publishes them once it has found
 * them several times, and gives them up when it no longer finds them. */
#ifndef GST_RCD_CONFIRM_H
#define GST_RCD_CONFIRM_H

#include "gstrcdtargets.h"

G_BEGIN_DECLS

/* Call after a run, with the lock held. Counts the frame's objects
 * (self->present) for the targets that came from a detector, sets the events of
 * those that are published from now on, and removes those that are given up. */
void gst_rcd_confirm_targets (GstRcdTargets *self,
    const GstRcdSettings *settings, const GstVideoInfo *info);

/* Returns the number of targets that are published. */
gint gst_rcd_n_confirmed (const GstRcdTargets *self);

G_END_DECLS

#endif
