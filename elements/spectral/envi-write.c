/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "envi.h"

#include <locale.h>
#include <stdio.h>
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

static void
write_bands (FILE *out, const CuvEnvi *envi)
{
  bool any_bad = false;

  if (envi->has_wavelengths) {
    fputs ("wavelength units = Nanometers\nwavelength = {", out);
    for (int i = 0; i < envi->bands; i++) {
      fputs (i == 0 ? "\n " : i % 8 == 0 ? ",\n " : ", ", out);
      write_number (out, envi->wavelengths[i]);
    }
    fputs ("}\n", out);
  }
  for (int i = 0; i < envi->bands; i++)
    any_bad |= envi->bad[i];
  if (any_bad) {
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
write_header (FILE *out, const CuvEnvi *envi)
{
  static const char *const interleaves[] = { "bsq", "bil", "bip" };

  fprintf (out,
      "ENVI\nsamples = %d\nlines = %d\nbands = %d\nheader offset = %llu\n"
      "file type = ENVI Standard\ndata type = %d\ninterleave = %s\n"
      "byte order = %d\n",
      (int) envi->samples, (int) envi->lines, (int) envi->bands,
      (unsigned long long) envi->header_offset, (int) envi->type,
      interleaves[envi->interleave], envi->big_endian);
  write_bands (out, envi);
  if (envi->has_ignore) {
    fputs ("data ignore value = ", out);
    write_number (out, envi->ignore);
    fputs ("\n", out);
  }
}

char *
cuv_envi_write (const CuvEnvi *envi)
{
  locale_t plain = newlocale (LC_ALL_MASK, "C", (locale_t) 0), before;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream (&text, &size);
  bool ok = plain != (locale_t) 0 && out != NULL;

  if (ok) {
    before = uselocale (plain); /* of this thread */
    write_header (out, envi);
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
