/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: the root reads queries and has all ranks compare them; the other
 * ranks wait for its commands. */
#include "config.h"
#include "search-tool.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

/* What the root broadcasts to all ranks. */
typedef enum {
  COMMAND_END,
  COMMAND_FIND,    /* find the entries of a name, whose bytes follow */
  COMMAND_COMPARE, /* compare queries, whose descriptors follow */
} CommandKind;

typedef struct {
  guint32 kind;
  guint32 n;                        /* length of the name, or number of
                                     * queries */
  gint64 entries[SCAN_MAX_QUERIES]; /* number of each; below 0: a picture */
} Command;

typedef struct {
  SearchOptions options;
  CuvProcessor processor;
  Part part;
  Scan *scan;
  guint8 *packed; /* descriptors of queries */
  /* used by the root only */
  Queries *queries;
  RecordQuery waiting[SCAN_MAX_QUERIES]; /* not yet compared */
  guint n_waiting;
  gint64 waiting_since; /* time of the first waiting query */
  gint64 answer_us;     /* duration of the last answer */
  gboolean skipped;     /* some query failed */
} Search;

/* Returns the bytes of a query's descriptors of all orientations. */
static gsize
descriptors_size (const Search *self)
{
  return (gsize) self->options.orientations
      * part_info (&self->part)->descriptor_size;
}

static guint8 *
descriptor_of (const Search *self, guint query)
{
  return self->packed + query * descriptors_size (self);
}

/* ---- steps of all ranks ---- */

static gboolean
files_are_unchanged (Search *self, gboolean now)
{
  return ranks_agree (part_find_change (&self->part, now));
}

/* Sets *all at the root to the numbers of the entries with that name. */
static gboolean
find_entries (
    Search *self, const Command *command, const gchar *name, GArray **all)
{
  gchar *text;
  GArray *own;
  GByteArray *bytes;

  if (!files_are_unchanged (self, FALSE))
    return FALSE;
  text = g_malloc0 ((gsize) command->n + 1);
  if (name != NULL)
    memcpy (text, name, command->n);
  ranks_broadcast (text, command->n, 0);
  own = part_find (&self->part, text);
  bytes = ranks_gather (own->data, own->len * sizeof (guint64));
  if (bytes != NULL) {
    *all = g_array_new (FALSE, FALSE, sizeof (guint64));
    g_array_append_vals (*all, bytes->data, bytes->len / sizeof (guint64));
    g_byte_array_unref (bytes);
  }
  g_array_unref (own);
  g_free (text);
  return TRUE;
}

/* Broadcasts the descriptor of a query: a picture's from the root, an entry's
 * from the rank that owns it. */
static void
broadcast_descriptor (Search *self, guint query, gint64 entry)
{
  const gsize size = descriptors_size (self);
  gint from = 0;

  if (entry >= 0) {
    const guint64 number = (guint64) entry;
    const IndexFile *file = part_file (&self->part, number);

    from = part_owner (&self->part, number);
    if (from == ranks.rank)
      memcpy (descriptor_of (self, query),
          cuv_ldp_index_descriptor (file->index, number - file->first), size);
  }
  ranks_broadcast (descriptor_of (self, query), size, from);
}

/* Checks the files before reading them, as reading a truncated one is fatal.
 * Changes made later are reported by the next query, or at exit. */
static gboolean
search_compare (Search *self, const Command *command)
{
  if (!files_are_unchanged (self, FALSE))
    return FALSE;
  for (guint i = 0; i < command->n; i++)
    broadcast_descriptor (self, i, command->entries[i]);
  return scan_run (self->scan, self->packed, (gint) command->n);
}

static gboolean
serve_compare (Search *self, const Command *command)
{
  Found found;

  if (!search_compare (self, command))
    return FALSE;
  for (guint i = 0; i < command->n; i++)
    scan_merge (self->scan, (gint) i, &found);
  return TRUE;
}

