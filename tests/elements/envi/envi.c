/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Headers of ENVI files. */
#include "cubes.h"
#include "format/envi.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#define SHAPE "ENVI\nsamples = 5\nlines = 4\nbands = 3\ninterleave = bil\n"
#define GOOD SHAPE "data type = 12\nbyte order = 0\n"

/* Returns NULL, or the error; free() it. */
static char *
parse (CuvEnvi *envi, const char *text)
{
  char *error;

  fail_unless (
      cuv_envi_parse (envi, text, strlen (text), &error) == (error == NULL));
  return error;
}

static CuvEnvi
parse_valid (const char *text)
{
  CuvEnvi envi;
  char *error = parse (&envi, text);

  fail_unless (error == NULL, "%s: %s", text, error);
  return envi;
}

/* ---- headers ---- */

static const char full[] = "ENVI\n"
                           "description = {\n"
                           "  samples = 7, and other words}\n"
                           "; lines = 9\n"
                           "Samples=5\n"
                           "LINES =\t4  \n"
                           "bands   = 3\n"
                           "header  Offset = 4711\n"
                           "file type = ENVI Standard\n"
                           "data type = 5\n"
                           "interleave = BIP\n"
                           "byte order = 1\n"
                           "band names = { red, green,\n"
                           "  blue }\n"
                           "wavelength units = micrometers\n"
                           "wavelength = {\n"
                           "  0.4,0.5 ,\n"
                           " 0.65\n"
                           "}\n"
                           "bbl = {1, 0, 1}\n"
                           "map info = {UTM, 1.0}\n"
                           "data ignore value = -9.5e3\n"
                           "a line without a key";

static void
check_full (const CuvEnvi *envi)
{
  fail_unless_equals_int (envi->samples, 5);
  fail_unless_equals_int (envi->lines, 4);
  fail_unless_equals_int (envi->bands, 3);
  fail_unless_equals_uint64 (envi->header_offset, 4711);
  fail_unless_equals_int (envi->type, CUV_ENVI_F64);
  fail_unless_equals_int (envi->interleave, CUV_ENVI_BIP);
  fail_unless (envi->big_endian && envi->has_wavelengths && envi->has_ignore);
  fail_unless_equals_float (envi->wavelengths[0], 400);
  fail_unless_equals_float (envi->wavelengths[2], 650);
  fail_unless (!envi->bad[0] && envi->bad[1] && !envi->bad[2]);
  fail_unless (envi->ignore == -9500);
  fail_unless_equals_uint64 (cuv_envi_data_size (envi), 480);
}

CUV_TEST (all_keys_are_parsed)
{
  CuvEnvi envi = parse_valid (full);
  GString *dos = g_string_new (full);

  check_full (&envi);
  g_string_replace (dos, "\n", "\r\n", 0);
  envi = parse_valid (dos->str);
  check_full (&envi);
  g_string_free (dos, TRUE);
}

CUV_TEST (optional_keys)
{
  CuvEnvi envi = parse_valid (SHAPE "data type = 1");

  fail_unless_equals_uint64 (envi.header_offset, 0);
  fail_if (envi.big_endian || envi.has_wavelengths || envi.has_ignore);
  fail_if (envi.bad[0] || envi.bad[1] || envi.bad[2]);
}

/* Without a unit the range of the values determines it. */
CUV_TEST (wavelengths_without_a_unit)
{
  static const struct {
    const char *values;
    double first; /* nm; 0: unknown */
  } cases[] = { { "380.5, 1000, 2500", 380.5 }, { "150, 151, 15000", 150 },
    { "0.3805, 1, 2.5", 380.5 }, { "8.5, 9, 12", 8500 }, { "1, 2, 3", 0 },
    { "0.1, 0.5, 1", 0 }, { "0.4, 0.5, 400", 0 }, { "149, 500, 600", 0 },
    { "500, 600, 15001", 0 }, { "-400, 500, 600", 0 }, { "400, x, 500", 0 },
    { "400, 500, 600,", 400 }, { "400 500\t600", 400 } };
  static const char *const units[] = { "", "wavelength units =\n",
    "wavelength units = Unknown\n" };

  for (guint i = 0; i < 3 * G_N_ELEMENTS (cases); i++) {
    const gdouble first = cases[i / 3].first;
    char *text = g_strconcat (
        GOOD, units[i % 3], "wavelength = {", cases[i / 3].values, "}\n", NULL);
    CuvEnvi envi = parse_valid (text);

    fail_unless (envi.has_wavelengths == (first > 0), "%s", text);
    fail_unless (first == 0 || fabs (envi.wavelengths[0] - first) < 1e-9);
    g_free (text);
  }
}

