/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of headers' text. */
#ifndef CUV_ENVI_WRITE_H
#define CUV_ENVI_WRITE_H

#include <stdio.h>
#include "envi-reader.h"
#include "envi.h"

/* name = { numbers }, in the locale in force */
void cuv_envi_write_numbers (
    FILE *out, const char *name, const double *numbers, int n);

/* Whether cuv_envi_write() writes the key of what CuvEnvi has. */
bool cuv_envi_writes (const CuvEnvi *envi, const CuvEnviValue *key);

/* Of keys that were kept. */
bool cuv_envi_has_file_type (const char *kept);
void cuv_envi_write_kept (FILE *out, const CuvEnvi *envi, const char *kept);

#endif
