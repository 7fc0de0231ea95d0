/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index files and this rank's range of their entries: opens them, compares
 * them with those of the root, checks them for damage and for changes. */
#include "search-tool.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "cuvthreads.h"
#include "index/ldpindex-format.h"

/* ---- files ---- */

/* Copies an error that was allocated by malloc() to GLib's allocator. */
static gchar *
take_error (char *text)
{
  gchar *copy = g_strdup (text != NULL ? text : "out of memory");

  free (text);
  return copy;
}

static void
close_file (gpointer file)
{
  IndexFile *self = file;

  cuv_ldp_index_free (self->index);
  g_free (self->path);
}

static gchar *
open_index (Part *self, const gchar *path)
{
  IndexFile file = { .path = g_strdup (path) };
  char *problem;

  file.index = cuv_ldp_index_open (path, &problem);
  if (file.index != NULL && self->files->len > 0
      && !cuv_ldp_index_check_same (
          cuv_ldp_index_info (file.index), part_info (self), path, &problem))
    g_clear_pointer (&file.index, cuv_ldp_index_free);
  if (file.index == NULL) {
    g_free (file.path);
    return take_error (problem);
  }
  file.n = cuv_ldp_index_n_entries (file.index);
  g_array_append_val (self->files, file);
  return NULL;
}