/* Values whose unit is not a length are not used as wavelengths. */
CUV_TEST (wavelength_units)
{
  static const struct {
    const char *unit;
    double length; /* wavelength 2 of this unit, in nm; 0: unknown */
  } units[] = { { "wavelength units = Nanometers", 2 },
    { "wavelength units = nm", 2 }, { "wavelength units = Micrometers", 2000 },
    { "wavelength units = um", 2000 }, { "wavelength units = Microns", 2000 },
    { "wavelength units = Angstroms", 0.2 }, { "wavelength units = mm", 2e6 },
    { "wavelength units = Unknown", 0 }, { "wavelength units = Wavenumber", 0 },
    { "", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++) {
    char *text =
        g_strconcat (GOOD "wavelength = { 1, 2, 3 }\n", units[i].unit, NULL);
    CuvEnvi envi = parse_valid (text);

    fail_unless (envi.has_wavelengths == (units[i].length != 0), "%s", text);
    if (envi.has_wavelengths)
      fail_unless_equals_float (envi.wavelengths[1], units[i].length);
    g_free (text);
  }
}

CUV_TEST (ignore_values)
{
  CuvEnvi envi = parse_valid (GOOD "data ignore value = nan");

  fail_if (envi.has_ignore);
  envi = parse_valid (GOOD "data ignore value = None");
  fail_if (envi.has_ignore);
  envi = parse_valid (GOOD "data ignore value = 65535");
  fail_unless (envi.has_ignore && envi.ignore == 65535);
}

static const char *const invalid_headers[][2] = {
  { "", "line 1: the first line is not ENVI" },
  { "ENVY\nsamples = 1", "line 1: the first line is not ENVI" },
  { "\nENVI\nsamples = 1", "line 1: " },
  { "ENVI\nlines = 4\nbands = 3", "line 3: the key 'samples' is missing" },
  { "ENVI\nsamples = 5\nbands = 3", "the key 'lines' is missing" },
  { "ENVI\nsamples = 5\nlines = 3", "the key 'bands' is missing" },
  { "ENVI\nsamples = 5\nlines = 3\nbands = 1",
      "the key 'interleave' is missing" },
  { SHAPE, "the key 'data type' is missing" },
  { "ENVI\nsamples = 0",
      "line 2: samples is '0', but should be an integer from 1 to 16384" },
  { "ENVI\nsamples = 16385", "should be an integer from 1 to 16384" },
  { "ENVI\nsamples = -1", "should be an integer" },
  { "ENVI\nsamples = 5.0", "line 2: samples is '5.0'" },
  { "ENVI\nsamples = 5 x", "line 2: samples is '5 x'" },
  { "ENVI\nsamples =", "line 2: samples is ''" },
  { "ENVI\nsamples = 99999999999999999999999999999999999",
      "samples is '999999999999999999999999'" },
  { "ENVI\nsamples = 9223372036854775808", "should be an integer" },
  { "ENVI\nsamples = -9223372036854775808",
      "should be an integer" }, /* INT64_MIN */
  { "ENVI\nsamples = 5\nlines = 4\nbands = 0", "line 4: bands is '0'" },
  { "ENVI\nsamples = 5\nlines = 4\nbands = 1025", "from 1 to 1024" },
  { "ENVI\nsamples = 5\n\nsamples = 6",
      "line 4: the key 'samples' has another value in line 2" },
  { "ENVI\nsamples = 5\nlines = 16777217", "an integer from 1 to 16777216" },
  { "ENVI\nsamples = 5\nlines = 4\nbands = 3\ninterleave = bbb",
      "line 5: interleave is 'bbb', but should be bsq, bil or bip" },
  { SHAPE "data type = 6", "line 6: data type 6 (complex)" },
  { SHAPE "data type = 9", "data type 9 (complex)" },
  { SHAPE "data type = 14", "data type 14 (64-bit integers)" },
  { SHAPE "data type = 15", "data type 15 (64-bit integers)" },
  { SHAPE "data type = 7", "data type 7 (unknown)" },
  { SHAPE "data type = 0", "data type 0 (unknown)" },
  { SHAPE "data type = 2\nbyte order = 2", "line 7: byte order is '2'" },
  { GOOD "header offset = -1", "line 8: header offset is '-1'" },
  { GOOD "header offset = 9223372036854775807",
      "should be an integer from 0 to 9223372036854775687" },
  { GOOD "header offset = 18446744073709551616", "line 8: header offset" },
  { GOOD "file compression = 1", "line 8: compressed data" },
  { GOOD "major frame offsets = {0, 8}", "line 8: major frame offsets" },
  { GOOD "minor frame offsets = 5", "minor frame offsets has 1 values" },
  { GOOD "wavelength units = nm\nwavelength = {1, 2}",
      "line 9: wavelength has 2 values, but should have 3" },
  { GOOD "wavelength units = nm\nwavelength = {1, , 2}",
      "line 9: value 2 of wavelength is '', but should be a finite number" },
  { GOOD "wavelength = {400, 500}", "line 8: wavelength has 2 values" },
  { GOOD "wavelength = {400, 500, 600, 700}", "wavelength has 4 values" },
  { GOOD "wavelength units = Wavenumber\nwavelength = {4000, 3000}",
      "line 9: wavelength has 2 values" },
  { GOOD "wavelength = {400, 500, }", "line 8: wavelength has 2 values" },
  { GOOD "wavelength = [400, 500]\n", "line 8: wavelength has 2 values" },
  { GOOD "file type = ENVI Spectral Library", "line 8: a spectral library" },
  { GOOD "wavelength units = nm\nwavelength = {1, 2, nan}", "value 3" },
  { GOOD "wavelength units = mm\nwavelength = {1, 2, 1e308}", "too large" },
  { GOOD "wavelength units = nm\nwavelength = {1, 2\n, 3\nbbl = 0",
      "line 9: the { is never closed: add a }" },
  { GOOD "wavelength units = nm\nwavelength = {1, 2, 3}\nfwhm = {1, 2, x}",
      "line 10: value 3 of fwhm is 'x'" },
  { GOOD "bbl = {1, 0}", "line 8: bbl has 2 values, but should have 3" },
  { GOOD "bbl = {1, 0, x}", "value 3 of bbl is 'x'" },
  { GOOD "bbl = {True, False, Maybe}", "value 3 of bbl is 'Maybe'" },
  { GOOD "data ignore value = some", "line 8: data ignore value is 'some'" },
};

CUV_TEST (errors_name_the_line)
{
  for (guint i = 0; i < G_N_ELEMENTS (invalid_headers); i++) {
    CuvEnvi envi;
    char *error = parse (&envi, invalid_headers[i][0]);

    fail_unless (error != NULL, "%s", invalid_headers[i][0]);
    fail_unless (g_str_has_prefix (error, "line ")
            && strstr (error, invalid_headers[i][1]) != NULL,
        "%s: %s", invalid_headers[i][0], error);
    fail_unless (strchr (error, '\n') == NULL);
    free (error);
  }
}

/* Each header is in its own heap block, so that a sanitizer detects reads
 * past its end. */
CUV_TEST (truncated_headers)
{
  guint good = 0;

  for (gsize size = 0; size < sizeof full; size++) {
    char *bytes = g_memdup2 (full, size), *error;
    CuvEnvi envi;

    good += cuv_envi_parse (&envi, bytes, size, &error);
    fail_unless (error == NULL || g_str_has_prefix (error, "line "));
    free (error);
    g_free (bytes);
  }
  /* valid from "byte order = 1" on, except inside a list or before "= value" */
  fail_unless (good > 20 && good < 200, "%u", good);
}

/* Headers as cameras and Python programs write them. */
CUV_TEST (other_writers)
{
  static const char *const lists[] = { "{400, 500, 600}", "[400, 500, 600]",
    "[400. 500.\n 600.]", "{\n400,\n500,\n600,\n}", "{400 500 600 }" };
  CuvEnvi envi;

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    char *text =
        g_strconcat (GOOD "wavelength units = nm\nwavelength = ", lists[i],
            "\nbbl = {True, false, 1.0}\n", NULL);

    envi = parse_valid (text);
    fail_unless (envi.has_wavelengths && envi.wavelengths[0] == 400
            && envi.wavelengths[2] == 600,
        "%s", text);
    fail_unless (!envi.bad[0] && envi.bad[1] && !envi.bad[2]);
    g_free (text);
  }
  envi = parse_valid (GOOD "wavelength = {}\nbbl = { }\nsamples = 5\n");
  fail_if (envi.has_wavelengths || envi.bad[0]);
}

