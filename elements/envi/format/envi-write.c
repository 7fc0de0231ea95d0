/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/envi-write.h"

#include <locale.h>
#include <stdlib.h>

/* As few digits as read back as the same. */
static void
write_number (FILE *out, double number)
{
  char text[32];

  for (int digits = 15; digits <= 17; digits++) {
    snprintf (text, sizeof text, "%.*g", digits, number);
    if (strtod (text, NULL) == number)
      break;
  }
  fputs (text, out);
}

void
cuv_envi_write_numbers (
    FILE *out, const char *name, const double *numbers, int n)
{
  fprintf (out, "%s = {", name);
  for (int i = 0; i < n; i++) {
    fputs (i == 0 ? "\n " : i % 8 == 0 ? ",\n " : ", ", out);
    write_number (out, numbers[i]);
  }
  fputs ("}\n", out);
}

static bool
has_bad_band (const CuvEnvi *envi)
{
  bool any = false;

  for (int i = 0; i < envi->bands; i++)
    any |= envi->bad[i];
  return any;
}

bool
cuv_envi_writes (const CuvEnvi *envi, const CuvEnviValue *key)
{
  return (envi->has_wavelengths
             && (cuv_envi_value_is (key, "wavelength")
                 || cuv_envi_value_is (key, "wavelength units")))
      || (envi->has_fwhm && cuv_envi_value_is (key, "fwhm"))
      || (envi->has_ignore && cuv_envi_value_is (key, "data ignore value"))
      || (has_bad_band (envi) && cuv_envi_value_is (key, "bbl"));
}

static void
write_bands (FILE *out, const CuvEnvi *envi)
{
  if (envi->has_wavelengths) {
    fputs ("wavelength units = Nanometers\n", out);
    cuv_envi_write_numbers (out, "wavelength", envi->wavelengths, envi->bands);
  }
  if (envi->has_fwhm)
    cuv_envi_write_numbers (out, "fwhm", envi->fwhm, envi->bands);
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
write_header (FILE *out, const CuvEnvi *envi, const char *kept)
{
  static const char *const interleaves[] = { "bsq", "bil", "bip" };

  fprintf (out,
      "ENVI\nsamples = %d\nlines = %d\nbands = %d\nheader offset = %llu\n"
      "%sdata type = %d\ninterleave = %s\nbyte order = %d\n",
      (int) envi->samples, (int) envi->lines, (int) envi->bands,
      (unsigned long long) envi->header_offset,
      cuv_envi_has_file_type (kept) ? "" : "file type = ENVI Standard\n",
      (int) envi->type, interleaves[envi->interleave], envi->big_endian);
  write_bands (out, envi);
  if (envi->has_ignore) {
    fputs ("data ignore value = ", out);
    write_number (out, envi->ignore);
    fputs ("\n", out);
  }
  cuv_envi_write_kept (out, envi, kept);
}

char *
cuv_envi_write (const CuvEnvi *envi, const char *kept)
{
  locale_t plain = newlocale (LC_ALL_MASK, "C", (locale_t) 0), before;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream (&text, &size);
  bool ok = plain != (locale_t) 0 && out != NULL;

  if (ok) {
    before = uselocale (plain); /* of this thread */
    write_header (out, envi, kept != NULL ? kept : "");
    uselocale (before);
    ok = !ferror (out);
  }
  if (out != NULL)
    ok &= fclose (out) == 0;
  if (plain != (locale_t) 0)
    freelocale (plain);
  if (ok)
    return text;
  free (text);
  return NULL;
}
