/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of all elements that turn cubes into pictures. */
#ifndef GST_CUV_SPECTRAL_SETTINGS_H
#define GST_CUV_SPECTRAL_SETTINGS_H

#include <glib-object.h>

G_BEGIN_DECLS

/* Components shown as red, green and blue: numbers from 1, or 0 for black. */
#define GST_CUV_SPECTRAL_SHOWN 3

#define GST_CUV_SPECTRAL_DEFAULT_COMPONENTS "1,2,3"
#define GST_CUV_SPECTRAL_COMPONENTS_TAKE                                       \
  "three numbers from 0 to 512 for red, green and blue, as '1,2,3'; 0 is "     \
  "black"

/* A copy for one frame. */
typedef struct {
  gint components[GST_CUV_SPECTRAL_SHOWN];
  gint n_threads; /* 0 = one per processor */
} GstCuvSpectralSettings;

/* NULL is the default. Returns FALSE and changes nothing if text is invalid. */
gboolean gst_cuv_spectral_components_parse (
    const gchar *text, gint components[GST_CUV_SPECTRAL_SHOWN]);

/* Properties that all have; ids of others are from GST_CUV_SPECTRAL_PROP_FIRST
 * on.
 */
enum {
  GST_CUV_SPECTRAL_PROP_COMPONENTS = 1,
  GST_CUV_SPECTRAL_PROP_N_THREADS,
  GST_CUV_SPECTRAL_PROP_STATS,
};

void gst_cuv_spectral_properties_install (GObjectClass *klass);

G_END_DECLS

#endif
