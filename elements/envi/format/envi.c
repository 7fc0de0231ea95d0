/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/envi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "format/envi-reader.h"

enum {
  SAMPLES,
  LINES,
  BANDS,
  HEADER_OFFSET,
  DATA_TYPE,
  INTERLEAVE,
  BYTE_ORDER_KEY,
  WAVELENGTH,
  WAVELENGTH_UNITS,
  FWHM,
  BBL,
  IGNORE_VALUE,
  COMPRESSION,
  MAJOR_OFFSETS,
  MINOR_OFFSETS,
  N_KEYS,
};

static const char *const keys[N_KEYS] = {
  [SAMPLES] = "samples",
  [LINES] = "lines",
  [BANDS] = "bands",
  [HEADER_OFFSET] = "header offset",
  [DATA_TYPE] = "data type",
  [INTERLEAVE] = "interleave",
  [BYTE_ORDER_KEY] = "byte order",
  [WAVELENGTH] = "wavelength",
  [WAVELENGTH_UNITS] = "wavelength units",
  [FWHM] = "fwhm",
  [BBL] = "bbl",
  [IGNORE_VALUE] = "data ignore value",
  [COMPRESSION] = "file compression",
  [MAJOR_OFFSETS] = "major frame offsets",
  [MINOR_OFFSETS] = "minor frame offsets",
};

static bool
has (const CuvEnviReader *reader, int key)
{
  return reader->values[key].line > 0;
}

static bool
read_size (CuvEnviReader *reader, int key, int32_t maximum, int32_t *size)
{
  int64_t value;

  if (!cuv_envi_require (reader, key)
      || !cuv_envi_integer (reader, key, 1, maximum, &value))
    return false;
  *size = (int32_t) value;
  return true;
}

static bool
read_interleave (CuvEnvi *envi, CuvEnviReader *reader)
{
  static const char *const words[] = { "bsq", "bil", "bip" };
  const CuvEnviValue *value = &reader->values[INTERLEAVE];

  if (!cuv_envi_require (reader, INTERLEAVE))
    return false;
  for (int i = 0; i < 3; i++) {
    envi->interleave = (CuvEnviInterleave) i;
    if (cuv_envi_value_is (value, words[i]))
      return true;
  }
  return cuv_envi_reject (reader, INTERLEAVE, "bsq, bil or bip");
}

static bool
read_shape (CuvEnvi *envi, CuvEnviReader *reader)
{
  return read_size (reader, SAMPLES, CUV_CUBE_MAX_SIZE, &envi->samples)
      && read_size (reader, LINES, CUV_CUBE_MAX_SIZE, &envi->lines)
      && read_size (reader, BANDS, CUV_CUBE_MAX_BANDS, &envi->bands)
      && read_interleave (envi, reader);
}

static const char *
unusable_type (int64_t number)
{
  switch (number) {
    case 6:
    case 9:
      return "complex";
    case 14:
    case 15:
      return "integers of 64 bits";
    default:
      return "unknown";
  }
}

static bool
read_type (CuvEnvi *envi, CuvEnviReader *reader)
{
  int64_t number;

  if (!cuv_envi_require (reader, DATA_TYPE)
      || !cuv_envi_integer (reader, DATA_TYPE, 0, 255, &number))
    return false;
  envi->type = (CuvEnviType) number;
  return cuv_envi_sample_size (envi->type) > 0
      || cuv_envi_fail (reader, reader->values[DATA_TYPE].line,
          "data type %d (%s) cannot be read: convert it to 1, 2, 3, 4, 5, 12 "
          "or 13",
          (int) number, unusable_type (number));
}

/* Optional for samples of one byte. */
static bool
read_byte_order (CuvEnvi *envi, CuvEnviReader *reader)
{
  int64_t order = 0;

  if (cuv_envi_sample_size (envi->type) > 1
      && !cuv_envi_require (reader, BYTE_ORDER_KEY))
    return false;
  if (has (reader, BYTE_ORDER_KEY)
      && !cuv_envi_integer (reader, BYTE_ORDER_KEY, 0, 1, &order))
    return false;
  envi->big_endian = order == 1;
  return true;
}

static bool
read_offset (CuvEnvi *envi, CuvEnviReader *reader)
{
  int64_t maximum = INT64_MAX - (int64_t) cuv_envi_data_size (envi), offset = 0;

  if (has (reader, HEADER_OFFSET)
      && !cuv_envi_integer (reader, HEADER_OFFSET, 0, maximum, &offset))
    return false;
  envi->header_offset = (uint64_t) offset;
  return true;
}

/* Padding between lines, as some cameras write, is not supported. */
static bool
has_no_gaps (CuvEnviReader *reader, int key)
{
  double gaps[2] = { 0, 0 };

  if (!has (reader, key))
    return true;
  if (!cuv_envi_numbers (reader, key, 2, gaps))
    return false;
  return (gaps[0] == 0 && gaps[1] == 0)
      || cuv_envi_fail (reader, reader->values[key].line,
          "%s are not 0: write the file without padding between lines",
          keys[key]);
}

static bool
is_not_compressed (CuvEnviReader *reader)
{
  int64_t compressed = 0;

  if (has (reader, COMPRESSION)
      && !cuv_envi_integer (reader, COMPRESSION, 0, 1, &compressed))
    return false;
  return compressed == 0
      || cuv_envi_fail (reader, reader->values[COMPRESSION].line,
          "compressed data cannot be read: write it without compression");
}

static bool
read_samples (CuvEnvi *envi, CuvEnviReader *reader)
{
  return read_type (envi, reader) && read_byte_order (envi, reader)
      && read_offset (envi, reader) && has_no_gaps (reader, MAJOR_OFFSETS)
      && has_no_gaps (reader, MINOR_OFFSETS) && is_not_compressed (reader);
}

