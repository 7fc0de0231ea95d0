/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Harnesses of ldpdescriptor, and checks against the C reference. */
#ifndef CUV_TEST_DESCRIPTOR_HARNESS_H
#define CUV_TEST_DESCRIPTOR_HARNESS_H

#include "live.h"
#include "shared/gstldpmeta.h"

/* Returns a harness of ldpdescriptor with these properties, for frames of this
 * format. */
CuvLive run_new (
    const gchar *properties, const gchar *format, gint width, gint height);

/* Returns the next frame, which is noise. */
GstBuffer *run_frame (CuvLive *self);

void run_check_quiet (CuvLive *self); /* no warning, no error */

/* Parameters of a descriptor and the size of its pictures. */
typedef struct {
  CuvLdpParams params;
  gint width, height;
} Kind;

#define KIND(order, block, grid, directions, merged, border, bins, levels,     \
    width, height)                                                             \
  {                                                                            \
    { order, block, grid, directions, merged, border, bins, levels, 1 },       \
        width, height                                                          \
  }

/* Returns order 3, a grid of 8 x 8 blocks, all directions, 256 bins. */
Kind default_kind (gint width, gint height);

/* Checks that `out` has one table with the reference's descriptors of these
 * regions of `in`. */
void check_described (const CuvLive *self, GstBuffer *out, GstBuffer *in,
    const Kind *kind, const GstLdpRegion *regions, guint n_regions);

/* Pushes a frame and checks the descriptor of the whole frame. */
void check_next (CuvLive *self, const Kind *kind);

/* Draws the codes of a region with the reference. */
void draw_codes (const CuvLive *self, GstBuffer *frame, const Kind *kind,
    GstLdpRegion region, gint direction);
void check_same_pixels (const CuvLive *self, GstBuffer *a, GstBuffer *b);

GstVideoRegionOfInterestMeta *add_region (
    GstBuffer *frame, const gchar *label, GstLdpRegion region);

#endif
