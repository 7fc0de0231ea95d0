/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes headers, and extracts the keys that do not affect how samples are
 * read, to be written into other headers. */
#include "format/envi.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/envi-reader.h"

/* Keys that say where, when and how the scene was recorded. They stay valid
 * when samples change, as long as the pixel grid is the same. */
static const char *const image_keys[] = { "map info", "projection info",
  "coordinate system string", "pixel size", "x start", "y start", "geo points",
  "rpc info", "pseudo map info", "igm file", "sensor type", "instrument id",
  "acquisition time", "acquisition date", "cloud cover", "sun azimuth",
  "sun elevation", "security tag", "rotation", "dem file", "dem band", NULL };

/* Keys that describe the bands themselves, not their values. */
static const char *const band_keys[] = { "band names", "default bands",
  "wavelength", "wavelength units", "fwhm", "bbl", NULL };

/* Keys that are always written from CuvEnvi, or are never valid for files
 * written here. */
static const char *const own_keys[] = { "samples", "lines", "bands",
  "header offset", "data type", "interleave", "byte order", "file compression",
  "major frame offsets", "minor frame offsets", NULL };

static bool
is_one_of (const CuvEnviValue *name, const char *const *words)
{
  for (; *words != NULL; words++)
    if (cuv_envi_value_is (name, *words))
      return true;
  return false;
}

static bool
has_bad_band (const CuvEnvi *envi)
{
  bool any = false;

  for (int i = 0; i < envi->bands; i++)
    any |= envi->bad[i];
  return any;
}

/* Whether print_header() writes this key from envi's fields. */
static bool
is_field (const CuvEnvi *envi, const CuvEnviValue *key)
{
  return (envi->has_wavelengths
             && (cuv_envi_value_is (key, "wavelength")
                 || cuv_envi_value_is (key, "wavelength units")))
      || ((envi->has_fwhm || (envi->assumed & CUV_ENVI_NO_FWHM) != 0)
          && cuv_envi_value_is (key, "fwhm"))
      || (envi->has_ignore && cuv_envi_value_is (key, "data ignore value"))
      || (has_bad_band (envi) && cuv_envi_value_is (key, "bbl"));
}

/* Returns false for keys that must not be copied: malformed ones, own_keys, and
 * file types that do not mean raw samples. */
static bool
is_usable (const CuvEnviEntry *entry)
{
  return entry->name.size > 0 && *entry->name.text != ';'
      && !is_one_of (&entry->name, own_keys)
      && !(cuv_envi_value_is (&entry->name, "data ignore value")
          && cuv_envi_value_is (&entry->value, "none")) /* GDAL would read
                                                         * this value as 0 */
      && (!cuv_envi_value_is (&entry->name, "file type")
          || cuv_envi_value_is (&entry->value, "envi classification"));
}

static bool
next_usable (CuvEnviReader *reader, const char **at, const char *end,
    CuvEnviEntry *entry)
{
  do {
    if (*at == NULL || !cuv_envi_next (reader, at, end, entry))
      return false;
  } while (!is_usable (entry));
  return true;
}

static bool
has_file_type (const char *text)
{
  CuvEnviReader reader = { 0 };
  const char *at = cuv_envi_start (&reader, text, strlen (text));
  CuvEnviEntry entry;
  bool found = false;

  while (!found && next_usable (&reader, &at, text + strlen (text), &entry))
    found = cuv_envi_value_is (&entry.name, "file type");
  free (reader.error);
  return found;
}

/* ---- printing ---- */

/* Prints the shortest number that reads back the same. */
static void
print_number (FILE *out, double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];

  for (int digits = 15; digits <= 17; digits++) {
    snprintf (format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd (text, sizeof text, format, number);
    if (g_ascii_strtod (text, NULL) == number)
      break;
  }
  fputs (text, out);
}

static void
print_numbers (FILE *out, const char *name, const double *numbers, int n)
{
  fprintf (out, "%s = {", name);
  for (int i = 0; i < n; i++) {
    fputs (i == 0 ? "\n " : i % 8 == 0 ? ",\n " : ", ", out);
    print_number (out, numbers[i]);
  }
  fputs ("}\n", out);
}

/* Drops carriage returns at the ends of lines; others may separate words. */
static void
print_entry (FILE *out, const CuvEnviEntry *entry)
{
  const char *text = entry->value.text;

  fprintf (out, "%.*s = %s", (int) entry->name.size, entry->name.text,
      entry->is_braced ? "{" : "");
  for (size_t i = 0; i < entry->value.size; i++)
    if (text[i] != '\r' || i + 1 == entry->value.size || text[i + 1] != '\n')
      putc (text[i], out);
  fputs (entry->is_braced ? "}\n" : "\n", out);
}

