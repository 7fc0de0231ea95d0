/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Areas in which motion is ignored: polygons as JSON, drawn for frames of a
 * size. */
#ifndef GST_MOTION_MASK_H
#define GST_MOTION_MASK_H

#include <gst/gst.h>
#include "motion.h"

G_BEGIN_DECLS

#define GST_MOTION_MASK_MAX 1024 /* polygons */

/* Immutable, counted references. */
typedef struct _GstMotionMask GstMotionMask;
#define GST_TYPE_MOTION_MASK (gst_motion_mask_get_type ())
GType gst_motion_mask_get_type (void);

/* Returns NULL and sets *problem if the text is invalid: the cause and what is
 * expected; free it. */
GstMotionMask *gst_motion_mask_parse (const gchar *text, gchar **problem);

/* Returns a bit for each value of frames of this size, 0 if it is masked;
 * *n is set to the number of those that are not. g_free() it. */
guint64 *gst_motion_mask_draw (const GstMotionMask *self,
    const CuvMotionConfig *config, gint width, gint height, gint64 *n);

G_END_DECLS

#endif