/* Runs the loop of the other ranks, until COMMAND_END or an error. */
static gboolean
search_serve (Search *self)
{
  for (;;) {
    Command command;
    gboolean ok;

    ranks_await (&command, sizeof command);
    if (command.kind == COMMAND_END)
      return files_are_unchanged (self, TRUE);
    ok = command.kind == COMMAND_FIND
        ? find_entries (self, &command, NULL, NULL)
        : serve_compare (self, &command);
    if (!ok)
      return FALSE;
  }
}

/* ---- the root ---- */

typedef enum {
  NEXT,    /* continue with the next query */
  FAILED,  /* the root cannot continue: send COMMAND_END */
  ALL_END, /* all ranks have ended: send nothing */
} Outcome;

/* Has all ranks compare the waiting queries, and prints the results. Merges all
 * of them even after printing failed, because the other ranks do. */
static Outcome
search_answer (Search *self)
{
  const gint64 start = g_get_monotonic_time ();
  Command command = { .kind = COMMAND_COMPARE, .n = self->n_waiting };
  gboolean ok = TRUE;

  for (guint i = 0; i < self->n_waiting; i++)
    command.entries[i] = self->waiting[i].entry;
  ranks_await (&command, sizeof command);
  if (!search_compare (self, &command))
    return ALL_END;
  for (guint i = 0; i < self->n_waiting; i++) {
    Found found;

    scan_merge (self->scan, (gint) i, &found);
    ok = ok && record_print (&self->waiting[i], &found, &self->part);
    g_free (self->waiting[i].query);
  }
  self->n_waiting = 0;
  self->answer_us = g_get_monotonic_time () - start;
  return ok ? NEXT : FAILED;
}

/* Adds a query; a picture's descriptor must be in place already. */
static Outcome
ask (Search *self, const gchar *text, gint64 entry, DescribeTimes times)
{
  if (self->n_waiting == 0)
    self->waiting_since = g_get_monotonic_time ();
  self->waiting[self->n_waiting++] =
      (RecordQuery){ g_strdup (text), entry, times };
  return (gint) self->n_waiting < scan_max_queries (self->scan)
      ? NEXT
      : search_answer (self);
}

static Outcome
skip_query (Search *self, const gchar *query, const gchar *problem)
{
  const Outcome outcome = self->n_waiting > 0 ? search_answer (self) : NEXT;
  gchar *name;

  if (outcome != NEXT)
    return outcome;
  name = g_filename_display_name (query);
  g_printerr ("skipped: %s: %s\n", name, problem);
  g_free (name);
  self->skipped = TRUE;
  return record_print_problem (query, problem) ? NEXT : FAILED;
}

static Outcome
ask_picture (Search *self, const gchar *path)
{
  DescribeTimes times;
  gchar *problem = queries_describe (self->queries, path,
      self->processor.n_threads, descriptor_of (self, self->n_waiting), &times);
  Outcome outcome;

  if (problem == NULL)
    return ask (self, path, -1, times);
  outcome = skip_query (self, path, problem);
  g_free (problem);
  return outcome;
}

static Outcome
ask_entry (Search *self, const gchar *text, guint64 number)
{
  return ask (self, text, (gint64) number, (DescribeTimes){ 0.0, 0.0 });
}

static Outcome
ask_number (Search *self, const gchar *text)
{
  const guint64 n = self->part.n;
  guint64 number;
  gchar *problem;
  Outcome outcome;

  if (n > 0 && g_ascii_string_to_unsigned (text, 10, 0, n - 1, &number, NULL))
    return ask_entry (self, text, number);
  problem = g_strdup_printf (
      "not the number of an entry: there are %" G_GUINT64_FORMAT
      " entries, numbered from 0",
      n);
  outcome = skip_query (self, text, problem);
  g_free (problem);
  return outcome;
}

/* Adds a query for each entry with that name. */
static Outcome
ask_name (Search *self, const gchar *name)
{
  Command command = { .kind = COMMAND_FIND, .n = (guint32) strlen (name) };
  Outcome outcome = NEXT;
  GArray *entries;

  ranks_await (&command, sizeof command);
  if (!find_entries (self, &command, name, &entries))
    return ALL_END;
  for (guint i = 0; outcome == NEXT && i < entries->len; i++)
    outcome = ask_entry (self, name, g_array_index (entries, guint64, i));
  if (entries->len == 0)
    outcome = skip_query (self, name, "no entry has this name");
  g_array_unref (entries);
  return outcome;
}

