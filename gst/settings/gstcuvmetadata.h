/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property metadata of elements that write objects. */
#ifndef GST_CUV_METADATA_H
#define GST_CUV_METADATA_H

#include "gstcuvmeta.h"
#include "settings/gstcuvsettings.h"

G_BEGIN_DECLS

CUV_API GType gst_cuv_metadata_get_type (void);

/* The row of the property; the field at this offset is a gint,
 * GstCuvMetadata. */
#define GST_CUV_METADATA_SETTING(at)                                           \
  {                                                                            \
    "metadata", "Metadata", "How objects are written",                         \
        .offset = at, .get_type = gst_cuv_metadata_get_type,                   \
        .value = GST_CUV_METADATA_BOTH                                         \
  }

/* For the table's check(). Returns NULL, or why objects cannot be written in
 * this way, which the caller frees. */
CUV_API gchar *gst_cuv_metadata_problem (gint metadata);

G_END_DECLS

#endif
