/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What caps of type video/x-spectral say of a buffer: one cube, its rows packed
 * without padding. */
#ifndef GST_CUV_SPECTRAL_INFO_H
#define GST_CUV_SPECTRAL_INFO_H

#include <gst/gst.h>
#include "cuv-api.h"
#include "cuv-cube.h"

G_BEGIN_DECLS

/* For pad templates; the numbers are CUV_CUBE_MAX_SIZE and _MAX_BANDS.
 * framerate, wavelengths, bad-bands and ignore-value are optional. */
#define GST_CUV_SPECTRAL_CAPS                                                  \
  "video/x-spectral, format = (string) { U8, U16LE, F32LE }, "                 \
  "width = (int) [ 1, 16384 ], height = (int) [ 1, 16384 ], "                  \
  "bands = (int) [ 1, 512 ], interleave = (string) { bip, bil, bsq }"

typedef enum {
  GST_CUV_SPECTRAL_BIP, /* [row][pixel][band] */
  GST_CUV_SPECTRAL_BIL, /* [row][band][pixel] */
  GST_CUV_SPECTRAL_BSQ, /* [band][row][pixel] */
} GstCuvSpectralInterleave;

/* Filled by gst_cuv_spectral_info_from_caps(), or by hand from zeros; copied by
 * assignment. */
typedef struct {
  CuvCubeFormat format;
  GstCuvSpectralInterleave interleave;
  gint width, height, bands;
  gint fps_n, fps_d;                       /* 0/1: not known, or varies */
  guint n_wavelengths;                     /* bands, or 0: not known */
  gdouble wavelengths[CUV_CUBE_MAX_BANDS]; /* nm */
  gboolean bad[CUV_CUBE_MAX_BANDS];        /* bands to leave out */
  gboolean has_ignore;
  gdouble ignore; /* samples of this value were not measured */
} GstCuvSpectralInfo;

/* FALSE, and *problem names the field and what it should be: g_free() it. */
CUV_API gboolean gst_cuv_spectral_info_from_caps (
    GstCuvSpectralInfo *info, const GstCaps *caps, gchar **problem);
CUV_API GstCaps *gst_cuv_spectral_info_to_caps (const GstCuvSpectralInfo *info);

/* Bytes of a cube; 0 if they are too many for this machine's addresses, or the
 * sizes are out of range. */
CUV_API gsize gst_cuv_spectral_info_size (const GstCuvSpectralInfo *info);

/* Bands that are not bad. */
CUV_API guint gst_cuv_spectral_info_n_good (const GstCuvSpectralInfo *info);

/* The cube at data, which has at least gst_cuv_spectral_info_size() bytes. */
CUV_API CuvCube gst_cuv_spectral_info_cube (
    const GstCuvSpectralInfo *info, gconstpointer data);

/* As caps have them: "U16LE", "bil". */
CUV_API const gchar *gst_cuv_spectral_format_name (CuvCubeFormat format);
CUV_API const gchar *gst_cuv_spectral_interleave_name (
    GstCuvSpectralInterleave interleave);

G_END_DECLS

#endif
