/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration of cuvision-farm. */
#ifndef FARM_CONFIG_H
#define FARM_CONFIG_H

#include <glib.h>

/* Group [nats]. */
typedef struct {
  gchar **servers;
  gchar *user;
  gchar *password; /* read from password-file or password-env */
  gchar *token;
  gchar *credentials; /* path */
  gboolean tls, tls_verify;
  gchar *tls_ca, *tls_certificate, *tls_key; /* paths */
  gchar *cameras, *leases;                   /* names of buckets */
  gint replicas;
} NatsConfig;

/* The configuration file, whose keys docs/cuvision-farm.md describes. Times are
 * in microseconds. */
typedef struct {
  NatsConfig nats;
  /* [worker] */
  gchar *name;
  guint capacity; /* G_MAXUINT: no limit */
  gint64 lease_age, outage_grace;
  gboolean rebalance;
  gint64 stop_timeout;
  gchar *listen; /* host:port, or NULL */
  /* [restart] */
  gint64 pause, max_pause, stall_timeout, start_timeout;
  /* [line] and [line NAME]: NAME -> gst-launch line; "": the default */
  GHashTable *lines;
} FarmConfig;

/* Reads the file. name: replaces [worker] name, unless it is NULL. Errors name
 * the file. */
FarmConfig *farm_config_read (
    const gchar *path, const gchar *name, GError **error);
void farm_config_free (FarmConfig *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FarmConfig, farm_config_free)

#endif
