/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes, decoded, are a header with sizes in range, or an error. A header
 * that is written, with the keys extracted from it or with any bytes as keys,
 * is read back unchanged. */
#include <stdlib.h>
#include <string.h>
#include "format/envi.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check (const CuvEnvi *envi)
{
  if (envi->samples < 1 || envi->samples > CUV_CUBE_MAX_SIZE || envi->lines < 1
      || envi->lines > CUV_ENVI_MAX_LINES || envi->bands < 1
      || envi->bands > CUV_CUBE_MAX_BANDS
      || cuv_envi_sample_size (envi->type) == 0
      || envi->header_offset > INT64_MAX - cuv_envi_data_size (envi))
    abort ();
}

static void
check_written (const CuvEnvi *envi, const char *extra)
{
  char *text = cuv_envi_write (envi, extra), *error = NULL;
  CuvEnvi expected, again;

  memcpy (&expected, envi, sizeof expected); /* with its padding */
  expected.assumed = 0;                      /* a written header is complete */
  if (text == NULL || !cuv_envi_parse (&again, text, strlen (text), &error)
      || memcmp (&expected, &again, sizeof again) != 0)
    abort ();
  free (text);
}

static void
check_kept (const CuvEnvi *envi, const char *text, size_t size)
{
  CuvEnviExtraKeys extra;
  double numbers[3];
  int n;

  if (!cuv_envi_extract_keys (&extra, envi, text, size))
    abort ();
  check_written (envi, extra.image);
  check_written (envi, extra.samples);
  check_written (envi, text);
  n = cuv_envi_read_numbers (text, "default bands", numbers, 3);
  if (n < 0 || n > 3)
    abort ();
  cuv_envi_extra_keys_clear (&extra);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *error = NULL,
       *text = cuv_envi_decode ((const char *) data, size, &size);
  CuvEnvi envi;
  bool ok = cuv_envi_parse (&envi, text, size, &error);

  if (ok != (error == NULL))
    abort ();
  if (ok) {
    check (&envi);
    check_written (&envi, NULL);
    check_kept (&envi, text, size);
  }
  free (error);
  free (text);
  return 0;
}
