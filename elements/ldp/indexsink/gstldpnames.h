/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of entries by a pattern: text that has at most one %d, or with a width
 * %6d or %06d, for a number, and %% for a percent sign. */
#ifndef GST_LDP_NAMES_H
#define GST_LDP_NAMES_H

#include <glib.h>

G_BEGIN_DECLS

/* NULL, or what is wrong with the pattern and what to do; free it. */
gchar *gst_ldp_name_check (const gchar *pattern);

/* Whether names by this pattern differ; they do without one (NULL). */
gboolean gst_ldp_name_has_number (const gchar *pattern);

/* Of a pattern with which nothing is wrong. */
gchar *gst_ldp_name_expand (const gchar *pattern, guint64 number);

G_END_DECLS

#endif