CUV_TEST (assumptions_are_named)
{
  CuvEnvi envi = parse_valid (SHAPE "data type = 2");

  fail_unless (envi.assumed == CUV_ENVI_LITTLE_ENDIAN && !envi.big_endian);
  envi = parse_valid (SHAPE "data type = 1");
  fail_unless (envi.assumed == 0);
  envi = parse_valid (
      GOOD "wavelength units = nm\nwavelength = {1, 2, 3}\nfwhm = 10\n");
  fail_unless (envi.assumed == CUV_ENVI_NO_FWHM && !envi.has_fwhm);
}

CUV_TEST (wavelengths_in_band_names)
{
  static const struct {
    const char *names;
    double last; /* nm; 0: unknown */
  } cases[] = { { "{Band 1 (400.5 nm), Band 2 (500 nm), Band 3 (600.25 nm)}",
                    600.25 },
    { "{400nm,500nm,600 Nanometers}", 600 },
    { "{a 0.4 um, b 0.5um, 0.6um}", 600 }, { "{Red, Green, Blue}", 0 },
    { "{400 nm, 500 nm, third}", 0 }, { "{400 nm, 500 nm}", 0 },
    { "{Band 1, Band 2, Band 3}", 0 }, { "{400 nmol, 500 nm, 600 nm}", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    char *text = g_strconcat (GOOD "band names = ", cases[i].names, NULL);
    CuvEnvi envi = parse_valid (text);

    fail_unless (envi.has_wavelengths == (cases[i].last > 0), "%s", text);
    fail_unless (fabs (envi.wavelengths[2] - cases[i].last) < 1e-9, "%s", text);
    g_free (text);
  }
}

static void
check_decoded (const char *bytes, gsize size, const char *expected)
{
  gsize length = 0;
  char *text = cuv_envi_decode (bytes, size, &length);

  fail_unless_equals_uint64 (length, strlen (expected));
  fail_unless_equals_string (text, expected);
  free (text);
}

CUV_TEST (encodings)
{
  static const char *const encodings[] = { "UTF-16", "UTF-16LE", "UTF-16BE" };

  check_decoded (GOOD, strlen (GOOD), GOOD);
  check_decoded ("\357\273\277" GOOD, 3 + strlen (GOOD), GOOD);
  check_decoded (GOOD "\0\0", strlen (GOOD) + 2, GOOD);
  check_decoded ("ENVI\nunit = \265m", 14, "ENVI\nunit = \265m"); /* Latin-1 */
  check_decoded ("", 0, "");
  for (guint i = 0; i < G_N_ELEMENTS (encodings); i++) {
    gsize size;
    char *bytes = g_convert (
        GOOD "\302\265m", -1, encodings[i], "UTF-8", NULL, &size, NULL);

    check_decoded (bytes, size, GOOD "\302\265m");
    g_free (bytes);
  }
}

/* With the NUL the unit would be unknown; without it the unit is nm. */
CUV_TEST (nul_bytes_are_rejected)
{
  static const char text[] =
      GOOD "wavelength units=\0\nwavelength={400,505,600}";
  CuvEnvi envi;
  char *error;

  fail_if (cuv_envi_parse (&envi, text, sizeof text - 1, &error));
  fail_unless_equals_string (error,
      "line 8: the file contains a NUL byte: set the path of an ENVI header, "
      "or save it "
      "as "
      "plain text");
  free (error);
}

CUV_TEST (too_large_or_binary)
{
  gsize size = CUV_ENVI_MAX_BYTES + 1;
  char *bytes = g_malloc (size), *error;
  CuvEnvi envi;

  memset (bytes, '\n', size);
  memcpy (bytes, GOOD, strlen (GOOD));
  fail_if (cuv_envi_parse (&envi, bytes, size, &error));
  fail_unless (strstr (error, "set the path of the header") != NULL);
  free (error);
  fail_unless (cuv_envi_parse (&envi, bytes, size - 1, &error));
  memset (bytes, 0, 100);
  fail_if (cuv_envi_parse (&envi, bytes, 100, &error));
  free (error);
  g_free (bytes);
}

/* Returns a header of `size` bytes that ends in copies of text. */
static char *
repeat (const char *start, const char *text, gsize size)
{
  GString *header = g_string_new (start);

  while (header->len + strlen (text) < size)
    g_string_append (header, text);
  return g_string_free (header, FALSE);
}

/* With quadratic time this test would take hours. */
CUV_TEST (largest_headers_take_linear_time)
{
  static const char *const texts[][2] = { { "", "a=[\n" },
    { "band names = {a, b, 1", "a1" }, { "band names = {a, b, ", "1 " },
    { "wavelength = [", "1\n" } };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    char *start = g_strconcat (GOOD, texts[i][0], NULL), *error = NULL;
    char *text = repeat (start, texts[i][1], CUV_ENVI_MAX_BYTES - 1);
    CuvEnvi envi;

    strcpy (text + strlen (text) - 1, *texts[i][0] != '\0' ? "}" : "\n");
    cuv_envi_parse (&envi, text, strlen (text), &error);
    free (error);
    g_free (text);
    g_free (start);
  }
}