static int
compare_paths (const void *a, const void *b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Opens a pattern's files sorted by bytes: glob() sorts by the locale, on which
 * the numbers of entries must not depend. */
static gchar *
open_pattern (Part *self, const gchar *pattern)
{
  glob_t found = { 0 };
  gchar *problem = NULL;

  if (g_file_test (pattern, G_FILE_TEST_EXISTS)
      || glob (pattern, GLOB_ERR | GLOB_NOSORT, NULL, &found) != 0)
    problem = open_index (self, pattern);
  else
    qsort (found.gl_pathv, found.gl_pathc, sizeof (char *), compare_paths);
  for (gsize i = 0; problem == NULL && i < found.gl_pathc; i++)
    problem = open_index (self, found.gl_pathv[i]);
  globfree (&found);
  return problem;
}

/* All files stay open: raises the usual limit of 1024. */
static void
allow_many_files (void)
{
  struct rlimit limit;

  if (getrlimit (RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit (RLIMIT_NOFILE, &limit);
}

static gchar *
open_files (Part *self, gchar **indexes)
{
  gchar *problem = NULL;

  allow_many_files ();
  for (gchar **path = indexes; problem == NULL && *path != NULL; path++)
    problem = open_pattern (self, *path);
  return problem;
}

/* ---- the same files everywhere ---- */

/* Number of stored checksums that are compared: each costs reading a page. */
enum { N_SAMPLES = 2048 };

/* What all ranks compare with the root, for each file. */
typedef struct {
  guint8 header[CUV_LDP_INDEX_HEADER];
  guint64 n;
  guint64 digest; /* digest of checksums */
} Identity;

static guint32
checksum_of (const CuvLdpIndex *index, guint64 i)
{
  return cuv_ldp_get32 (cuv_ldp_index_descriptor (index, i)
      + cuv_ldp_index_info (index)->stride - 4);
}

/* Returns a digest (FNV-1a) of the checksums of up to N_SAMPLES of the first n
 * entries, evenly spaced from the first to the last. */
static guint64
digest_of (const CuvLdpIndex *index, guint64 n)
{
  const guint64 n_used = MIN (n, N_SAMPLES);
  guint64 digest = 0xcbf29ce484222325;

  for (guint64 i = 0; i < n_used; i++) {
    const guint64 entry =
        n_used == n ? i : (guint64) ((__uint128_t) i * (n - 1) / (n_used - 1));

    digest = (digest ^ checksum_of (index, entry)) * 0x100000001b3;
  }
  return digest;
}

/* Returns the identity of the first n entries: more may have been appended
 * since the root counted them. */
static Identity
identify (const CuvLdpIndex *index, guint64 n)
{
  Identity self;

  memset (&self, 0, sizeof self);
  self.n = n;
  cuv_ldp_index_header (cuv_ldp_index_info (index), self.header);
  self.digest = digest_of (index, n);
  return self;
}

/* Refreshes the file if the root has more entries: a writer may have appended
 * some after this rank had opened it. */
static gchar *
catch_up (IndexFile *self, guint64 n)
{
  char *problem;

  if (self->n >= n)
    return NULL;
  if (!cuv_ldp_index_refresh (self->index, &problem))
    return take_error (problem);
  self->n = cuv_ldp_index_n_entries (self->index);
  return NULL;
}

static gchar *
compare_index (IndexFile *self, const Identity *root)
{
  Identity own;
  gchar *problem = catch_up (self, root->n);

  if (problem != NULL)
    return problem;
  if (self->n < root->n)
    return g_strdup_printf ("%s has %" G_GUINT64_FORMAT
                            " entries, but %" G_GUINT64_FORMAT
                            " at rank 0: copy the file again",
        self->path, self->n, root->n);
  self->n = root->n;
  own = identify (self->index, self->n);
  if (memcmp (own.header, root->header, sizeof own.header) != 0)
    return g_strdup_printf ("%s differs in parameters from the file at rank 0: "
                            "use the same file on all machines",
        self->path);
  if (own.digest != root->digest)
    return g_strdup_printf ("%s differs in entries from the file at rank 0: "
                            "use the same file on all machines",
        self->path);
  return NULL;
}

static gchar *
compare_indexes (Part *self)
{
  guint n = self->files->len;
  Identity *root;
  gchar *problem = NULL;

  ranks_broadcast (&n, sizeof n, 0);
  if (!ranks_is_root () && n != self->files->len)
    problem = g_strdup_printf (
        "found %u index files, but rank 0 found %u", self->files->len, n);
  root = g_new0 (Identity, n);
  for (guint i = 0; ranks_is_root () && i < n; i++) {
    const IndexFile *file = &g_array_index (self->files, IndexFile, i);

    root[i] = identify (file->index, file->n);
  }
  ranks_broadcast (root, n * sizeof *root, 0);
  for (guint i = 0; problem == NULL && i < n; i++)
    problem =
        compare_index (&g_array_index (self->files, IndexFile, i), &root[i]);
  g_free (root);
  return problem;
}

/* ---- this rank's part ---- */

static guint64
first_of (guint64 n, gint rank)
{
  return (guint64) ((__uint128_t) n * (guint) rank / (guint) ranks.size);
}

static void
number_entries (Part *self)
{
  self->n = 0;
  for (guint i = 0; i < self->files->len; i++) {
    IndexFile *file = &g_array_index (self->files, IndexFile, i);

    file->first = self->n;
    self->n += file->n;
  }
  self->first = first_of (self->n, ranks.rank);
  self->end = first_of (self->n, ranks.rank + 1);
}

gint
part_owner (const Part *self, guint64 entry)
{
  gint rank =
      (gint) ((__uint128_t) entry * (guint) ranks.size / MAX (self->n, 1));

  while (first_of (self->n, rank + 1) <= entry)
    rank++;
  return rank;
}

const IndexFile *
part_file (const Part *self, guint64 entry)
{
  guint low = 0, high = self->files->len;

  while (high - low > 1) {
    const guint middle = (low + high) / 2;

    if (g_array_index (self->files, IndexFile, middle).first <= entry)
      low = middle;
    else
      high = middle;
  }
  return &g_array_index (self->files, IndexFile, low);
}

const CuvLdpIndexInfo *
part_info (const Part *self)
{
  return cuv_ldp_index_info (g_array_index (self->files, IndexFile, 0).index);
}

GArray *
part_find (const Part *self, const gchar *name)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (guint64 i = self->first; i < self->end; i++) {
    const IndexFile *file = part_file (self, i);

    if (g_strcmp0 (cuv_ldp_index_name (file->index, i - file->first), name)
        == 0)
      g_array_append_val (found, i);
  }
  return found;
}

/* ---- files that change ---- */

/* Whether the modification time changed since the last call. */
static gboolean
was_written (IndexFile *self, const struct stat *status)
{
  const struct timespec *at = &status->st_mtim;
  const gint64 written = (gint64) at->tv_sec * 1000000000 + at->tv_nsec;
  const gboolean was = written != self->written;

  self->written = written;
  return was;
}

static void
warn_replaced (IndexFile *self)
{
  g_printerr (
      "cuvision-search: %s was replaced or removed: still using the old "
      "file; restart the search to use the new one\n",
      self->path);
  self->is_replaced = TRUE;
}

/* An overwritten file is an error: names and queries would come from the new
 * content, but histograms from a copy of the old one. */
static gchar *
find_change (IndexFile *self)
{
  const guint64 size =
      (guint64) (cuv_ldp_index_descriptor (self->index, self->n)
          - cuv_ldp_index_descriptor (self->index, 0))
      + CUV_LDP_INDEX_PAGE;
  struct stat status;

  if (self->is_replaced)
    return NULL;
  if (stat (self->path, &status) != 0 || status.st_ino != self->inode) {
    warn_replaced (self);
    return NULL;
  }
  if (!was_written (self, &status))
    return NULL;
  if ((guint64) status.st_size >= size
      && digest_of (self->index, self->n) == self->digest)
    return NULL;
  return g_strdup_printf (
      "%s was overwritten during the search: restart the search; to replace a "
      "file safely, write a new one and rename it",
      self->path);
}

/* Checking thousands of files takes longer than a query. */
enum { LOOK_INTERVAL = 100000 }; /* us */

gchar *
part_find_change (Part *self, gboolean now)
{
  const gint64 time = g_get_monotonic_time ();
  gchar *problem = NULL;

  if (!now && time - self->looked < LOOK_INTERVAL)
    return NULL;
  self->looked = time;
  for (guint64 i = self->first; problem == NULL && i < self->end;) {
    IndexFile *file = (IndexFile *) part_file (self, i);

    problem = find_change (file);
    i = file->first + file->n;
  }
  return problem;
}

static void
watch_files (Part *self)
{
  for (guint64 i = self->first; i < self->end;) {
    IndexFile *file = (IndexFile *) part_file (self, i);
    struct stat status;

    file->is_replaced = cuv_ldp_index_is_replaced (file->index);
    if (stat (file->path, &status) == 0) {
      file->inode = status.st_ino;
      was_written (file, &status);
    }
    file->digest = digest_of (file->index, file->n);
    i = file->first + file->n;
  }
}

/* ---- damage ---- */

enum { TASK_ENTRIES = 64 };

typedef struct {
  const Part *part;
  GMutex lock;
  guint64 damaged; /* first damaged entry; part->end: none */
} Check;

static void
check_task (void *data, int task)
{
  Check *self = data;
  const Part *part = self->part;
  guint64 i = part->first + (guint64) task * TASK_ENTRIES;
  const guint64 end = MIN (i + TASK_ENTRIES, part->end);

  for (; i < end; i++) {
    const IndexFile *file = part_file (part, i);

    if (cuv_ldp_index_check_entry (file->index, i - file->first))
      continue;
    g_mutex_lock (&self->lock);
    self->damaged = MIN (self->damaged, i);
    g_mutex_unlock (&self->lock);
    return;
  }
}

static gchar *
check_entries (const Part *self, gint n_threads)
{
  Check check = { .part = self, .damaged = self->end };
  const IndexFile *file;

  g_mutex_init (&check.lock);
  cuv_threads_run (n_threads,
      (int) ((self->end - self->first + TASK_ENTRIES - 1) / TASK_ENTRIES),
      check_task, &check);
  g_mutex_clear (&check.lock);
  if (check.damaged == self->end)
    return NULL;
  file = part_file (self, check.damaged);
  return g_strdup_printf ("%s: entry %" G_GUINT64_FORMAT
                          " is damaged (checksum mismatch): restore the file "
                          "from a copy, or remove damaged entries with "
                          "cuvision-index compact",
      file->path, check.damaged - file->first);
}

/* ---- all ---- */

gboolean
part_open (Part *self, const SearchOptions *options, gint n_threads)
{
  *self = (Part){ .files = g_array_new (FALSE, FALSE, sizeof (IndexFile)) };
  g_array_set_clear_func (self->files, close_file);
  if (!ranks_agree (open_files (self, options->indexes))
      || !ranks_agree (compare_indexes (self)))
    return FALSE;
  number_entries (self);
  watch_files (self);
  return options->no_check || ranks_agree (check_entries (self, n_threads));
}

void
part_close (Part *self)
{
  g_clear_pointer (&self->files, g_array_unref);
}
