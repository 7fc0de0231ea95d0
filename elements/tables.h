/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables (gstcuvmeta.h) that elements write: those that the meson.build of
 * each family adds to placed_tables and unplaced_tables. */
#ifndef CUV_TABLES_H
#define CUV_TABLES_H

#include "config.h"
#include "gstcuvmeta.h"

/* Registers the metas of all tables, for plugins that read them, even if
 * another process wrote them. */
static inline void
cuv_register_tables (void)
{
  static const gchar *const placed[] = { CUV_PLACED_TABLES, NULL };
  static const gchar *const unplaced[] = { CUV_UNPLACED_TABLES, NULL };

  gst_cuv_meta_register_tables (placed);
  gst_cuv_meta_register_unplaced_tables (unplaced);
}

#endif
