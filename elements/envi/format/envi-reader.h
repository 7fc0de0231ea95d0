/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of an ENVI header: keys, values, numbers in them, errors. */
#ifndef CUV_ENVI_READER_H
#define CUV_ENVI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Trimmed bytes of the header, not NUL-terminated. */
typedef struct {
  const char *text;
  size_t size;
  int line; /* 0: the key is missing */
} CuvEnviValue;

typedef struct {
  const char *const *keys; /* keys to collect, in lower case */
  CuvEnviValue *values;    /* value of each key */
  int n_keys;
  int n_lines; /* lines read so far */
  char *error; /* the first failure; malloc'd */
} CuvEnviReader;

typedef struct {
  CuvEnviValue name, value;
  bool is_braced;
} CuvEnviEntry;

/* Checks that the first line is ENVI. Returns the end of that line, or NULL
 * with error set. */
const char *cuv_envi_start (
    CuvEnviReader *self, const char *bytes, size_t size);

/* Reads the next key, starting at the end of a line. Returns false at the end
 * of the header, or on failure with error set. */
bool cuv_envi_next (
    CuvEnviReader *self, const char **at, const char *end, CuvEnviEntry *entry);

/* Collects the values of self->keys. Here and below, false means that error is
 * set. */
bool cuv_envi_collect (CuvEnviReader *self, const char *bytes, size_t size);

/* Sets error and returns false. Line 0 is the last line. */
bool cuv_envi_fail (CuvEnviReader *self, int line, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* Sets error to the message that the key's value should be `wanted`, and
 * returns false. */
bool cuv_envi_reject (CuvEnviReader *self, int key, const char *wanted);

bool cuv_envi_has (const CuvEnviReader *self, int key);
bool cuv_envi_require (CuvEnviReader *self, int key);
bool cuv_envi_value_is (const CuvEnviValue *value, const char *word);
bool cuv_envi_integer (
    CuvEnviReader *self, int key, int64_t low, int64_t high, int64_t *integer);
bool cuv_envi_number (CuvEnviReader *self, int key, double *number);

/* Returns the number of words of a list, separated by commas or, in a list
 * without commas, by blanks; 0 if it is missing or empty. */
int cuv_envi_count (const CuvEnviReader *self, int key);
bool cuv_envi_check_count (CuvEnviReader *self, int key, int n);

/* Reads exactly n finite numbers; flags also accept true and false. */
bool cuv_envi_numbers (CuvEnviReader *self, int key, int n, double *numbers);
bool cuv_envi_flags (CuvEnviReader *self, int key, int n, double *flags);

CuvEnviValue cuv_envi_trimmed (const char *text, const char *end, int line);

#endif
