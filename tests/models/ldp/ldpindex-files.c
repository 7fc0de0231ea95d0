/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entries generated from their numbers, and files with such entries. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ldpindex-tests.h"

static char folder[MAX_PATH / 2];

/* ---- entries ---- */

CuvLdpIndexInfo
info_of (CuvLdpParams params, int size, int thumbnail)
{
  CuvLdpIndexInfo info;

  CUV_CHECK (
      cuv_ldp_index_info_init (&info, &params, size, size, thumbnail, thumbnail)
      == NULL);
  return info;
}

CuvLdpParams
small_params (void)
{
  return (CuvLdpParams){ .order = 2,
    .block = 16,
    .directions = CUV_LDP_0,
    .border = CUV_LDP_REPLICATE,
    .bins = CUV_LDP_BINS_LEVELS,
    .levels = 8 };
}

CuvLdpIndexInfo
small_info (void)
{
  return info_of (small_params (), 16, 2);
}

static uint32_t
next (uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t) (*state >> 33);
}

/* Puts all codes in one bin, all but one in one bin, or spreads them over the
 * bins. */
static void
fill_histogram (uint32_t *counts, int n, uint32_t total, uint64_t *state)
{
  const uint32_t kind = next (state) % 4;
  const uint32_t bin = next (state) % (uint32_t) n;

  memset (counts, 0, (size_t) n * sizeof *counts);
  for (int i = 0; i < n && kind >= 2; i++) {
    const uint32_t some = next (state) % (total / 2 + 1);

    counts[i] += some;
    total -= some;
  }
  if (kind == 1 && total > 0) {
    counts[(bin + 1) % (uint32_t) n]++;
    total--;
  }
  counts[bin] += total;
}

void
make_counts (const CuvLdpIndexInfo *info, uint64_t number, uint32_t *counts)
{
  uint64_t state = number * 2654435761u + 1;

  for (int s = 0; s < info->layout.params.scales; s++) {
    const CuvLdpLayout part = cuv_ldp_scale (&info->layout, s);

    for (int i = 0; i < part.n_blocks * part.n_histograms; i++) {
      const int block = i / part.n_histograms;

      fill_histogram (counts, part.n_bins,
          cuv_ldp_total (&part, block % part.columns, block / part.columns),
          &state);
      counts += part.n_bins;
    }
  }
}

void
make_name (uint64_t number, char *name, size_t size)
{
  snprintf (name, size, "P\xc5\x99\xc3\xadloha %llu.jpg",
      (unsigned long long) number);
}

static void
make_thumbnail (const CuvLdpIndexInfo *info, uint64_t number, uint8_t *pixels)
{
  for (int i = 0; i < 3 * info->thumbnail_width * info->thumbnail_height; i++)
    pixels[i] = (uint8_t) (number * 7 + (uint64_t) i);
}

bool
append (CuvLdpIndexWriter *writer, const CuvLdpIndexInfo *info, uint64_t number,
    char **error)
{
  uint32_t *counts = calloc (cuv_ldp_n_counts (&info->layout), sizeof *counts);
  uint8_t thumbnail[3 * 64];
  char name[64];
  bool ok;

  make_counts (info, number, counts);
  make_name (number, name, sizeof name);
  make_thumbnail (info, number, thumbnail);
  ok = cuv_ldp_index_writer_append (writer, counts, name, thumbnail, error);
  free (counts);
  return ok;
}

bool
is_entry (const CuvLdpIndex *index, uint64_t i, uint64_t number)
{
  const CuvLdpIndexInfo *info = cuv_ldp_index_info (index);
  const size_t n = cuv_ldp_n_counts (&info->layout);
  const uint8_t *pixels = cuv_ldp_index_thumbnail (index, i);
  uint32_t *counts = calloc (2 * n, sizeof *counts);
  uint8_t thumbnail[3 * 64];
  char name[64];
  bool ok;

  make_counts (info, number, counts);
  make_name (number, name, sizeof name);
  make_thumbnail (info, number, thumbnail);
  cuv_ldp_index_unpack (
      &info->layout, cuv_ldp_index_descriptor (index, i), counts + n);
  ok = cuv_ldp_index_check_entry (index, i)
      && memcmp (counts, counts + n, n * sizeof *counts) == 0
      && cuv_ldp_index_name (index, i) != NULL
      && strcmp (cuv_ldp_index_name (index, i), name) == 0
      && (pixels == NULL
          || memcmp (pixels, thumbnail,
                 3 * (size_t) info->thumbnail_width
                     * (size_t) info->thumbnail_height)
              == 0);
  free (counts);
  return ok;
}

