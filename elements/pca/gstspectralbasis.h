/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A basis as a JSON file:
 *
 *   { "kind": "spectralpca-basis", "version": 1,
 *     "mode": "correlation" | "covariance" | "pearson",
 *     "mean": [ n numbers ], "deviation": [ n, 1 unless pearson ],
 *     "eigenvalues": [ k ], "vectors": [ k arrays of n, a component each ] }
 *
 * k is n where the element writes it, and may be less where it reads one. */
#ifndef GST_SPECTRAL_BASIS_H
#define GST_SPECTRAL_BASIS_H

#include <gio/gio.h>
#include "pca.h"

G_BEGIN_DECLS

/* One of its own, of g_new(); NULL: there is no memory. */
CuvPcaBasis *gst_spectral_basis_copy (const CuvPcaBasis *basis);
void gst_spectral_basis_free (CuvPcaBasis *basis);

/* As the file and the property mode have it. */
const gchar *gst_spectral_mode_name (CuvPcaMode mode);

/* Initialises the basis from a file of k vectors; along n - k more, at right
 * angles to those, nothing varies. FALSE, and an error that names the file
 * and what is wrong in it; then there is nothing to clear. */
gboolean gst_spectral_basis_load (
    CuvPcaBasis *basis, const gchar *location, gint *k, GError **error);

/* Replaces the file as a whole, or not at all. */
gboolean gst_spectral_basis_save (
    const CuvPcaBasis *basis, const gchar *location, GError **error);

G_END_DECLS

#endif
