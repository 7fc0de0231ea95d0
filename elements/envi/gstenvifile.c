/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens, checks, maps and writes the two files of a cube. */
#include "gstenvifile.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cuvfile.h"

static gint
code_of (int number, gint other)
{
  return number == ENOSPC || number == EDQUOT ? GST_RESOURCE_ERROR_NO_SPACE_LEFT
                                              : other;
}

static void
set_errno (
    GError **error, gint code, const gchar *what, const gchar *path, int number)
{
  g_set_error (error, GST_RESOURCE_ERROR, code_of (number, code),
      "Cannot %s '%s': %s%s.", what, path, g_strerror (number),
      code_of (number, code) != code ? ": free disk space" : "");
}

/* ---- reading ---- */

/* Returns a value below 0 on failure. */
static int
open_regular (const gchar *path, guint64 *size, GError **error)
{
  const char *problem;
  const int fd = cuv_file_open (path, size, &problem);

  if (fd < 0)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "Cannot open '%s': %s.", path, problem);
  return fd;
}

typedef struct {
  void *start;
  size_t size;
} Window;

static void
window_free (gpointer data)
{
  Window *self = data;

  munmap (self->start, self->size);
  g_free (self);
}

/* Maps a part of a file, which need not begin at a page boundary. */
static GBytes *
map_window (
    int fd, guint64 offset, guint64 size, const gchar *path, GError **error)
{
  guint64 lead = offset % (guint64) sysconf (_SC_PAGESIZE);
  Window window = { MAP_FAILED, (size_t) (lead + size) };

  errno = ENOMEM;
  if (window.size == lead + size)
    window.start = mmap (
        NULL, window.size, PROT_READ, MAP_PRIVATE, fd, (off_t) (offset - lead));
  if (window.start == MAP_FAILED) {
    set_errno (error, GST_RESOURCE_ERROR_READ, "map", path, errno);
    return NULL;
  }
  return g_bytes_new_with_free_func ((const guint8 *) window.start + lead,
      (gsize) size, window_free, g_memdup2 (&window, sizeof window));
}

static GBytes *
take_text (char *text)
{
  return g_bytes_new_with_free_func (text, strlen (text), free, text);
}

static gboolean
extract_keys (GstEnviFile *self, const char *text, gsize size,
    const gchar *path, GError **error)
{
  CuvEnviExtraKeys keys;

  if (!cuv_envi_extract_keys (&keys, &self->envi, text, size)) {
    set_errno (error, GST_RESOURCE_ERROR_READ, "read", path, ENOMEM);
    return FALSE;
  }
  self->image_keys = take_text (keys.image);
  self->sample_keys = take_text (keys.samples);
  return TRUE;
}

static gboolean
parse_text (GstEnviFile *self, const char *text, gsize size, const gchar *path,
    GError **error)
{
  char *problem = NULL;

  if (cuv_envi_parse (&self->envi, text, size, &problem))
    return extract_keys (self, text, size, path, error);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The ENVI header '%s' cannot be used: %s.", path, problem);
  free (problem);
  return FALSE;
}

static gboolean
parse_header (
    GstEnviFile *self, GBytes *bytes, const gchar *path, GError **error)
{
  gsize size = 0;
  const char *start = bytes != NULL ? g_bytes_get_data (bytes, &size) : "";
  char *text = cuv_envi_decode (start, size, &size);
  gboolean ok = text != NULL;

  if (ok)
    ok = parse_text (self, text, size, path, error);
  else
    set_errno (error, GST_RESOURCE_ERROR_READ, "read", path, ENOMEM);
  free (text);
  return ok;
}

/* Maps at most one byte more than a header may have. An empty file is skipped,
 * as it cannot be mapped. */
static gboolean
read_header (GstEnviFile *self, const gchar *path, GError **error)
{
  GBytes *bytes = NULL;
  guint64 size = 0;
  int fd = open_regular (path, &size, error);
  gboolean ok = fd >= 0;

  if (ok && size > 0) {
    bytes = map_window (
        fd, 0, MIN (size, (guint64) CUV_ENVI_MAX_BYTES + 1), path, error);
    ok = bytes != NULL;
  }
  ok = ok && parse_header (self, bytes, path, error);
  if (fd >= 0)
    close (fd);
  g_clear_pointer (&bytes, g_bytes_unref);
  return ok;
}

/* With a header offset, samples may legitimately lie inside another format. */
static gboolean
is_plain_file (GstEnviFile *self, const gchar *path, GError **error)
{
  guint8 start[CUV_ENVI_MAGIC_BYTES];
  const gssize n = pread (self->fd, start, sizeof start, 0);
  const gchar *format = NULL, *remedy;

  if (n > 0 && self->envi.header_offset == 0)
    format = cuv_envi_other_format (start, (gsize) n, &remedy);
  if (format != NULL)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "The file '%s' is %s, not samples: %s.", path, format, remedy);
  return format == NULL;
}

