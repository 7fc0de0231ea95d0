/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of this folder share. */
#ifndef GST_CUV_LAUNCH_PRIVATE_H
#define GST_CUV_LAUNCH_PRIVATE_H

#include "launch/launch.h"

G_BEGIN_DECLS

typedef struct {
  GstElement *element;
  const gchar *factory; /* its name, or that of the element's type */
  gchar *name;
  gchar *written_name; /* NULL: GStreamer generates one */
  GString *properties; /* " name=value name=value" */
  guint n_properties;
  gchar *caps;         /* of a filter that can be written as caps, or NULL */
  gboolean referenced; /* the text has "name." */
  gboolean written;
} GstCuvLaunchNode;

typedef struct {
  GstCuvLaunchNode *from, *to;
  gchar *src, *sink; /* names of pads; NULL: not needed */
  gboolean written;
} GstCuvLaunchLink;

typedef struct {
  GPtrArray *nodes; /* GstCuvLaunchNode, in the order of the pipeline */
  GPtrArray *links; /* GstCuvLaunchLink, by source element and pad */
  GString *notes;
  GString *text;
} GstCuvLaunch;

void gst_cuv_launch_note (GstCuvLaunch *self, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* ---- launch-links.c ---- */

void gst_cuv_launch_collect (GstCuvLaunch *self, GstBin *bin);
void gst_cuv_launch_node_free (gpointer node);
void gst_cuv_launch_link_free (gpointer link);

/* ---- launch-value.c ---- */

/* Appends " name=value" for each property that differs from that of a new
 * element. */
void gst_cuv_launch_add_properties (GstCuvLaunch *self, GstCuvLaunchNode *node);
/* Appends " pad::name=value" for each property of a pad that is not the
 * default. Returns whether there was one. */
gboolean gst_cuv_launch_add_pad (
    GstCuvLaunch *self, GstCuvLaunchNode *node, GstPad *pad);
/* Appends " name=value", quoted. */
void gst_cuv_launch_add_text (
    GString *out, const gchar *name, const gchar *text, gboolean is_string);

G_END_DECLS

#endif