/* ---- files ---- */

void
path_of (const char *name, char path[MAX_PATH])
{
  snprintf (path, MAX_PATH, "%s/%s", folder, name);
}

void
make_file (const char *path, uint64_t n)
{
  const CuvLdpIndexInfo info = small_info ();
  CuvLdpIndexWriter *writer;
  char *error;

  unlink (path);
  writer = cuv_ldp_index_writer_open (path, &info, false, &error);
  if (!CUV_CHECK (writer != NULL, ": %s", error))
    exit (1);
  for (uint64_t i = 0; i < n; i++)
    CUV_CHECK (append (writer, &info, i, &error), ": %s", error);
  CUV_CHECK (cuv_ldp_index_writer_close (writer, &error), ": %s", error);
}

uint8_t *
read_file (const char *path, size_t *size)
{
  FILE *file = fopen (path, "rb");
  uint8_t *bytes = malloc (1 << 20);

  *size = file != NULL ? fread (bytes, 1, 1 << 20, file) : 0;
  if (file != NULL)
    fclose (file);
  return bytes;
}

void
write_file (const char *path, const void *bytes, size_t size)
{
  FILE *file = fopen (path, "wb");

  CUV_CHECK (file != NULL && fwrite (bytes, 1, size, file) == size);
  if (file != NULL)
    fclose (file);
}

void
check_file (const char *path, uint64_t from, uint64_t n)
{
  char *error;
  CuvLdpIndex *index = cuv_ldp_index_open (path, &error);
  bool ok = true;

  if (!CUV_CHECK (index != NULL, ": %s", error)) {
    free (error);
    return;
  }
  CUV_CHECK (cuv_ldp_index_n_entries (index) == n, ": %llu, not %llu",
      (unsigned long long) cuv_ldp_index_n_entries (index),
      (unsigned long long) n);
  for (uint64_t i = from; i < cuv_ldp_index_n_entries (index) && ok; i++)
    ok = CUV_CHECK (
        is_entry (index, i, i), ": entry %llu", (unsigned long long) i);
  cuv_ldp_index_free (index);
}

void
check_words (char *error, const char *words)
{
  CUV_CHECK (error != NULL && strstr (error, words) != NULL, "'%s', not '%s'",
      error != NULL ? error : "no error", words);
  free (error);
}

void
check_refused (const char *path, const char *words)
{
  char *error = NULL;
  CuvLdpIndex *index = cuv_ldp_index_open (path, &error);

  CUV_CHECK (index == NULL);
  cuv_ldp_index_free (index);
  check_words (error, words);
}

/* ---- folder ---- */

void
make_folder (void)
{
  const char *top = getenv ("TMPDIR");

  snprintf (folder, sizeof folder, "%.90s/ldpindex-XXXXXX",
      top != NULL ? top : "/tmp");
  if (mkdtemp (folder) == NULL) {
    perror (folder);
    exit (1);
  }
}

void
remove_folder (void)
{
  DIR *dir = opendir (folder);
  struct dirent *entry;
  char path[MAX_PATH * 2];

  while (dir != NULL && (entry = readdir (dir)) != NULL) {
    CUV_CHECK (strstr (entry->d_name, ".new-") == NULL, ": %s", entry->d_name);
    snprintf (path, sizeof path, "%s/%s", folder, entry->d_name);
    unlink (path);
  }
  if (dir != NULL)
    closedir (dir);
  rmdir (folder);
}
