/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parsed caps of type video/x-spectral. A buffer holds one cube, without
 * padding between rows. */
#ifndef GST_CUV_SPECTRAL_INFO_H
#define GST_CUV_SPECTRAL_INFO_H

#include <gst/gst.h>
#include "cuv-api.h"
#include "cuv-cube.h"

G_BEGIN_DECLS

/* For pad templates, with the limits CUV_CUBE_MAX_SIZE and CUV_CUBE_MAX_BANDS.
 * framerate, wavelengths, bad-bands and ignore-value are optional. */
#define GST_CUV_SPECTRAL_CAPS                                                  \
  "video/x-spectral, format = (string) { U8, U16LE, F32LE }, "                 \
  "width = (int) [ 1, 16384 ], height = (int) [ 1, 16384 ], "                  \
  "bands = (int) [ 1, 1024 ], interleave = (string) { bip, bil, bsq }"

typedef enum {
  GST_CUV_SPECTRAL_BIP, /* [row][pixel][band] */
  GST_CUV_SPECTRAL_BIL, /* [row][band][pixel] */
  GST_CUV_SPECTRAL_BSQ, /* [band][row][pixel] */
} GstCuvSpectralInterleave;

/* Zero-initialised or filled by gst_cuv_spectral_info_from_caps(); may be
 * copied by assignment. */
typedef struct {
  CuvCubeFormat format;
  GstCuvSpectralInterleave interleave;
  gint width, height, bands;
  gint fps_n, fps_d;                       /* 0/1: unknown or variable */
  guint n_wavelengths;                     /* equals bands, or 0: unknown */
  gdouble wavelengths[CUV_CUBE_MAX_BANDS]; /* nm */
  gboolean bad[CUV_CUBE_MAX_BANDS];        /* bands to exclude */
  gboolean has_ignore;
  gdouble ignore; /* value of samples without a measurement */
} GstCuvSpectralInfo;

/* Parses caps. On failure returns FALSE and sets *problem to a message that
 * names the field and the accepted values; g_free() it. */
CUV_API gboolean gst_cuv_spectral_info_from_caps (
    GstCuvSpectralInfo *info, const GstCaps *caps, gchar **problem);
CUV_API GstCaps *gst_cuv_spectral_info_to_caps (const GstCuvSpectralInfo *info);

/* Returns the bytes of a cube, or 0 if a size is out of range or the product
 * overflows gsize. */
CUV_API gsize gst_cuv_spectral_info_size (const GstCuvSpectralInfo *info);

/* Returns the number of bands that are not bad. */
CUV_API guint gst_cuv_spectral_info_n_good (const GstCuvSpectralInfo *info);

/* Describes the cube at data, gst_cuv_spectral_info_size() bytes. */
CUV_API CuvCube gst_cuv_spectral_info_cube (
    const GstCuvSpectralInfo *info, gconstpointer data);

/* Maps a buffer for reading. Returns NULL, or an error message to free, and
 * then the buffer is not mapped. */
CUV_API gchar *gst_cuv_spectral_info_map (const GstCuvSpectralInfo *info,
    GstBuffer *buffer, GstMapInfo *map, CuvCube *cube);

/* Return names as in caps, such as "U16LE" and "bil". */
CUV_API const gchar *gst_cuv_spectral_format_name (CuvCubeFormat format);
CUV_API const gchar *gst_cuv_spectral_interleave_name (
    GstCuvSpectralInterleave interleave);

G_END_DECLS

#endif
