/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of rcdtrack: names, ranges, where their values are. */
#ifndef GST_RCD_PROPERTIES_H
#define GST_RCD_PROPERTIES_H

#include "gstrcdtracksettings.h"

G_BEGIN_DECLS

enum {
  GST_RCD_PROP_TARGETS = 1, /* read-only: no setting */
  GST_RCD_PROP_OBJECT_CLASS,
  GST_RCD_PROP_TARGET_IMAGE,
  GST_RCD_PROP_SCALES,
  GST_RCD_PROP_FIRST, /* of the table */
};

/* Where the value of a property of the table is. */
gpointer gst_rcd_property_place (GstRcdValues *values, guint id);

void gst_rcd_properties_reset (GstRcdValues *values);
void gst_rcd_properties_install (GObjectClass *klass);

G_END_DECLS

#endif
