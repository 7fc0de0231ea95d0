/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A picture to keep: the JPEG of a frame, or a part that is cut out of it
 * without loss. */
#ifndef CUV_TEACH_CUT_H
#define CUV_TEACH_CUT_H

#include "teach/example.h"

G_BEGIN_DECLS

/* Where the picture is in the frame: a point of the frame is at
 * (point * scale - origin) in the picture. */
typedef struct {
  gint frame_width, frame_height;
  gint x, y, width, height; /* in the JPEG of the frame */
  gdouble scale_x, scale_y;
} CuvTeachPlace;

/* Finds the place of the frame, or of its part. Returns NULL, or why the JPEG
 * cannot be read, to be freed. */
gchar *cuv_teach_place (CuvTeachPlace *self, gconstpointer jpeg, gsize size,
    gint frame_width, gint frame_height, const CuvTeachBox *part);

/* Returns the JPEG of the place, to be freed with tjFree(); NULL: of a whole
 * frame, or *problem is set, to be freed. */
guint8 *cuv_teach_cut (const CuvTeachPlace *self, gconstpointer jpeg,
    gsize size, gulong *cut_size, gchar **problem);

/* Returns a box of the frame in the picture, clipped to it. */
CuvTeachBox cuv_teach_place_box (
    const CuvTeachPlace *self, const CuvTeachBox *box);

G_END_DECLS

#endif
