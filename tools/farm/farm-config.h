/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FARM_CONFIG_H
#define FARM_CONFIG_H

#include <json-glib/json-glib.h>

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

/* The configuration file; docs/cuvision-farm.md describes each key. Times are
 * microseconds, as those of farm_now(). */
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
  GHashTable *lines; /* name -> line; "" has that of cameras without "line" */
} FarmConfig;

/* name: replaces that of the file; NULL: it does not. */
FarmConfig *farm_config_read (
    const gchar *path, const gchar *name, GError **error);
void farm_config_free (FarmConfig *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FarmConfig, farm_config_free)

/* Whether the text may be a camera's or a worker's name: letters, digits, '_',
 * '-', '=' and, but for the ends, '.'. */
gboolean farm_is_name (const gchar *text);

/* Microseconds since the machine was started. Time in suspension counts, in
 * which leases run out as well. */
gint64 farm_now (void);

void farm_log (const gchar *format, ...) G_GNUC_PRINTF (1, 2);

/* Text of a member, which another program may have written. */
const gchar *farm_member (
    JsonObject *object, const gchar *name, const gchar *otherwise);

/* Of a member that is a whole number. */
gint64 farm_int_member (
    JsonObject *object, const gchar *name, gint64 otherwise);

/* Refuses what is too large or nested too deep for the parser: anybody who may
 * write to a bucket could end all workers otherwise. */
JsonObject *farm_parse_object (const gchar *text, GError **error);

/* Without passwords in URIs. */
gchar *farm_redact (const gchar *text);

#endif
