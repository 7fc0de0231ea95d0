/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Confirms targets that came from a detector: publishes them once it has found
 * them several times, and gives them up when it no longer finds them. */
#ifndef GST_RCD_CONFIRM_H
#define GST_RCD_CONFIRM_H

#include "gstrcdtargets.h"

G_BEGIN_DECLS

/* After a run: counts this frame's objects, self->present, for the targets that
 * came from a detector. Sets the events of those that are published from now
 * on, and removes those that are given up. The lock is held. */
void gst_rcd_confirm_targets (GstRcdTargets *self,
    const GstRcdSettings *settings, const GstVideoInfo *info);

/* The number of targets that are published. */
gint gst_rcd_n_confirmed (const GstRcdTargets *self);

G_END_DECLS

#endif
