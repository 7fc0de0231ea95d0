/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Header keys that do not affect how samples are read. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "format/envi-reader.h"
#include "format/envi-write.h"

/* Where, when and how the scene was recorded. They stay valid when samples
 * change, as long as the pixel grid is the same. */
static const char *const image_keys[] = { "map info", "projection info",
  "coordinate system string", "pixel size", "x start", "y start", "geo points",
  "rpc info", "pseudo map info", "igm file", "sensor type", "instrument id",
  "acquisition time", "acquisition date", "cloud cover", "sun azimuth",
  "sun elevation", "security tag", "rotation", "dem file", "dem band", NULL };

/* Always written by cuv_envi_write(), or never valid for the files it is for.
 */
static const char *const own_keys[] = { "samples", "lines", "bands",
  "header offset", "data type", "interleave", "byte order", "file compression",
  "major frame offsets", "minor frame offsets", NULL };

static bool
is_one_of (const CuvEnviValue *name, const char *const *words)
{
  for (; *words != NULL; words++)
    if (cuv_envi_value_is (name, *words))
      return true;
  return false;
}

/* False for keys that must not be copied: malformed ones, those above, and file
 * types that do not mean raw samples. */
static bool
is_usable (const CuvEnviEntry *entry)
{
  static const char *const types[] = { "envi classification",
    "envi spectral library", NULL };

  return entry->name.size > 0 && *entry->name.text != ';'
      && memchr (entry->name.text, '\0', entry->name.size) == NULL
      && memchr (entry->value.text, '\0', entry->value.size) == NULL
      && !is_one_of (&entry->name, own_keys)
      && (!cuv_envi_value_is (&entry->name, "file type")
          || is_one_of (&entry->value, types));
}

static void
write_entry (FILE *out, const CuvEnviEntry *entry)
{
  fprintf (out, "%.*s = %s", (int) entry->name.size, entry->name.text,
      entry->is_braced ? "{" : "");
  for (size_t i = 0; i < entry->value.size; i++)
    if (entry->value.text[i] != '\r')
      putc (entry->value.text[i], out);
  fputs (entry->is_braced ? "}\n" : "\n", out);
}

#define FIRST "ENVI\n"

static void
keep_all (CuvEnviReader *reader, const CuvEnvi *envi, const char *bytes,
    size_t size, FILE *image, FILE *samples)
{
  const char *at = cuv_envi_start (reader, bytes, size);
  CuvEnviEntry entry;

  fputs (FIRST, image);
  fputs (FIRST, samples);
  while (at != NULL && cuv_envi_next (reader, &at, bytes + size, &entry)) {
    if (!is_usable (&entry))
      continue;
    if (is_one_of (&entry.name, image_keys))
      write_entry (image, &entry);
    else if (!cuv_envi_writes (envi, &entry.name))
      write_entry (samples, &entry);
  }
  if (envi->has_fwhm)
    cuv_envi_write_numbers (samples, "fwhm", envi->fwhm, envi->bands);
}

bool
cuv_envi_keep (
    CuvEnviKept *self, const CuvEnvi *envi, const char *bytes, size_t size)
{
  locale_t plain = newlocale (LC_ALL_MASK, "C", (locale_t) 0), before;
  CuvEnviReader reader = { 0 };
  size_t unused;
  FILE *image, *samples;
  bool ok;

  *self = (CuvEnviKept){ NULL, NULL };
  image = open_memstream (&self->image, &unused);
  samples = open_memstream (&self->samples, &unused);
  ok = plain != (locale_t) 0 && image != NULL && samples != NULL;
  if (ok) {
    before = uselocale (plain); /* of this thread */
    keep_all (&reader, envi, bytes, size, image, samples);
    uselocale (before);
  }
  if (image != NULL)
    ok &= fclose (image) == 0;
  if (samples != NULL)
    ok &= fclose (samples) == 0;
  if (plain != (locale_t) 0)
    freelocale (plain);
  free (reader.error);
  if (!ok)
    cuv_envi_kept_clear (self);
  return ok;
}

void
cuv_envi_kept_clear (CuvEnviKept *self)
{
  free (self->image);
  free (self->samples);
  *self = (CuvEnviKept){ NULL, NULL };
}

static bool
next_kept (CuvEnviReader *reader, const char **at, const char *end,
    CuvEnviEntry *entry)
{
  do {
    if (*at == NULL || !cuv_envi_next (reader, at, end, entry))
      return false;
  } while (!is_usable (entry));
  return true;
}

bool
cuv_envi_has_file_type (const char *kept)
{
  CuvEnviReader reader = { 0 };
  const char *end = kept + strlen (kept);
  const char *at = cuv_envi_start (&reader, kept, strlen (kept));
  CuvEnviEntry entry;
  bool found = false;

  while (!found && next_kept (&reader, &at, end, &entry))
    found = cuv_envi_value_is (&entry.name, "file type");
  free (reader.error);
  return found;
}

void
cuv_envi_write_kept (FILE *out, const CuvEnvi *envi, const char *kept)
{
  CuvEnviReader reader = { 0 };
  const char *end = kept + strlen (kept);
  const char *at = cuv_envi_start (&reader, kept, strlen (kept));
  CuvEnviEntry entry;

  while (next_kept (&reader, &at, end, &entry))
    if (!cuv_envi_writes (envi, &entry.name))
      write_entry (out, &entry);
  free (reader.error);
}

int
cuv_envi_kept_numbers (
    const char *kept, const char *key, double *numbers, int most)
{
  CuvEnviValue value = { 0 };
  CuvEnviReader reader = { .keys = &key, .values = &value, .n_keys = 1 };
  int n = 0;

  reader.locale = newlocale (LC_ALL_MASK, "C", (locale_t) 0);
  if (reader.locale == (locale_t) 0)
    return 0;
  if (cuv_envi_collect (&reader, kept, strlen (kept)) && value.line > 0) {
    n = 1;
    for (size_t i = 0; i < value.size && n <= most; i++)
      n += value.text[i] == ',';
    if (n > most || !cuv_envi_numbers (&reader, 0, n, numbers))
      n = 0;
  }
  freelocale (reader.locale);
  free (reader.error);
  return n;
}