static gboolean
map_samples (GstEnviFile *self, const gchar *path, GError **error)
{
  const CuvEnvi *envi = &self->envi;
  guint64 wanted = cuv_envi_data_size (envi), size = 0;

  self->fd = open_regular (path, &size, error);
  if (self->fd < 0 || !is_plain_file (self, path, error))
    return FALSE;
  if (size < envi->header_offset + wanted)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The file '%s' is too short: it has %" G_GUINT64_FORMAT
        " bytes, but %d samples * %d lines * %d bands of %d bytes after an "
        "offset of %" G_GUINT64_FORMAT " need %" G_GUINT64_FORMAT
        ". Correct the header or copy the file again.",
        path, size, (int) envi->samples, (int) envi->lines, (int) envi->bands,
        cuv_envi_sample_size (envi->type), envi->header_offset,
        envi->header_offset + wanted);
  else
    self->samples =
        map_window (self->fd, envi->header_offset, wanted, path, error);
  self->n_runs = 1;
  self->excess = size - MIN (size, envi->header_offset + wanted);
  return self->samples != NULL;
}

gboolean
gst_envi_file_open (GstEnviFile *self, const gchar *path, GError **error)
{
  GstEnviNames names;
  gboolean ok;

  *self = (GstEnviFile){ .fd = -1 };
  if (!gst_envi_names_find (&names, path, error))
    return FALSE;
  ok = read_header (self, names.header, error)
      && map_samples (self, names.data, error);
  gst_envi_names_clear (&names);
  if (!ok)
    gst_envi_file_clear (self);
  return ok;
}

void
gst_envi_file_select (GstEnviFile *self, gint first, gint n_lines)
{
  CuvEnvi *envi = &self->envi;
  const gboolean is_bsq = envi->interleave == CUV_ENVI_BSQ;
  const gsize band = (gsize) cuv_envi_data_size (envi) / (gsize) envi->bands;
  const gsize line = band / (gsize) envi->lines * (is_bsq ? 1 : envi->bands);
  const gsize run = line * (gsize) n_lines;
  GBytes *all = self->samples;

  if (n_lines == envi->lines)
    return;
  self->n_runs = is_bsq ? envi->bands : 1;
  self->run_step = band;
  self->samples = g_bytes_new_from_bytes (
      all, line * (gsize) first, band * (gsize) (self->n_runs - 1) + run);
  g_bytes_unref (all);
  envi->header_offset += line * (gsize) first;
  envi->lines = n_lines;
  g_clear_pointer (&self->image_keys, g_bytes_unref);
}

