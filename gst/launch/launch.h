/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pipeline as text for gst-launch-1.0: its elements, their properties that
 * differ from the defaults, and its links.
 *
 *   launch.c        which element follows which, and their names
 *   launch-links.c  elements and links of a pipeline
 *   launch-value.c  properties: text, quotes, no passwords
 */
#ifndef GST_CUV_LAUNCH_H
#define GST_CUV_LAUNCH_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns the text, quoted for a POSIX shell; gst_parse_launch() reads it as
 * well, except for texts that begin with a double quote. Bins without a factory
 * are left out, not their elements. Passwords are replaced by PASSWORD: values
 * of properties and parts of URLs whose names contain password, token and the
 * like, and user:password@. *notes: what the text lacks, a sentence in each
 * line, or NULL. Both are to be freed. Reads properties, which may block. */
gchar *gst_cuv_launch_text (GstBin *bin, gchar **notes);

G_END_DECLS

#endif
