/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties that define a descriptor, for elements that describe frames.
 */
#ifndef GST_LDP_PARAMETERS_H
#define GST_LDP_PARAMETERS_H

#include "settings/gstcuvsettings.h"
#include "ldp.h"

G_BEGIN_DECLS

/* Part of an element's settings. */
typedef struct {
  gint order, grid, block;
  gint directions; /* set of CUV_LDP_0 ... */
  gboolean merge;
  gint border; /* CuvLdpBorder */
  gint bins;   /* CuvLdpBins */
  gint levels;
  gint width, height; /* 0 = as the frame */
} GstLdpParameters;

GType gst_ldp_directions_get_type (void);
GType gst_ldp_border_get_type (void);
GType gst_ldp_bins_get_type (void);

/* Their rows in a table of settings. at: offset of the GstLdpParameters in the
 * settings; start: whether new values are used at the next start. */
/* clang-format off */
#define GST_LDP_PARAMETER(at, start, field)                                    \
  .offset = (at) + G_STRUCT_OFFSET (GstLdpParameters, field), .at_start = start
#define GST_LDP_PARAMETER_SETTINGS(at, start)                                  \
  { "order", "Order",                                                          \
    "Order of the patterns: derivatives of order - 1 are compared. Higher "    \
    "orders see finer detail, and more noise",                                 \
    GST_LDP_PARAMETER (at, start, order), .type = G_TYPE_UINT,                 \
    .minimum = CUV_LDP_MIN_ORDER, .maximum = CUV_LDP_MAX_ORDER, .value = 3 },  \
  { "grid", "Grid",                                                            \
    "Blocks across, and as many down, each with its own histograms "           \
    "(block=0)",                                                               \
    GST_LDP_PARAMETER (at, start, grid), .type = G_TYPE_UINT, .minimum = 1,    \
    .maximum = 1024, .value = 8 },                                             \
  { "block", "Block",                                                          \
    "Width and height of a block in pixels (0 = use grid)",                    \
    GST_LDP_PARAMETER (at, start, block), .type = G_TYPE_UINT,                 \
    .maximum = CUV_LDP_MAX_SIZE },                                             \
  { "directions", "Directions",                                                \
    "Directions of the derivatives in degrees, for example 0+90",              \
    GST_LDP_PARAMETER (at, start, directions),                                 \
    .get_type = gst_ldp_directions_get_type,                                   \
    .value = CUV_LDP_0 | CUV_LDP_45 | CUV_LDP_90 | CUV_LDP_135 },              \
  { "merge-directions", "Merge directions",                                    \
    "Count the codes of all directions in one histogram per block",            \
    GST_LDP_PARAMETER (at, start, merge), .type = G_TYPE_BOOLEAN },            \
  { "border", "Border",                                                        \
    "How pixels near the border of the picture are treated",                   \
    GST_LDP_PARAMETER (at, start, border),                                     \
    .get_type = gst_ldp_border_get_type, .value = CUV_LDP_VALID },             \
  { "bins", "Bins", "Which bins a histogram has",                              \
    GST_LDP_PARAMETER (at, start, bins), .get_type = gst_ldp_bins_get_type,    \
    .value = CUV_LDP_BINS_256 },                                               \
  { "levels", "Levels", "How many bins a histogram has (bins=levels)",         \
    GST_LDP_PARAMETER (at, start, levels), .type = G_TYPE_UINT, .minimum = 2,  \
    .maximum = CUV_LDP_CODES, .value = 32 },                                   \
  { "descriptor-width", "Descriptor width",                                    \
    "Width in pixels to resize to before describing (0 = unchanged)",          \
    GST_LDP_PARAMETER (at, start, width), .type = G_TYPE_UINT,                 \
    .maximum = CUV_LDP_MAX_SIZE },                                             \
  { "descriptor-height", "Descriptor height",                                  \
    "Height in pixels to resize to before describing (0 = unchanged)",         \
    GST_LDP_PARAMETER (at, start, height), .type = G_TYPE_UINT,                \
    .maximum = CUV_LDP_MAX_SIZE }
/* clang-format on */

CuvLdpParams gst_ldp_parameters_params (const GstLdpParameters *self);

/* The descriptor layout for frames of width x height. Returns NULL, or the
 * problem and what to do; free it. */
gchar *gst_ldp_parameters_layout (const GstLdpParameters *self, gint width,
    gint height, CuvLdpLayout *layout);

/* How many regions per frame the limits on memory and pixels allow, at least 1.
 */
guint gst_ldp_max_regions (const CuvLdpLayout *layout);

/* Enum value to nick and back; -1 if there is no such nick. */
const gchar *gst_ldp_border_nick (gint border);
const gchar *gst_ldp_bins_nick (gint bins);
gint gst_ldp_border_of_nick (const gchar *nick);
gint gst_ldp_bins_of_nick (const gchar *nick);

G_END_DECLS

#endif
