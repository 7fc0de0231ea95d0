/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The components of a frame as metadata. */
#ifndef GST_SPECTRAL_PCA_TABLE_H
#define GST_SPECTRAL_PCA_TABLE_H

#include "spectral/gstcuvspectraltransform.h"
#include "cpu/pca-cpu.h"

G_BEGIN_DECLS

/* Adds a table of kind "pca", in JSON "spectral": a row per component, and as
 * scalars mode, pixels, left_out, cut, mean, components and the shown
 * components' vectors. Adds nothing if the basis is not known. */
void gst_spectral_pca_add_table (GstBuffer *buffer, const CuvPcaBasis *basis,
    const gint components[GST_CUV_SPECTRAL_SHOWN], const CuvPcaResult *result,
    const GstCuvSpectralPicture *picture);

/* Adds the counts and times of a frame to stats. */
void gst_spectral_pca_add_result (
    GstStructure *stats, const CuvPcaResult *result);

G_END_DECLS

#endif
