/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What caps of type video/x-spectral say of a buffer: one cube, its rows packed
 * without padding. */
#ifndef GST_SPECTRAL_INFO_H
#define GST_SPECTRAL_INFO_H

#include <gst/gst.h>
#include "spectral/spectral-types.h"

G_BEGIN_DECLS

/* For pad templates; the numbers are CUV_CUBE_MAX_SIZE and _MAX_BANDS.
 * framerate, wavelengths, bad-bands and ignore-value are optional. */
#define GST_SPECTRAL_CAPS                                                      \
  "video/x-spectral, format = (string) { U8, U16LE, F32LE }, "                 \
  "width = (int) [ 1, 16384 ], height = (int) [ 1, 16384 ], "                  \
  "bands = (int) [ 1, 512 ], interleave = (string) { bip, bil, bsq }"

typedef enum {
  GST_SPECTRAL_BIP, /* [row][pixel][band] */
  GST_SPECTRAL_BIL, /* [row][band][pixel] */
  GST_SPECTRAL_BSQ, /* [band][row][pixel] */
} GstSpectralInterleave;

/* Filled by gst_spectral_info_from_caps(), or by hand from zeros; copied by
 * assignment. */
typedef struct {
  CuvCubeFormat format;
  GstSpectralInterleave interleave;
  gint width, height, bands;
  gint fps_n, fps_d;                       /* 0/1: not known, or varies */
  guint n_wavelengths;                     /* bands, or 0: not known */
  gdouble wavelengths[CUV_CUBE_MAX_BANDS]; /* nm */
  gboolean bad[CUV_CUBE_MAX_BANDS];        /* bands to leave out */
  gboolean has_ignore;
  gdouble ignore; /* samples of this value were not measured */
} GstSpectralInfo;

/* FALSE, and *problem names the field and what it should be: g_free() it. */
gboolean gst_spectral_info_from_caps (
    GstSpectralInfo *info, const GstCaps *caps, gchar **problem);
GstCaps *gst_spectral_info_to_caps (const GstSpectralInfo *info);

/* Bytes of a cube; 0 if they are too many for this machine's addresses, or the
 * sizes are out of range. */
gsize gst_spectral_info_size (const GstSpectralInfo *info);

/* Bands that are not bad. */
guint gst_spectral_info_n_good (const GstSpectralInfo *info);

/* The cube at data, which has at least gst_spectral_info_size() bytes. */
CuvCube gst_spectral_info_cube (
    const GstSpectralInfo *info, gconstpointer data);

/* As caps have them: "U16LE", "bil". */
const gchar *gst_spectral_format_name (CuvCubeFormat format);
const gchar *gst_spectral_interleave_name (GstSpectralInterleave interleave);

G_END_DECLS

#endif