static Outcome
ask_query (Search *self, const gchar *query)
{
  if (self->options.kind == SEARCH_PICTURES)
    return ask_picture (self, query);
  if (self->options.kind == SEARCH_NUMBERS)
    return ask_number (self, query);
  return ask_name (self, query);
}

/* Whether the first query has waited for as long as an answer takes. It should
 * not also wait for the next one, which may be slow to decode or find. */
static gboolean
is_due (const Search *self)
{
  return self->n_waiting > 0
      && g_get_monotonic_time () - self->waiting_since >= self->answer_us;
}

/* Runs the loop of the root. Answers the waiting queries before it waits for
 * stdin.
 */
static gboolean
search_lead (Search *self)
{
  Command end = { .kind = COMMAND_END };
  Outcome outcome = NEXT;

  while (outcome == NEXT) {
    const gchar *query = is_due (self)
        ? NULL
        : queries_next (self->queries, self->n_waiting == 0);

    if (query != NULL)
      outcome = ask_query (self, query);
    else if (self->n_waiting > 0)
      outcome = search_answer (self);
    else
      break;
  }
  if (outcome == ALL_END)
    return FALSE;
  ranks_await (&end, sizeof end);
  if (!files_are_unchanged (self, TRUE))
    return FALSE;
  return outcome == NEXT && !self->skipped && !queries_failed (self->queries);
}

/* ---- main ---- */

/* Opens what only the root needs. */
static gchar *
open_root (Search *self)
{
  const SearchOptions *options = &self->options;

  if (!ranks_is_root ())
    return NULL;
  self->queries = queries_new (options, part_info (&self->part));
  if (self->queries == NULL)
    return g_strdup ("cannot compute descriptors of pictures");
  return options->output != NULL ? record_open (options->output) : NULL;
}

static gboolean
open_search (Search *self)
{
  const SearchOptions *options = &self->options;

  if (!ranks_agree (device_choose (options, &self->processor))
      || !part_open (&self->part, options, self->processor.n_threads))
    return FALSE;
  self->scan = scan_new (&self->part, options, &self->processor);
  if (self->scan == NULL)
    return FALSE;
  self->packed = g_malloc_n (
      (gsize) scan_max_queries (self->scan), descriptors_size (self));
  return ranks_agree (open_root (self));
}

static void
close_search (Search *self)
{
  for (guint i = 0; i < self->n_waiting; i++)
    g_free (self->waiting[i].query);
  queries_free (self->queries);
  scan_free (self->scan);
  part_close (&self->part);
  g_free (self->packed);
}

/* Returns the root's exit status at all ranks. */
static int
search_run (Search *self)
{
  int status = 1;

  if (open_search (self))
    status =
        (ranks_is_root () ? search_lead (self) : search_serve (self)) ? 0 : 1;
  close_search (self);
  ranks_broadcast (&status, sizeof status, 0);
  return status;
}

/* Exit status 0: success; 1: failure; 2: wrong command line. */
int
main (int argc, char **argv)
{
  Search search = { 0 };
  gchar *text = NULL;
  SearchParsed parsed;
  int status;

  setlocale (LC_ALL, "");
  if (!ranks_init (&argc, &argv))
    return 2;
  parsed = options_parse (&argc, &argv, &search.options, &text);
  if (parsed == SEARCH_RUN)
    status = search_run (&search);
  else
    status = parsed == SEARCH_HELP ? 0 : 2;
  if (parsed == SEARCH_HELP && ranks_is_root ())
    fputs (text, stdout); /* UTF-8 or ASCII in all locales */
  if (parsed == SEARCH_WRONG && ranks_is_root ())
    g_printerr ("cuvision-search: %s (see --help)\n", text);
  g_free (text);
  ranks_finish ();
  return status;
}
