/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstspectralbasis.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#define KIND "spectralpca-basis"
#define VERSION_READ 1
#define MAX_BYTES (64 << 20) /* of a file; 512 bands take 6 MB */
#define MAX_ARRAYS 1024      /* and objects, nested or not */

static const gchar *const modes[] = { "correlation", "covariance", "pearson" };

const gchar *
gst_spectral_mode_name (CuvPcaMode mode)
{
  return modes[mode];
}

G_DEFINE_BOXED_TYPE (GstSpectralBasis, gst_spectral_basis,
    gst_spectral_basis_ref, gst_spectral_basis_unref)

GstSpectralBasis *
gst_spectral_basis_ref (GstSpectralBasis *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
clear (gpointer self)
{
  cuv_pca_basis_clear (&((GstSpectralBasis *) self)->basis);
}

void
gst_spectral_basis_unref (GstSpectralBasis *self)
{
  g_atomic_rc_box_release_full (self, clear);
}

GstSpectralBasis *
gst_spectral_basis_new (const CuvPcaBasis *basis)
{
  GstSpectralBasis *self = g_atomic_rc_box_new0 (GstSpectralBasis);

  self->n_vectors = basis->n;
  if (cuv_pca_basis_init (&self->basis, basis->n))
    cuv_pca_basis_copy (&self->basis, basis);
  else
    g_clear_pointer (&self, gst_spectral_basis_unref);
  return self;
}

/* n finite numbers >= least. */
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

/* *k: the number of vectors, at most the number of bands. */
static const gchar *
read_vectors (JsonNode *node, CuvPcaBasis *basis, gint *k)
{
  const gint n = basis->n;
  const gchar *problem = NULL;
  JsonArray *array = node != NULL && JSON_NODE_HOLDS_ARRAY (node)
      ? json_node_get_array (node)
      : NULL;

  *k = array != NULL ? (gint) MIN (json_array_get_length (array), G_MAXINT) : 0;
  if (*k < 1 || *k > n)
    return "is not an array of arrays, at most as many as mean has elements";
  for (gint i = 0; problem == NULL && i < *k; i++)
    problem = read_numbers (json_array_get_element (array, (guint) i), n,
        -G_MAXDOUBLE, &basis->vectors[i * n]);
  return problem;
}

static gboolean
has_length (JsonNode *node, gint n)
{
  return node != NULL && JSON_NODE_HOLDS_ARRAY (node)
      && json_array_get_length (json_node_get_array (node)) == (guint) n;
}

static gdouble
product (const gdouble *a, const gdouble *b, gint n)
{
  gdouble sum = 0;

  for (gint i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static gboolean
is_orthonormal (const CuvPcaBasis *basis, gint k)
{
  const gint n = basis->n;

  for (gint i = 0; i < k; i++) {
    for (gint j = 0; j <= i; j++) {
      const gdouble sum =
          product (&basis->vectors[i * n], &basis->vectors[j * n], n);

      if (!(fabs (sum - (i == j ? 1.0 : 0.0)) < 1e-6))
        return FALSE;
    }
  }
  return TRUE;
}

/* The band that the first k vectors cover least. */
static gint
least_covered (const CuvPcaBasis *basis, gint k)
{
  gdouble least = G_MAXDOUBLE;
  gint found = 0;

  for (gint b = 0; b < basis->n; b++) {
    gdouble sum = 0;

    for (gint i = 0; i < k; i++)
      sum +=
          basis->vectors[i * basis->n + b] * basis->vectors[i * basis->n + b];
    if (sum < least) {
      least = sum;
      found = b;
    }
  }
  return found;
}

/* Completes k vectors to an orthonormal basis by Gram-Schmidt, repeated once
 * against rounding. The added eigenvalues are 0. */
static void
complete (CuvPcaBasis *basis, gint k)
{
  const gint n = basis->n;

  for (; k < n; k++) {
    gdouble *vector = &basis->vectors[k * n];
    gdouble length;

    vector[least_covered (basis, k)] = 1;
    for (gint i = 0; i < 2 * k; i++) {
      const gdouble *before = &basis->vectors[i % k * n];
      const gdouble part = product (vector, before, n);

      for (gint b = 0; b < n; b++)
        vector[b] -= part * before[b];
    }
    length = sqrt (product (vector, vector, n));
    for (gint b = 0; b < n; b++)
      vector[b] /= length;
  }
}

/* -1: unknown. */
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
read_member (JsonObject *object, const gchar *name, gint n, gdouble least,
    gdouble *numbers, GError **error)
{
  const gchar *problem =
      read_numbers (json_object_get_member (object, name), n, least, numbers);

  return problem == NULL || fail (error, name, problem);
}

static gboolean
read_arrays (CuvPcaBasis *basis, JsonObject *object, gint *k, GError **error)
{
  const gint n = basis->n;
  const gchar *problem;

  if (!read_member (object, "mean", n, -G_MAXDOUBLE, basis->mean, error)
      || !read_member (object, "deviation", n, 0, basis->deviation, error))
    return FALSE;
  problem = read_vectors (json_object_get_member (object, "vectors"), basis, k);
  if (problem == NULL && !is_orthonormal (basis, *k))
    problem = "are not orthonormal: each of length 1, and at right angles";
  if (problem != NULL)
    return fail (error, "vectors", problem);
  complete (basis, *k);
  if (!has_length (json_object_get_member (object, "eigenvalues"), *k))
    return fail (error, "eigenvalues", "has not as many elements as vectors");
  return read_member (object, "eigenvalues", *k, 0, basis->values, error);
}

static gboolean
read_basis (CuvPcaBasis *basis, JsonObject *object, gint *k, GError **error)
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
  return ok && read_arrays (basis, object, k, error);
}

/* A FIFO would block and a device never end, so only regular files are read. */
static gchar *
read_text (const gchar *location, GError **error)
{
  gchar *text = NULL;
  GStatBuf status = { 0 };

  if (g_stat (location, &status) == 0 && !S_ISREG (status.st_mode))
    fail (error, "it", "is no regular file");
  else if (status.st_size > MAX_BYTES)
    fail (error, "it", "is larger than 64 MB: no basis is");
  else
    g_file_get_contents (location, &text, NULL, error);
  return text;
}

/* json-glib recurses on nested arrays without a limit, which would overflow the
 * stack. */
static gboolean
has_many_arrays (const gchar *text)
{
  guint n = 0;

  for (; *text != '\0' && n <= MAX_ARRAYS; text++)
    n += *text == '[' || *text == '{';
  return n > MAX_ARRAYS;
}

static gboolean
parse (JsonParser *parser, const gchar *text, GError **error)
{
  if (has_many_arrays (text))
    return fail (error, "the file", "has more than 1024 arrays");
  return json_parser_load_from_data (parser, text, -1, error);
}

GstSpectralBasis *
gst_spectral_basis_load (const gchar *location, GError **error)
{
  GstSpectralBasis *self = g_atomic_rc_box_new0 (GstSpectralBasis);
  JsonParser *parser = json_parser_new ();
  gchar *text = read_text (location, error);
  gboolean ok = text != NULL && parse (parser, text, error);
  JsonNode *root = ok ? json_parser_get_root (parser) : NULL;

  if (ok && (root == NULL || !JSON_NODE_HOLDS_OBJECT (root)))
    ok = fail (error, "the file", "has no JSON object");
  else if (ok)
    ok = read_basis (
        &self->basis, json_node_get_object (root), &self->n_vectors, error);
  if (!ok)
    g_clear_pointer (&self, gst_spectral_basis_unref);
  g_free (text);
  g_object_unref (parser);
  return self;
}

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
