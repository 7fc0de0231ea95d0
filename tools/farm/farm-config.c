/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "farm-config.h"

#include <string.h>
#include <unistd.h>

#include "cuvfile.h"
#include "farm-util.h"
#include "key-file.h"

#define SECOND G_USEC_PER_SEC

/* ---- groups ---- */

static gboolean
read_tls (const KeyGroup *group, NatsConfig *self, GError **error)
{
  gchar *mode = NULL;
  gboolean ok;

  key_read_text (group, "tls", &mode);
  ok = mode == NULL || g_str_equal (mode, "none")
      || g_str_equal (mode, "verify") || g_str_equal (mode, "insecure");
  if (!ok)
    key_fail (error, "[nats] tls: '%s' is not none, verify or insecure", mode);
  self->tls = mode != NULL && !g_str_equal (mode, "none");
  self->tls_verify = self->tls && !g_str_equal (mode, "insecure");
  g_free (mode);
  key_read_text (group, "tls-ca-file", &self->tls_ca);
  key_read_text (group, "tls-certificate-file", &self->tls_certificate);
  key_read_text (group, "tls-key-file", &self->tls_key);
  if (ok && (self->tls_certificate == NULL) != (self->tls_key == NULL))
    return key_fail (
        error, "[nats] needs both tls-certificate-file and tls-key-file");
  return ok;
}

/* The library accepts a host without a scheme, too. */
static gboolean
check_server (const gchar *url, GError **error)
{
  static const gchar *const schemes[] = { "nats", "tls", NULL };
  const gchar *rest = strstr (url, "://");
  gchar *scheme = g_strndup (url, rest != NULL ? (gsize) (rest - url) : 0);
  gboolean ok =
      *url != '\0' && (rest == NULL || g_strv_contains (schemes, scheme));

  g_free (scheme);
  if (strchr (url, '@') != NULL)
    return key_fail (error,
        "[nats] servers: a URL must not contain a password: use user and "
        "password-file, or token-file");
  if (!ok)
    return key_fail (
        error, "[nats] servers: '%s' is not a URL like nats://host:4222", url);
  return TRUE;
}

