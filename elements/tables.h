/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables (gstcuvmeta.h) that elements write. */
#ifndef CUV_TABLES_H
#define CUV_TABLES_H

#include "gstcuvmeta.h"

/* Registers the metas of all tables, for plugins that read them, even if
 * another process wrote them. */
static inline void
cuv_register_tables (void)
{
  static const gchar *const placed[] = { "ldp", "lines", "zone_events",
    "zone_objects", "zone_outlines", NULL };
  static const gchar *const unplaced[] = { "matches", "ntf", "pca",
    "zone_counts", "zone_heat", "zones", NULL };

  gst_cuv_meta_register_tables (placed);
  gst_cuv_meta_register_unplaced_tables (unplaced);
}

#endif
