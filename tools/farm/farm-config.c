/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "farm-config.h"

#include <errno.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>
#include "cuvfile.h"

#define SECOND G_USEC_PER_SEC

static gboolean
fail (GError **error, const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (
      error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, text);
  g_free (text);
  return FALSE;
}

/* ---- values ---- */

typedef struct {
  GKeyFile *file;
  const gchar *group;
} Group;

static gboolean
has (const Group *self, const gchar *key)
{
  return g_key_file_has_key (self->file, self->group, key, NULL);
}

/* As it is in the file: a gst-launch line has backslashes of its own. */
static void
read_text (const Group *self, const gchar *key, gchar **value)
{
  gchar *text = g_key_file_get_value (self->file, self->group, key, NULL);

  if (text == NULL)
    return;
  g_free (*value);
  *value = *g_strstrip (text) != '\0' ? text : NULL;
  if (*value == NULL)
    g_free (text);
}

static gboolean
read_number (const Group *self, const gchar *key, gdouble least, gdouble most,
    gdouble *value, GError **error)
{
  gchar *text = NULL, *end = NULL;
  gdouble number;
  gboolean ok;

  read_text (self, key, &text);
  if (text == NULL)
    return TRUE;
  number = g_ascii_strtod (text, &end);
  ok = end != text && *end == '\0' && number >= least && number <= most;
  if (ok)
    *value = number;
  else
    fail (error, "[%s] %s: '%s' is not a number of %g to %g", self->group, key,
        text, least, most);
  g_free (text);
  return ok;
}

static gboolean
read_count (const Group *self, const gchar *key, guint most, guint *value,
    GError **error)
{
  gdouble number = *value;

  if (!read_number (self, key, 0, most, &number, error))
    return FALSE;
  if (number != (guint) number)
    return fail (
        error, "[%s] %s: %g is not a whole number", self->group, key, number);
  *value = (guint) number;
  return TRUE;
}

static gboolean
read_seconds (const Group *self, const gchar *key, gdouble least, gdouble most,
    gint64 *value, GError **error)
{
  gdouble number = (gdouble) *value / SECOND;
  const gboolean ok = read_number (self, key, least, most, &number, error);

  *value = (gint64) (number * SECOND);
  return ok;
}

static gboolean
read_boolean (
    const Group *self, const gchar *key, gboolean *value, GError **error)
{
  GError *problem = NULL;
  gboolean read;

  if (!has (self, key))
    return TRUE;
  read = g_key_file_get_boolean (self->file, self->group, key, &problem);
  if (problem != NULL) {
    g_error_free (problem);
    return fail (error, "[%s] %s is neither true nor false", self->group, key);
  }
  *value = read;
  return TRUE;
}

static gboolean
read_secret_file (const gchar *path, gchar **value, GError **error)
{
  gsize size;

  if (!cuv_file_read (path, CUV_FILE_MAX_SECRET, value, &size, error))
    return FALSE;
  while (size > 0 && strchr ("\r\n", (*value)[size - 1]) != NULL)
    (*value)[--size] = '\0';
  return TRUE;
}

/* From KEY-file or KEY-env. */
static gboolean
read_secret (const Group *self, const gchar *key, gchar **value, GError **error)
{
  gchar *file_key = g_strconcat (key, "-file", NULL), *path = NULL;
  gchar *env_key = g_strconcat (key, "-env", NULL), *variable = NULL;
  gboolean ok = TRUE;

  read_text (self, file_key, &path);
  read_text (self, env_key, &variable);
  if (path != NULL && variable != NULL) {
    ok = fail (error, "[%s] has both %s and %s: leave one out", self->group,
        file_key, env_key);
  } else if (path != NULL) {
    ok = read_secret_file (path, value, error);
  } else if (variable != NULL) {
    *value = g_strdup (g_getenv (variable));
    if (*value == NULL)
      ok = fail (error, "[%s] %s: the environment has no %s", self->group,
          env_key, variable);
  }
  g_free (file_key);
  g_free (env_key);
  g_free (path);
  g_free (variable);
  return ok;
}

/* ---- groups ---- */

