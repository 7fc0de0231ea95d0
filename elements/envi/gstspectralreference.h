/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A white or dark reference: an ENVI file whose samples are levels. */
#ifndef GST_SPECTRAL_REFERENCE_H
#define GST_SPECTRAL_REFERENCE_H

#include "gstenvifile.h"
#include "reflectance.h"

G_BEGIN_DECLS

/* Immutable; g_atomic_rc_box_acquire() is its ref(). */
typedef struct {
  GstEnviFile file;
} GstSpectralReference;

GType gst_spectral_reference_get_type (void);
void gst_spectral_reference_unref (GstSpectralReference *self);

/* Returns NULL on failure: the error names the file and what is wrong. */
GstSpectralReference *gst_spectral_reference_open (
    const gchar *path, GError **error);

/* Returns NULL, or why it does not fit cubes of this info; free it. */
gchar *gst_spectral_reference_check (const GstSpectralReference *self,
    const gchar *name, const GstCuvSpectralInfo *info);

/* Whether the reference has a level for each pixel of such cubes; otherwise its
 * levels are means over its lines. */
gboolean gst_spectral_reference_is_whole (
    const GstSpectralReference *self, const GstCuvSpectralInfo *info);

/* Fills the levels, which have the height of cubes or one line. */
void gst_spectral_reference_fill (
    const GstSpectralReference *self, CuvLevels *levels);

G_END_DECLS

#endif
