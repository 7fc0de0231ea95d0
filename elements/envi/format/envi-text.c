/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format/envi.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static bool
starts_with (const char *bytes, size_t size, const char *start, size_t n)
{
  return size >= n && memcmp (bytes, start, n) == 0;
}

/* Returns NULL for other encodings. */
static const char *
utf16_of (const char *bytes, size_t size)
{
  if (starts_with (bytes, size, "\377\376", 2)
      || starts_with (bytes, size, "E\0N\0", 4))
    return "UTF-16LE";
  if (starts_with (bytes, size, "\376\377", 2)
      || starts_with (bytes, size, "\0E\0N", 4))
    return "UTF-16BE";
  return NULL;
}

/* Returns a copy that can be freed with free(), which GLib's memory need not
 * allow. */
static char *
copy (const char *text, size_t size, size_t *length)
{
  const size_t skip = starts_with (text, size, "\357\273\277", 3) ? 3 : 0;
  char *result = malloc (size - skip + 1);

  if (result == NULL)
    return NULL;
  size -= skip;
  if (size > 0)
    memcpy (result, text + skip, size);
  while (size > 0 && size <= CUV_ENVI_MAX_BYTES && result[size - 1] == '\0')
    size--;
  result[size] = '\0';
  *length = size;
  return result;
}

char *
cuv_envi_decode (const char *bytes, size_t size, size_t *length)
{
  const char *encoding =
      size <= CUV_ENVI_MAX_BYTES ? utf16_of (bytes, size) : NULL;
  gsize n = 0;
  char *text = encoding != NULL
      ? g_convert (bytes, (gssize) size, "UTF-8", encoding, NULL, &n, NULL)
      : NULL;
  char *result =
      text != NULL ? copy (text, n, length) : copy (bytes, size, length);

  g_free (text);
  return result;
}
