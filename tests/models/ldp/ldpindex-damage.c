/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of damaged index files: truncated, with flipped bits, with wrong
 * headers. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "index/ldpindex-format.h"
#include "ldpindex-tests.h"

enum { N = 5, PAGE = 4096, STRIDE = 1152, SIZE = PAGE + N * STRIDE };

static uint8_t *original;

static CuvLdpIndex *
parse (const uint8_t *bytes, size_t size, char **error)
{
  CuvLdpIndex *index = cuv_ldp_index_parse (bytes, size, error);

  CUV_CHECK ((index == NULL) == (*error != NULL));
  return index;
}

/* Parses an exact-size copy, so that sanitizers detect reads beyond it. */
static void
check_bytes_refused (const uint8_t *bytes, size_t size, const char *words)
{
  uint8_t *copy = malloc (size + (size == 0));
  char *error;
  CuvLdpIndex *index;

  memcpy (copy, bytes, size);
  index = parse (copy, size, &error);
  CUV_CHECK (index == NULL, ": %zu bytes", size);
  cuv_ldp_index_free (index);
  check_words (error, words);
  free (copy);
}

/* ---- truncated ---- */

static void
test_truncated (void)
{
  char path[MAX_PATH], words[64];

  path_of ("truncated", path);
  for (size_t size = 0; size<SIZE; size += size> 1200 ? 37 : 1) {
    cuv_check_case ("truncated to %zu bytes", size);
    snprintf (words, sizeof words, "take %d bytes, but it has %zu", SIZE, size);
    if (size < 8)
      check_bytes_refused (original, size, "its first bytes differ");
    else
      check_bytes_refused (
          original, size, size < PAGE ? "is truncated: " : words);
  }
  for (int i = -1; i <= 1; i++) {
    for (size_t at = PAGE + STRIDE; at + 1 < SIZE; at += STRIDE) {
      write_file (path, original, at + (size_t) i);
      check_refused (path, "is truncated");
    }
  }
}

/* ---- flipped bits ---- */

/* A flipped bit either changes nothing, is an error, or breaks the checksum of
 * an entry. */
static void
check_flipped (const uint8_t *bytes, size_t bit)
{
  char *error;
  CuvLdpIndex *index = parse (bytes, SIZE, &error);
  const uint64_t damaged = bit / 8 < PAGE ? N : (bit / 8 - PAGE) / STRIDE;

  if (index != NULL) {
    CUV_CHECK (cuv_ldp_index_n_entries (index) == N);
    for (uint64_t i = 0; i < N; i++)
      CUV_CHECK (is_entry (index, i, i) == (i != damaged));
    CUV_CHECK (cuv_ldp_index_check (index, &error) == (damaged == N));
  } else
    CUV_CHECK (bit / 8 < 128);
  free (error);
  cuv_ldp_index_free (index);
}

static void
flip (size_t bit)
{
  cuv_check_case ("bit %zu of byte %zu flipped", bit % 8, bit / 8);
  original[bit / 8] ^= (uint8_t) (1 << bit % 8);
  check_flipped (original, bit);
  original[bit / 8] ^= (uint8_t) (1 << bit % 8);
}

static void
test_flipped (void)
{
  for (size_t bit = 0; bit < 8 * 128; bit++)
    flip (bit);
  for (size_t bit = 0; bit < 8 * 12; bit++) {
    flip (8 * 512 + bit);
    flip (8 * 1024 + bit);
  }
  for (int i = 0; i < 500; i++)
    flip (8 * PAGE + cuv_check_below (8 * N * STRIDE));
}

/* A writer repairs one damaged slot; two are an error. */
static void
test_slots (void)
{
  const CuvLdpIndexInfo info = small_info ();
  char path[MAX_PATH], *error;
  CuvLdpIndexWriter *writer;

  path_of ("slots", path);
  for (size_t slot = 512; slot <= 1024; slot += 512) {
    cuv_check_case ("slot %zu damaged", slot);
    original[slot]++;
    write_file (path, original, SIZE);
    check_file (path, 0, N);
    writer = cuv_ldp_index_writer_open (path, &info, slot == 512, &error);
    check_file (path, 0, N);
    CUV_CHECK (append (writer, &info, N, &error));
    CUV_CHECK (cuv_ldp_index_writer_close (writer, &error));
    check_file (path, 0, N + 1);
    original[slot]--;
  }
  original[512]++;
  original[1024]++;
  check_bytes_refused (original, SIZE, "both commit slots are damaged");
  write_file (path, original, SIZE);
  check_refused (path, "both commit slots are damaged");
  original[512]--;
  original[1024]--;
}

/* ---- damage with valid checksums ---- */

static void
put (uint8_t *at, uint64_t value, int n)
{
  for (int i = 0; i < n; i++)
    at[i] = (uint8_t) (value >> 8 * i);
}

static uint32_t
get (const uint8_t *at)
{
  return at[0] | (uint32_t) at[1] << 8 | (uint32_t) at[2] << 16
      | (uint32_t) at[3] << 24;
}

