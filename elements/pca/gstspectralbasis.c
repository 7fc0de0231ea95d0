/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstspectralbasis.h"

#include <math.h>
#include <string.h>
#include "cuvjsonreader.h"

#define KIND "spectralpca-basis"
#define VERSION_READ 1
/* Maximum number of JSON values in a file: the numbers and arrays of the
 * largest basis, and some more members. */
#define MAX_VALUES (CUV_CUBE_MAX_BANDS * (CUV_CUBE_MAX_BANDS + 4) + 1024)
#define MAX_BYTES                                                              \
  (32 * MAX_VALUES) /* up to 20 bytes per number, and                          \
                     * indentation */
#define FAIL(error, ...)                                                       \
  (g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, __VA_ARGS__), FALSE)

static const gchar *const modes[] = { "correlation", "covariance", "pearson" };

const gchar *
gst_spectral_mode_name (CuvPcaMode mode)
{
  return modes[mode];
}

G_DEFINE_BOXED_TYPE (GstSpectralBasis, gst_spectral_basis,
    g_atomic_rc_box_acquire, gst_spectral_basis_unref)

static void
gst_spectral_basis_clear (gpointer self)
{
  cuv_pca_basis_clear (&((GstSpectralBasis *) self)->basis);
}

void
gst_spectral_basis_unref (GstSpectralBasis *self)
{
  g_atomic_rc_box_release_full (self, gst_spectral_basis_clear);
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

/* Returns the array of a node, NULL for other nodes. */
static JsonArray *
array_of (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_ARRAY (node)
      ? json_node_get_array (node)
      : NULL;
}

/* Reads n finite numbers, each at least `least`. */
static gboolean
read_numbers (JsonNode *node, const gchar *name, gint n, gdouble least,
    gdouble *numbers, GError **error)
{
  JsonArray *array = array_of (node);

  if (array == NULL || json_array_get_length (array) != (guint) n)
    return FAIL (error, "%s should be an array of %d numbers", name, n);
  for (gint i = 0; i < n; i++) {
    JsonNode *element = json_array_get_element (array, (guint) i);
    GType type = json_node_get_value_type (element);

    if (type != G_TYPE_DOUBLE && type != G_TYPE_INT64)
      return FAIL (error, "item %d of %s should be a number", i, name);
    numbers[i] = json_node_get_double (element);
    if (!isfinite (numbers[i]) || numbers[i] < least)
      return FAIL (error, "item %d of %s is %g, but should be finite%s", i,
          name, numbers[i], least == 0 ? " and 0 or more" : "");
  }
  return TRUE;
}

/* Reads the vectors; *k: set to the number of vectors, at most the number of
 * bands. */
static gboolean
read_vectors (JsonNode *node, CuvPcaBasis *basis, gint *k, GError **error)
{
  const gint n = basis->n;
  JsonArray *array = array_of (node);

  *k = array != NULL ? (gint) MIN (json_array_get_length (array), G_MAXINT) : 0;
  if (*k < 1 || *k > n)
    return FAIL (error, "vectors should be an array of 1 to %d arrays", n);
  for (gint i = 0; i < *k; i++)
    if (!read_numbers (json_array_get_element (array, (guint) i), "vectors", n,
            -G_MAXDOUBLE, &basis->vectors[i * n], error))
      return FALSE;
  return TRUE;
}

static gdouble
inner_product (const gdouble *a, const gdouble *b, gint n)
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
          inner_product (&basis->vectors[i * n], &basis->vectors[j * n], n);

      if (!(fabs (sum - (i == j ? 1.0 : 0.0)) < 1e-6))
        return FALSE;
    }
  }
  return TRUE;
}

/* Returns the band that the first k vectors cover least. */
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
 * to reduce rounding errors. The added eigenvalues are 0. */
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
      const gdouble part = inner_product (vector, before, n);

      for (gint b = 0; b < n; b++)
        vector[b] -= part * before[b];
    }
    length = sqrt (inner_product (vector, vector, n));
    for (gint b = 0; b < n; b++)
      vector[b] /= length;
  }
}

