/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares JSON text with json-glib's parser, the C library and hand-written
 * text. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include "cuvelements.h"
#include "record/json.h"

static CuvJson json;

static void
set_up (void)
{
  cuv_json_init (&json);
}

static void
tear_down (void)
{
  cuv_json_clear (&json);
}

/* Ends the text; it must be one valid value. */
static gchar *
finish (void)
{
  JsonParser *parser = json_parser_new ();
  GError *error = NULL;
  gsize size;
  gchar *text = cuv_json_steal (&json, &size);

  fail_unless_equals_int (strlen (text), size);
  fail_unless (json_parser_load_from_data (parser, text, -1, &error),
      "%s is not JSON: %s", text, error != NULL ? error->message : "");
  g_object_unref (parser);
  return text;
}

static void
fail_unless_written (const gchar *expected)
{
  g_autofree gchar *text = finish ();

  fail_unless_equals_string (text, expected);
}

CUV_TEST (test_sorted_keys)
{
  cuv_json_begin_object (&json);
  cuv_json_key (&json, "b");
  cuv_json_begin_array (&json);
  cuv_json_next (&json);
  cuv_json_begin_object (&json);
  cuv_json_key (&json, "z");
  cuv_json_int (&json, -1);
  cuv_json_key (&json, "a b");
  cuv_json_null (&json);
  cuv_json_key (&json, "a");
  cuv_json_boolean (&json, TRUE);
  cuv_json_end_object (&json);
  cuv_json_next (&json);
  cuv_json_begin_object (&json);
  cuv_json_end_object (&json);
  cuv_json_end_array (&json);
  cuv_json_key (&json, "a");
  cuv_json_begin_array (&json);
  cuv_json_end_array (&json);
  fail_unless_equals_int (cuv_json_new_key (&json, "c"), 1);
  cuv_json_uint (&json, G_MAXUINT64);
  fail_unless_equals_int (cuv_json_new_key (&json, "b"), 2);
  cuv_json_string (&json, NULL);
  fail_unless_equals_int (cuv_json_new_key (&json, "b"), 3);
  cuv_json_string (&json, "");
  cuv_json_end_object (&json);
  fail_unless_written (
      "{\"a\":[],\"b\":[{\"a\":true,\"a b\":null,\"z\":-1},{}],"
      "\"b_2\":null,\"b_3\":\"\",\"c\":18446744073709551615}");
}

