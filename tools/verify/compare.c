/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the first frame and the first value that differ. */
#include "verify.h"

#include <math.h>
#include <string.h>

#include "cuvjsonreader.h"

/* Returns the index of the first digest that differs, the number of frames if
 * none does. */
static guint
count_equal (const VerifyRun *run, const VerifyRow *row)
{
  guint i = 0;
  gboolean same = TRUE;

  while (same && i < run->frames->len && row->digests[i] != NULL) {
    gchar *digest = verify_digest (run->frames->pdata[i]);

    same = g_str_equal (digest, row->digests[i]);
    g_free (digest);
    i += same ? 1 : 0;
  }
  return i;
}

gchar *
verify_compare_row (const VerifyRun *run, const VerifyRow *row)
{
  const guint n = g_strv_length (row->digests), i = count_equal (run, row);

  if (i == n && i == run->frames->len)
    return NULL;
  if (i == n || i == run->frames->len)
    return g_strdup_printf (
        "it has %u frames, the table %u", run->frames->len, n);
  return g_strdup_printf ("frame %u differs from the table", i);
}

/* ---- values ---- */

typedef struct {
  gdouble tolerance;
  GString *path;  /* of the value that is compared */
  gchar *problem; /* the first difference */
} Comparison;

static void compare_nodes (Comparison *self, JsonNode *a, JsonNode *b);

/* Limits the length, as values may be long. */
static gchar *
print_node (JsonNode *node)
{
  gchar *text = node != NULL ? json_to_string (node, FALSE) : g_strdup ("none");

  if (strlen (text) > 60)
    strcpy (text + 57, "...");
  return text;
}

static void
note_difference (Comparison *self, JsonNode *a, JsonNode *b)
{
  gchar *text_a = print_node (a), *text_b = print_node (b);

  self->problem = g_strdup_printf ("%s is %s, but %s",
      self->path->len > 0 ? self->path->str : "the frame", text_a, text_b);
  g_free (text_a);
  g_free (text_b);
}

static void
compare_objects (Comparison *self, JsonObject *a, JsonObject *b)
{
  GList *names = json_object_get_members (a);
  const gsize length = self->path->len;

  names = g_list_concat (names, json_object_get_members (b));
  for (GList *l = names; l != NULL && self->problem == NULL; l = l->next) {
    g_string_append_printf (
        self->path, "%s%s", length > 0 ? "." : "", (gchar *) l->data);
    compare_nodes (self, json_object_get_member (a, l->data),
        json_object_get_member (b, l->data));
    g_string_truncate (self->path, length);
  }
  g_list_free (names);
}

static void
compare_arrays (Comparison *self, JsonArray *a, JsonArray *b)
{
  const guint n_a = json_array_get_length (a), n_b = json_array_get_length (b);
  const gsize length = self->path->len;

  for (guint i = 0; i < MAX (n_a, n_b) && self->problem == NULL; i++) {
    g_string_append_printf (self->path, "[%u]", i);
    compare_nodes (self, i < n_a ? json_array_get_element (a, i) : NULL,
        i < n_b ? json_array_get_element (b, i) : NULL);
    g_string_truncate (self->path, length);
  }
}

static gboolean
holds_number (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node)
      && json_node_get_value_type (node) != G_TYPE_STRING;
}

/* Samples and other text cannot be compared within a tolerance. */
static gboolean
values_equal (const Comparison *self, JsonNode *a, JsonNode *b)
{
  if (self->tolerance > 0 && holds_number (a) && holds_number (b)) {
    const gdouble x = json_node_get_double (a), y = json_node_get_double (b);

    return fabs (x - y) <= self->tolerance * MAX (1, MAX (fabs (x), fabs (y)));
  }
  return self->tolerance > 0 || json_node_equal (a, b);
}

static void
compare_nodes (Comparison *self, JsonNode *a, JsonNode *b)
{
  if (a == NULL || b == NULL || JSON_NODE_TYPE (a) != JSON_NODE_TYPE (b))
    note_difference (self, a, b);
  else if (JSON_NODE_HOLDS_OBJECT (a))
    compare_objects (self, json_node_get_object (a), json_node_get_object (b));
  else if (JSON_NODE_HOLDS_ARRAY (a))
    compare_arrays (self, json_node_get_array (a), json_node_get_array (b));
  else if (!values_equal (self, a, b))
    note_difference (self, a, b);
}

/* Returns the first difference of two frames. */
static gchar *
compare_frames (const gchar *a, const gchar *b, gdouble tolerance)
{
  Comparison self = { tolerance, g_string_new (NULL), NULL };
  JsonNode *node_a = cuv_json_parse_object (a, CUV_JSON_MAX_VALUES, NULL);
  JsonNode *node_b = cuv_json_parse_object (b, CUV_JSON_MAX_VALUES, NULL);

  compare_nodes (&self, node_a, node_b);
  g_clear_pointer (&node_a, json_node_unref);
  g_clear_pointer (&node_b, json_node_unref);
  g_string_free (self.path, TRUE);
  return self.problem;
}

gchar *
verify_compare_runs (const VerifyRun *run, const gchar *name,
    const VerifyRun *other, const gchar *other_name, gdouble tolerance)
{
  if (run->frames->len != other->frames->len)
    return g_strdup_printf ("%u frames on %s, but %u on %s", run->frames->len,
        name, other->frames->len, other_name);
  for (guint i = 0; i < run->frames->len; i++) {
    const gchar *a = run->frames->pdata[i], *b = other->frames->pdata[i];
    gchar *problem =
        g_str_equal (a, b) ? NULL : compare_frames (a, b, tolerance);
    gchar *text;

    if (problem == NULL)
      continue;
    text = g_strdup_printf (
        "frame %u: on %s %s on %s", i, name, problem, other_name);
    g_free (problem);
    return text;
  }
  return NULL;
}
