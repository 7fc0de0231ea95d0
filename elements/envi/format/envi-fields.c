/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "format/envi-write.h"

void
cuv_envi_write_number (FILE *out, double number)
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
    cuv_envi_write_number (out, numbers[i]);
  }
  fputs ("}\n", out);
}

bool
cuv_envi_has_bad_band (const CuvEnvi *envi)
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
      || (cuv_envi_has_bad_band (envi) && cuv_envi_value_is (key, "bbl"));
}
