/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internals of writing headers. */
#ifndef CUV_ENVI_WRITE_H
#define CUV_ENVI_WRITE_H

#include <stdio.h>
#include "format/envi-reader.h"
#include "format/envi.h"

/* Write the shortest number that reads back the same, and "name = { numbers }",
 * with the current locale's decimal point. */
void cuv_envi_write_number (FILE *out, double number);
void cuv_envi_write_numbers (
    FILE *out, const char *name, const double *numbers, int n);

bool cuv_envi_has_bad_band (const CuvEnvi *envi);

/* Whether cuv_envi_write() generates this key from envi's fields. */
bool cuv_envi_writes (const CuvEnvi *envi, const CuvEnviValue *key);

/* kept: text as in CuvEnviKept. */
bool cuv_envi_has_file_type (const char *kept);
void cuv_envi_write_kept (FILE *out, const CuvEnvi *envi, const char *kept);

#endif
