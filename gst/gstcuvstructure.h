/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstStructures of frames: metadata and messages. Before 1.26 GStreamer looks
 * each name up under a process-wide lock, for which the threads of many streams
 * wait: docs/benchmarks/live.md has figures. These functions look a name up
 * once per thread. */
#ifndef GST_CUV_STRUCTURE_H
#define GST_CUV_STRUCTURE_H

#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

/* Like g_quark_from_string(); 0 for NULL. */
CUV_API GQuark gst_cuv_quark (const gchar *name);

/* Like GStreamer's functions of the same names without cuv. */
CUV_API GstStructure *gst_cuv_structure_new (
    const gchar *name, ...) G_GNUC_NULL_TERMINATED G_GNUC_MALLOC;
CUV_API void gst_cuv_structure_set (
    GstStructure *self, ...) G_GNUC_NULL_TERMINATED;
CUV_API void gst_cuv_structure_take_value (
    GstStructure *self, const gchar *field, GValue *value);
CUV_API const GValue *gst_cuv_structure_get_value (
    const GstStructure *self, const gchar *field);

CUV_API const gchar *gst_cuv_structure_get_string (
    const GstStructure *self, const gchar *field);
CUV_API gboolean gst_cuv_structure_get_uint (
    const GstStructure *self, const gchar *field, guint *number);

G_END_DECLS

#endif
