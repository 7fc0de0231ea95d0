/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A basis as a JSON file:
 *
 *   { "kind": "spectralpca-basis", "version": 1,
 *     "mode": "correlation" | "covariance" | "pearson",
 *     "mean": [ n numbers ], "deviation": [ n, 1 unless pearson ],
 *     "eigenvalues": [ k ], "vectors": [ k arrays of n, a component each ] }
 *
 * k is n in files that the element writes, and may be less in files that it
 * reads. */
#ifndef GST_SPECTRAL_BASIS_H
#define GST_SPECTRAL_BASIS_H

#include <gio/gio.h>
#include "pca.h"

G_BEGIN_DECLS

/* Immutable; take a reference with g_atomic_rc_box_acquire(). */
typedef struct {
  CuvPcaBasis basis;
  gint n_vectors; /* vectors in the file; the others complete the basis, with
                   * eigenvalues of 0 */
} GstSpectralBasis;

GType gst_spectral_basis_get_type (void);
void gst_spectral_basis_unref (GstSpectralBasis *self);

/* Copies a basis. Returns NULL if out of memory. */
GstSpectralBasis *gst_spectral_basis_new (const CuvPcaBasis *basis);

/* Returns NULL on failure: the error says what is wrong in the file. */
GstSpectralBasis *gst_spectral_basis_load (
    const gchar *location, GError **error);

/* Returns the mode's name in files and metadata. */
const gchar *gst_spectral_mode_name (CuvPcaMode mode);

/* Replaces the file atomically. */
gboolean gst_spectral_basis_save (
    const CuvPcaBasis *basis, const gchar *location, GError **error);

G_END_DECLS

#endif
