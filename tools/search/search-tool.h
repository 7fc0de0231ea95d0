/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cuvision-search, an MPI program if there is MPI. All ranks run the same code;
 * rank 0, the root, also reads the queries and prints the results.
 *
 *   cuvision-search.c  collects queries, has all ranks compare them
 *   options.c          the command line
 *   ranks.c            who there is, errors
 *   ranks-mpi.c        bytes to and from all
 *   ranks-single.c     the same without MPI, for one rank
 *   part.c             the files, and the part of their entries of this rank
 *   device.c           CPU or GPU
 *   scan.c             the best matches of a part, then of all
 *   queries.c          at the root: pictures and names -> descriptors
 *   record.c           at the root: a query's results as JSON */
#ifndef CUV_SEARCH_TOOL_H
#define CUV_SEARCH_TOOL_H

#include <glib.h>
#include "cpu/ldp-match.h"
#include "cuvbackend.h"

/* ---- options.c ---- */

typedef enum {
  SEARCH_DEVICE_AUTO, /* the GPU, if there is one */
  SEARCH_DEVICE_CPU,
  SEARCH_DEVICE_CUDA,
} SearchDevice;

/* In how many orientations a query is compared: backend.h of ldp. */
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
  gchar **indexes; /* files or patterns */
  gchar **queries; /* "-": a line of stdin each */
  SearchKind kind;
  gchar *output; /* file, or NULL: stdout */
  gint k;
  gdouble threshold;
  gint orientations; /* of each query, SEARCH_UPRIGHT or another one of these */
  SearchDevice device;
  gint n_threads;    /* 0: the rank's share of the machine's cores */
  gint memory_limit; /* MiB for histograms, -1: what is free */
  gint repeat;
  gboolean thumbnails, no_check, verbose;
} SearchOptions;

typedef enum {
  SEARCH_RUN,
  SEARCH_HELP,  /* *text is the help */
  SEARCH_WRONG, /* *text is the error */
} SearchParsed;

/* *text is to be freed. */
SearchParsed options_parse (
    int *argc, char ***argv, SearchOptions *self, gchar **text);

/* ---- ranks.c ---- */

typedef struct {
  gint rank, size;       /* of all */
  gint n_local, i_local; /* on this machine */
} Ranks;

extern Ranks ranks;

/* Without a launcher there is one rank. FALSE after an error was printed. */
gboolean ranks_init (int *argc, char ***argv);

/* Ends the program's use of MPI. */
void ranks_finish (void);

gboolean ranks_is_root (void);

/* Prints a text for the user to stderr, at the root. */
void ranks_print_error (const gchar *text);

/* All ranks call it with NULL or what failed, which is freed. The root prints
 * all of it, with rank and machine. Returns whether nothing failed anywhere. */
gboolean ranks_agree (gchar *problem);

/* Like ranks_agree(), but for texts that are no errors. */
void ranks_print (gchar *text);

/* Copies bytes of rank `from` to all others. */
void ranks_broadcast (gpointer bytes, gsize size, gint from);

/* The same from the root, which may take long: the others sleep meanwhile. */
void ranks_await (gpointer bytes, gsize size);

/* At the root: the bytes of all ranks in their order. Elsewhere NULL. */
GByteArray *ranks_gather (gconstpointer bytes, gsize size);

/* At the root: the largest of all. */
gdouble ranks_max (gdouble value);

/* The least of all. */
gint ranks_min (gint value);

void ranks_wait_for_all (void);

/* ---- part.c ---- */

typedef struct {
  gchar *path;
  CuvLdpIndex *index;
  guint64 first, n; /* number of its first entry, and how many it has */
  /* as it was last seen */
  guint64 inode;
  gint64 written; /* when, in ns */
  guint64 digest;
  gboolean is_replaced;
} IndexFile;

typedef struct {
  GArray *files;      /* of IndexFile */
  guint64 n;          /* entries of all files */
  guint64 first, end; /* this rank's are first .. end - 1 */
  gint64 looked;      /* when the files were looked at */
} Part;