/* 0 if it is not a unit of length. */
static double
unit_in_nm (const CuvEnviValue *unit)
{
  static const struct {
    const char *name;
    double length;
  } units[] = { { "nanometers", 1 }, { "nanometer", 1 }, { "nm", 1 },
    { "micrometers", 1e3 }, { "micrometer", 1e3 }, { "microns", 1e3 },
    { "um", 1e3 }, { "\302\265m", 1e3 }, { "\316\274m", 1e3 },
    { "millimeters", 1e6 }, { "mm", 1e6 }, { "angstroms", 0.1 } };

  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (cuv_envi_value_is (unit, units[i].name))
      return units[i].length;
  return 0;
}

/* Guesses the unit of wavelengths without one; 0 if ambiguous. From the far
 * ultraviolet to the thermal infrared the ranges of nm and um do not overlap.
 * Whole numbers from 1 on are band numbers. */
static double
guess_unit_in_nm (const double *numbers, int n)
{
  bool is_nm = true, is_um = true, is_whole = true;

  for (int i = 0; i < n; i++) {
    is_nm &= numbers[i] >= 150 && numbers[i] <= 15000;
    is_um &= numbers[i] >= 0.15 && numbers[i] <= 15;
    is_whole &= numbers[i] == floor (numbers[i]);
  }
  return is_nm ? 1 : is_um && !is_whole ? 1e3 : 0;
}

/* 0 if unknown. */
static double
find_unit_in_nm (const CuvEnvi *envi, CuvEnviReader *reader)
{
  const CuvEnviValue *unit = &reader->values[WAVELENGTH_UNITS];
  CuvEnviReader trial = *reader;
  double numbers[CUV_CUBE_MAX_BANDS], length = 0;

  if (unit->size > 0 && !cuv_envi_value_is (unit, "unknown"))
    return unit_in_nm (unit);
  if (cuv_envi_numbers (&trial, WAVELENGTH, envi->bands, numbers))
    length = guess_unit_in_nm (numbers, envi->bands);
  else
    free (trial.error);
  return length;
}

static bool
read_lengths (CuvEnviReader *reader, int key, double unit, int n, double *to)
{
  if (!cuv_envi_numbers (reader, key, n, to))
    return false;
  for (int i = 0; i < n; i++) {
    to[i] *= unit;
    if (!isfinite (to[i]))
      return cuv_envi_fail (reader, reader->values[key].line,
          "value %d of %s is too large: check the wavelength units", i + 1,
          keys[key]);
  }
  return true;
}

/* Wavelengths in a unit that is no length are dropped. */
static bool
read_wavelengths (CuvEnvi *envi, CuvEnviReader *reader)
{
  double unit;

  if (!has (reader, WAVELENGTH))
    return true;
  unit = find_unit_in_nm (envi, reader);
  if (unit == 0)
    return true;
  envi->has_wavelengths = true;
  envi->has_fwhm = has (reader, FWHM);
  return read_lengths (reader, WAVELENGTH, unit, envi->bands, envi->wavelengths)
      && (!envi->has_fwhm
          || read_lengths (reader, FWHM, unit, envi->bands, envi->fwhm));
}

static bool
read_bad_bands (CuvEnvi *envi, CuvEnviReader *reader)
{
  double good[CUV_CUBE_MAX_BANDS];

  if (!has (reader, BBL))
    return true;
  if (!cuv_envi_numbers (reader, BBL, envi->bands, good))
    return false;
  for (int i = 0; i < envi->bands; i++)
    envi->bad[i] = good[i] == 0;
  return true;
}

/* NaN is always invalid and needs no ignore value. */
static bool
read_ignore_value (CuvEnvi *envi, CuvEnviReader *reader)
{
  if (!has (reader, IGNORE_VALUE))
    return true;
  if (!cuv_envi_number (reader, IGNORE_VALUE, &envi->ignore))
    return false;
  envi->has_ignore = isfinite (envi->ignore);
  if (!envi->has_ignore)
    envi->ignore = 0;
  return true;
}

bool
cuv_envi_parse (CuvEnvi *envi, const char *bytes, size_t size, char **error)
{
  CuvEnviValue values[N_KEYS] = { 0 };
  CuvEnviReader reader = { .keys = keys, .values = values, .n_keys = N_KEYS };
  bool ok;

  *envi = (CuvEnvi){ 0 };
  if (size > CUV_ENVI_MAX_BYTES)
    ok = cuv_envi_fail (&reader, 1,
        "the file has more than %d bytes: name an ENVI header",
        CUV_ENVI_MAX_BYTES);
  else
    ok = cuv_envi_collect (&reader, size > 0 ? bytes : "", size)
        && read_shape (envi, &reader) && read_samples (envi, &reader)
        && read_wavelengths (envi, &reader) && read_bad_bands (envi, &reader)
        && read_ignore_value (envi, &reader);
  *error = reader.error;
  return ok;
}

int
cuv_envi_read_numbers (
    const char *text, const char *key, double *numbers, int limit)
{
  CuvEnviValue value = { 0 };
  CuvEnviReader reader = { .keys = &key, .values = &value, .n_keys = 1 };
  int n = 0;

  if (cuv_envi_collect (&reader, text, strlen (text)) && value.line > 0) {
    n = 1;
    for (size_t i = 0; i < value.size && n <= limit; i++)
      n += value.text[i] == ',';
    if (n > limit || !cuv_envi_numbers (&reader, 0, n, numbers))
      n = 0;
  }
  free (reader.error);
  return n;
}
