/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ldpdescriptor in a harness, and what the C reference says of its frames. */
#ifndef CUV_TEST_DESCRIBED_H
#define CUV_TEST_DESCRIBED_H

#include "cuvelements.h"
#include "shared/gstldpmeta.h"

/* Frames are uploaded: the GPU has to find the same. */
extern gboolean use_cuda;

typedef struct {
  GstHarness *h;
  GstElement *d; /* the ldpdescriptor */
  GstBus *bus;
  const gchar *format;
  gint width, height;
  guint n; /* frames so far */
} Run;

/* A line of ldpdescriptor with these properties, and frames of this kind. */
Run run_new (
    const gchar *properties, const gchar *format, gint width, gint height);
void run_clear (Run *self);
void run_caps (Run *self, const gchar *format, gint width, gint height);

/* The next frame: noise. */
GstBuffer *run_frame (Run *self);

/* Pushes the frame; what comes out. */
GstBuffer *run_push (Run *self, GstBuffer *frame);
void run_check_quiet (Run *self); /* no warning, no error */

/* What a descriptor is, of pictures of so many pixels. */
typedef struct {
  CuvLdpParams params;
  gint width, height;
} Kind;

#define KIND(order, block, grid, directions, merged, border, bins, levels,     \
    width, height)                                                             \
  {                                                                            \
    { order, block, grid, directions, merged, border, bins, levels }, width,   \
        height                                                                 \
  }

/* Order 3, a grid of 8 x 8 blocks, all directions, 256 bins. */
Kind usual_kind (gint width, gint height);

/* Whether `out` has one table, which says what the reference does of these
 * regions of `in`. */
void check_described (const Run *self, GstBuffer *out, GstBuffer *in,
    const Kind *kind, const GstLdpRegion *regions, guint n_regions);

/* Of the whole frame, of a frame that goes through it. */
void check_next (Run *self, const Kind *kind);

/* Draws the codes of a region as the reference does. */
void draw_codes (const Run *self, GstBuffer *frame, const Kind *kind,
    GstLdpRegion region, gint direction);
void check_same_pixels (const Run *self, GstBuffer *a, GstBuffer *b);

GstVideoRegionOfInterestMeta *add_region (
    GstBuffer *frame, const gchar *label, GstLdpRegion region);

void add_settings_tests (Suite *suite);
void add_picture_tests (Suite *suite);
void add_meta_tests (Suite *suite);

#endif