void
gst_envi_file_clear (GstEnviFile *self)
{
  g_clear_pointer (&self->samples, g_bytes_unref);
  g_clear_pointer (&self->image_keys, g_bytes_unref);
  g_clear_pointer (&self->sample_keys, g_bytes_unref);
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

/* ---- writing ---- */

static gboolean
gst_envi_write_all (
    int fd, const guint8 *bytes, gsize size, const gchar *path, GError **error)
{
  while (size > 0) {
    gssize n = write (fd, bytes, size);

    if (n < 0 && errno != EINTR) {
      set_errno (error, GST_RESOURCE_ERROR_WRITE, "write", path, errno);
      return FALSE;
    }
    if (n > 0) {
      bytes += n;
      size -= (gsize) n;
    }
  }
  return TRUE;
}

/* Writes a new file beside path and returns its name. On failure returns NULL
 * and leaves no file. */
static gchar *
write_beside (
    const gchar *path, gconstpointer bytes, gsize size, GError **error)
{
  gchar *name = g_strconcat (path, ".XXXXXX", NULL);
  int fd = g_mkstemp_full (name, O_WRONLY | O_CLOEXEC, 0666);
  gboolean ok;

  if (fd < 0) {
    set_errno (error, GST_RESOURCE_ERROR_OPEN_WRITE, "write", path, errno);
    g_free (name);
    return NULL;
  }
  ok = gst_envi_write_all (fd, bytes, size, path, error);
  if (close (fd) < 0 && ok) {
    set_errno (error, GST_RESOURCE_ERROR_WRITE, "write", path, errno);
    ok = FALSE;
  }
  if (ok)
    return name;
  g_unlink (name);
  g_free (name);
  return NULL;
}

static gboolean
rename_to (const gchar *from, const gchar *to, GError **error)
{
  if (g_rename (from, to) == 0)
    return TRUE;
  set_errno (error, GST_RESOURCE_ERROR_WRITE, "write", to, errno);
  return FALSE;
}

static void
remove_both (const GstEnviNames *names)
{
  if (names->data != NULL)
    g_unlink (names->data);
  if (names->header != NULL)
    g_unlink (names->header);
}

/* The header is renamed last: if it exists, its samples are complete. */
gboolean
gst_envi_file_write (const gchar *path, const CuvEnvi *envi,
    const gchar *extra_keys, gconstpointer samples, GError **error)
{
  gsize size = (gsize) cuv_envi_data_size (envi);
  GstEnviNames names, beside = { NULL, NULL };
  char *text = cuv_envi_write (envi, extra_keys);
  gboolean ok;

  gst_envi_names_for_writing (&names, path);
  if (text != NULL)
    beside.header = write_beside (names.header, text, strlen (text), error);
  else
    set_errno (error, GST_RESOURCE_ERROR_WRITE, "write", path, ENOMEM);
  if (beside.header != NULL)
    beside.data = write_beside (names.data, samples, size, error);
  ok = beside.data != NULL && rename_to (beside.data, names.data, error)
      && rename_to (beside.header, names.header, error);
  if (!ok)
    remove_both (&beside);
  gst_envi_names_clear (&beside);
  gst_envi_names_clear (&names);
  free (text);
  return ok;
}

/* ---- statistics ---- */

void
gst_envi_counts_add (GstEnviCounts *self, GstElement *element, guint64 bytes)
{
  GST_OBJECT_LOCK (element);
  self->cubes++;
  self->bytes += bytes;
  GST_OBJECT_UNLOCK (element);
}

void
gst_envi_counts_get (
    const GstEnviCounts *self, GstElement *element, GValue *value)
{
  GST_OBJECT_LOCK (element);
  g_value_take_boxed (value,
      gst_structure_new ("stats", "cubes", G_TYPE_UINT64, self->cubes, "bytes",
          G_TYPE_UINT64, self->bytes, NULL));
  GST_OBJECT_UNLOCK (element);
}

/* ---- caps ---- */

static const GstCuvSpectralInterleave interleaves[] = {
  [CUV_ENVI_BSQ] = GST_CUV_SPECTRAL_BSQ,
  [CUV_ENVI_BIL] = GST_CUV_SPECTRAL_BIL,
  [CUV_ENVI_BIP] = GST_CUV_SPECTRAL_BIP,
};

void
gst_envi_to_info (const CuvEnvi *envi, GstCuvSpectralInfo *info)
{
  *info = (GstCuvSpectralInfo){ .format = cuv_envi_format (envi->type),
    .interleave = interleaves[envi->interleave],
    .width = envi->samples,
    .height = envi->lines,
    .bands = envi->bands,
    .fps_d = 1,
    .n_wavelengths = envi->has_wavelengths ? (guint) envi->bands : 0 };
  for (gint i = 0; i < envi->bands; i++) {
    info->wavelengths[i] = envi->wavelengths[i];
    info->bad[i] = envi->bad[i];
  }
  /* rounded like the samples; infinite samples are excluded anyway */
  info->ignore = info->format == CUV_CUBE_F32 ? (gdouble) (gfloat) envi->ignore
                                              : envi->ignore;
  info->has_ignore = envi->has_ignore && isfinite (info->ignore);
}

void
gst_envi_from_info (CuvEnvi *envi, const GstCuvSpectralInfo *info)
{
  static const CuvEnviType types[] = { [CUV_CUBE_U8] = CUV_ENVI_U8,
    [CUV_CUBE_U16] = CUV_ENVI_U16,
    [CUV_CUBE_F32] = CUV_ENVI_F32 };

  *envi = (CuvEnvi){ .samples = info->width,
    .lines = info->height,
    .bands = info->bands,
    .type = types[info->format],
    .has_wavelengths = info->n_wavelengths > 0,
    .has_ignore = info->has_ignore,
    .ignore = info->ignore };
  for (guint i = 0; i < G_N_ELEMENTS (interleaves); i++)
    if (interleaves[i] == info->interleave)
      envi->interleave = (CuvEnviInterleave) i;
  for (gint i = 0; i < info->bands; i++) {
    envi->wavelengths[i] = info->wavelengths[i];
    envi->bad[i] = info->bad[i];
  }
}

void
gst_envi_post_error (GstElement *element, GError *error)
{
  gst_element_message_full (element, GST_MESSAGE_ERROR, error->domain,
      error->code, g_strdup (error->message), NULL, __FILE__, GST_FUNCTION,
      __LINE__);
  g_error_free (error);
}
