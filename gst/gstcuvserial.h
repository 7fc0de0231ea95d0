/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metas as bytes, for other processes: unixfdsink and cudaipcsink send them,
 * and their sources read them. Before GStreamer 1.24 no metas are sent.
 *
 *   gstcuvserial.c           tables and regions of interest; checksum, names
 *   gstcuvserialvalues.c     structures and their values
 *   gstcuvserialanalytics.c  GstAnalytics
 *   gstcuvserialgroups.c     its groups, keypoints and semantic tags */
#ifndef GST_CUV_SERIAL_H
#define GST_CUV_SERIAL_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Enables sending metas of this custom type. */
void gst_cuv_serial_table (const GstMetaInfo *info);

/* Enables sending regions of interest and GstAnalytics, whichever element wrote
 * them, unless GStreamer itself sends them. Later calls do nothing. */
void gst_cuv_serial_objects (void);

/* Returns the quark of a name that came from another process, or 0 if there
 * were too many new names: quarks are never freed. */
GQuark gst_cuv_serial_quark (const gchar *name);

#if GST_CHECK_VERSION(1, 24, 0)
/* Appends a variant and its checksum, and sets the version. Sinks the variant.
 */
gboolean gst_cuv_serial_append (
    GstByteArrayInterface *data, guint8 *version, GVariant *variant);

/* Returns the variant, or NULL if the bytes are not an intact variant of this
 * type and version. */
GVariant *gst_cuv_serial_parse (
    const gchar *type, const guint8 *data, gsize size, guint8 version);

#define GST_CUV_SERIAL_VALUE "(yv)"            /* type; content */
#define GST_CUV_SERIAL_STRUCTURE "(sa(s(yv)))" /* name; fields */

/* Converts a structure. Keeps fields with booleans, numbers, fractions,
 * strings, GBytes, and arrays, lists and structures of these. */
GVariant *gst_cuv_serial_from_structure (const GstStructure *structure);

/* Converts a variant. Returns NULL if the name is not valid. Skips fields that
 * are not valid. */
GstStructure *gst_cuv_serial_to_structure (GVariant *variant);

void gst_cuv_serial_set_functions (const GstMetaInfo *info,
    GstMetaSerializeFunction serialize, GstMetaDeserializeFunction deserialize);

/* Part of gst_cuv_serial_objects(). */
void gst_cuv_serial_analytics (void);
#endif

G_END_DECLS

#endif
