/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Factors as metadata: tables of kind `ntf`, without coordinates; the string
 * `mode` says which one a table is.
 *
 *   u, v, w   height, width, depth rows, columns term1 .. termK (f32)
 *   a         of a matrix instead of u and v: a row for each pixel
 *   errors    a row for each test: iteration (u32), error (f64)
 *
 * The first table, u or a, also has iterations, effective_rank (uint), error
 * (double), converged (boolean). */
#ifndef GST_SPECTRAL_NTF_META_H
#define GST_SPECTRAL_NTF_META_H

#include <gst/gst.h>
#include "ntf.h"

G_BEGIN_DECLS

/* The factors to attach; the size is the image's. */
typedef struct {
  GstBuffer *buffer;
  const CuvNtfFactors *factors;
  gint width, height;
  gboolean is_matrix;
} GstNtfTables;

/* Attaches the tables. first: w is rotated so that this row comes first. */
void gst_ntf_meta_add (
    const GstNtfTables *self, gint first, const CuvNtfResult *result);

/* Returns the message about the progress of a run of at most `iterations`. */
GstStructure *gst_ntf_meta_progress (
    GstBuffer *buffer, const CuvNtfResult *result, gint iterations);

G_END_DECLS

#endif
