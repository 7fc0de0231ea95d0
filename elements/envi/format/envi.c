/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/envi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "format/envi-keys.h"

static const char *const keys[CUV_ENVI_N_KEYS] = {
  [CUV_ENVI_KEY_SAMPLES] = "samples",
  [CUV_ENVI_KEY_LINES] = "lines",
  [CUV_ENVI_KEY_BANDS] = "bands",
  [CUV_ENVI_KEY_HEADER_OFFSET] = "header offset",
  [CUV_ENVI_KEY_DATA_TYPE] = "data type",
  [CUV_ENVI_KEY_INTERLEAVE] = "interleave",
  [CUV_ENVI_KEY_BYTE_ORDER] = "byte order",
  [CUV_ENVI_KEY_FILE_TYPE] = "file type",
  [CUV_ENVI_KEY_WAVELENGTH] = "wavelength",
  [CUV_ENVI_KEY_WAVELENGTH_UNITS] = "wavelength units",
  [CUV_ENVI_KEY_FWHM] = "fwhm",
  [CUV_ENVI_KEY_BAND_NAMES] = "band names",
  [CUV_ENVI_KEY_BBL] = "bbl",
  [CUV_ENVI_KEY_IGNORE_VALUE] = "data ignore value",
  [CUV_ENVI_KEY_COMPRESSION] = "file compression",
  [CUV_ENVI_KEY_MAJOR_OFFSETS] = "major frame offsets",
  [CUV_ENVI_KEY_MINOR_OFFSETS] = "minor frame offsets",
};

static bool
envi_read_size (CuvEnviReader *reader, int key, int32_t maximum, int32_t *size)
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
  const CuvEnviValue *value = &reader->values[CUV_ENVI_KEY_INTERLEAVE];

  if (!cuv_envi_require (reader, CUV_ENVI_KEY_INTERLEAVE))
    return false;
  for (int i = 0; i < 3; i++) {
    envi->interleave = (CuvEnviInterleave) i;
    if (cuv_envi_value_is (value, words[i]))
      return true;
  }
  return cuv_envi_reject (reader, CUV_ENVI_KEY_INTERLEAVE, "bsq, bil or bip");
}

static bool
read_shape (CuvEnvi *envi, CuvEnviReader *reader)
{
  return envi_read_size (
             reader, CUV_ENVI_KEY_SAMPLES, CUV_CUBE_MAX_SIZE, &envi->samples)
      && envi_read_size (
          reader, CUV_ENVI_KEY_LINES, CUV_ENVI_MAX_LINES, &envi->lines)
      && envi_read_size (
          reader, CUV_ENVI_KEY_BANDS, CUV_CUBE_MAX_BANDS, &envi->bands)
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
      return "64-bit integers";
    default:
      return "unknown";
  }
}

static bool
read_type (CuvEnvi *envi, CuvEnviReader *reader)
{
  int64_t number;

  if (!cuv_envi_require (reader, CUV_ENVI_KEY_DATA_TYPE)
      || !cuv_envi_integer (reader, CUV_ENVI_KEY_DATA_TYPE, 0, 255, &number))
    return false;
  envi->type = (CuvEnviType) number;
  return cuv_envi_sample_size (envi->type) > 0
      || cuv_envi_fail (reader, reader->values[CUV_ENVI_KEY_DATA_TYPE].line,
          "data type %d (%s) cannot be read: convert it to 1, 2, 3, 4, 5, 12 "
          "or 13",
          (int) number, unusable_type (number));
}

static bool
read_byte_order (CuvEnvi *envi, CuvEnviReader *reader)
{
  int64_t order = 0;

  if (!cuv_envi_has (reader, CUV_ENVI_KEY_BYTE_ORDER)) {
    if (cuv_envi_sample_size (envi->type) > 1)
      envi->assumed |= CUV_ENVI_LITTLE_ENDIAN;
  } else if (!cuv_envi_integer (
                 reader, CUV_ENVI_KEY_BYTE_ORDER, 0, 1, &order)) {
    return false;
  }
  envi->big_endian = order == 1;
  return true;
}