/* Arguments of printing. */
typedef struct {
  const CuvEnvi *envi;
  const char *text; /* a header or extra keys */
  size_t size;
  enum {
    ALL_KEYS,
    IMAGE_KEYS,
    SAMPLE_KEYS,
    BAND_KEYS
  } which; /* the keys that are written from the text */
} Source;

static bool
envi_writes_band (const Source *from, const CuvEnviValue *key)
{
  const bool is_image = is_one_of (key, image_keys);

  return from->which == IMAGE_KEYS ? is_image
      : from->which == SAMPLE_KEYS ? !is_image
      : from->which == BAND_KEYS   ? is_one_of (key, band_keys)
                                   : true;
}

static void
print_keys (FILE *out, const Source *from)
{
  CuvEnviReader reader = { 0 };
  const char *at = cuv_envi_start (&reader, from->text, from->size);
  CuvEnviEntry entry;

  while (next_usable (&reader, &at, from->text + from->size, &entry))
    if (envi_writes_band (from, &entry.name)
        && !is_field (from->envi, &entry.name))
      print_entry (out, &entry);
  free (reader.error);
}

static void
print_extra_keys (FILE *out, const Source *from)
{
  const CuvEnvi *envi = from->envi;

  fputs ("ENVI\n", out);
  print_keys (out, from);
  if (from->which == SAMPLE_KEYS && envi->has_fwhm)
    print_numbers (out, "fwhm", envi->fwhm, envi->bands);
}

static void
print_bands (FILE *out, const CuvEnvi *envi)
{
  if (envi->has_wavelengths) {
    fputs ("wavelength units = Nanometers\n", out);
    print_numbers (out, "wavelength", envi->wavelengths, envi->bands);
  }
  if (envi->has_fwhm)
    print_numbers (out, "fwhm", envi->fwhm, envi->bands);
  if (has_bad_band (envi)) {
    fputs ("bbl = {", out);
    for (int i = 0; i < envi->bands; i++)
      fprintf (out, "%s%d",
          i == 0            ? "\n "
              : i % 32 == 0 ? ",\n "
                            : ", ",
          !envi->bad[i]);
    fputs ("}\n", out);
  }
}

static void
print_header (FILE *out, const Source *from)
{
  static const char *const interleaves[] = { "bsq", "bil", "bip" };
  const CuvEnvi *envi = from->envi;

  fprintf (out,
      "ENVI\nsamples = %d\nlines = %d\nbands = %d\nheader offset = %llu\n"
      "%sdata type = %d\ninterleave = %s\nbyte order = %d\n",
      (int) envi->samples, (int) envi->lines, (int) envi->bands,
      (unsigned long long) envi->header_offset,
      has_file_type (from->text) ? "" : "file type = ENVI Standard\n",
      (int) envi->type, interleaves[envi->interleave], envi->big_endian);
  print_bands (out, envi);
  if (envi->has_ignore) {
    fputs ("data ignore value = ", out);
    print_number (out, envi->ignore);
    fputs ("\n", out);
  }
  print_keys (out, from);
}

/* Returns the text that print() writes; NULL if out of memory. */
static char *
print_text (void (*print) (FILE *out, const Source *from), const Source *from)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream (&text, &size);
  bool ok;

  if (out == NULL)
    return NULL;
  print (out, from);
  ok = !ferror (out);
  ok &= fclose (out) == 0;
  if (ok)
    return text;
  free (text);
  return NULL;
}

/* ---- entry points ---- */

char *
cuv_envi_write (const CuvEnvi *envi, const char *extra_keys)
{
  const char *text = extra_keys != NULL ? extra_keys : "";
  const Source from = { envi, text, strlen (text), ALL_KEYS };

  return print_text (print_header, &from);
}

bool
cuv_envi_extract_keys (
    CuvEnviExtraKeys *self, const CuvEnvi *envi, const char *bytes, size_t size)
{
  const Source image = { envi, bytes, size, IMAGE_KEYS };
  const Source samples = { envi, bytes, size, SAMPLE_KEYS };

  self->image = print_text (print_extra_keys, &image);
  self->samples = print_text (print_extra_keys, &samples);
  if (self->image != NULL && self->samples != NULL)
    return true;
  cuv_envi_extra_keys_clear (self);
  return false;
}

char *
cuv_envi_extract_bands (const char *text)
{
  static const CuvEnvi none;
  const Source from = { &none, text, strlen (text), BAND_KEYS };

  return print_text (print_extra_keys, &from);
}

void
cuv_envi_extra_keys_clear (CuvEnviExtraKeys *self)
{
  free (self->image);
  free (self->samples);
  *self = (CuvEnviExtraKeys){ NULL, NULL };
}
