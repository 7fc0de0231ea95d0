/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who may see frames. Any page can make a browser send requests to this server.
 * Foreign pages do not get frames, because responses allow only pages of this
 * server to read them, requests name the page that sent them (Origin,
 * Sec-Fetch-Site), and Host must not be a name that somebody else's DNS maps to
 * this machine (DNS rebinding). If a header comes twice, its values are joined
 * to a list, which matches nothing. */
#include "server/server-private.h"

#include <string.h>
#include <unistd.h>

#define POLICY                                                                 \
  "default-src 'none'; script-src 'self'; style-src 'self'; "                  \
  "img-src 'self' blob:; connect-src 'self'; base-uri 'none'; "                \
  "form-action 'none'; frame-ancestors 'none'"

void
cuv_web_add_headers (SoupMessageHeaders *headers)
{
  static const gchar *const list[][2] = {
    { "Content-Security-Policy", POLICY },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Referrer-Policy", "no-referrer" },
    { "X-Frame-Options", "DENY" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (list); i++)
    soup_message_headers_replace (headers, list[i][0], list[i][1]);
}

void
cuv_web_allow_report (SoupMessageHeaders *headers)
{
  soup_message_headers_replace (headers, "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox");
}

/* ---- token ---- */

gchar *
cuv_web_digest (GBytes *token)
{
  return token != NULL ? g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, token)
                       : NULL;
}

/* Compares two texts of the same length in constant time. */
static gboolean
texts_match (const gchar *text, const gchar *expected)
{
  guint difference = 0;

  for (gsize i = 0; text[i] != '\0'; i++)
    difference |= (guint) (text[i] ^ expected[i]);
  return difference == 0;
}

static CuvWebAccess
token_access (const CuvWebServer *self, const gchar *token)
{
  gchar *digest = g_compute_checksum_for_string (G_CHECKSUM_SHA256, token, -1);
  CuvWebAccess access = CUV_WEB_NO_ACCESS;

  if (texts_match (digest, self->token_digest))
    access = CUV_WEB_CHANGE;
  else if (self->read_token_digest != NULL
      && texts_match (digest, self->read_token_digest))
    access = CUV_WEB_READ;
  g_free (digest);
  return access;
}

static CuvWebAccess
query_access (const CuvWebServer *self, GUri *uri)
{
  const gchar *query = g_uri_get_query (uri);
  GHashTable *fields = query != NULL ? soup_form_decode (query) : NULL;
  const gchar *token =
      fields != NULL ? g_hash_table_lookup (fields, "token") : NULL;
  CuvWebAccess access =
      token != NULL ? token_access (self, token) : CUV_WEB_NO_ACCESS;

  g_clear_pointer (&fields, g_hash_table_unref);
  return access;
}

CuvWebAccess
cuv_web_access (
    const CuvWebServer *self, GUri *uri, SoupMessageHeaders *request)
{
  const gchar *header = soup_message_headers_get_one (request, "Authorization");

  if (self->token_digest == NULL)
    return CUV_WEB_CHANGE;
  if (header != NULL && g_ascii_strncasecmp (header, "Bearer ", 7) == 0)
    return token_access (self, header + 7);
  return query_access (self, uri);
}

/* ---- tickets ---- */

gchar *
cuv_web_make_ticket (void)
{
  guint64 bits[2];

  return getentropy (bits, sizeof bits) == 0
      ? g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
          bits[0], bits[1])
      : NULL;
}

gboolean
cuv_web_is_ticket (const CuvWebStream *stream, const gchar *text)
{
  return stream->ticket != NULL && strlen (text) == strlen (stream->ticket)
      && texts_match (text, stream->ticket);
}

/* ---- host and origin ---- */

/* Returns the host of "host:port", in lower case, without the brackets of IPv6.
 * Returns NULL if the text is not valid. */
static gchar *
host_of (const gchar *authority)
{
  gchar *uri = g_strdup_printf ("http://%s/", authority), *host = NULL;

  if (strpbrk (authority, "/?#@\\") != NULL
      || !g_uri_split_network (uri, G_URI_FLAGS_NONE, NULL, &host, NULL, NULL))
    host = NULL;
  g_free (uri);
  if (host != NULL) {
    uri = host;
    host = g_ascii_strdown (uri, -1);
    g_free (uri);
  }
  return host;
}

static gboolean
is_listed (const CuvWebServer *self, const gchar *host)
{
  return self->allowed_hosts != NULL
      && g_strv_contains ((const gchar *const *) self->allowed_hosts, host);
}

/* IP addresses and localhost are always allowed, as they need no DNS. */
gboolean
cuv_web_host_allowed (const CuvWebServer *self, SoupMessageHeaders *request)
{
  const gchar *header = soup_message_headers_get_list (request, "Host");
  gchar *host = header != NULL ? host_of (header) : NULL;
  gboolean allowed = host != NULL
      && (g_hostname_is_ip_address (host) || g_str_equal (host, "localhost")
          || g_str_has_suffix (host, ".localhost") || is_listed (self, host));

  g_free (host);
  return allowed;
}

static gboolean
same_site (SoupMessageHeaders *request)
{
  const gchar *site = soup_message_headers_get_list (request, "Sec-Fetch-Site");
  const gchar *mode = soup_message_headers_get_one (request, "Sec-Fetch-Mode");

  return site == NULL || g_str_equal (site, "same-origin")
      || g_str_equal (site, "none") || g_strcmp0 (mode, "navigate") == 0;
}

/* Origin must equal Host: another port, or another one of allowed-hosts, is
 * another origin. https is allowed without TLS here, since a proxy may add it.
 */
gboolean
cuv_web_origin_allowed (const CuvWebServer *self, SoupMessageHeaders *request)
{
  const gchar *origin = soup_message_headers_get_list (request, "Origin");
  const gchar *host = soup_message_headers_get_list (request, "Host");
  const gchar *rest = NULL;

  if (origin == NULL)
    return same_site (request);
  if (g_str_has_prefix (origin, "https://"))
    rest = origin + 8;
  else if (g_str_has_prefix (origin, "http://") && self->certificate == NULL)
    rest = origin + 7;
  return rest != NULL && host != NULL && g_ascii_strcasecmp (rest, host) == 0;
}