static void
check_round_trip (const char *text)
{
  CuvEnvi envi = parse_valid (text), again;
  char *written = cuv_envi_write (&envi, NULL);

  again = parse_valid (written);
  fail_unless (memcmp (&envi, &again, sizeof envi) == 0, "%s", written);
  free (written);
}

CUV_TEST (headers_round_trip)
{
  check_round_trip (full);
  check_round_trip (GOOD);
  check_round_trip (GOOD "band names = {a 400.1 nm, b 0.5 um, c 1e3 nm}");
  check_round_trip (GOOD "wavelength = [0.4 0.5 0.65]");
  check_round_trip (GOOD "wavelength units = um\n"
                         "wavelength = { .1234567890123456789, 1e-9, -3 }\n"
                         "data ignore value = 1e-320");
}

/* ---- keys that do not affect samples ---- */

static const char others[] =
    GOOD "description = {\n  samples = 7}\n"
         "file type = ENVI Standard\n"
         "MAP  info = {UTM, 1, 1, 300000.5, 5000000,\r\n 30, 30, 33, North}\n"
         "coordinate system string = {PROJCS[\"a, b\"]}\n"
         "wavelength units = Micrometers\n"
         "wavelength = {0.4, 0.5, 0.6}\n"
         "fwhm = {0.01, 0.0125, 0.02}\n"
         "bbl = {1, 1, 0}\n"
         "reflectance scale factor = 10000\n"
         "band names = {blue, green, red}\n"
         "data ignore value = None\n"
         " ; a comment = 3\n"
         "empty =\n"
         "description = {another}";