static gboolean
check_keys (const Group *self, const gchar *const *known, GError **error)
{
  gchar **keys = g_key_file_get_keys (self->file, self->group, NULL, NULL);
  gboolean ok = TRUE;

  for (guint i = 0; ok && keys != NULL && keys[i] != NULL; i++)
    if (!g_strv_contains (known, keys[i]))
      ok = fail (error, "[%s] has no key '%s'", self->group, keys[i]);
  g_strfreev (keys);
  return ok;
}

static gboolean
read_tls (const Group *group, NatsConfig *self, GError **error)
{
  gchar *mode = NULL;
  gboolean ok;

  read_text (group, "tls", &mode);
  ok = mode == NULL || g_str_equal (mode, "none")
      || g_str_equal (mode, "verify") || g_str_equal (mode, "insecure");
  if (!ok)
    fail (error, "[nats] tls: '%s' is neither none, verify nor insecure", mode);
  self->tls = mode != NULL && !g_str_equal (mode, "none");
  self->tls_verify = self->tls && !g_str_equal (mode, "insecure");
  g_free (mode);
  read_text (group, "tls-ca-file", &self->tls_ca);
  read_text (group, "tls-certificate-file", &self->tls_certificate);
  read_text (group, "tls-key-file", &self->tls_key);
  if (ok && (self->tls_certificate == NULL) != (self->tls_key == NULL))
    return fail (
        error, "[nats] needs both tls-certificate-file and tls-key-file");
  return ok;
}

/* As what the library takes. */
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
    return fail (error,
        "[nats] servers: leave the password out of the URL and use user and "
        "password-file, or token-file");
  if (!ok)
    return fail (
        error, "[nats] servers: '%s' is no URL like nats://host:4222", url);
  return TRUE;
}

static gboolean
read_servers (const Group *group, NatsConfig *self, GError **error)
{
  gchar *text = NULL;

  read_text (group, "servers", &text);
  if (text != NULL) {
    g_strfreev (self->servers);
    g_strchomp (text);
    if (g_str_has_suffix (text, ";") && strlen (text) > 1)
      text[strlen (text) - 1] = '\0'; /* as in lists of such files */
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
  return fail (error,
      "[nats] %s: '%s' is no name of a bucket (letters, digits, _ and -)", key,
      name);
}

/* At the start, and not again and again where it is used. */
static gboolean
check_file (const gchar *key, const gchar *path, GError **error)
{
  if (path == NULL || cuv_file_check (path, error))
    return TRUE;
  g_prefix_error (error, "[nats] %s: ", key);
  return FALSE;
}

static gboolean
check_files (const NatsConfig *self, GError **error)
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
  const Group group = { file, "nats" };
  guint replicas = 1;

  read_text (&group, "user", &self->user);
  read_text (&group, "credentials-file", &self->credentials);
  read_text (&group, "cameras-bucket", &self->cameras);
  read_text (&group, "leases-bucket", &self->leases);
  if (!check_keys (&group, known, error) || !read_servers (&group, self, error)
      || !read_secret (&group, "password", &self->password, error)
      || !read_secret (&group, "token", &self->token, error)
      || !read_tls (&group, self, error) || !check_files (self, error)
      || !check_bucket ("cameras-bucket", self->cameras, error)
      || !check_bucket ("leases-bucket", self->leases, error)
      || !read_count (&group, "replicas", 5, &replicas, error))
    return FALSE;
  if (g_str_equal (self->cameras, self->leases))
    return fail (error,
        "[nats] cameras-bucket and leases-bucket are both '%s': each lease "
        "would be a camera",
        self->cameras);
  self->replicas = (gint) MAX (replicas, 1);
  if ((self->user == NULL) != (self->password == NULL))
    return fail (error,
        "[nats] needs both user and its password-file or "
        "password-env");
  return TRUE;
}

