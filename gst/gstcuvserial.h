/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metas as bytes, for other processes: what unixfdsink and cudaipcsink send and
 * their sources receive. Needs GStreamer 1.24, else nothing is sent. */
#ifndef GST_CUV_SERIAL_H
#define GST_CUV_SERIAL_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Makes a custom meta travel. */
void gst_cuv_serial_table (const GstMetaInfo *info);

/* Makes regions of interest and GstAnalytics travel, whoever writes them,
 * unless GStreamer does so by itself. Later calls do nothing. */
void gst_cuv_serial_objects (void);

/* The quark of a name that another process may have made up, 0 beyond a limit:
 * quarks are never freed. */
GQuark gst_cuv_serial_quark (const gchar *name);

#if GST_CHECK_VERSION(1, 24, 0)
/* Appends a variant, which is sunk, and a checksum; sets the version. */
gboolean gst_cuv_serial_append (
    GstByteArrayInterface *data, guint8 *version, GVariant *variant);

/* NULL if the bytes are no whole variant of this type, or of another version.
 */
GVariant *gst_cuv_serial_parse (
    const gchar *type, const guint8 *data, gsize size, guint8 version);

#define GST_CUV_SERIAL_VALUE "(yv)"            /* type; content */
#define GST_CUV_SERIAL_STRUCTURE "(sa(s(yv)))" /* name; fields */

/* Booleans, numbers, fractions, strings, GBytes, and arrays, lists and
 * structures of these. Other fields are left out. */
GVariant *gst_cuv_serial_from_structure (const GstStructure *structure);

/* NULL if the name is none. Fields that make no sense are left out. */
GstStructure *gst_cuv_serial_to_structure (GVariant *variant);

void gst_cuv_serial_set_functions (const GstMetaInfo *info,
    GstMetaSerializeFunction serialize, GstMetaDeserializeFunction deserialize);

/* Part of gst_cuv_serial_objects(). */
void gst_cuv_serial_analytics (void);
#endif

G_END_DECLS

#endif