/* Opens the files and checks this rank's entries, all ranks together. FALSE
 * after errors were printed. */
gboolean part_open (Part *self, const SearchOptions *options, gint n_threads);
void part_close (Part *self);

const CuvLdpIndexInfo *part_info (const Part *self);

/* The file of an entry. */
const IndexFile *part_file (const Part *self, guint64 entry);

/* The rank that has an entry. */
gint part_owner (const Part *self, guint64 entry);

/* Numbers, as guint64, of this rank's entries of a name. */
GArray *part_find (const Part *self, const gchar *name);

/* Whether this rank's files still have the entries they had: NULL, or the
 * problem. Warns once of each that was replaced, whose old one stays in use.
 * Unless it has to be now, looks only every 100 ms. */
gchar *part_find_change (Part *self, gboolean now);

/* ---- device.c ---- */

/* Chooses what this rank computes with. NULL, or why not, to be freed. */
gchar *device_choose (const SearchOptions *options, CuvProcessor *processor);

typedef struct {
  gsize histograms; /* bytes of the processor's memory for this rank's */
  gsize queries;    /* bytes of host memory */
} DeviceMemory;

/* All ranks call it at a time. */
DeviceMemory device_memory (
    const SearchOptions *options, const CuvProcessor *processor);

/* A size in kB of a file in /proc, such as "MemAvailable:", in bytes; 0:
 * unknown.
 */
gsize device_read_size (const gchar *path, const gchar *key);

/* ---- scan.c ---- */

typedef struct _Scan Scan;

enum { SCAN_MAX_QUERIES = 16 };

/* All ranks call it. NULL after errors were printed. The part must outlive it.
 */
Scan *scan_new (const Part *part, const SearchOptions *options,
    const CuvProcessor *processor);
void scan_free (Scan *self); /* NULL is allowed */

/* How many queries it compares at once, at most SCAN_MAX_QUERIES. */
gint scan_max_queries (const Scan *self);

/* Compares with n queries, whose descriptors lie one after the other, those of
 * their orientations together. All ranks
 * call it. Returns FALSE after errors were printed. */
gboolean scan_run (Scan *self, const guint8 *packed, gint n);

typedef struct {
  const CuvLdpMatch *matches; /* best first */
  gsize n;
  GPtrArray *names;                /* of matches; NULL: damaged */
  const guint8 *const *thumbnails; /* of matches; NULL: not wanted */
  gdouble scan_us, merge_us;       /* of one query */
} Found;

/* Query i of the last run. All ranks call it. *found is set at the root, until
 * the next call. */
void scan_merge (Scan *self, gint i, Found *found);

/* ---- queries.c ---- */

typedef struct _Queries Queries;

/* NULL after an error was printed. */
Queries *queries_new (
    const SearchOptions *options, const CuvLdpIndexInfo *info);
void queries_free (Queries *self); /* NULL is allowed */

/* The next one as it was given, until the next call, or NULL at the end. Unless
 * it may wait, also NULL if stdin has no line yet. */
const gchar *queries_next (Queries *self, gboolean may_wait);

/* Whether stdin could not be read, which was printed. */
gboolean queries_failed (const Queries *self);

typedef struct {
  gdouble decode_us, describe_us;
} DescribeTimes;

/* Writes the descriptors of a picture's orientations. NULL, or the problem, to
 * be freed. */
gchar *queries_describe (Queries *self, const gchar *path, gint n_threads,
    guint8 *packed, DescribeTimes *times);

/* ---- record.c ---- */

typedef struct {
  gchar *query; /* owned */
  gint64 entry; /* the query's number, below 0: a picture */
  DescribeTimes times;
} RecordQuery;

/* Leads stdout to a file. NULL, or the problem, to be freed. */
gchar *record_open (const gchar *path);

/* Print a line to stdout. Return FALSE after an error was printed. */
gboolean record_print (
    const RecordQuery *query, const Found *found, const Part *part);
gboolean record_print_problem (const gchar *query, const gchar *problem);

#endif
