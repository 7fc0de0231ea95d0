/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of an ENVI header: keys, values, numbers in them, errors. */
#ifndef CUV_ENVI_READER_H
#define CUV_ENVI_READER_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the header, without blanks around; not ended by a NUL. */
typedef struct {
  const char *text;
  size_t size;
  int line; /* 0: there is none */
} CuvEnviValue;

typedef struct {
  const char *const *keys; /* that are known, in lower case */
  CuvEnviValue *values;    /* of each */
  int n_keys;
  int n_lines;
  locale_t locale; /* a number is written alike everywhere */
  char *error;     /* of the first failure; malloc'd */
} CuvEnviReader;

typedef struct {
  CuvEnviValue name, value;
  bool is_braced;
} CuvEnviEntry;

/* The end of the first line, which says ENVI; NULL: error is set. */
const char *cuv_envi_start (
    CuvEnviReader *self, const char *bytes, size_t size);

/* The next key of a header, known or not, from a line's end on. False: there is
 * no more, or error is set. */
bool cuv_envi_next (
    CuvEnviReader *self, const char **at, const char *end, CuvEnviEntry *entry);

/* Finds the values of all keys. False from here on: error is set. */
bool cuv_envi_collect (CuvEnviReader *self, const char *bytes, size_t size);

/* Always false. Line 0 is the last. */
bool cuv_envi_fail (CuvEnviReader *self, int line, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

bool cuv_envi_require (CuvEnviReader *self, int key);
bool cuv_envi_value_is (const CuvEnviValue *value, const char *word);
bool cuv_envi_integer (
    CuvEnviReader *self, int key, int64_t low, int64_t high, int64_t *integer);
bool cuv_envi_number (CuvEnviReader *self, int key, double *number);

/* Exactly n numbers with commas between, none of them infinite or NaN. */
bool cuv_envi_numbers (CuvEnviReader *self, int key, int n, double *numbers);

#endif