static gboolean
read_worker (GKeyFile *file, FarmConfig *self, GError **error)
{
  static const gchar *const known[] = { "name", "capacity", "lease-age",
    "outage-grace", "rebalance", "stop-timeout", "listen", NULL };
  const Group group = { file, "worker" };
  guint capacity = 0;

  read_text (&group, "name", &self->name);
  read_text (&group, "listen", &self->listen);
  if (!check_keys (&group, known, error)
      || !read_count (&group, "capacity", 100000, &capacity, error)
      || !read_seconds (&group, "lease-age", 1, 3600, &self->lease_age, error)
      || !read_seconds (
          &group, "outage-grace", 0, 86400 * 365, &self->outage_grace, error)
      || !read_boolean (&group, "rebalance", &self->rebalance, error)
      || !read_seconds (
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
  const Group group = { file, "restart" };

  if (!check_keys (&group, known, error)
      || !read_seconds (&group, "pause", 0.1, 3600, &self->pause, error)
      || !read_seconds (
          &group, "max-pause", 0.1, 86400, &self->max_pause, error)
      || !read_seconds (
          &group, "stall-timeout", 1, 86400, &self->stall_timeout, error)
      || !read_seconds (
          &group, "start-timeout", 1, 86400, &self->start_timeout, error))
    return FALSE;
  if (self->max_pause < self->pause)
    return fail (error, "[restart] max-pause is less than pause");
  return TRUE;
}

/* [line] and [line NAME]. */
static gboolean
read_line (GKeyFile *file, const gchar *name, GHashTable *lines, GError **error)
{
  static const gchar *const known[] = { "line", NULL };
  const Group group = { file, name };
  gchar *line = NULL;

  if (!check_keys (&group, known, error))
    return FALSE;
  read_text (&group, "line", &line);
  if (line == NULL)
    return fail (error, "[%s] has no line", name);
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
      ok = read_line (file, groups[i], self->lines, error);
    else if (!g_strv_contains (known, groups[i]))
      ok = fail (error, "there is no group [%s]", groups[i]);
  }
  g_strfreev (groups);
  return ok && read_nats (file, &self->nats, error)
      && read_worker (file, self, error) && read_restart (file, self, error);
}

/* ---- the file ---- */

/* A backslash at the end continues a line, but not a comment, as in systemd's
 * files: a gst-launch line is long. */
static gchar *
join_lines (const gchar *text)
{
  /* RAW: UTF-8 would be checked again at each match */
  GRegex *regex = g_regex_new (
      "^([ \t]*#.*)|\\\\\r?\n[ \t]*", G_REGEX_MULTILINE | G_REGEX_RAW, 0, NULL);
  gchar *joined = g_regex_replace (regex, text, -1, 0, "\\1", 0, NULL);

  g_regex_unref (regex);
  return joined;
}

/* GKeyFile would take the last of each key. */
static gboolean
check_once (const gchar *text, GError **error)
{
  GHashTable *groups =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GRegex *regex =
      g_regex_new ("^\\[.*\\]", G_REGEX_MULTILINE | G_REGEX_RAW, 0, NULL);
  GMatchInfo *match;
  gboolean ok = TRUE;

  g_regex_match (regex, text, 0, &match);
  while (ok && g_match_info_matches (match)) {
    gchar *group = g_match_info_fetch (match, 0);

    if (g_hash_table_contains (groups, group))
      ok = fail (error, "the group %s is there twice", group);
    g_hash_table_add (groups, group);
    g_match_info_next (match, NULL);
  }
  g_match_info_free (match);
  g_regex_unref (regex);
  g_hash_table_unref (groups);
  return ok;
}

static GKeyFile *
load (const gchar *path, GError **error)
{
  GKeyFile *file = g_key_file_new ();
  gchar *text = NULL, *joined = NULL;
  gboolean ok = cuv_file_read (path, CUV_FILE_MAX_TEXT, &text, NULL, error);

  if (ok && !g_utf8_validate (text, -1, NULL))
    ok = fail (error, "the file is not UTF-8");
  if (ok) {
    joined = join_lines (text);
    ok = check_once (joined, error)
        && g_key_file_load_from_data (file, joined, (gsize) -1, 0, error);
  }
  g_free (text);
  g_free (joined);
  if (ok)
    return file;
  g_key_file_unref (file);
  return NULL;
}

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
  GKeyFile *file = load (path, error);
  gboolean ok = file != NULL && read_groups (file, self, error);

  if (ok && name != NULL) {
    g_free (self->name);
    self->name = g_strdup (name);
  }
  if (ok && !farm_is_name (self->name))
    ok = fail (error,
        "[worker] name: '%s' is no name (letters, digits, _, - and .)",
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
