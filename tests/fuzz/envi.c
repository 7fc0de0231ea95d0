/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes are a header of sizes in range or an error; and what is written of
 * a header reads as the same. */
#include <stdlib.h>
#include <string.h>
#include "envi.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check (const CuvEnvi *envi)
{
  if (envi->samples < 1 || envi->samples > CUV_CUBE_MAX_SIZE || envi->lines < 1
      || envi->lines > CUV_CUBE_MAX_SIZE || envi->bands < 1
      || envi->bands > CUV_CUBE_MAX_BANDS
      || cuv_envi_sample_size (envi->type) == 0
      || envi->header_offset > INT64_MAX - cuv_envi_data_size (envi))
    abort ();
}

static void
check_written (const CuvEnvi *envi)
{
  char *text = cuv_envi_write (envi), *error = NULL;
  CuvEnvi again;

  if (text == NULL || !cuv_envi_parse (&again, text, strlen (text), &error)
      || memcmp (envi, &again, sizeof again) != 0)
    abort ();
  free (text);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *error = NULL;
  CuvEnvi envi;
  bool ok = cuv_envi_parse (&envi, (const char *) data, size, &error);

  if (ok != (error == NULL))
    abort ();
  if (ok) {
    check (&envi);
    check_written (&envi);
  }
  free (error);
  return 0;
}
