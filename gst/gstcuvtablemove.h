/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moves the coordinates in tables when an element scales, cuts or flips the
 * frame. */
#ifndef GST_CUV_TABLE_MOVE_H
#define GST_CUV_TABLE_MOVE_H

#include "gstcuvmeta.h"

G_BEGIN_DECLS

/* Reads a table. Returns FALSE if the structure is not a valid one. Defined in
 * gstcuvmeta.c. */
gboolean gst_cuv_table_parse (
    GstCuvTable *table, const GstStructure *structure);

/* Adds a meta with these fields. */
GstCustomMeta *gst_cuv_table_add (
    GstBuffer *buffer, const GstMetaInfo *info, const GstStructure *fields);

/* Registers a meta of tables with coordinates: elements that move pixels call
 * its transform function, or drop it if they cannot describe the move. */
const GstMetaInfo *gst_cuv_table_register_placed (const gchar *name);

G_END_DECLS

#endif
