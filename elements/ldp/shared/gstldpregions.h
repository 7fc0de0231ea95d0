/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties that define a descriptor and select regions of a frame, for
 * all elements, and the selected regions. */
#ifndef GST_LDP_REGIONS_H
#define GST_LDP_REGIONS_H

#include <gst/video/video.h>
#include "ldp.h"
#include "settings/gstcuvsettings.h"

G_BEGIN_DECLS

/* ---- parameters ---- */

/* Part of an element's settings. */
typedef struct {
  CuvLdpParams params;
  gint width, height; /* 0 = as the frame */
} GstLdpParameters;

extern const GEnumValue gst_ldp_border_values[], gst_ldp_bins_values[];

GType gst_ldp_directions_get_type (void);
GType gst_ldp_border_get_type (void);
GType gst_ldp_bins_get_type (void);

/* Rows of these parameters in a settings table. at: offset of the
 * GstLdpParameters in the settings; start: whether new values take effect at
 * the next start only. */
/* clang-format off */
#define GST_LDP_PARAMETER(at, start, field)                                    \
  .offset = (at) + G_STRUCT_OFFSET (GstLdpParameters, field), .at_start = start
#define GST_LDP_PARAMETER_SETTINGS(at, start)                                  \
  { "order", "Order",                                                          \
    "Order of the patterns: derivatives of order - 1 are compared. Higher "    \
    "orders see finer detail but amplify noise",                               \
    GST_LDP_PARAMETER (at, start, params.order), .type = G_TYPE_UINT,          \
    .minimum = CUV_LDP_MIN_ORDER, .maximum = CUV_LDP_MAX_ORDER, .value = 3 },  \
  { "grid", "Grid",                                                            \
    "Number of blocks in each row and column of the grid; each block has its " \
    "own histograms (block=0)",                                                \
    GST_LDP_PARAMETER (at, start, params.grid), .type = G_TYPE_UINT,           \
    .minimum = 1, .maximum = 1024, .value = 8 },                               \
  { "block", "Block",                                                          \
    "Width and height of a block in pixels (0 = use grid)",                    \
    GST_LDP_PARAMETER (at, start, params.block), .type = G_TYPE_UINT,          \
    .maximum = CUV_LDP_MAX_SIZE },                                             \
  { "directions", "Directions",                                                \
    "Directions of the derivatives in degrees, for example 0+90",              \
    GST_LDP_PARAMETER (at, start, params.directions),                          \
    .get_type = gst_ldp_directions_get_type,                                   \
    .value = CUV_LDP_0 | CUV_LDP_45 | CUV_LDP_90 | CUV_LDP_135 },              \
  { "merge-directions", "Merge directions",                                    \
    "Count the codes of all directions in one histogram per block",            \
    GST_LDP_PARAMETER (at, start, params.is_merged), .type = G_TYPE_BOOLEAN }, \
  { "border", "Border",                                                        \
    "How pixels near the border of the picture are treated",                   \
    GST_LDP_PARAMETER (at, start, params.border),                              \
    .get_type = gst_ldp_border_get_type, .value = CUV_LDP_VALID },             \
  { "bins", "Bins", "How codes are assigned to bins",                          \
    GST_LDP_PARAMETER (at, start, params.bins),                                \
    .get_type = gst_ldp_bins_get_type, .value = CUV_LDP_BINS_256 },            \
  { "levels", "Levels", "Number of bins of a histogram (bins=levels)",         \
    GST_LDP_PARAMETER (at, start, params.levels), .type = G_TYPE_UINT,         \
    .minimum = 2, .maximum = CUV_LDP_CODES, .value = 32 },                     \
  { "scales", "Scales",                                                        \
    "Number of sizes at which the picture is described: its own, half of it, " \
    "a quarter and so on. More scales find blurred and small copies",          \
    GST_LDP_PARAMETER (at, start, params.scales), .type = G_TYPE_UINT,         \
    .minimum = 1, .maximum = CUV_LDP_MAX_SCALES, .value = 1 },                 \
  { "descriptor-width", "Descriptor width",                                    \
    "Width in pixels to which pictures are resized before they are described " \
    "(0 = not resized)",                                                       \
    GST_LDP_PARAMETER (at, start, width), .type = G_TYPE_UINT,                 \
    .maximum = CUV_LDP_MAX_SIZE },                                             \
  { "descriptor-height", "Descriptor height",                                  \
    "Height in pixels to which pictures are resized before they are described "\
    "(0 = not resized)",                                                       \
    GST_LDP_PARAMETER (at, start, height), .type = G_TYPE_UINT,                \
    .maximum = CUV_LDP_MAX_SIZE }
/* clang-format on */

/* ---- regions ---- */

typedef enum {
  GST_LDP_FRAME,
  GST_LDP_ROI_LIST,
} GstLdpRegionKind;

/* The first part of an element's settings. */
typedef struct {
  gint kind;           /* GstLdpRegionKind */
  gchar *label;        /* object-class as it was set */
  GQuark object_class; /* label parsed, 0 = any */
} GstLdpRegionChoice;

GType gst_ldp_region_kind_get_type (void);
gchar *gst_ldp_region_choice_parse (gpointer settings);

/* Rows of the choice in a settings table. */
/* clang-format off */
#define GST_LDP_REGION_SETTINGS                                                \
  { "region", "Region", "Which part of a frame to describe",                   \
    .offset = G_STRUCT_OFFSET (GstLdpRegionChoice, kind),                      \
    .get_type = gst_ldp_region_kind_get_type, .value = GST_LDP_FRAME },        \
  { "object-class", "Object class",                                            \
    "Label of the regions to describe (region=roi-list; default: all)",        \
    .offset = G_STRUCT_OFFSET (GstLdpRegionChoice, label),                     \
    .type = G_TYPE_STRING, .parse = gst_ldp_region_choice_parse }
/* clang-format on */

/* A region of a frame, as a row of a table; pixels. */
typedef struct {
  gint32 id; /* id of the region of interest; -1: the frame */
  guint32 x, y, width, height;
} GstLdpRegion;

/* Maximum per frame; further regions are ignored. */
enum { GST_LDP_MAX_REGIONS = 256 };

/* Computes the descriptor layout for frames of width x height. Returns NULL, or
 * the problem and what to do; free it. */
gchar *gst_ldp_region_choice_layout (const GstLdpRegionChoice *self,
    const GstLdpParameters *parameters, gint width, gint height,
    CuvLdpLayout *layout);

/* Replaces regions by the GstLdpRegion of the buffer that were chosen. */
void gst_ldp_regions_collect (GArray *regions, GstBuffer *buffer,
    const GstLdpRegionChoice *choice, const GstVideoInfo *info);

/* Drops regions beyond the limits on memory and pixels per frame, with a
 * warning unless *warned, which it sets. */
void gst_ldp_regions_limit (GArray *regions, const CuvLdpLayout *layout,
    GstElement *element, gboolean *warned);

CuvLdpRect gst_ldp_region_rect (const GstLdpRegion *self);

/* Scales a region of a frame of width x height to a frame of info's size. */
CuvLdpRect gst_ldp_region_scale_rect (const GstLdpRegion *self, guint width,
    guint height, const GstVideoInfo *info);

G_END_DECLS

#endif
