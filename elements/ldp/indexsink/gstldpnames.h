/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Patterns of entry names: text with at most one number, %d or with a width %6d
 * or %06d, and %% for a percent sign. */
#ifndef GST_LDP_NAMES_H
#define GST_LDP_NAMES_H

#include <glib.h>

G_BEGIN_DECLS

/* Returns NULL, or the problem of the pattern and what to do; free it. */
gchar *gst_ldp_name_check (const gchar *pattern);

/* Whether names of this pattern differ by number; NULL: the default, they do.
 */
gboolean gst_ldp_name_has_number (const gchar *pattern);

/* The pattern must be valid. */
gchar *gst_ldp_name_expand (const gchar *pattern, guint64 number);

G_END_DECLS

#endif
