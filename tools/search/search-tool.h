/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-search: finds the entries of index files that are most similar to
 * pictures, or to other entries. And a map of this folder.
 *
 *   cuvision-search.c  main(); the root's loop and that of the other ranks
 *   options.c          the command line
 *   part.c             the index files, and the range of entries of this rank
 *   device.c           CPU or GPU, and how much memory this rank may use
 *   scan.c             the best matches of this rank, then of all ranks
 *   queries.c          reads queries; pictures -> descriptors (root only)
 *   record.c           a query's results as a line of JSON (root only)
 *   ranks.c            this rank among all; errors of all ranks
 *   ranks-mpi.c        collective operations by MPI
 *   ranks-single.c     the same in a build without MPI, for a single rank
 *
 * With MPI several processes, the ranks, open the same files, and each compares
 * with its range of the entries. Rank 0, the root, runs search_lead(): it reads
 * queries, broadcasts a Command and the descriptors, and prints the results.
 * The other ranks run search_serve(): they wait for a Command and carry it out.
 * Both call search_compare() -> scan_run() and then scan_merge() for each
 * query.
 *
 * "All ranks call it" means a collective operation: every rank has to call it
 * in the same order, or all of them wait for ever. */
#ifndef CUV_SEARCH_TOOL_H
#define CUV_SEARCH_TOOL_H

#include <glib.h>
#include "cpu/ldp-match.h"
#include "cuvbackend.h"
#include "device-option.h"

/* ---- options.c ---- */

/* Number of orientations in which a query is compared: see CuvLdpQuery in
 * elements/ldp/backend.h. */
enum {
  SEARCH_UPRIGHT = 1,
  SEARCH_MIRRORED = 2,
  SEARCH_ALL_ORIENTATIONS = 8,
};

typedef enum {
  SEARCH_PICTURES,
  SEARCH_NAMES,   /* of entries */
  SEARCH_NUMBERS, /* of entries */
} SearchKind;

typedef struct {
  gchar **indexes; /* paths of files, or patterns */
  gchar **queries; /* "-": each line of stdin is one */
  SearchKind kind;
  gchar *output; /* file, or NULL: stdout */
  gint k;
  gdouble threshold;
  gint orientations; /* of each query, one of SEARCH_UPRIGHT ... */
  DeviceOption device;
  gint n_threads;    /* 0: the rank's share of the machine's cores */
  gint memory_limit; /* MiB for histograms; -1: a share of the free memory */
  gint repeat;
  gboolean thumbnails, no_check, verbose;
} SearchOptions;

typedef enum {
  SEARCH_RUN,
  SEARCH_HELP,  /* *text is the help */
  SEARCH_WRONG, /* *text is the error */
} SearchParsed;

/* Parses the command line. The caller frees *text. */
SearchParsed options_parse (
    int *argc, char ***argv, SearchOptions *self, gchar **text);

/* ---- ranks.c ---- */

typedef struct {
  gint rank, size;       /* this rank, number of ranks */
  gint n_local, i_local; /* ranks on this machine, number among them */
} Ranks;

extern Ranks ranks;

/* Starts the ranks: a single one if no launcher such as mpirun started the
 * process. Returns FALSE after an error was printed. */
gboolean ranks_init (int *argc, char ***argv);

/* Ends the program's use of MPI. */
void ranks_finish (void);

gboolean ranks_is_root (void);

/* Prints a text for the user to stderr, at the root. */
void ranks_print_error (const gchar *text);

/* All ranks call it with NULL or an error message, which is freed. The root
 * prints the messages of all ranks, with rank and machine. Returns TRUE if no
 * rank had one. */
gboolean ranks_agree (gchar *problem);

/* Prints the texts of all ranks in the same way. All ranks call it. */
void ranks_print (gchar *text);

/* Copies bytes of rank `from` to all others. All ranks call it. */
void ranks_broadcast (gpointer bytes, gsize size, gint from);

/* Copies bytes of the root to all others, which may wait long: they sleep
 * instead of keeping a core busy. */
void ranks_await (gpointer bytes, gsize size);

/* Returns at the root the bytes of all ranks, in the order of the ranks;
 * otherwise NULL. All ranks call it. */
GByteArray *ranks_gather (gconstpointer bytes, gsize size);

/* Returns at the root the largest value of all ranks. All ranks call it. */
gdouble ranks_max (gdouble value);

/* Returns the smallest value of all ranks. All ranks call it. */
gint ranks_min (gint value);

void ranks_wait_for_all (void);

/* ---- part.c ---- */

