/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Wavelengths of bands, in nanometres, and their widths. */
#include "format/envi-keys.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns 0 if it is not a unit of length. Latin-1 has the micro sign in one
 * byte. */
static double
unit_in_nm (const CuvEnviValue *unit)
{
  static const struct {
    const char *name;
    double length;
  } units[] = { { "nanometers", 1 }, { "nanometer", 1 }, { "nm", 1 },
    { "micrometers", 1e3 }, { "micrometer", 1e3 }, { "microns", 1e3 },
    { "um", 1e3 }, { "\302\265m", 1e3 }, { "\316\274m", 1e3 }, { "\265m", 1e3 },
    { "millimeters", 1e6 }, { "mm", 1e6 }, { "angstroms", 0.1 } };

  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (cuv_envi_value_is (unit, units[i].name))
      return units[i].length;
  return 0;
}

/* Guesses the unit of wavelengths that have none; returns 0 if it is ambiguous.
 * From the far ultraviolet to the thermal infrared the ranges of nm and um do
 * not overlap. Whole numbers from 1 on are band numbers. */
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

/* Returns 0 if the unit is unknown. */
static double
find_unit_in_nm (const CuvEnvi *envi, CuvEnviReader *reader)
{
  const CuvEnviValue *unit = &reader->values[CUV_ENVI_KEY_WAVELENGTH_UNITS];
  CuvEnviReader trial = *reader;
  double numbers[CUV_CUBE_MAX_BANDS], length = 0;

  if (unit->size > 0 && !cuv_envi_value_is (unit, "unknown"))
    return unit_in_nm (unit);
  if (cuv_envi_numbers (&trial, CUV_ENVI_KEY_WAVELENGTH, envi->bands, numbers))
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
          reader->keys[key]);
  }
  return true;
}

/* ---- names of bands ---- */

static bool
is_part_of_number (char c)
{
  return (c >= '0' && c <= '9') || c == '.';
}

#define LONGEST_UNIT 16 /* bytes; all units are shorter */

/* Whether a number followed by a unit of length starts at `at`. */
static bool
read_length_at (const char *at, const char *end, double *nm)
{
  char number[32] = "";
  size_t n = 0;
  CuvEnviValue unit;

  while (at < end && n < sizeof number - 1 && is_part_of_number (*at))
    number[n++] = *at++;
  unit = cuv_envi_trimmed (at, end, 0);
  for (size_t i = 0; i < unit.size && i < LONGEST_UNIT; i++)
    if (strchr (" \t)];:/_", unit.text[i]) != NULL)
      unit.size = i;
  *nm = g_ascii_strtod (number, NULL) * unit_in_nm (&unit);
  return *nm > 0 && isfinite (*nm);
}

/* Finds the last length in a name, as in "Band 7 (482.5 nm)". */
static bool
find_length (const CuvEnviValue *name, double *nm)
{
  const char *start = name->text, *end = start + name->size;
  bool found = false;
  double length;

  for (const char *at = start; at < end; at++)
    if (is_part_of_number (*at) && (at == start || !is_part_of_number (at[-1]))
        && read_length_at (at, end, &length)) {
      *nm = length;
      found = true;
    }
  return found;
}

static bool
find_lengths_in_names (CuvEnvi *envi, CuvEnviReader *reader)
{
  const CuvEnviValue *names = &reader->values[CUV_ENVI_KEY_BAND_NAMES];
  const char *at, *end;

  if (cuv_envi_count (reader, CUV_ENVI_KEY_BAND_NAMES) != envi->bands)
    return false;
  at = names->text;
  end = at + names->size;
  for (int i = 0; i < envi->bands; i++) {
    const char *comma = at < end ? memchr (at, ',', (size_t) (end - at)) : NULL;
    const CuvEnviValue name =
        cuv_envi_trimmed (at, comma != NULL ? comma : end, 0);

    if (!find_length (&name, &envi->wavelengths[i])) {
      memset (envi->wavelengths, 0, sizeof envi->wavelengths);
      return false;
    }
    at = comma != NULL ? comma + 1 : end;
  }
  return true;
}

/* ---- keys ---- */

/* FWHMs have the unit of the wavelengths. A list with another number of values
 * is common; it is ignored, because nothing depends on it. */
static bool
read_fwhm (CuvEnvi *envi, CuvEnviReader *reader, double unit)
{
  const int n = cuv_envi_count (reader, CUV_ENVI_KEY_FWHM);

  if (n > 0 && n != envi->bands)
    envi->assumed |= CUV_ENVI_NO_FWHM;
  envi->has_fwhm = n == envi->bands;
  return !envi->has_fwhm
      || read_lengths (
          reader, CUV_ENVI_KEY_FWHM, unit, envi->bands, envi->fwhm);
}

/* Drops wavelengths whose unit is not a length. */
bool
cuv_envi_read_lengths (CuvEnvi *envi, CuvEnviReader *reader)
{
  const int n = cuv_envi_count (reader, CUV_ENVI_KEY_WAVELENGTH);
  double unit;

  if (n == 0) {
    envi->has_wavelengths = find_lengths_in_names (envi, reader);
    return true;
  }
  if (!cuv_envi_check_count (reader, CUV_ENVI_KEY_WAVELENGTH, envi->bands))
    return false;
  unit = find_unit_in_nm (envi, reader);
  if (unit == 0)
    return true;
  envi->has_wavelengths = true;
  return read_lengths (reader, CUV_ENVI_KEY_WAVELENGTH, unit, envi->bands,
             envi->wavelengths)
      && read_fwhm (envi, reader, unit);
}
