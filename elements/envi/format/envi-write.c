/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/envi-write.h"

#include <locale.h>
#include <stdlib.h>

static void
write_bands (FILE *out, const CuvEnvi *envi)
{
  if (envi->has_wavelengths) {
    fputs ("wavelength units = Nanometers\n", out);
    cuv_envi_write_numbers (out, "wavelength", envi->wavelengths, envi->bands);
  }
  if (envi->has_fwhm)
    cuv_envi_write_numbers (out, "fwhm", envi->fwhm, envi->bands);
  if (cuv_envi_has_bad_band (envi)) {
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
    cuv_envi_write_number (out, envi->ignore);
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
