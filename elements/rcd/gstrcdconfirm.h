/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Targets of a detector: published once it has found them several times, given
 * up when it does not find them any more. */
#ifndef GST_RCD_CONFIRM_H
#define GST_RCD_CONFIRM_H

#include "gstrcdtargets.h"

G_BEGIN_DECLS

/* After a run: counts this frame's objects, self->present, for the targets that
 * came from a detector. Sets the events of those that are published from now
 * on, and removes those to be given up. The lock is held. */
void gst_rcd_confirm_targets (GstRcdTargets *self,
    const GstRcdSettings *settings, const GstVideoInfo *info);

/* Targets that are published. */
gint gst_rcd_n_confirmed (const GstRcdTargets *self);

G_END_DECLS

#endif