static CuvEnviExtraKeys
extra_keys_of (const char *text, CuvEnvi *envi)
{
  CuvEnviExtraKeys extra;

  *envi = parse_valid (text);
  fail_unless (cuv_envi_extract_keys (&extra, envi, text, strlen (text)));
  return extra;
}

CUV_TEST (keeps_other_keys)
{
  CuvEnvi envi;
  CuvEnviExtraKeys extra = extra_keys_of (others, &envi);

  fail_unless_equals_string (extra.image,
      "ENVI\nMAP  info = {UTM, 1, 1, 300000.5, 5000000,\n 30, 30, 33, North}\n"
      "coordinate system string = {PROJCS[\"a, b\"]}\n");
  fail_unless_equals_string (extra.samples,
      "ENVI\ndescription = {samples = 7}\nreflectance scale factor = 10000\n"
      "band names = {blue, green, red}\nempty = \n"
      "description = {another}\nfwhm = {\n 10, 12.5, 20}\n");
  cuv_envi_extra_keys_clear (&extra);
}

/* Wavelengths whose unit is not a length are kept as text. */
CUV_TEST (keeps_wavelengths_of_other_units)
{
  CuvEnvi envi;
  CuvEnviExtraKeys extra =
      extra_keys_of (GOOD "wavelength units = Wavenumber\n"
                          "wavelength = {1, 2, 3}\nfwhm = {4, 5, 6}\n"
                          "data ignore value = nan\n",
          &envi);

  fail_unless_equals_string (extra.samples,
      "ENVI\nwavelength units = Wavenumber\nwavelength = {1, 2, 3}\n"
      "fwhm = {4, 5, 6}\ndata ignore value = nan\n");
  cuv_envi_extra_keys_clear (&extra);
}

