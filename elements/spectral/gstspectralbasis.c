/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstspectralbasis.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#define KIND "spectralpca-basis"
#define VERSION_READ 1

static const gchar *const modes[] = { "correlation", "covariance", "pearson" };

const gchar *
gst_spectral_mode_name (CuvPcaMode mode)
{
  return modes[mode];
}

CuvPcaBasis *
gst_spectral_basis_copy (const CuvPcaBasis *basis)
{
  CuvPcaBasis *copy = g_new0 (CuvPcaBasis, 1);

  if (cuv_pca_basis_init (copy, basis->n))
    cuv_pca_basis_copy (copy, basis);
  else
    g_clear_pointer (&copy, gst_spectral_basis_free);
  return copy;
}

void
gst_spectral_basis_free (CuvPcaBasis *basis)
{
  cuv_pca_basis_clear (basis);
  g_free (basis);
}

/* ---- load ---- */

/* n finite numbers, none below least. */
static const gchar *
read_numbers (JsonNode *node, gint n, gdouble least, gdouble *numbers)
{
  JsonArray *array;

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return "is not an array";
  array = json_node_get_array (node);
  if (json_array_get_length (array) != (guint) n)
    return "has not as many elements as mean";
  for (gint i = 0; i < n; i++) {
    JsonNode *element = json_array_get_element (array, (guint) i);
    GType type = json_node_get_value_type (element);

    if (type != G_TYPE_DOUBLE && type != G_TYPE_INT64)
      return "has an element that is no number";
    numbers[i] = json_node_get_double (element);
    if (!isfinite (numbers[i]) || numbers[i] < least)
      return "has a number that is out of range";
  }
  return NULL;
}

static const gchar *
read_vectors (JsonNode *node, CuvPcaBasis *basis)
{
  const gint n = basis->n;
  const gchar *problem = NULL;
  JsonArray *array;

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node)
      || json_array_get_length (json_node_get_array (node)) != (guint) n)
    return "is not an array of as many arrays as mean has elements";
  array = json_node_get_array (node);
  for (gint k = 0; problem == NULL && k < n; k++)
    problem = read_numbers (json_array_get_element (array, (guint) k), n,
        -G_MAXDOUBLE, &basis->vectors[k * n]);
  return problem;
}

static gboolean
is_orthonormal (const CuvPcaBasis *basis)
{
  const gint n = basis->n;

  for (gint i = 0; i < n; i++) {
    for (gint j = 0; j <= i; j++) {
      gdouble sum = i == j ? -1.0 : 0.0;

      for (gint b = 0; b < n; b++)
        sum += basis->vectors[i * n + b] * basis->vectors[j * n + b];
      if (!(fabs (sum) < 1e-6))
        return FALSE;
    }
  }
  return TRUE;
}

/* -1: it is none of them. */
static gint
mode_of (JsonObject *object)
{
  const gchar *name =
      json_object_get_string_member_with_default (object, "mode", "");

  for (gint i = 0; i < 3; i++)
    if (g_strcmp0 (name, modes[i]) == 0)
      return i;
  return -1;
}

