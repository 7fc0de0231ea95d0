/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/text.h"

#include <string.h>
#include <zlib.h>
#include "model/reader.h"

/* ---- gzip ---- */

static gboolean
is_gzip (const char *bytes, gsize size)
{
  return size >= 2 && memcmp (bytes, "\x1f\x8b", 2) == 0;
}

/* Decompresses all members until the output is full or the input ends. */
static int
inflate_all (z_stream *stream)
{
  int status;

  do {
    status = inflate (stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END
        && is_gzip ((char *) stream->next_in, stream->avail_in))
      status = inflateReset (stream);
  } while (status == Z_OK && stream->avail_out > 0);
  return status;
}

static gboolean
fail_to_unpack (int status, const z_stream *stream, GError **error)
{
  if (status == Z_OK)
    return cuv_model_fail (error,
        "the unpacked file is larger than %d MB, the limit for models",
        CUV_MODEL_MAX_BYTES >> 20);
  if (status == Z_BUF_ERROR)
    return cuv_model_fail (error, "the gzip file is truncated");
  return cuv_model_fail (error, "the gzip file is damaged: %s",
      stream->msg != NULL ? stream->msg : zError (status));
}

static gboolean
unpack_gzip (CuvModelText *self, GError **error)
{
  z_stream stream = { .next_in = (Bytef *) self->start,
    .avail_in = (uInt) self->size };
  gsize room = 1 << 16, done = 0;
  int status = inflateInit2 (&stream, 15 + 16); /* accepts gzip only */

  if (status != Z_OK)
    return cuv_model_fail (error, "out of memory");
  do {
    room = MIN (2 * room, CUV_MODEL_MAX_BYTES + 1);
    self->owned = g_realloc (self->owned, room);
    stream.next_out = (Bytef *) self->owned + done;
    stream.avail_out = (uInt) (room - done);
    status = inflate_all (&stream);
    done = room - stream.avail_out;
  } while (status == Z_OK && room <= CUV_MODEL_MAX_BYTES);
  self->start = self->owned;
  self->size = done;
  if (status != Z_STREAM_END)
    fail_to_unpack (status, &stream, error);
  inflateEnd (&stream);
  return status == Z_STREAM_END;
}

/* ---- encodings ---- */

static gboolean
is_utf16 (const CuvModelText *self)
{
  return self->size >= 2
      && (memcmp (self->start, "\xff\xfe", 2) == 0
          || memcmp (self->start, "\xfe\xff", 2) == 0);
}

static gboolean
convert_utf16 (CuvModelText *self, GError **error)
{
  char *text = g_convert (self->start, (gssize) self->size, "UTF-8", "UTF-16",
      NULL, &self->size, error);

  g_free (self->owned);
  self->start = self->owned = text;
  if (text == NULL)
    g_prefix_error (error, "not UTF-16 text: ");
  return text != NULL;
}

/* Drops a byte order mark and a trailing NUL; some programs write the NUL that
 * ends a C string. */
static void
trim (CuvModelText *self)
{
  const char *end = self->start + self->size;

  if (self->size >= 3 && memcmp (self->start, "\xef\xbb\xbf", 3) == 0)
    self->start += 3; /* UTF-8 byte order mark */
  while (end > self->start && (end[-1] == '\0' || g_ascii_isspace (end[-1])))
    end--;
  while (self->start < end && self->start[0] == '\0')
    self->start++;
  self->size = (gsize) (end - self->start);
}

static gboolean
check_nul (const CuvModelText *self, int *line, GError **error)
{
  const char *nul = memchr (self->start, '\0', self->size);

  if (nul == NULL)
    return TRUE;
  for (const char *c = self->start; c < nul; c++)
    *line += *c == '\n';
  return cuv_model_fail (error, "the file is not text: it has a NUL byte");
}