/* Wavelengths that are not numbers are kept, and must not become numbers. */
CUV_TEST (keeps_carriage_returns_in_words)
{
  CuvEnvi envi;
  CuvEnviExtraKeys extra =
      extra_keys_of (GOOD "wavelength = {400,\r\n500,6\r00}\r\n", &envi);

  fail_if (envi.has_wavelengths);
  fail_unless_equals_string (
      extra.samples, "ENVI\nwavelength = {400,\n500,6\r00}\n");
  cuv_envi_extra_keys_clear (&extra);
}

/* Each key is written once, even if an extra key repeats it. */
CUV_TEST (writes_kept_keys)
{
  CuvEnvi envi = parse_valid (others), again;
  CuvEnviExtraKeys extra;
  char *written = cuv_envi_write (&envi,
      "ENVI\nsamples = 9\nbbl = {0, 0, 0}\nfwhm = {1, 1, 1}\n"
      "file type = ENVI Classification\nmap info = {x}\nopen = {");

  fail_unless (strstr (written, "\nfile type = ENVI Classification\n")
      && strstr (written, "\nmap info = {x}\n"));
  fail_if (strstr (written, "Standard") || strstr (written, "open"));
  again = parse_valid (written);
  fail_unless (memcmp (&envi, &again, sizeof envi) == 0, "%s", written);
  fail_unless (
      cuv_envi_extract_keys (&extra, &again, written, strlen (written)));
  fail_unless_equals_string (extra.image, "ENVI\nmap info = {x}\n");
  cuv_envi_extra_keys_clear (&extra);
  free (written);
}

/* Headers have decimal points even in a locale with decimal commas. */
CUV_TEST (numbers_do_not_depend_on_locale)
{
  g_autofree char *before = g_strdup (setlocale (LC_NUMERIC, NULL));

  fail_unless (setlocale (LC_NUMERIC, "de_DE.UTF-8") != NULL,
      "no locale de_DE.UTF-8 in LOCPATH=%s", g_getenv ("LOCPATH"));
  check_round_trip (GOOD "data ignore value = -0.5");
  setlocale (LC_NUMERIC, before);
}
