/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens the socket of an HTTP server, and finds the URL at which it can be
 * reached. */
#include "http/http-private.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

#define BACKLOG 64

static const gchar *
listen_fix (const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE))
    return "set another port (0: any free one), or end the program that uses "
           "this one";
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED))
    return "set port to 1024 or more";
  return "set address to an IP address of this machine (127.0.0.1; 0.0.0.0: "
         "all)";
}

static gboolean
bind_and_listen (
    GSocket *listener, GInetAddress *inet, guint port, GError **error)
{
  GSocketAddress *address = g_inet_socket_address_new (inet, (guint16) port);
  gboolean ok;

  g_socket_set_blocking (listener, FALSE);
  g_socket_set_listen_backlog (listener, BACKLOG);
  ok = g_socket_bind (listener, address, TRUE, error)
      && g_socket_listen (listener, error);
  g_object_unref (address);
  return ok;
}

GSocket *
cuv_http_listen (GInetAddress *address, guint port, GError **error)
{
  GError *problem = NULL;
  GSocket *listener = g_socket_new (g_inet_address_get_family (address),
      G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, &problem);

  if (listener != NULL && bind_and_listen (listener, address, port, &problem))
    return listener;
  g_clear_object (&listener);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", problem->message,
      listen_fix (problem));
  g_error_free (problem);
  return NULL;
}

/* ---- URL ---- */

static GInetSocketAddress *
bound_address (GSocket *listener)
{
  return G_INET_SOCKET_ADDRESS (g_socket_get_local_address (listener, NULL));
}

guint
cuv_http_port (GSocket *listener)
{
  GInetSocketAddress *bound = bound_address (listener);
  const guint port = g_inet_socket_address_get_port (bound);

  g_object_unref (bound);
  return port;
}

/* Returns an address of this machine that other machines can reach, or NULL. */
static GInetAddress *
find_address (GSocketFamily family)
{
  GInetAddress *found = NULL;
  struct ifaddrs *all;

  if (getifaddrs (&all) != 0)
    return NULL;
  for (const struct ifaddrs *i = all; i != NULL && found == NULL;
       i = i->ifa_next) {
    if (i->ifa_addr == NULL || (int) i->ifa_addr->sa_family != (int) family)
      continue;
    found = g_inet_address_new_from_bytes (family == G_SOCKET_FAMILY_IPV4
            ? (const guint8 *) &((struct sockaddr_in *) i->ifa_addr)->sin_addr
            : (const guint8 *) &((struct sockaddr_in6 *) i->ifa_addr)
                  ->sin6_addr,
        family);
    if (g_inet_address_get_is_loopback (found)
        || g_inet_address_get_is_link_local (found))
      g_clear_object (&found);
  }
  freeifaddrs (all);
  return found;
}

/* Returns the host for the URL: "0.0.0.0" would be useless on another
 * machine. */
static gchar *
url_host (GInetAddress *address)
{
  const GSocketFamily family = g_inet_address_get_family (address);
  GInetAddress *found = NULL;
  gchar *host;

  if (!g_inet_address_get_is_any (address))
    return g_inet_address_to_string (address);
  found = find_address (family);
  if (found == NULL)
    found = g_inet_address_new_loopback (family);
  host = g_inet_address_to_string (found);
  g_object_unref (found);
  return host;
}

gchar *
cuv_http_url (GSocket *listener, gboolean tls)
{
  GInetSocketAddress *bound = bound_address (listener);
  gchar *host = url_host (g_inet_socket_address_get_address (bound));
  gchar *url = g_strdup_printf (
      strchr (host, ':') != NULL ? "%s://[%s]:%u" : "%s://%s:%u",
      tls ? "https" : "http", host, g_inet_socket_address_get_port (bound));

  g_free (host);
  g_object_unref (bound);
  return url;
}