static void
make_ascii (CuvModelText *self)
{
  char *text;

  if (g_utf8_validate_len (self->start, self->size, NULL))
    return;
  text = g_malloc (self->size);
  for (gsize i = 0; i < self->size; i++)
    text[i] =
        g_ascii_isprint (self->start[i]) || g_ascii_isspace (self->start[i])
        ? self->start[i]
        : '?';
  g_free (self->owned);
  self->start = self->owned = text;
}

/* ---- recognising the format ---- */

static const char *
skip_space (const CuvModelText *self)
{
  const char *at = self->start, *end = at + self->size;

  while (at < end && g_ascii_isspace (*at))
    at++;
  return at;
}

static gboolean
begins (const CuvModelText *self, const char *at, const char *with)
{
  const gsize left = (gsize) (self->start + self->size - at), n = strlen (with);

  return left >= n && g_ascii_strncasecmp (at, with, n) == 0;
}

/* Recognises responses such as "404: Not Found" and "404 page not found". */
static gboolean
is_status (const CuvModelText *self, const char *at)
{
  const gsize left = (gsize) (self->start + self->size - at);

  return left >= 3 && (at[0] == '4' || at[0] == '5') && g_ascii_isdigit (at[1])
      && g_ascii_isdigit (at[2]) && (left == 3 || !g_ascii_isalnum (at[3]));
}

gboolean
cuv_model_fail_as_page (GError **error)
{
  return cuv_model_fail (error,
      "this is a web page, not a model: download the file itself (on GitHub, "
      "use the Raw button)");
}

/* Returns the length of the part of the first line that an error message
 * shows. */
static int
shown (const CuvModelText *self, const char *at)
{
  const int most = (int) MIN (self->start + self->size - at, CUV_MAX_SHOWN);
  int n = 0;

  while (n < most && at[n] != '\r' && at[n] != '\n')
    n++;
  return n;
}

static gboolean
fail_as_other (const CuvModelText *self, const char *at, GError **error)
{
  if (begins (self, at, "version https://git-lfs"))
    return cuv_model_fail (
        error, "this is a Git LFS pointer, not the model: run git lfs pull");
  if (begins (self, at, "PK\3\4"))
    return cuv_model_fail (error, "this is a ZIP archive: unpack it");
  if (is_status (self, at))
    return cuv_model_fail (error,
        "this is a web server's response, '%.*s', not a model: download the "
        "file again",
        shown (self, at), at);
  return cuv_model_fail (error,
      "not a model: it begins with '%.*s'; supported are " CUV_FORMATS
      ", as XML, YAML or JSON, also in gzip",
      shown (self, at), at);
}

/* Finds out the syntax. An empty file counts as XML, whose parser reports
 * it. */
static gboolean
find_syntax (CuvModelText *self, GError **error)
{
  const char *at = skip_space (self);

  self->syntax = CUV_SYNTAX_YAML;
  if (begins (self, at, "%YAML") || begins (self, at, "---")
      || begins (self, at, "{"))
    return TRUE;
  self->syntax = CUV_SYNTAX_XML;
  if (begins (self, at, "<!doctype html"))
    return cuv_model_fail_as_page (error);
  return at == self->start + self->size || *at == '<'
      || fail_as_other (self, at, error);
}

gboolean
cuv_model_text_read (CuvModelText *self, const char *bytes, gsize size,
    int *line, GError **error)
{
  *self = (CuvModelText){ .start = bytes, .size = size };
  *line = 1;
  if (size > CUV_MODEL_MAX_BYTES)
    return cuv_model_fail (error,
        "the file is larger than %d MB, the limit for models",
        CUV_MODEL_MAX_BYTES >> 20);
  if (is_gzip (bytes, size) && !unpack_gzip (self, error))
    return FALSE;
  if (is_utf16 (self) && !convert_utf16 (self, error))
    return FALSE;
  trim (self);
  if (!find_syntax (self, error) || !check_nul (self, line, error))
    return FALSE;
  make_ascii (self);
  return TRUE;
}
