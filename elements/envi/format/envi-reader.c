/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/envi-reader.h"

#include <ctype.h>
#include <glib.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORD 64 /* bytes of a number */
#define SHOWN 24    /* bytes of a bad value in a message */

bool
cuv_envi_fail (CuvEnviReader *self, int line, const char *format, ...)
{
  char reason[256];
  va_list args;

  if (self->error != NULL)
    return false;
  va_start (args, format);
  vsnprintf (reason, sizeof reason, format, args);
  va_end (args);
  for (char *c = reason; *c != '\0'; c++)
    if (iscntrl ((unsigned char) *c))
      *c = ' ';
  if (asprintf (
          &self->error, "line %d: %s", line > 0 ? line : self->n_lines, reason)
      < 0)
    self->error = strdup ("out of memory");
  return false;
}

static bool
envi_is_blank (char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

CuvEnviValue
cuv_envi_trimmed (const char *text, const char *end, int line)
{
  while (text < end && envi_is_blank (*text))
    text++;
  while (end > text && envi_is_blank (end[-1]))
    end--;
  return (CuvEnviValue){ text, (size_t) (end - text), line };
}

static char
lower (char c)
{
  return c >= 'A' && c <= 'Z' ? (char) (c + 'a' - 'A') : c;
}

/* Case and the number of blanks between words do not matter. */
bool
cuv_envi_value_is (const CuvEnviValue *value, const char *word)
{
  size_t i = 0;

  for (; *word != '\0' && i < value->size; word++) {
    if (lower (envi_is_blank (value->text[i]) ? ' ' : value->text[i]) != *word)
      return false;
    i++;
    while (*word == ' ' && i < value->size && envi_is_blank (value->text[i]))
      i++;
  }
  return *word == '\0' && i == value->size;
}

static int
find_key (const CuvEnviReader *self, const CuvEnviValue *name)
{
  for (int i = 0; i < self->n_keys; i++)
    if (cuv_envi_value_is (name, self->keys[i]))
      return i;
  return -1;
}

static const char *
line_end (const char *at, const char *end)
{
  const char *newline = memchr (at, '\n', (size_t) (end - at));

  return newline != NULL ? newline : end;
}

/* Returns the end of a list in brackets, as Python prints it, or NULL if the
 * text is something else that begins with a bracket. Does not look beyond the
 * next key, so that reading all lines takes linear time. */
static const char *
find_bracket (const char *at, const char *end)
{
  const char *close = at, *rest;

  while (close < end && *close != ']' && *close != '=' && *close != '{')
    close++;
  if (close == end || *close != ']')
    return NULL;
  rest = close;
  while (++rest < end && *rest != '\n')
    if (!envi_is_blank (*rest))
      return NULL;
  return close;
}

/* Returns the text from *at + 1 to close, possibly over several lines, and
 * moves *at to the end of the last line. */
static CuvEnviValue
enclosed (
    CuvEnviReader *self, const char **at, const char *close, const char *end)
{
  const CuvEnviValue value = cuv_envi_trimmed (*at + 1, close, self->n_lines);

  for (; *at < close; (*at)++)
    self->n_lines += **at == '\n';
  *at = line_end (close, end);
  return value;
}

/* Reads the line at *at and moves to its end. The name is empty for lines
 * without a key. */
static bool
envi_read_line (
    CuvEnviReader *self, const char **at, const char *end, CuvEnviEntry *entry)
{
  const char *start = *at, *stop = line_end (start, end);
  const char *equal = memchr (start, '=', (size_t) (stop - start));
  const char *close = NULL;
  CuvEnviValue rest;

  *entry = (CuvEnviEntry){ 0 };
  *at = stop;
  if (equal == NULL || *start == ';')
    return true;
  entry->name = cuv_envi_trimmed (start, equal, self->n_lines);
  entry->value = rest = cuv_envi_trimmed (equal + 1, stop, self->n_lines);
  if (rest.size > 0 && *rest.text == '{') {
    close = memchr (rest.text, '}', (size_t) (end - rest.text));
    if (close == NULL)
      return cuv_envi_fail (self, rest.line, "the { is never closed: add a }");
  } else if (rest.size > 0 && *rest.text == '[') {
    close = find_bracket (rest.text, end);
  }
  entry->is_braced = close != NULL;
  if (close != NULL) {
    *at = rest.text;
    entry->value = enclosed (self, at, close, end);
  }
  return true;
}

bool
cuv_envi_next (
    CuvEnviReader *self, const char **at, const char *end, CuvEnviEntry *entry)
{
  while (*at + 1 < end) {
    (*at)++;
    self->n_lines++;
    if (!envi_read_line (self, at, end, entry))
      return false;
    if (entry->name.line > 0)
      return true;
  }
  return false;
}

static bool
envi_is_same_key (const CuvEnviValue *a, const CuvEnviValue *b)
{
  return a->size == b->size && memcmp (a->text, b->text, a->size) == 0;
}

static void
collect_entry (CuvEnviReader *self, const CuvEnviEntry *entry)
{
  const int key = find_key (self, &entry->name);

  if (key >= 0 && cuv_envi_has (self, key)
      && envi_is_same_key (&self->values[key], &entry->value))
    return;
  if (key >= 0 && cuv_envi_has (self, key))
    cuv_envi_fail (self, entry->name.line,
        "the key '%s' has another value in line %d: remove one",
        self->keys[key], self->values[key].line);
  else if (key >= 0)
    self->values[key] = entry->value;
}

const char *
cuv_envi_start (CuvEnviReader *self, const char *bytes, size_t size)
{
  const char *at = line_end (bytes, bytes + size);
  CuvEnviValue first = cuv_envi_trimmed (bytes, at, 1);

  self->n_lines = 1;
  if (cuv_envi_value_is (&first, "envi"))
    return at;
  cuv_envi_fail (
      self, 1, "the first line is not ENVI: set the path of an ENVI header");
  return NULL;
}

/* Sets error if there is a NUL byte, which text never contains. */
static void
check_text (CuvEnviReader *self, const char *bytes, size_t size)
{
  const char *nul = memchr (bytes, '\0', size);
  int line = 1;

  if (nul == NULL)
    return;
  for (const char *c = bytes; c < nul; c++)
    line += *c == '\n';
  cuv_envi_fail (self, line,
      "the file contains a NUL byte: set the path of an ENVI header, "
      "or save it as plain text");
}

bool
cuv_envi_collect (CuvEnviReader *self, const char *bytes, size_t size)
{
  const char *at = cuv_envi_start (self, bytes, size);
  CuvEnviEntry entry;

  check_text (self, bytes, size);
  while (at != NULL && self->error == NULL
      && cuv_envi_next (self, &at, bytes + size, &entry))
    collect_entry (self, &entry);
  return self->error == NULL;
}

bool
cuv_envi_has (const CuvEnviReader *self, int key)
{
  return self->values[key].line > 0;
}

bool
cuv_envi_require (CuvEnviReader *self, int key)
{
  return cuv_envi_has (self, key)
      || cuv_envi_fail (
          self, 0, "the key '%s' is missing: add it", self->keys[key]);
}

bool
cuv_envi_reject (CuvEnviReader *self, int key, const char *wanted)
{
  const CuvEnviValue *value = &self->values[key];

  return cuv_envi_fail (self, value->line, "%s is '%.*s', but should be %s",
      self->keys[key], (int) (value->size < SHOWN ? value->size : SHOWN),
      value->text, wanted);
}

static bool
to_number (const CuvEnviValue *value, double *number)
{
  char word[MAX_WORD], *end;

  if (value->size == 0 || value->size >= MAX_WORD)
    return false;
  memcpy (word, value->text, value->size);
  word[value->size] = '\0';
  *number = g_ascii_strtod (word, &end);
  return end == word + value->size;
}

bool
cuv_envi_number (CuvEnviReader *self, int key, double *number)
{
  return to_number (&self->values[key], number)
      || cuv_envi_reject (self, key, "a number");
}

bool
cuv_envi_integer (
    CuvEnviReader *self, int key, int64_t low, int64_t high, int64_t *integer)
{
  const CuvEnviValue *value = &self->values[key];
  const bool negative = value->size > 0 && value->text[0] == '-';
  size_t i = negative;
  bool ok = i < value->size;
  char wanted[80];

  for (*integer = 0; ok && i < value->size; i++) {
    int digit = value->text[i] - '0';

    ok = digit >= 0 && digit <= 9
        && !__builtin_mul_overflow (*integer, 10, integer)
        && !__builtin_add_overflow (
            *integer, negative ? -digit : digit, integer);
  }
  snprintf (wanted, sizeof wanted, "an integer from %lld to %lld",
      (long long) low, (long long) high);
  return (ok && *integer >= low && *integer <= high)
      || cuv_envi_reject (self, key, wanted);
}

/* ---- lists ---- */

/* Words are separated by commas or, in a list without commas, by blanks. A
 * comma may follow the last word. */
typedef struct {
  const char *at, *end;
  bool has_commas;
} Words;

static Words
words_of (const CuvEnviValue *list)
{
  Words words = { NULL, NULL, false };

  if (list->size == 0)
    return words;
  words.at = list->text;
  words.end = list->text + list->size;
  words.has_commas = memchr (list->text, ',', list->size) != NULL;
  if (words.end[-1] == ',')
    words.end--;
  return words;
}

static bool
next_word (Words *self, CuvEnviValue *word)
{
  const char *stop = self->at;

  if (stop == NULL || stop >= self->end)
    return false;
  while (stop < self->end
      && (self->has_commas ? *stop != ',' : !envi_is_blank (*stop)))
    stop++;
  *word = cuv_envi_trimmed (self->at, stop, 0);
  self->at = stop + (stop < self->end);
  while (!self->has_commas && self->at < self->end && envi_is_blank (*self->at))
    self->at++;
  return true;
}

int
cuv_envi_count (const CuvEnviReader *self, int key)
{
  Words words = words_of (&self->values[key]);
  CuvEnviValue word;
  int n = 0;

  while (next_word (&words, &word))
    n++;
  return n;
}

bool
cuv_envi_check_count (CuvEnviReader *self, int key, int n)
{
  const int count = cuv_envi_count (self, key);

  return count == n
      || cuv_envi_fail (self, self->values[key].line,
          "%s has %d values, but should have %d", self->keys[key], count, n);
}

static bool
to_finite (const CuvEnviValue *word, double *number)
{
  return to_number (word, number) && isfinite (*number);
}

static bool
to_flag (const CuvEnviValue *word, double *number)
{
  const bool is_true = cuv_envi_value_is (word, "true");

  *number = is_true;
  return is_true || cuv_envi_value_is (word, "false")
      || to_finite (word, number);
}

static bool
read_list (CuvEnviReader *self, int key, int n, double *numbers,
    bool (*convert) (const CuvEnviValue *word, double *number))
{
  Words words = words_of (&self->values[key]);

  if (!cuv_envi_check_count (self, key, n))
    return false;
  for (int i = 0; i < n; i++) {
    CuvEnviValue word = { "", 0, 0 };

    if (!next_word (&words, &word) || !convert (&word, &numbers[i]))
      return cuv_envi_fail (self, self->values[key].line,
          "value %d of %s is '%.*s', but should be a finite number", i + 1,
          self->keys[key], (int) (word.size < SHOWN ? word.size : SHOWN),
          word.text);
  }
  return true;
}

bool
cuv_envi_numbers (CuvEnviReader *self, int key, int n, double *numbers)
{
  return read_list (self, key, n, numbers, to_finite);
}

bool
cuv_envi_flags (CuvEnviReader *self, int key, int n, double *flags)
{
  return read_list (self, key, n, flags, to_flag);
}
