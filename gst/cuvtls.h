/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Certificates and keys from PEM files, checked at the start rather than at the
 * first connection. */
#ifndef CUV_TLS_H
#define CUV_TLS_H

#include <gio/gio.h>

G_BEGIN_DECLS

/* Whether GLib supports TLS, which means that glib-networking is installed. */
gboolean cuv_tls_is_available (void);

/* Loads a certificate and its key from PEM files; if key is NULL, the
 * certificate's file has the key. Tries a TLS handshake with them, since GLib
 * does not check that they belong together. Returns NULL with an error that
 * names both files if one cannot be read or the handshake fails. */
GTlsCertificate *cuv_tls_load_certificate (
    const gchar *certificate, const gchar *key, GError **error);

G_END_DECLS

#endif