static gboolean
read_servers (const KeyGroup *group, NatsConfig *self, GError **error)
{
  gchar *text = NULL;

  key_read_text (group, "servers", &text);
  if (text != NULL) {
    g_strfreev (self->servers);
    g_strchomp (text);
    if (g_str_has_suffix (text, ";") && strlen (text) > 1)
      text[strlen (text) - 1] = '\0'; /* GKeyFile's lists end with a
                                       * separator */
    self->servers = g_strsplit_set (text, ";,", -1);
    g_free (text);
  }
  for (guint i = 0; self->servers[i] != NULL; i++) {
    g_strstrip (self->servers[i]);
    if (!check_server (self->servers[i], error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
check_bucket (const gchar *key, const gchar *name, GError **error)
{
  if (farm_is_name (name) && strpbrk (name, ".=") == NULL)
    return TRUE;
  return key_fail (error,
      "[nats] %s: '%s' is not a valid bucket name (letters, digits, _ and -)",
      key, name);
}

/* Reports a missing file at the start and not at each attempt to connect. */
static gboolean
check_file (const gchar *key, const gchar *path, GError **error)
{
  if (path == NULL || cuv_file_check (path, error))
    return TRUE;
  g_prefix_error (error, "[nats] %s: ", key);
  return FALSE;
}

static gboolean
check_nats_files (const NatsConfig *self, GError **error)
{
  return check_file ("credentials-file", self->credentials, error)
      && check_file ("tls-ca-file", self->tls_ca, error)
      && check_file ("tls-certificate-file", self->tls_certificate, error)
      && check_file ("tls-key-file", self->tls_key, error);
}

static gboolean
read_nats (GKeyFile *file, NatsConfig *self, GError **error)
{
  static const gchar *const known[] = { "servers", "user", "password-file",
    "password-env", "token-file", "token-env", "credentials-file", "tls",
    "tls-ca-file", "tls-certificate-file", "tls-key-file", "cameras-bucket",
    "leases-bucket", "replicas", NULL };
  const KeyGroup group = { file, "nats" };
  guint replicas = 1;

  key_read_text (&group, "user", &self->user);
  key_read_text (&group, "credentials-file", &self->credentials);
  key_read_text (&group, "cameras-bucket", &self->cameras);
  key_read_text (&group, "leases-bucket", &self->leases);
  if (!key_check_names (&group, known, error)
      || !read_servers (&group, self, error)
      || !key_read_secret (&group, "password", &self->password, error)
      || !key_read_secret (&group, "token", &self->token, error)
      || !read_tls (&group, self, error) || !check_nats_files (self, error)
      || !check_bucket ("cameras-bucket", self->cameras, error)
      || !check_bucket ("leases-bucket", self->leases, error)
      || !key_read_count (&group, "replicas", 5, &replicas, error))
    return FALSE;
  if (g_str_equal (self->cameras, self->leases))
    return key_fail (error,
        "[nats] cameras-bucket and leases-bucket are both '%s': give each its "
        "own name",
        self->cameras);
  self->replicas = (gint) MAX (replicas, 1);
  if ((self->user == NULL) != (self->password == NULL))
    return key_fail (error,
        "[nats] needs both user and its password-file or "
        "password-env");
  return TRUE;
}

static gboolean
read_worker (GKeyFile *file, FarmConfig *self, GError **error)
{
  static const gchar *const known[] = { "name", "capacity", "lease-age",
    "outage-grace", "rebalance", "stop-timeout", "listen", NULL };
  const KeyGroup group = { file, "worker" };
  guint capacity = 0;

  key_read_text (&group, "name", &self->name);
  key_read_text (&group, "listen", &self->listen);
  if (!key_check_names (&group, known, error)
      || !key_read_count (&group, "capacity", 100000, &capacity, error)
      || !key_read_seconds (
          &group, "lease-age", 1, 3600, &self->lease_age, error)
      || !key_read_seconds (
          &group, "outage-grace", 0, 86400 * 365, &self->outage_grace, error)
      || !key_read_boolean (&group, "rebalance", &self->rebalance, error)
      || !key_read_seconds (
          &group, "stop-timeout", 0, 3600, &self->stop_timeout, error))
    return FALSE;
  self->capacity = capacity > 0 ? capacity : G_MAXUINT;
  return TRUE;
}

static gboolean
read_restart (GKeyFile *file, FarmConfig *self, GError **error)
{
  static const gchar *const known[] = { "pause", "max-pause", "stall-timeout",
    "start-timeout", NULL };
  const KeyGroup group = { file, "restart" };

  if (!key_check_names (&group, known, error)
      || !key_read_seconds (&group, "pause", 0.1, 3600, &self->pause, error)
      || !key_read_seconds (
          &group, "max-pause", 0.1, 86400, &self->max_pause, error)
      || !key_read_seconds (
          &group, "stall-timeout", 1, 86400, &self->stall_timeout, error)
      || !key_read_seconds (
          &group, "start-timeout", 1, 86400, &self->start_timeout, error))
    return FALSE;
  if (self->max_pause < self->pause)
    return key_fail (error, "[restart] max-pause is less than pause");
  return TRUE;
}

/* Reads a group [line] or [line NAME]. */
static gboolean
read_pipeline_group (
    GKeyFile *file, const gchar *name, GHashTable *lines, GError **error)
{
  static const gchar *const known[] = { "line", NULL };
  const KeyGroup group = { file, name };
  gchar *line = NULL;

  if (!key_check_names (&group, known, error))
    return FALSE;
  key_read_text (&group, "line", &line);
  if (line == NULL)
    return key_fail (error, "[%s] needs the key 'line'", name);
  g_hash_table_insert (
      lines, g_strstrip (g_strdup (name + strlen ("line"))), line);
  return TRUE;
}

static gboolean
read_groups (GKeyFile *file, FarmConfig *self, GError **error)
{
  static const gchar *const known[] = { "nats", "worker", "restart", NULL };
  gchar **groups = g_key_file_get_groups (file, NULL);
  gboolean ok = TRUE;

  for (guint i = 0; ok && groups[i] != NULL; i++) {
    if (g_str_equal (groups[i], "line")
        || g_str_has_prefix (groups[i], "line "))
      ok = read_pipeline_group (file, groups[i], self->lines, error);
    else if (!g_strv_contains (known, groups[i]))
      ok = key_fail (error, "unknown group [%s]", groups[i]);
  }
  g_strfreev (groups);
  return ok && read_nats (file, &self->nats, error)
      && read_worker (file, self, error) && read_restart (file, self, error);
}

/* ---- the file ---- */

static FarmConfig *
config_new (void)
{
  static const gchar *const servers[] = { "nats://127.0.0.1:4222", NULL };
  FarmConfig *self = g_new0 (FarmConfig, 1);

  self->nats.servers = g_strdupv ((gchar **) servers);
  self->nats.cameras = g_strdup ("cameras");
  self->nats.leases = g_strdup ("camera-leases");
  self->name = g_strdup_printf ("%s-%d", g_get_host_name (), (int) getpid ());
  self->lease_age = self->outage_grace = self->stop_timeout = 5 * SECOND;
  self->rebalance = TRUE;
  self->pause = SECOND;
  self->max_pause = 60 * SECOND;
  self->stall_timeout = 10 * SECOND;
  self->start_timeout = 30 * SECOND;
  self->lines = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

FarmConfig *
farm_config_read (const gchar *path, const gchar *name, GError **error)
{
  FarmConfig *self = config_new ();
  GKeyFile *file = key_file_load (path, error);
  gboolean ok = file != NULL && read_groups (file, self, error);

  if (ok && name != NULL) {
    g_free (self->name);
    self->name = g_strdup (name);
  }
  if (ok && !farm_is_name (self->name))
    ok = key_fail (error,
        "[worker] name: '%s' is not a valid name (" FARM_NAME_RULE ")",
        self->name);
  g_clear_pointer (&file, g_key_file_unref);
  if (ok)
    return self;
  g_prefix_error (error, "%s: ", path);
  farm_config_free (self);
  return NULL;
}

void
farm_config_free (FarmConfig *self)
{
  NatsConfig *nats = &self->nats;

  g_strfreev (nats->servers);
  g_free (nats->user);
  g_free (nats->password);
  g_free (nats->token);
  g_free (nats->credentials);
  g_free (nats->tls_ca);
  g_free (nats->tls_certificate);
  g_free (nats->tls_key);
  g_free (nats->cameras);
  g_free (nats->leases);
  g_free (self->name);
  g_free (self->listen);
  g_hash_table_unref (self->lines);
  g_free (self);
}
