/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "commands.h"

#include <gio/gio.h>
#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

#include "farm-util.h"

#define PREFIX "lease." /* prefix of the keys of leases */

/* Prints UTF-8 in all locales, unlike g_print(), so that `put` can read it, and
 * frees the text. */
static void
print_text (gchar *text)
{
  fputs (text, stdout);
  g_free (text);
}

static gboolean
check_name (const gchar *camera, GError **error)
{
  if (farm_is_name (camera))
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "'%s' is not a valid camera name (" FARM_NAME_RULE ")", camera);
  return FALSE;
}

/* "-" reads standard input: passwords on a command line are visible to all. */
static gchar *
read_value (const gchar *value, GError **error)
{
  gchar *text = NULL;

  if (!g_str_equal (value, "-"))
    return g_strdup (value);
  g_file_get_contents ("/dev/stdin", &text, NULL, error);
  return text != NULL ? g_strstrip (text) : NULL;
}

gboolean
command_put (
    Store *store, const gchar *camera, const gchar *value, GError **error)
{
  gchar *text = read_value (value, error);
  JsonObject *object = NULL;
  gboolean ok = text != NULL && check_name (camera, error);

  if (ok) {
    object = farm_parse_object (text, error);
    if (object == NULL)
      g_prefix_error (error, "value of camera '%s': ", camera);
    ok = object != NULL
        && store_put_again (store, STORE_CAMERAS, camera, text, error)
            == STORE_OK;
  }
  if (object != NULL)
    json_object_unref (object);
  g_free (text);
  return ok;
}

/* Returns the camera's entry, or NULL with an error if there is no such
 * camera. */