static bool
read_offset (CuvEnvi *envi, CuvEnviReader *reader)
{
  int64_t maximum = INT64_MAX - (int64_t) cuv_envi_data_size (envi), offset = 0;

  if (cuv_envi_has (reader, CUV_ENVI_KEY_HEADER_OFFSET)
      && !cuv_envi_integer (
          reader, CUV_ENVI_KEY_HEADER_OFFSET, 0, maximum, &offset))
    return false;
  envi->header_offset = (uint64_t) offset;
  return true;
}

/* Padding between lines, as some cameras write, is not supported. */
static bool
has_no_gaps (CuvEnviReader *reader, int key)
{
  double gaps[2] = { 0, 0 };

  if (!cuv_envi_has (reader, key))
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

  if (cuv_envi_has (reader, CUV_ENVI_KEY_COMPRESSION)
      && !cuv_envi_integer (
          reader, CUV_ENVI_KEY_COMPRESSION, 0, 1, &compressed))
    return false;
  return compressed == 0
      || cuv_envi_fail (reader, reader->values[CUV_ENVI_KEY_COMPRESSION].line,
          "compressed data cannot be read: write it without compression");
}

static bool
is_image (CuvEnviReader *reader)
{
  const CuvEnviValue *type = &reader->values[CUV_ENVI_KEY_FILE_TYPE];

  return !cuv_envi_value_is (type, "envi spectral library")
      || cuv_envi_fail (reader, type->line,
          "a spectral library has spectra, not an image: set the path of an "
          "image's header");
}

static bool
read_samples (CuvEnvi *envi, CuvEnviReader *reader)
{
  return is_image (reader) && read_type (envi, reader)
      && read_byte_order (envi, reader) && read_offset (envi, reader)
      && has_no_gaps (reader, CUV_ENVI_KEY_MAJOR_OFFSETS)
      && has_no_gaps (reader, CUV_ENVI_KEY_MINOR_OFFSETS)
      && is_not_compressed (reader);
}

static bool
read_bad_bands (CuvEnvi *envi, CuvEnviReader *reader)
{
  double good[CUV_CUBE_MAX_BANDS];

  if (cuv_envi_count (reader, CUV_ENVI_KEY_BBL) == 0)
    return true;
  if (!cuv_envi_flags (reader, CUV_ENVI_KEY_BBL, envi->bands, good))
    return false;
  for (int i = 0; i < envi->bands; i++)
    envi->bad[i] = good[i] == 0;
  return true;
}

/* NaN is always invalid and needs no ignore value. */
static bool
read_ignore_value (CuvEnvi *envi, CuvEnviReader *reader)
{
  const CuvEnviValue *value = &reader->values[CUV_ENVI_KEY_IGNORE_VALUE];

  if (value->size == 0 || cuv_envi_value_is (value, "none"))
    return true;
  if (!cuv_envi_number (reader, CUV_ENVI_KEY_IGNORE_VALUE, &envi->ignore))
    return false;
  envi->has_ignore = isfinite (envi->ignore);
  if (!envi->has_ignore)
    envi->ignore = 0;
  return true;
}

bool
cuv_envi_parse (CuvEnvi *envi, const char *bytes, size_t size, char **error)
{
  CuvEnviValue values[CUV_ENVI_N_KEYS] = { 0 };
  CuvEnviReader reader = {
    .keys = keys, .values = values, .n_keys = CUV_ENVI_N_KEYS
  };
  bool ok;

  *envi = (CuvEnvi){ 0 };
  if (size > CUV_ENVI_MAX_BYTES)
    ok = cuv_envi_fail (&reader, 1,
        "the file has more than %d bytes, too many for an ENVI header: set the "
        "path of the header",
        CUV_ENVI_MAX_BYTES);
  else
    ok = cuv_envi_collect (&reader, size > 0 ? bytes : "", size)
        && read_shape (envi, &reader) && read_samples (envi, &reader)
        && cuv_envi_read_lengths (envi, &reader)
        && read_bad_bands (envi, &reader) && read_ignore_value (envi, &reader);
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

  if (cuv_envi_collect (&reader, text, strlen (text)))
    n = cuv_envi_count (&reader, 0);
  if (n > limit || !cuv_envi_numbers (&reader, 0, n, numbers))
    n = 0;
  free (reader.error);
  return n;
}