CUV_TEST (test_strings)
{
  static const gchar *const cases[][2] = {
    { "plain", "\"plain\"" },
    { "say \"a\\b\"", "\"say \\\"a\\\\b\\\"\"" },
    { "\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"" },
    { "z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80",
        "\"z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80\"" },
    { "a\xff\xfe"
      "b",
        "\"a\xef\xbf\xbd\xef\xbf\xbd"
        "b\"" },
    { "\xc3", "\"\xef\xbf\xbd\"" },
    { "</script>", "\"</script>\"" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    cuv_json_string (&json, cases[i][0]);
    fail_unless_written (cases[i][1]);
  }
}

/* Every byte sequence makes a valid text; json-glib reads it back as GLib
 * repairs it. */
CUV_TEST (test_random_bytes)
{
  guint32 seed = g_random_int ();
  GRand *rand = g_rand_new_with_seed (seed);

  for (guint n = 0; n < cuv_rounds (1000, 20000); n++) {
    gchar bytes[17] = { 0 };
    gint size = g_rand_int_range (rand, 0, 17);
    gchar *text, *valid;
    JsonNode *node;

    for (gint i = 0; i < size; i++)
      bytes[i] = (gchar) g_rand_int_range (rand, 1, 256);
    cuv_json_string (&json, bytes);
    text = finish ();
    node = json_from_string (text, NULL);
    valid = g_utf8_make_valid (bytes, -1);
    fail_unless (g_strcmp0 (json_node_get_string (node), valid) == 0,
        "seed %u, %u: %s", seed, n, text);
    json_node_unref (node);
    g_free (valid);
    g_free (text);
  }
  g_rand_free (rand);
}

CUV_TEST (test_numbers)
{
  static const struct {
    gdouble value;
    const gchar *text;
  } doubles[] = { { 0.97, "0.97" }, { 1.0, "1.0" }, { -0.0, "-0.0" },
    { 1.0 / 3, "0.3333333333333333" }, { 1e300, "1e+300" },
    { DBL_MIN / 4, "5.562684646268003e-309" },
    { 123456789012345678.0, "1.2345678901234568e+17" }, { NAN, "null" },
    { INFINITY, "null" }, { -INFINITY, "null" } };
  static const struct {
    gfloat value;
    const gchar *text;
  } floats[] = { { 0.1f, "0.1" }, { 16777216.0f, "16777216.0" },
    { 1.0f / 3, "0.33333334" }, { FLT_MAX, "3.4028235e+38" }, { NAN, "null" } };

  for (guint i = 0; i < G_N_ELEMENTS (doubles); i++) {
    cuv_json_double (&json, doubles[i].value);
    fail_unless_written (doubles[i].text);
  }
  for (guint i = 0; i < G_N_ELEMENTS (floats); i++) {
    cuv_json_float (&json, floats[i].value);
    fail_unless_written (floats[i].text);
  }
}

static gdouble
random_double (GRand *rand)
{
  guint64 bits = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
  gdouble value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

/* Every double and float is read back unchanged, whatever the locale's decimal
 * point. */
CUV_TEST (test_random_numbers)
{
  guint32 seed = g_random_int ();
  GRand *rand = g_rand_new_with_seed (seed);

  for (guint n = 0; n < cuv_rounds (1000, 20000); n++) {
    gdouble value = random_double (rand);
    guint32 bits = g_rand_int (rand);
    gfloat single;
    gchar *text;

    memcpy (&single, &bits, sizeof single);
    if (!isfinite (value) || !isfinite (single))
      continue;
    cuv_json_double (&json, value);
    text = finish ();
    fail_unless (
        g_ascii_strtod (text, NULL) == value, "seed %u: %s", seed, text);
    g_free (text);
    cuv_json_float (&json, single);
    text = finish ();
    fail_unless ((gfloat) g_ascii_strtod (text, NULL) == single, "seed %u: %s",
        seed, text);
    fail_unless (strlen (text) <= 16);
    g_free (text);
  }
  g_rand_free (rand);
}

/* The build creates the locale: a machine may have none with a comma. */
CUV_TEST (test_decimal_comma)
{
  gchar text[8];

  fail_unless (setlocale (LC_ALL, "de_DE.UTF-8") != NULL,
      "no locale de_DE.UTF-8 in LOCPATH=%s", g_getenv ("LOCPATH"));
  g_snprintf (text, sizeof text, "%.1f", 1.5);
  fail_unless_equals_string (text, "1,5");
  test_numbers (0);
  test_random_numbers (0);
  setlocale (LC_ALL, "C");
}

static void
fail_unless_field (const gchar *text, const gchar *expected)
{
  GstStructure *structure = gst_structure_from_string (text, NULL);

  fail_unless (structure != NULL, "%s", text);
  cuv_json_begin_object (&json);
  cuv_json_fields (&json, structure);
  cuv_json_end_object (&json);
  fail_unless_written (expected);
  gst_structure_free (structure);
}

CUV_TEST (test_structures)
{
  fail_unless_field ("s, b=(boolean)true, a=(int)-3", "{\"a\":-3,\"b\":true}");
  fail_unless_field ("s, a=(guint64)18446744073709551615, b=(string)\"x y\"",
      "{\"a\":18446744073709551615,\"b\":\"x y\"}");
  fail_unless_field ("s, a=(float)0.1, b=(double)0.1", "{\"a\":0.1,\"b\":0.1}");
  fail_unless_field ("s, a=<1, <2, 3>, \"x\">, b={ (int)1, (int)2 }",
      "{\"a\":[1,[2,3],\"x\"],\"b\":[1,2]}");
  fail_unless_field (
      "s, a=(structure)\"t, d\\=\\(double\\)0.5, c\\=\\(int\\)2\\;\"",
      "{\"a\":{\"c\":2,\"d\":0.5}}");
  fail_unless_field ("s, a=(fraction)30/1, b=[1,5], c=(bitmask)0x5",
      "{\"a\":\"30/1\",\"b\":\"[ 1, 5 ]\",\"c\":\"0x0000000000000005\"}");
}

G_GNUC_BEGIN_IGNORE_DEPRECATIONS
static GValueArray *
new_old_array (void)
{
  GValueArray *array = g_value_array_new (2);
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_INT);
  g_value_set_int (&value, 5);
  g_value_array_append (array, &value);
  g_value_array_append (array, &value);
  return array;
}

static void
set_odd_types (GstStructure *structure)
{
  static const gchar *strings[] = { "p", "q", NULL };
  GBytes *bytes = g_bytes_new_static ("\0\1\2\xff", 4);
  GValueArray *array = new_old_array ();

  gst_structure_set (structure, "bytes", G_TYPE_BYTES, bytes, "enum",
      GST_TYPE_STATE, GST_STATE_PAUSED, "long", G_TYPE_LONG, -7L, "ulong",
      G_TYPE_ULONG, 7UL, "u64", G_TYPE_UINT64, G_MAXUINT64, "none",
      G_TYPE_STRING, NULL, "pointer", G_TYPE_POINTER, &json, "strv",
      G_TYPE_STRV, strings, "array", g_value_array_get_type (), array,
      "variant", G_TYPE_VARIANT,
      g_variant_new_parsed ("{'k': <[1.5, 2.0]>, 'l': <true>}"), "ay",
      G_TYPE_VARIANT,
      g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, "abc", 3, 1), NULL);
  g_value_array_free (array);
  g_bytes_unref (bytes);
}
G_GNUC_END_IGNORE_DEPRECATIONS

CUV_TEST (test_odd_types)
{
  GstStructure *structure = gst_structure_new_empty ("s");

  set_odd_types (structure);
  cuv_json_begin_object (&json);
  cuv_json_fields (&json, structure);
  cuv_json_end_object (&json);
  fail_unless_written (
      "{\"array\":[5,5],\"ay\":\"YWJj\",\"bytes\":\"AAEC/w==\","
      "\"enum\":\"paused\",\"long\":-7,\"none\":null,\"pointer\":null,"
      "\"strv\":[\"p\",\"q\"],\"u64\":18446744073709551615,\"ulong\":7,"
      "\"variant\":{\"k\":[1.5,2.0],\"l\":true}}");
  gst_structure_free (structure);
}

/* Values nested too deeply are cut; the stack does not overflow. */
CUV_TEST (test_depth)
{
  GstStructure *structure = gst_structure_new ("s", "x", G_TYPE_INT, 1, NULL);
  g_autofree gchar *text = NULL;

  for (guint i = 0; i < 200; i++) {
    GstStructure *outer =
        gst_structure_new ("s", "s", GST_TYPE_STRUCTURE, structure, NULL);

    gst_structure_free (structure);
    structure = outer;
  }
  cuv_json_begin_object (&json);
  cuv_json_fields (&json, structure);
  cuv_json_end_object (&json);
  text = finish ();
  fail_unless (strstr (text, "null") != NULL);
  gst_structure_free (structure);
}

CUV_TEST (test_parse)
{
  g_autofree gchar *deep = g_strnfill (1000000, '[');
  GString *many = g_string_new ("{\"a\":[0");
  const gchar *const bad[] = { "", "x", "[1]", "{\"a\":1}{\"b\":2}",
    "2 {\"a\":1}", "{\"a\":1} null", "{}}{", "{\"a\":\"\\211\"}", "{\"a\":\"\\",
    "1", "null", "{", "{\"a\":}", "{\"a\":1}}", "{\"a\":\"\xff\"}",
    "{/* */\"a\":1}", "{'a':1}", "{\"a\":9223372036854775808}",
    "{\"a\":[-1e999]}", "{\"a\":010}", "{\"a\":0x10}", "{\"a\":$1}",
    "{\"a\":5.}", "{\"a\":.5}", "{\"a\":-}", "{\"a\":1e}", "{\"a\":+1}",
    "{\"a\":NaN}", "{\"a\":True}", "{\"a\":\"\\u0000\"}", deep, NULL };
  JsonNode *node;

  deep[0] = '{';
  for (gint i = 0; i < 99; i++)
    g_string_append (many, ",0");
  g_string_append (many, "]}");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    const gchar *text = bad[i] != NULL ? bad[i] : many->str;
    GError *error = NULL;

    fail_unless (cuv_json_parse_object (text, 100, &error) == NULL,
        "taken: %.40s", text);
    fail_unless (error != NULL);
    g_error_free (error);
  }
  node = cuv_json_parse_object (many->str, 101, NULL);
  fail_unless (node != NULL);
  json_node_unref (node);
  g_string_free (many, TRUE);
  node = cuv_json_parse_object (
      "\xef\xbb\xbf "
      "{\"b\":[0,-25.0e-1,2E+0,null,{\"]]]\":\"[[[\"}],\"a\":true}\n ",
      9, NULL);
  cuv_json_node (&json, node);
  fail_unless_written (
      "{\"a\":true,\"b\":[0,-2.5,2.0,null,{\"]]]\":\"[[[\"}]}");
  json_node_unref (node);
}

CUV_FIXTURE (set_up, tear_down)