static StoreEntry *
find_camera (Store *store, const gchar *camera, GError **error)
{
  StoreEntry *entry = NULL;

  if (!check_name (camera, error)
      || store_get (store, STORE_CAMERAS, camera, &entry, error) != STORE_OK)
    return NULL;
  if (entry->value != NULL)
    return entry;
  store_entry_free (entry);
  g_set_error (
      error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no camera '%s'", camera);
  return NULL;
}

gboolean
command_get (Store *store, const gchar *camera, GError **error)
{
  StoreEntry *entry = find_camera (store, camera, error);

  if (entry == NULL)
    return FALSE;
  print_text (g_strconcat (entry->value, "\n", NULL));
  store_entry_free (entry);
  return TRUE;
}

gboolean
command_remove (Store *store, const gchar *camera, GError **error)
{
  StoreEntry *entry = find_camera (store, camera, error);

  if (entry == NULL)
    return FALSE;
  store_entry_free (entry);
  return store_put_again (store, STORE_CAMERAS, camera, NULL, error)
      == STORE_OK;
}

/* ---- list ---- */

static void
add_lease (GHashTable *index, const StoreEntry *entry)
{
  JsonObject *lease =
      g_str_has_prefix (entry->key, PREFIX) && entry->value != NULL
      ? farm_parse_object (entry->value, NULL)
      : NULL;

  if (lease != NULL)
    g_hash_table_insert (index, g_strdup (entry->key + strlen (PREFIX)), lease);
}

/* Adds missing leases: one that was renewed while the bucket was listed may not
 * be in the list. */
static void
add_missing (Store *store, GPtrArray *cameras, GHashTable *index)
{
  for (guint i = 0; i < cameras->len; i++) {
    const StoreEntry *camera = cameras->pdata[i];
    gchar *key = g_strconcat (PREFIX, camera->key, NULL);
    StoreEntry *lease;

    if (!g_hash_table_contains (index, camera->key)
        && store_get (store, STORE_LEASES, key, &lease, NULL) == STORE_OK) {
      add_lease (index, lease);
      store_entry_free (lease);
    }
    g_free (key);
  }
}

/* Returns a table from camera to lease, NULL on failure. */
static GHashTable *
list_leases (Store *store, GPtrArray *cameras, GError **error)
{
  GPtrArray *leases = store_list (store, STORE_LEASES, error);
  GHashTable *index;

  if (leases == NULL)
    return NULL;
  index = g_hash_table_new_full (
      g_str_hash, g_str_equal, g_free, (GDestroyNotify) json_object_unref);
  for (guint i = 0; i < leases->len; i++)
    add_lease (index, leases->pdata[i]);
  g_ptr_array_unref (leases);
  add_missing (store, cameras, index);
  return index;
}

/* Returns a member without control characters, which would break the table or
 * control the terminal. */
static gchar *
lease_text (JsonObject *lease, const gchar *member, const gchar *otherwise)
{
  gchar *text = g_strdup (
      lease != NULL ? farm_member (lease, member, otherwise) : otherwise);

  for (gchar *c = text; *c != '\0'; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  return text;
}

static gint64
lease_number (JsonObject *lease, const gchar *member)
{
  return lease != NULL ? farm_int_member (lease, member, 0) : 0;
}

static void
print_row (const gchar *camera, JsonObject *lease, gint width)
{
  gchar *worker = lease_text (lease, "worker", "-");
  gchar *state = lease_text (lease, "state", lease != NULL ? "taken" : "free");
  gchar *error = lease_text (lease, "error", "");

  print_text (g_strdup_printf ("%-*s  %-16s  %-9s  %8" G_GINT64_FORMAT
                               "  %10" G_GINT64_FORMAT "  %s\n",
      width, camera, worker, state, lease_number (lease, "restarts"),
      lease_number (lease, "buffers"), error));
  g_free (worker);
  g_free (state);
  g_free (error);
}

static void
print_list_table (GPtrArray *cameras, GHashTable *leases)
{
  gint width = (gint) strlen ("CAMERA");

  for (guint i = 0; i < cameras->len; i++)
    width =
        MAX (width, (gint) strlen (((StoreEntry *) cameras->pdata[i])->key));
  print_text (g_strdup_printf ("%-*s  %-16s  %-9s  %8s  %10s  %s\n", width,
      "CAMERA", "WORKER", "STATE", "RESTARTS", "BUFFERS", "LAST ERROR"));
  for (guint i = 0; i < cameras->len; i++) {
    const gchar *name = ((StoreEntry *) cameras->pdata[i])->key;

    print_row (name, g_hash_table_lookup (leases, name), width);
  }
}

/* Removes the id, which distinguishes a worker from a later process of the same
 * name: only workers need it. */
static JsonObject *
without_id (JsonObject *lease)
{
  JsonObject *copy = json_object_new ();
  JsonObjectIter iter;
  const gchar *name;
  JsonNode *node;

  json_object_iter_init (&iter, lease);
  while (json_object_iter_next (&iter, &name, &node))
    if (!g_str_equal (name, "id"))
      json_object_set_member (copy, name, json_node_copy (node));
  return copy;
}

static JsonNode *
lease_row (const gchar *camera, JsonObject *lease)
{
  JsonNode *node = json_node_alloc ();
  JsonObject *row = json_object_new ();

  json_object_set_string_member (row, "camera", camera);
  if (lease != NULL)
    json_object_set_object_member (row, "lease", without_id (lease));
  json_node_init_object (node, row);
  json_object_unref (row);
  return node;
}

static void
print_list_json (GPtrArray *cameras, GHashTable *leases)
{
  JsonArray *rows = json_array_new ();
  JsonNode *node = json_node_alloc ();
  gchar *text;

  for (guint i = 0; i < cameras->len; i++) {
    const gchar *name = ((StoreEntry *) cameras->pdata[i])->key;

    json_array_add_element (
        rows, lease_row (name, g_hash_table_lookup (leases, name)));
  }
  json_node_init_array (node, rows);
  text = json_to_string (node, FALSE);
  print_text (g_strconcat (text, "\n", NULL));
  g_free (text);
  json_node_unref (node);
  json_array_unref (rows);
}

static gint
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (
      (*(StoreEntry *const *) a)->key, (*(StoreEntry *const *) b)->key);
}

gboolean
command_list (Store *store, gboolean json, GError **error)
{
  GPtrArray *cameras = store_list (store, STORE_CAMERAS, error);
  GHashTable *leases =
      cameras != NULL ? list_leases (store, cameras, error) : NULL;
  const gboolean ok = leases != NULL;

  if (ok) {
    g_ptr_array_sort (cameras, compare_keys);
    if (json)
      print_list_json (cameras, leases);
    else
      print_list_table (cameras, leases);
    g_hash_table_unref (leases);
  }
  g_clear_pointer (&cameras, g_ptr_array_unref);
  return ok;
}
