/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CUV_TLS_H
#define CUV_TLS_H

#include <gio/gio.h>

G_BEGIN_DECLS

/* Whether GLib has TLS: glib-networking is installed. */
gboolean cuv_tls_is_available (void);

/* From PEM files; key NULL: it is in the certificate's file. NULL with an error
 * that names both if one cannot be read, or is of another certificate, with
 * which every handshake would fail: one is tried, for GLib does not compare
 * them. */
GTlsCertificate *cuv_tls_load_certificate (
    const gchar *certificate, const gchar *key, GError **error);

G_END_DECLS

#endif