typedef struct {
  gchar *path;
  CuvLdpIndex *index;
  guint64 first, n; /* number of its first entry; count of its entries */
  /* as last seen */
  guint64 inode;
  gint64 written; /* modification time, ns */
  guint64 digest;
  gboolean is_replaced;
} IndexFile;

typedef struct {
  GArray *files;      /* of IndexFile */
  guint64 n;          /* entries of all files */
  guint64 first, end; /* this rank's are first .. end - 1 */
  gint64 looked;      /* when the files were checked for changes */
} Part;

/* Opens the files, compares them with those of the root, and checks this rank's
 * entries for damage. All ranks call it. Returns FALSE after errors were
 * printed. */
gboolean part_open (Part *self, const SearchOptions *options, gint n_threads);
void part_close (Part *self);

const CuvLdpIndexInfo *part_info (const Part *self);

/* Returns the file that contains an entry. */
const IndexFile *part_file (const Part *self, guint64 entry);

/* Returns the rank that has an entry. */
gint part_owner (const Part *self, guint64 entry);

/* Returns the numbers, as guint64, of this rank's entries with a name. */
GArray *part_find (const Part *self, const gchar *name);

/* Returns a problem if a file of this rank was overwritten, otherwise NULL.
 * Warns once of each file that was replaced: the old one stays in use. Unless
 * `now`, it checks at most every 100 ms. */
gchar *part_find_change (Part *self, gboolean now);

/* ---- device.c ---- */

/* Chooses what this rank computes with. Returns NULL, or the problem, to be
 * freed. */
gchar *device_choose (const SearchOptions *options, CuvProcessor *processor);

typedef struct {
  gsize histograms; /* bytes for this rank's entries, on its processor */
  gsize queries;    /* bytes for queries, in host memory */
} DeviceMemory;

/* Returns the memory that this rank may use. All ranks call it. */
DeviceMemory device_memory (
    const SearchOptions *options, const CuvProcessor *processor);

/* Reads a size such as "MemAvailable:" from a file in /proc. Returns bytes; 0:
 * unknown. */
gsize device_read_size (const gchar *path, const gchar *key);

/* ---- scan.c ---- */

typedef struct _Scan Scan;

enum { SCAN_MAX_QUERIES = 16 };

/* All ranks call it. Returns NULL after errors were printed. The part must
 * outlive the scan. */
Scan *scan_new (const Part *part, const SearchOptions *options,
    const CuvProcessor *processor);
void scan_free (Scan *self); /* NULL is allowed */

/* Returns how many queries are compared at once, at most SCAN_MAX_QUERIES. */
gint scan_max_queries (const Scan *self);

/* Compares n queries with all entries. packed: the descriptors of the first
 * query's orientations, then those of the second, ... All ranks call it.
 * Returns FALSE after errors were printed. */
gboolean scan_run (Scan *self, const guint8 *packed, gint n);

typedef struct {
  const CuvLdpMatch *matches; /* best first */
  gsize n;
  GPtrArray *names;                /* of matches; NULL: damaged */
  const guint8 *const *thumbnails; /* of matches; NULL: not wanted */
  gdouble scan_us, merge_us;       /* of one query */
} Found;

/* Finds the best matches of all ranks for query i of the last run. All ranks
 * call it. *found is complete at the root only, and valid until the next call.
 */
void scan_merge (Scan *self, gint i, Found *found);

/* ---- queries.c ---- */

typedef struct _Queries Queries;

/* Returns NULL after an error was printed. */
Queries *queries_new (
    const SearchOptions *options, const CuvLdpIndexInfo *info);
void queries_free (Queries *self); /* NULL is allowed */

/* Returns the next query as the user wrote it, valid until the next call; NULL
 * at the end and, unless may_wait, if stdin has no complete line yet. */
const gchar *queries_next (Queries *self, gboolean may_wait);

/* Whether reading stdin failed; the error was printed. */
gboolean queries_failed (const Queries *self);

typedef struct {
  gdouble decode_us, describe_us;
} DescribeTimes;

/* Writes the descriptors of a picture's orientations to packed. Returns NULL,
 * or the problem, to be freed. */
gchar *queries_describe (Queries *self, const gchar *path, gint n_threads,
    guint8 *packed, DescribeTimes *times);

/* ---- record.c ---- */

typedef struct {
  gchar *query; /* owned */
  gint64 entry; /* the query's number, below 0: a picture */
  DescribeTimes times;
} RecordQuery;

/* Redirects stdout to a file. Returns NULL, or the problem, to be freed. */
gchar *record_open (const gchar *path);

/* Print a line of JSON to stdout. Returns FALSE after an error was printed. */
gboolean record_print (
    const RecordQuery *query, const Found *found, const Part *part);
gboolean record_print_problem (const gchar *query, const gchar *problem);

#endif