/* Returns the mode that the object names, or -1 if it is unknown. */
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
read_arrays (CuvPcaBasis *basis, JsonObject *object, gint *k, GError **error)
{
  const gint n = basis->n;

  if (!read_numbers (json_object_get_member (object, "mean"), "mean", n,
          -G_MAXDOUBLE, basis->mean, error)
      || !read_numbers (json_object_get_member (object, "deviation"),
          "deviation", n, 0, basis->deviation, error)
      || !read_vectors (
          json_object_get_member (object, "vectors"), basis, k, error))
    return FALSE;
  if (!is_orthonormal (basis, *k))
    return FAIL (error,
        "vectors should be orthonormal: each of length 1, and at right angles "
        "to the others");
  complete (basis, *k);
  return read_numbers (json_object_get_member (object, "eigenvalues"),
      "eigenvalues", *k, 0, basis->values, error);
}

static gboolean
read_basis (CuvPcaBasis *basis, JsonObject *object, gint *k, GError **error)
{
  const gchar *kind =
      json_object_get_string_member_with_default (object, "kind", "");
  const gint64 version =
      json_object_get_int_member_with_default (object, "version", 0);
  JsonArray *mean = array_of (json_object_get_member (object, "mean"));
  guint n = mean != NULL ? json_array_get_length (mean) : 0;
  gint mode = mode_of (object);

  if (g_strcmp0 (kind, KIND) != 0)
    return FAIL (error, "kind is '%s', but should be '" KIND "'", kind);
  if (version != VERSION_READ)
    return FAIL (error, "version is %" G_GINT64_FORMAT ", but should be %d",
        version, VERSION_READ);
  if (mode < 0)
    return FAIL (
        error, "mode should be 'correlation', 'covariance' or 'pearson'");
  if (n < 1 || n > CUV_CUBE_MAX_BANDS)
    return FAIL (error, "mean should be an array of 1 to %d numbers",
        CUV_CUBE_MAX_BANDS);
  if (!cuv_pca_basis_init (basis, (gint) n))
    return FAIL (error, "out of memory for %u bands", n);
  basis->mode = (CuvPcaMode) mode;
  basis->is_known = TRUE;
  return read_arrays (basis, object, k, error);
}

GstSpectralBasis *
gst_spectral_basis_load (const gchar *location, GError **error)
{
  GstSpectralBasis *self = g_atomic_rc_box_new0 (GstSpectralBasis);
  JsonNode *root =
      cuv_json_load_object (location, MAX_BYTES, MAX_VALUES, error);

  if (root == NULL
      || !read_basis (
          &self->basis, json_node_get_object (root), &self->n_vectors, error))
    g_clear_pointer (&self, gst_spectral_basis_unref);
  g_clear_pointer (&root, json_node_unref);
  return self;
}

static GVariant *
array_of_numbers (const gdouble *numbers, gint n)
{
  return g_variant_new_fixed_array (
      G_VARIANT_TYPE_DOUBLE, numbers, (gsize) n, sizeof *numbers);
}

static JsonNode *
gst_spectral_basis_build (const CuvPcaBasis *basis)
{
  const gint n = basis->n;
  GVariantBuilder vectors;
  GVariant *object;
  JsonNode *root;

  g_variant_builder_init (&vectors, G_VARIANT_TYPE ("aad"));
  for (gint k = 0; k < n; k++)
    g_variant_builder_add_value (
        &vectors, array_of_numbers (&basis->vectors[k * n], n));
  object = g_variant_ref_sink (g_variant_new_parsed (
      "{'kind': <%s>, 'version': <%i>, 'mode': <%s>, 'mean': <%@ad>, "
      "'deviation': <%@ad>, 'eigenvalues': <%@ad>, 'vectors': <%@aad>}",
      KIND, VERSION_READ, modes[basis->mode], array_of_numbers (basis->mean, n),
      array_of_numbers (basis->deviation, n),
      array_of_numbers (basis->values, n), g_variant_builder_end (&vectors)));
  root = json_gvariant_serialize (object);
  g_variant_unref (object);
  return root;
}

gboolean
gst_spectral_basis_save (
    const CuvPcaBasis *basis, const gchar *location, GError **error)
{
  JsonNode *root = gst_spectral_basis_build (basis);
  gchar *text = json_to_string (root, FALSE);
  gboolean ok = g_file_set_contents (location, text, -1, error);

  if (!ok)
    g_prefix_error (error, "%s: ", location);
  g_free (text);
  json_node_unref (root);
  return ok;
}