static void
test_contradictions (void)
{
  uint8_t *copy = malloc (SIZE);

  for (size_t at = 12; at < 124; at += 4) {
    const bool is_derived = (at >= 52 && at < 72) || at >= 80;
    const uint32_t before = get (original + at);
    const uint32_t values[] = { 0, 1, 2, 3, 17, 255, 1u << 16, 1u << 30,
      0x7fffffff, 0x80000000, 0xffffffff, cuv_check_random () };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
      CuvLdpIndex *index;
      char *error;

      cuv_check_case ("%u at byte %zu", (unsigned) values[i], at);
      memcpy (copy, original, SIZE);
      put (copy + at, values[i], 4);
      put (copy + 124, crc32 (0, copy, 124), 4);
      index = parse (copy, SIZE, &error);
      CUV_CHECK (index == NULL || cuv_ldp_index_n_entries (index) == N);
      CUV_CHECK (index == NULL || !is_derived || values[i] == before);
      cuv_ldp_index_free (index);
      free (error);
    }
  }
  free (copy);
}

static void
test_counts_of_entries (void)
{
  const uint64_t values[] = { 7, 9, 1001, UINT64_MAX, INT64_MAX,
    UINT64_MAX / STRIDE, UINT64_MAX / STRIDE + 2, INT64_MAX / STRIDE + 2 };
  uint8_t *copy = malloc (SIZE);

  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    size_t slot = values[i] % 2 == 0 ? 512 : 1024;

    cuv_check_case ("%llu entries", (unsigned long long) values[i]);
    memcpy (copy, original, SIZE);
    put (copy + slot, values[i], 8);
    put (copy + slot + 8, crc32 (0, copy + slot, 8), 4);
    check_bytes_refused (copy, SIZE,
        values[i] < 2000 ? "is truncated" : "more than a file can hold");
  }
  free (copy);
}

/* ---- other files ---- */

static void
test_foreign (void)
{
  const CuvLdpIndexInfo info = small_info ();
  uint8_t other[5000];
  char path[MAX_PATH], *error;

  cuv_check_case ("foreign files");
  path_of ("foreign", path);
  for (size_t i = 0; i < sizeof other; i++)
    other[i] = (uint8_t) cuv_check_random ();
  write_file (path, other, sizeof other);
  check_refused (path, "is not an index of local derivative patterns");
  CUV_CHECK (cuv_ldp_index_writer_open (path, &info, false, &error) == NULL);
  check_words (error, "is not an index of local derivative patterns");
  unlink (path);
  check_refused (path, "No such file");
  CUV_CHECK (mkdir (path, 0700) == 0);
  check_refused (path, "is not a regular file");
  rmdir (path);
  CUV_CHECK (mkfifo (path, 0600) == 0);
  check_refused (path, "is not a regular file");
  path_of ("none/there", path);
  CUV_CHECK (cuv_ldp_index_writer_open (path, &info, false, &error) == NULL);
  check_words (error, "No such file");
}

/* Tests the limits on the memory that a header can make a reader allocate. */
static void
test_limits (void)
{
  static const struct {
    int size, grid;
    const char *words;
  } cases[] = {
    { 16384, 256, "invalid parameters: 16384x16384 pixels cannot be" },
    { 5000, 257, "has 67634176 counts, but an index takes at most 67108864" },
  };
  const CuvLdpIndexInfo small = small_info ();
  char path[MAX_PATH];

  cuv_check_case ("limits");
  path_of ("limits", path);
  for (int i = 0; i < 2; i++) {
    CuvLdpIndexInfo info = small;
    uint8_t page[CUV_LDP_INDEX_PAGE] = { 0 };

    info.layout.params =
        (CuvLdpParams){ .order = 3, .grid = cases[i].grid, .directions = 15 };
    info.layout.width = info.layout.height = cases[i].size;
    cuv_ldp_index_header (&info, page);
    write_file (path, page, sizeof page);
    check_refused (path, cases[i].words);
  }
  unlink (path);
}

static void
test_version (void)
{
  const CuvLdpIndexInfo info = small_info ();
  char path[MAX_PATH], *error;

  cuv_check_case ("future version");
  path_of ("version", path);
  original[8] = 3;
  check_bytes_refused (original, SIZE,
      "format version 3, but this release reads versions 1 to 2");
  write_file (path, original, SIZE);
  CUV_CHECK (cuv_ldp_index_writer_open (path, &info, false, &error) == NULL);
  check_words (
      error, "format version 3, but this release reads versions 1 to 2");
  original[8] = 1;
}

void
test_damage (void)
{
  char path[MAX_PATH];
  size_t size;

  path_of ("original", path);
  make_file (path, N);
  original = read_file (path, &size);
  if (!CUV_CHECK (size == SIZE))
    exit (1);
  test_truncated ();
  test_flipped ();
  test_slots ();
  test_contradictions ();
  test_counts_of_entries ();
  test_foreign ();
  test_limits ();
  test_version ();
  free (original);
}