static gboolean
fail (GError **error, const gchar *field, const gchar *problem)
{
  g_set_error (
      error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s %s", field, problem);
  return FALSE;
}

static gboolean
read_arrays (CuvPcaBasis *basis, JsonObject *object, GError **error)
{
  static const gchar *const names[] = { "mean", "deviation", "eigenvalues" };
  gdouble *const numbers[] = { basis->mean, basis->deviation, basis->values };
  const gchar *problem;

  for (gint i = 0; i < 3; i++) {
    problem = read_numbers (json_object_get_member (object, names[i]), basis->n,
        i == 0 ? -G_MAXDOUBLE : 0.0, numbers[i]);
    if (problem != NULL)
      return fail (error, names[i], problem);
  }
  problem = read_vectors (json_object_get_member (object, "vectors"), basis);
  if (problem == NULL && !is_orthonormal (basis))
    problem = "are not orthonormal: each of length 1, and at right angles";
  return problem == NULL || fail (error, "vectors", problem);
}

static gboolean
read_basis (CuvPcaBasis *basis, JsonObject *object, GError **error)
{
  JsonNode *mean = json_object_get_member (object, "mean");
  guint n = mean != NULL && JSON_NODE_HOLDS_ARRAY (mean)
      ? json_array_get_length (json_node_get_array (mean))
      : 0;
  gint mode = mode_of (object);
  gboolean ok;

  if (g_strcmp0 (
          json_object_get_string_member_with_default (object, "kind", ""), KIND)
      != 0)
    return fail (error, "kind", "is not \"" KIND "\"");
  if (json_object_get_int_member_with_default (object, "version", 0)
      != VERSION_READ)
    return fail (error, "version", "is not 1, the only one there is");
  if (mode < 0)
    return fail (
        error, "mode", "is none of correlation, covariance and pearson");
  if (n < 1 || n > CUV_CUBE_MAX_BANDS)
    return fail (error, "mean", "is not an array of 1 to 512 numbers");
  ok = cuv_pca_basis_init (basis, (gint) n)
      || fail (error, "mean", "needs more memory than there is");
  basis->mode = (CuvPcaMode) mode;
  basis->is_known = TRUE;
  if (ok && read_arrays (basis, object, error))
    return TRUE;
  cuv_pca_basis_clear (basis);
  return FALSE;
}

gboolean
gst_spectral_basis_load (
    CuvPcaBasis *basis, const gchar *location, GError **error)
{
  JsonParser *parser = json_parser_new ();
  gboolean ok = json_parser_load_from_file (parser, location, error);
  JsonNode *root = ok ? json_parser_get_root (parser) : NULL;

  if (ok && (root == NULL || !JSON_NODE_HOLDS_OBJECT (root)))
    ok = fail (error, "the file", "has no JSON object");
  else if (ok)
    ok = read_basis (basis, json_node_get_object (root), error);
  if (!ok)
    g_prefix_error (error, "%s: ", location);
  g_object_unref (parser);
  return ok;
}

/* ---- save ---- */

static void
add_numbers (JsonBuilder *builder, const gdouble *numbers, gint n)
{
  json_builder_begin_array (builder);
  for (gint i = 0; i < n; i++)
    json_builder_add_double_value (builder, numbers[i]);
  json_builder_end_array (builder);
}

static void
add_member (
    JsonBuilder *builder, const gchar *name, const gdouble *numbers, gint n)
{
  json_builder_set_member_name (builder, name);
  add_numbers (builder, numbers, n);
}

static JsonNode *
build (const CuvPcaBasis *basis)
{
  JsonBuilder *builder = json_builder_new ();
  const gint n = basis->n;
  JsonNode *root;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "kind");
  json_builder_add_string_value (builder, KIND);
  json_builder_set_member_name (builder, "version");
  json_builder_add_int_value (builder, VERSION_READ);
  json_builder_set_member_name (builder, "mode");
  json_builder_add_string_value (builder, modes[basis->mode]);
  add_member (builder, "mean", basis->mean, n);
  add_member (builder, "deviation", basis->deviation, n);
  add_member (builder, "eigenvalues", basis->values, n);
  json_builder_set_member_name (builder, "vectors");
  json_builder_begin_array (builder);
  for (gint k = 0; k < n; k++)
    add_numbers (builder, &basis->vectors[k * n], n);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  g_object_unref (builder);
  return root;
}

gboolean
gst_spectral_basis_save (
    const CuvPcaBasis *basis, const gchar *location, GError **error)
{
  JsonNode *root = build (basis);
  gchar *text = json_to_string (root, FALSE);
  gboolean ok = g_file_set_contents (location, text, -1, error);

  if (!ok)
    g_prefix_error (error, "%s: ", location);
  g_free (text);
  json_node_unref (root);
  return ok;
}
