/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of all elements that turn cubes into pictures. */
#ifndef GST_CUV_SPECTRAL_SETTINGS_H
#define GST_CUV_SPECTRAL_SETTINGS_H

#include <glib.h>

G_BEGIN_DECLS

/* Components shown as red, green and blue: numbers from 1, or 0 for black. */
#define GST_CUV_SPECTRAL_SHOWN 3

/* A copy for one frame. */
typedef struct {
  gint components[GST_CUV_SPECTRAL_SHOWN];
  gint n_threads; /* 0 = one per processor */
} GstCuvSpectralSettings;

G_END_DECLS

#endif
